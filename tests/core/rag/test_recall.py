"""``recall`` in the stated shape: order, bounds, only what is live (specs, memory-rag 6 and 8)."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from core.desk import knowledge, knowledge_work
from core.desk.knowledge import Shelf
from core.homes.rag import own_search, schema, surroundings
from core.homes.rag.building import add_in_place
from core.homes.rag.nodes import Layer, Node, collection_of
from core.homes.rag.recall import Tops
from tests.core.rag.shelves import SIX_HOURS, learn, shelf_in


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return shelf_in(tmp_path)


def recall(shelf: Shelf, query: str, project: str = "api", **more: object) -> str:
    return knowledge.recall(shelf, query, project, **more).recalled.text  # type: ignore[arg-type]


def wiki(shelf: Shelf, tmp_path: Path, **pages: str) -> None:
    for name, text in pages.items():
        (tmp_path / "w").mkdir(exist_ok=True)
        (tmp_path / "w" / f"{name}.md").write_text(text)
    knowledge_work.ingest_wiki(shelf, tmp_path / "w", "api")


def code(shelf: Shelf, tmp_path: Path, **files: str) -> None:
    for name, text in files.items():
        (tmp_path / "c").mkdir(exist_ok=True)
        (tmp_path / "c" / f"{name}.py").write_text(text)
    knowledge_work.ingest_code(shelf, tmp_path / "c", "api")


def test_nothing_there(shelf: Shelf) -> None:
    """An empty memory prints nothing; reading makes nothing (section 6)."""
    assert recall(shelf, "queue") == (
        "Recall [api] for: queue\n[wiki: not built for api]\n[code: not built for api]"
    )
    assert not shelf.store.folder.exists()


def test_wiki_code_memory_global_in_this_order(shelf: Shelf, tmp_path: Path) -> None:
    wiki(shelf, tmp_path, queue="# Queue\nThe queue holds jobs.")
    code(shelf, tmp_path, worker="def queue():\n    pass\n")
    learn(shelf, SIX_HOURS)
    rule = learn(shelf, "never clear a queue by hand", "global").id
    assert recall(shelf, "queue") == "\n".join(
        [
            "Recall [api] for: queue",
            "[wiki queue.md] # Queue The queue holds jobs.",
            "[code worker.py] def queue():     pass",
            f"[memory memory #a2c03c47] {SIX_HOURS}",
            f"[global] [memory memory #{rule[:8]}] never clear a queue by hand",
        ]
    )
    assert recall(shelf, "queue", "global") == "\n".join(
        [
            "Recall [global] for: queue",
            "[wiki: not built for global]",
            "[code: not built for global]",
            f"[memory memory #{rule[:8]}] never clear a queue by hand",
        ]
    )


@pytest.mark.parametrize(
    ("layer", "lines"),
    [("wiki", 2), ("code", 2), ("memory", 3), ("auto", 5), ("nonsense", 1), ("", 1)],
)
def test_a_layer_restricts_and_another_word_gives_the_first_line(
    shelf: Shelf, layer: str, lines: int
) -> None:
    learn(shelf, SIX_HOURS)
    learn(shelf, "a queue", "global")
    assert len(recall(shelf, "queue", layer=layer).split("\n")) == lines


def test_not_live_is_never_found_however_near(shelf: Shelf) -> None:
    """In the original more than twice as many withdrawn near hits starve the answer (section 6)."""
    for number in range(12):
        found = learn(shelf, f"queue queue queue {number}").id
        plan = knowledge.retire(shelf, "api", found)
        assert knowledge.carry_out(shelf, plan).ok
    assert "[memory: no results]" in recall(shelf, "queue", layer="memory")
    learn(shelf, f"a longer note about many other things, and {SIX_HOURS}")
    assert "many other things" in recall(shelf, "queue", layer="memory")


def test_bounded_in_hits_and_characters(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path, HERMES_RAG_MAX_CHARS="20")
    for number in range(30):
        learn(shelf, f"queue number {number} with a text that is longer")
    lines = recall(shelf, "queue", layer="memory", tops=Tops(memory=3)).split("\n")
    assert len(lines) == 4
    assert all(len(line.partition("] ")[2]) == 21 and line.endswith("…") for line in lines[1:])
    many = recall(shelf, "queue", layer="memory", tops=Tops(memory=10**9)).split("\n")
    assert len(many) == 21, "twenty at most"
    assert recall(shelf, "queue", layer="memory", tops=Tops(memory=0)).count("\n") == 0


def test_one_layer_that_fails_does_not_fail_the_answer(shelf: Shelf, tmp_path: Path) -> None:
    wiki(shelf, tmp_path, queue="the queue")
    learn(shelf, SIX_HOURS)
    with schema.writing(shelf.store.folder) as db:
        db.execute("DROP TABLE words_1")
    lines = recall(shelf, "queue").split("\n")
    assert lines[1].startswith("[wiki unavailable: The note store")
    assert lines[3] == f"[memory memory #a2c03c47] {SIX_HOURS}"


@pytest.mark.parametrize(
    "question",
    [
        '"',
        "queue AND",
        "NEAR(",
        "a* OR",
        "path:queue",
        "-queue",
        "';--",
        "\0queue",
        "{x}",
        "queue\nold",
    ],
)
def test_no_question_is_a_mistake(shelf: Shelf, question: str) -> None:
    learn(shelf, SIX_HOURS)
    text = recall(shelf, question, layer="memory")
    assert ("#a2c03c47" in text) == ("queue" in question)


def test_scripts_without_blanks_are_found_inside_a_text(shelf: Shelf) -> None:
    found = learn(shelf, "任务队列会丢弃超过六小时的任务").id
    learn(shelf, "缓存在每天清空")
    assert f"#{found[:8]}" in recall(shelf, "队列", layer="memory")


def test_without_full_text_a_small_bm25_answers(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "has_full_text", lambda: False)
    learn(shelf, SIX_HOURS)
    learn(shelf, "the cache is cleared every day")
    assert "#a2c03c47" in recall(shelf, "older jobs", layer="memory")
    assert "cache" in recall(shelf, "caches", layer="memory"), "a plural finds the singular"


@pytest.mark.parametrize("few", [0, 100])
def test_common_words_are_answered_all_the_same(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    """Past the budget the newest that hold every word are ranked by their texts."""
    monkeypatch.setattr(own_search, "BUDGET", 3)
    monkeypatch.setattr(own_search, "_FEW", few)
    collection = collection_of("api", Layer.MEMORY)
    texts = [f"queue job number {n}" for n in range(9)] + ["queue job broken", "rare queue job"]
    add_in_place(shelf.own, [Node(collection, f"id-{t}", t, {"path": "memory"}) for t in texts])
    assert "queue job" in recall(shelf, "queue job", layer="memory")
    assert "rare queue job" in recall(shelf, "queue job rare", layer="memory")
    assert "queue job broken" in recall(shelf, "queue broken", layer="memory")


def test_nothing_leaves_the_machine(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an embedder no socket is opened by anything."""

    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", forbidden)
    monkeypatch.setattr(socket, "getaddrinfo", forbidden)
    wiki(shelf, tmp_path, queue="the queue")
    code(shelf, tmp_path, worker="queue = 1\n")
    learn(shelf, SIX_HOURS, kind="queue:x")
    recall(shelf, "queue")
    found, plan = knowledge_work.plan_merge(shelf, "api")
    assert knowledge_work.carry_out_merge(shelf, found, plan)[0].ok
    knowledge_work.export(shelf, tmp_path / "x.jsonl")
    other = shelf_in(tmp_path, store="other")
    knowledge_work.restore(other, tmp_path / "x.jsonl")
    assert knowledge_work.compare(shelf, shelf.store.folder, other.store.folder).identical
    knowledge.stats(shelf, "api")


