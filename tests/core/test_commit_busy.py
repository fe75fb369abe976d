"""Commit while others write, and after a commit that did not end (design, section 1)."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from core import files
from core.commit import commit
from core.errors import LockedError, StateError
from core.ground import Ground
from core.homes.hermes.skills import usage
from core.journal import Intent, Journal, State
from core.model import Change, Outcome, RowAction, RowEdit
from core.plan import Plan, bind
from core.steps import resolve
from core.view import View
from tests.core.grounds import (
    CACHE,
    MEMORY,
    NOW,
    PLANS,
    RECORD,
    SKILL,
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


def planned(kind: str, ground: Ground) -> Plan:
    return PLANS[kind](View(ground.disk()))


def half_open(plan: Plan, ground: Ground, journal: Journal) -> int:
    """What a commit leaves in the journal that was killed before it wrote anything."""
    steps = resolve(plan.changes, ground.writer("plan").current, ground.rows)
    return journal.open(
        Intent(
            at=NOW,
            home=str(ground.root),
            profile=ground.profile,
            verb=plan.verb,
            subject=plan.subject,
            category=plan.outcome.category,
            message=plan.outcome.message,
            steps=steps,
            record=plan.record,
            locks=plan.outcome.locks,
        )
    )


# -- while others write ------------------------------------------------------------------------


def test_two_processes_commit_one_plan_once(ground: Ground, journal: Journal) -> None:
    plan = planned("add", ground)
    journal.pin(str(ground.root), "x", {}, NOW)
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            status = 9
            with contextlib.suppress(BaseException):
                receipt = commit(plan, ground, Journal(ground.state), now=NOW, patience=60)
                status = {"ok": 0, "gone": 3}[receipt.category]
            os._exit(status)
        children.append(child)
    ended = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
    assert ended == [0, 3]
    assert (ground.root / MEMORY).read_bytes() == b"alpha\n\xc2\xa7\nbeta\n\xc2\xa7\ngamma"
    assert [entry.state for entry in journal.entries()] == [State.DONE]


def test_rows_of_an_agent_that_counts_all_the_time(ground: Ground, journal: Journal) -> None:
    """No row is lost, no field nobody knows, and the counters of both writers add up."""
    stop, told = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        os.close(stop[1])
        os.set_blocking(stop[0], False)
        rounds = 0

        def count(rows: dict[str, dict[str, object]]) -> None:
            row = rows.setdefault("other", {"views": 0, "unknown": ["kept"]})
            row["views"] = rounds
            deploy = rows["deploy"]
            deploy["use_count"] = rounds
            rows[f"row {rounds % 50}"] = {"last": rounds}

        while True:
            with contextlib.suppress(BlockingIOError):
                os.read(stop[0], 1)
                break
            rounds += 1
            agent_writes_rows(ground, count)
        os.write(told[1], str(rounds).encode())
        os._exit(0)
    os.close(stop[0])
    commits = 25
    for number in range(commits):
        view = View(ground.disk())
        changes = usage.bump(usage.load(view), "deploy", NOW) + usage.put(
            usage.load(view), f"made {number}", {"created_by": "agent"}, NOW
        )
        plan = bind(
            view, "approve", str(number), Outcome("ok", "bumped", changes, locks=(usage.LOCK,))
        )
        receipt = commit(plan, ground, journal, now=NOW, patience=60)
        assert receipt.ok, receipt
    # On a loaded machine the agent gets less of it: let it write every row once.
    deadline = time.monotonic() + 60
    while "row 49" not in rows_of(ground) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.close(stop[1])
    os.waitpid(child, 0)
    rounds = int(os.read(told[0], 20))
    os.close(told[0])
    os.close(told[1])
    rows = rows_of(ground)
    assert rounds >= 49, "the case itself: the agent was busy"
    assert rows["deploy"]["patch_count"] == 1 + commits
    assert rows["deploy"]["use_count"] == rounds
    assert rows["deploy"]["pinned"] is False
    assert rows["other"] == {"views": rounds, "unknown": ["kept"]}
    assert {f"made {number}" for number in range(commits)} < set(rows)
    assert {f"row {number}" for number in range(1, 50)} < set(rows)


class Meanwhile:
    """Stands in for ``os`` in the writer: someone else acts right before one of its calls."""

    def __init__(self, call: str, act: Callable[[], object], number: int = 1) -> None:
        self._call, self._act, self._left = call, act, number

    def __getattr__(self, name: str) -> object:
        if name == self._call:
            self._left -= 1
            if self._left == 0:
                self._act()
        return getattr(os, name)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_foreign_file_that_appears_while_a_skill_is_deleted(
    number: int, ground: Ground, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned("delete", ground)
    before = tree(ground.root)
    at = [f"{SKILL}/references", SKILL, "skills/ops"][number - 1]
    foreign = ground.root / at / "foreign.md"
    stand_in = Meanwhile("rmdir", lambda: foreign.write_bytes(b"foreign"), number)
    monkeypatch.setattr(files, "os", stand_in)
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "io_error")
    assert foreign.read_bytes() == b"foreign"
    foreign.unlink()
    assert tree(ground.root) == before
    assert journal.entries()[0].state is State.FAILED


def test_someone_writes_the_same_file_at_the_same_moment(
    ground: Ground, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned("patch", ground)
    act = lambda: (ground.root / NOTES).write_bytes(b"by hand")  # noqa: E731
    monkeypatch.setattr(files, "os", Meanwhile("unlink", act, 4))
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "torn")
    assert NOTES in receipt.message
    assert (ground.root / NOTES).read_bytes() == b"by hand"
    assert journal.entries()[0].state is State.TORN


def test_a_file_changed_by_hand_is_not_put_back_when_a_later_step_fails(
    ground: Ground, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned("patch", ground)

    class Late(Meanwhile):
        def __getattr__(self, name: str) -> object:
            real = super().__getattr__(name)
            if name == "replace" and self._left <= 0:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return real

    act = lambda: (ground.root / NOTES).write_bytes(b"by hand")  # noqa: E731
    monkeypatch.setattr(files, "os", Late("replace", act, 2))
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "torn")
    assert "nothing was changed" not in receipt.message
    assert (ground.root / NOTES).read_bytes() == b"by hand"
    assert (ground.root / RECORD).exists()


def test_a_write_in_place_that_can_neither_end_nor_go_back_is_told(
    ground: Ground, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    inode = (ground.root / MEMORY).stat().st_ino

    class Worn:
        def __getattr__(self, name: str) -> object:
            return getattr(self, f"_{name}", getattr(os, name))

        def _replace(self, *_paths: object) -> None:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

        def _write(self, handle: int, data: memoryview) -> int:
            if os.fstat(handle).st_ino == inode:
                if os.lseek(handle, 0, os.SEEK_CUR) >= 3:
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                return os.write(handle, b"!!!")
            return os.write(handle, data)

    plan = planned("add", ground)
    monkeypatch.setattr(files, "os", Worn())
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "torn")
    assert MEMORY in receipt.message
    assert journal.entries()[0].state is State.TORN
    (step, _record) = journal.entry(1).steps
    assert isinstance(step.change, Change)
    assert step.change.before == file(b"alpha\n\xc2\xa7\nbeta", 0o640), "the way back is kept"


# -- after a commit that did not end -----------------------------------------------------------


def test_an_open_commit_on_the_same_record_is_waited_for(ground: Ground, journal: Journal) -> None:
    """Approved, killed half way, then refused while the agent holds the lock: never both."""
    half_open(planned("add", ground), ground, journal)
    (ground.root / MEMORY).write_bytes(b"alpha\n\xc2\xa7\nbeta\n\xc2\xa7\ngamma")
    before = tree(ground.root)
    refusal = planned("reject", ground)
    with held_elsewhere(ground.root / f"{MEMORY}.lock"):
        receipt = commit(refusal, ground, journal, now=NOW, patience=0.05)
        assert (receipt.ok, receipt.category) == (False, "locked")
        assert receipt.message.startswith("Entry 1 did not end")
        assert tree(ground.root) == before
        pin = RowEdit(usage.PATH, "deploy", RowAction.SET, "pinned", False, True)
        outcome = Outcome("pinned_ok", "pinned", (pin,), locks=(usage.LOCK,))
        other = bind(View(ground.disk()), "pin", "deploy", outcome)
        assert commit(other, ground, journal, now=NOW, patience=0.05).ok, "others need not wait"
    assert commit(refusal, ground, journal, now=NOW).category == "gone"
    assert journal.entry(1).state is State.DONE


def test_locks_of_open_commits_share_the_one_bound(
    ground: Ground, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    def held(paths: Sequence[Path], patience: float) -> AbstractContextManager[frozenset[Path]]:
        waits.append(patience)
        raise LockedError("Someone else holds it")

    for module in ("core.commit", "core.recover"):
        monkeypatch.setattr(f"{module}.time", SimpleNamespace(monotonic=lambda: 3.0 * len(waits)))
    for _ in range(4):
        half_open(planned("add", ground), ground, journal)
    plan = planned("patch", ground)
    receipt = commit(plan, replace(ground, holding=held), journal, now=NOW, patience=8)
    assert (receipt.ok, receipt.category) == (False, "locked")
    assert waits == [8, 5, 2, -1], "what the locks before it left of the eight seconds"


def test_an_outcome_that_cannot_be_written_is_settled_next_time(
    ground: Ground, journal: Journal
) -> None:
    class Worn(Journal):
        def close(self, number: int, state: State, category: str, message: str) -> None:
            raise StateError("the disk is full")

    receipt = commit(planned("add", ground), ground, Worn(ground.state), now=NOW)
    assert receipt.ok
    assert journal.entry(1).state is State.OPEN
    done = tree(ground.root)
    other = bind(View(ground.disk()), "pin", "deploy", Outcome("noop", "nothing"))
    assert commit(other, ground, journal, now=NOW).ok
    assert journal.entry(1).state is State.DONE
    assert tree(ground.root) == done


def test_the_cache_is_taken_as_it_stands(ground: Ground, journal: Journal) -> None:
    plan = planned("patch", ground)
    (ground.root / CACHE).write_bytes(json.dumps({"rebuilt": True}).encode())
    assert commit(plan, ground, journal, now=NOW).ok
    assert not (ground.root / CACHE).exists()


def test_a_cache_made_anew_during_the_commit_is_no_tear(
    ground: Ground, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned("patch", ground)

    class Late(Journal):
        def open(self, intent: Intent) -> int:
            number = super().open(intent)
            monkeypatch.setattr(files, "os", Meanwhile("unlink", rebuild, 4))
            return number

    def rebuild() -> None:
        (ground.root / CACHE).write_bytes(b"rebuilt")

    receipt = commit(plan, ground, Late(ground.state), now=NOW)
    assert receipt.ok, receipt
    assert (ground.root / CACHE).read_bytes() == b"rebuilt", "the case itself"
