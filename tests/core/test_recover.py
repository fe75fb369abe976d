"""After a crash: settled under the same locks, or left alone and told (design, section 1)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core import files, locks
from core.commit import commit
from core.ground import Ground
from core.homes.hermes.skills import usage
from core.journal import Journal, State
from core.model import Change, Outcome, RowAction, RowEdit
from core.plan import Plan, bind
from core.recover import Settled, open_entries, reconcile
from core.undo import plan_undo
from core.view import View
from tests.core.grounds import (
    CACHE,
    MEMORY,
    NOW,
    PLANS,
    RECORD,
    SKILL,
    Tree,
    agent_writes_rows,
    file,
    ground_of,
    held_elsewhere,
    rows_of,
    tree,
)

NOTES = f"{SKILL}/references/a.md"


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return ground_of(tmp_path)


@pytest.fixture
def journal(ground: Ground) -> Journal:
    return Journal(ground.state)


def settle(ground: Ground, journal: Journal, patience: float = 0.05) -> tuple[Settled, ...]:
    with locks.hold([ground.lock]):
        return reconcile(ground, journal, patience)


class Dying:
    """Stands in for ``os`` in the writer; the process dies right before one of its calls."""

    def __init__(self, call: str, number: int) -> None:
        self._call, self._left = call, number

    def __getattr__(self, name: str) -> object:
        if name == self._call:
            self._left -= 1
            if self._left == 0:
                os._exit(9)
        return getattr(os, name)


def killed(plan: Plan, ground: Ground, call: str = "replace", number: int = 1) -> None:
    """Commit ``plan`` in a process that dies before its ``number``-th ``call`` of the writer."""
    child = os.fork()
    if child == 0:
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(files, "os", Dying(call, number))
                commit(plan, ground, Journal(ground.state), now=NOW)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def planned(kind: str, ground: Ground) -> Plan:
    return PLANS[kind](View(ground.disk()))


def test_nothing_open_nothing_to_settle(ground: Ground, journal: Journal) -> None:
    assert settle(ground, journal) == ()
    assert commit(planned("add", ground), ground, journal, now=NOW).ok
    assert settle(ground, journal) == ()
    assert open_entries(ground, journal) == ()


def test_nothing_written_yet_is_dropped(ground: Ground, journal: Journal) -> None:
    before = tree(ground.root)
    killed(planned("add", ground), ground)
    assert [entry.state for entry in open_entries(ground, journal)] == [State.OPEN]
    (settled,) = settle(ground, journal)
    assert settled.state is State.DROPPED
    assert journal.entry(1).category == "io_error"
    assert tree(ground.root) == before, "the half-written temporary file is gone too"
    assert open_entries(ground, journal) == ()


def test_half_written_is_finished_and_the_record_removed(ground: Ground, journal: Journal) -> None:
    killed(planned("patch", ground), ground, number=2)
    assert (ground.root / NOTES).read_bytes() == b"a better a\n"
    assert rows_of(ground)["deploy"]["patch_count"] == 1
    (settled,) = settle(ground, journal)
    assert (settled.state, settled.message) == (
        State.DONE,
        "interrupted, and finished by the next command",
    )
    assert rows_of(ground)["deploy"]["patch_count"] == 2
    assert not (ground.root / RECORD).exists()
    assert journal.entry(1).category == "ok"


def test_what_was_finished_can_be_undone(ground: Ground, journal: Journal) -> None:
    before = tree(ground.root)
    killed(planned("archive", ground), ground, "unlink", 2)
    settle(ground, journal)
    plan = plan_undo(View(ground.disk()), journal.entry(1), ())
    assert commit(plan, ground, journal, now=NOW).ok
    assert tree(ground.root) == before


@pytest.mark.parametrize(
    ("path", "data"),
    [(NOTES, b"by hand"), (RECORD, b'{"staged": "again"}')],
)
def test_foreign_bytes_are_left_and_told_at_every_later_look(
    path: str, data: bytes, ground: Ground, journal: Journal
) -> None:
    killed(planned("patch", ground), ground, number=2)
    (ground.root / path).write_bytes(data)
    now = tree(ground.root)
    (settled,) = settle(ground, journal)
    assert settled.state is State.TORN
    assert settled.message == f"interrupted, and changed since by someone else: {path}"
    swept = {at: node for at, node in now.items() if not at.endswith(".tmp")}
    for _ in range(3):
        assert tree(ground.root) == swept
        assert settle(ground, journal) == (), "torn is final: nobody writes over it later"
        (entry,) = open_entries(ground, journal)
        assert (entry.id, entry.state, entry.category) == (1, State.TORN, "torn")
        assert path in entry.message
    assert isinstance(journal.entry(1).steps[0].change.path, str), "the way back is kept"


def test_a_torn_entry_does_not_stand_in_the_way(ground: Ground, journal: Journal) -> None:
    killed(planned("patch", ground), ground, number=2)
    (ground.root / NOTES).write_bytes(b"by hand")
    settle(ground, journal)
    assert commit(planned("add", ground), ground, journal, now=NOW).ok
    assert [entry.state for entry in open_entries(ground, journal)] == [State.TORN]


def test_open_entries_of_another_home_are_not_touched(
    tmp_path: Path, ground: Ground, journal: Journal
) -> None:
    other = ground_of(tmp_path / "other")
    beside = Ground(other.root, "default", ground.state, usage)
    killed(planned("patch", beside), beside, number=2)
    now = tree(beside.root)
    assert settle(ground, journal) == ()
    assert open_entries(ground, journal) == ()
    assert commit(planned("add", ground), ground, journal, now=NOW).ok
    assert tree(beside.root) == now
    assert [entry.id for entry in open_entries(beside, journal)] == [1]
    assert [line.state for line in settle(beside, journal)] == [State.DONE]


def test_while_the_agent_holds_the_lock_it_stays_open(ground: Ground, journal: Journal) -> None:
    killed(planned("patch", ground), ground, number=2)
    now = tree(ground.root)
    with held_elsewhere(ground.root / usage.LOCK):
        (settled,) = settle(ground, journal)
        assert (settled.state, journal.entry(1).state) == (State.OPEN, State.OPEN)
        assert settled.message == "the agent holds the lock; it is settled next time"
        assert tree(ground.root) == now
    assert [line.state for line in settle(ground, journal)] == [State.DONE]


def test_several_are_settled_oldest_first(ground: Ground, journal: Journal) -> None:
    killed(planned("add", ground), ground)
    killed_before = replace(planned("create", ground), record=None)
    with held_elsewhere(ground.root / f"{MEMORY}.lock"):
        plan = replace(killed_before, changes=killed_before.changes[:-1])
        child_state = [entry.state for entry in journal.entries()]
        killed(plan, ground, "replace", 1)
    assert child_state == [State.OPEN]
    assert [(line.entry.id, line.state) for line in settle(ground, journal)] == [
        (1, State.DROPPED),
        (2, State.DONE),
    ]


Busy = Callable[[dict[str, dict[str, object]]], object]


def _counts(rows: dict[str, dict[str, object]]) -> None:
    rows.setdefault("other", {})["use_count"] = 5
    rows.get("deploy", {})["view_count"] = 9


@pytest.mark.parametrize("kind", ["patch", "create", "archive", "delete"])
@pytest.mark.parametrize("back", [False, True], ids=["forward", "undo"])
def test_an_agent_that_counts_after_the_crash_tears_nothing(
    kind: str, back: bool, ground: Ground, journal: Journal
) -> None:
    """Killed at every point where something was written already; the agent counts; settled."""
    before = tree(ground.root)
    plan = planned(kind, ground)
    if back:
        receipt = commit(plan, ground, journal, now=NOW)
        assert receipt.journal is not None
        plan = plan_undo(View(ground.disk()), journal.entry(receipt.journal), ())
    start = tree(ground.root)
    assert commit(plan, ground, journal, now=NOW).ok
    wanted, rows = tree(ground.root), rows_of(ground)
    seen = set()
    for number in range(1, 30):
        fresh = ground_of(ground.root.parent / f"{number}")
        log = Journal(fresh.state)
        plan = planned(kind, fresh)
        if back:
            assert commit(plan, fresh, log, now=NOW).ok
            plan = plan_undo(View(fresh.disk()), log.entry(1), ())
        if not _dies(plan, fresh, number):
            break
        agent_writes_rows(fresh, _counts)
        (settled,) = settle(fresh, log)
        assert settled.state in (State.DONE, State.DROPPED), settled.message
        seen.add(settled.state)
        kept = wanted if settled.state is State.DONE else start
        assert _plain(tree(fresh.root)) == _plain(kept)
        found = rows_of(fresh)
        assert found.pop("other") == {"use_count": 5}
        if settled.state is State.DONE:
            assert _told(found) == _told(rows)
    assert seen == {State.DONE, State.DROPPED}
    assert start != before or not back


def _told(rows: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """Rows without what the agent counted; a field that was absent may come back as null."""
    return {
        key: {
            name: value for name, value in row.items() if name != "view_count" and value is not None
        }
        for key, row in rows.items()
    }


def _plain(found: Tree) -> Tree:
    return {path: node for path, node in found.items() if path not in (usage.PATH, CACHE)}


class _Counting:
    """Dies right before the ``number``-th call of the writer that changes something."""

    CALLS = frozenset({"replace", "rename", "unlink", "rmdir", "mkdir", "symlink"})

    def __init__(self, number: int) -> None:
        self._left = number

    def __getattr__(self, name: str) -> object:
        if name in self.CALLS:
            self._left -= 1
            if self._left == 0:
                os._exit(9)
        return getattr(os, name)


def _dies(plan: Plan, ground: Ground, number: int) -> bool:
    child = os.fork()
    if child == 0:
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(files, "os", _Counting(number))
                commit(plan, ground, Journal(ground.state), now=NOW)
            os._exit(0)
        finally:
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def test_a_cache_made_anew_is_no_sign_that_something_was_written(
    ground: Ground, journal: Journal
) -> None:
    killed(planned("patch", ground), ground)
    (ground.root / CACHE).write_bytes(b"rebuilt")
    (settled,) = settle(ground, journal)
    assert settled.state is State.DROPPED
    assert (ground.root / CACHE).read_bytes() == b"rebuilt"


def test_a_cache_made_anew_goes_once_more_when_the_rest_is_finished(
    ground: Ground, journal: Journal
) -> None:
    killed(planned("patch", ground), ground, number=2)
    (ground.root / CACHE).write_bytes(b"rebuilt on half of it")
    (settled,) = settle(ground, journal)
    assert settled.state is State.DONE
    assert not (ground.root / CACHE).exists()


def test_rows_broken_since_the_crash_are_torn_not_written_over(
    ground: Ground, journal: Journal
) -> None:
    killed(planned("patch", ground), ground, number=2)
    (ground.root / usage.PATH).write_bytes(b"{")
    (settled,) = settle(ground, journal)
    assert settled.state is State.TORN
    assert (ground.root / usage.PATH).read_bytes() == b"{"


def test_a_home_that_cannot_be_written_stays_open(
    ground: Ground, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed(planned("patch", ground), ground, number=2)

    class Worn:
        def __getattr__(self, name: str) -> object:
            if name == "replace":
                raise OSError(30, "Read-only file system")
            return getattr(os, name)

    with monkeypatch.context() as patch:
        patch.setattr(files, "os", Worn())
        (settled,) = settle(ground, journal)
        assert settled.state is State.OPEN
        assert "Read-only file system" in settled.message
    assert [line.state for line in settle(ground, journal)] == [State.DONE]


def test_a_counter_that_turned_odd_since_the_crash_is_left_with_all_the_agent_wrote(
    ground: Ground, journal: Journal
) -> None:
    node = View(ground.disk()).node(NOTES)
    changes = (
        Change(NOTES, node, file(b"new", 0o644)),
        RowEdit(usage.PATH, "deploy", RowAction.ADD, "patch_count", 1, 1),
    )
    outcome = Outcome("ok", "patched", changes, locks=(usage.LOCK,))
    killed(bind(View(ground.disk()), "approve", "x", outcome), ground, number=2)

    def odd(rows: dict[str, dict[str, object]]) -> None:
        rows["deploy"]["patch_count"] = "many"
        rows["other"] = {"use_count": 5}

    agent_writes_rows(ground, odd)
    (settled,) = settle(ground, journal)
    assert settled.state is State.DONE
    assert rows_of(ground) == {
        "deploy": {"patch_count": "many", "pinned": False},
        "other": {"use_count": 5},
    }
