"""Several processes on one store at once: agents through MCP, a person, an ingest."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.desk import history, knowledge, knowledge_work
from tests.core.rag.shelves import SIX_HOURS, learn, shelf_in, statuses

WRITERS, EACH = 6, 12


def forked(work: Callable[[int], None], count: int) -> list[int]:
    """Run ``work`` in ``count`` processes at once; their exit codes."""
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work(number)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def test_all_notes_of_all_writers_are_kept_in_a_store_that_none_had_made(tmp_path: Path) -> None:
    def write(number: int) -> None:
        shelf = shelf_in(tmp_path, HERMES_RAG_MEMORY_CAP="1000")
        for place in range(EACH):
            assert learn(shelf, f"writer {number} note {place}").was is None
            assert learn(shelf, f"a note of all, {place}").id
            knowledge.recall(shelf, f"writer {number}", "api")

    assert forked(write, WRITERS) == [0] * WRITERS
    found = statuses(shelf_in(tmp_path))
    assert len(found) == WRITERS * EACH + EACH
    assert set(found.values()) == {"active"}


def test_the_cap_holds_whoever_writes(tmp_path: Path) -> None:
    def write(number: int) -> None:
        shelf = shelf_in(tmp_path, HERMES_RAG_MEMORY_CAP="5")
        for place in range(EACH):
            learn(shelf, f"writer {number} note {place}")

    assert forked(write, 3) == [0] * 3
    found = list(statuses(shelf_in(tmp_path)).values())
    assert (found.count("active"), found.count("archived")) == (5, 3 * EACH - 5)


def test_one_note_is_retired_once(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path)
    learn(shelf, SIX_HOURS)

    def retire(number: int) -> None:
        mine = shelf_in(tmp_path)
        plan = knowledge.retire(mine, "api", "a2c03c47", f"by {number}")
        receipt = knowledge.carry_out(mine, plan)
        assert receipt.category in ("ok", "noop", "moved", "locked")

    assert forked(retire, WRITERS) == [0] * WRITERS
    assert len(history.entries(shelf)) == 1
    assert statuses(shelf) == {SIX_HOURS: "retired"}


@pytest.mark.parametrize("writers", [2])
def test_notes_are_taken_and_found_while_code_is_taken_in(tmp_path: Path, writers: int) -> None:
    folder = tmp_path / "api"
    folder.mkdir()
    for number in range(300):
        (folder / f"m{number}.py").write_text(f"def queue_{number}(): pass\n" * 200)

    def work(number: int) -> None:
        shelf = shelf_in(tmp_path)
        if number == 0:
            knowledge_work.ingest_code(shelf, folder)
            return
        for place in range(EACH):
            learn(shelf, f"note {place}")
            text = knowledge.recall(shelf, f"note {place}", "api").recalled.text
            assert f"] note {place}" in text
            assert "unavailable" not in text

    assert forked(work, writers) == [0] * writers
    assert shelf_in(tmp_path).store.count("rag_api__code") >= 300