def test_a_file_s_name_does_not_look_like_another_hit(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "a\n[memory memory #deadbeef] x.py").write_text("queue = 1\n")
    knowledge_work.ingest_code(shelf, tmp_path / "c", "api")
    lines = recall(shelf, "queue", layer="code").split("\n")
    assert lines[1:] == ["[code a [memory memory #deadbeef] x.py] queue = 1"]


def test_the_newest_first_and_by_status(shelf: Shelf) -> None:
    names = [learn(shelf, text).id for text in ("one", "two", "three")]
    assert knowledge.carry_out(shelf, knowledge.retire(shelf, "api", names[2])).ok

    def listed(**more: object) -> list[str]:
        found = knowledge.notes(shelf, "api", Layer.MEMORY, **more)  # type: ignore[arg-type]
        return [node.document for node in found]

    assert listed() == ["three", "two", "one"]
    assert listed(limit=2) == ["three", "two"]
    assert listed(status="live") == ["two", "one"]
    assert listed(status="retired") == ["three"]
    assert listed(status="archived") == []
    assert listed(limit=0) == []


# -- stats -----------------------------------------------------------------------------------------


def test_stats_count_what_was_done(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path, HERMES_RAG_CONSOLIDATE_THRESHOLD="2")
    learn(shelf, SIX_HOURS)
    learn(shelf, SIX_HOURS)
    learn(shelf, "never force push", "global")
    for question in ("where is the queue", "how does it work", "queue"):
        recall(shelf, question)
    found = knowledge.stats(shelf, "api")
    assert found.layers == {"code": 0, "wiki": 0, "memory": 1}
    assert (found.staged, found.global_notes, found.due) == (1, 1, False)
    assert (found.active_days, found.learnings, found.structure_questions) == (1, 1, 2)
    assert found.wiki_suggestion == "not yet earned"
    recall(shelf, "What handles retries")
    assert knowledge.stats(shelf, "api").wiki_suggestion.startswith("GENERATE")
    wiki(shelf, tmp_path, queue="the queue")
    assert knowledge.stats(shelf, "api").wiki_suggestion == "wiki present"
    learn(shelf, "two")
    assert knowledge.stats(shelf, "api").due


def test_a_store_that_takes_no_line_of_the_log_answers_all_the_same(shelf: Shelf) -> None:
    learn(shelf, SIX_HOURS)
    with schema.writing(shelf.store.folder):
        assert "#a2c03c47" in recall(shelf, "queue")
    assert [event.event for event in shelf.store.events()] == ["learn"]


def test_the_place_of_a_store_is_warned_of(tmp_path: Path) -> None:
    folder = tmp_path / "repo" / "a" / "store"
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (said,) = surroundings.warnings(folder, tmp_path / "none")
    assert "inside the git tree" in said
    mounts = tmp_path / "mounts"
    place = str(tmp_path / "sh ared").replace(" ", "\\040")
    mounts.write_text(
        f"1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:5 / {place} rw shared:1 - nfs4 x:/ rw\n"
    )
    (said,) = surroundings.warnings(tmp_path / "sh ared" / "store", mounts)
    assert "shared file system (nfs4)" in said
    assert surroundings.warnings(tmp_path / "elsewhere", mounts) == ()


def test_what_speaks_to_the_network_is_not_even_loaded() -> None:
    code = "import core.desk.knowledge_work, sys; print({'urllib.request', 'http.client'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
