"""A commit is whole or nothing, whatever fails and wherever it is killed (design, section 1)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from core import locks
from core.commit import commit
from core.ground import Ground
from core.journal import Entry, Journal, State
from core.model import Receipt
from core.plan import Plan
from core.recover import reconcile
from core.undo import plan_undo
from core.view import View
from tests.core.grounds import NOW, PLANS, RECORD, Tree, ground_of, tree

WRITES = ["open", "write", "fsync", "replace", "rename", "unlink", "symlink", "ftruncate"]
FOLDERS = ["mkdir", "rmdir", "chmod", "fchmod"]
CALLS = frozenset({*WRITES, *FOLDERS})
ERRORS = (errno.EACCES, errno.ENOSPC, errno.EROFS, errno.EIO)


class Breaking:
    """Stands in for ``os`` in the writer: counts its calls and breaks some of them."""

    def __init__(self, at: Callable[[int], bool], broken: Callable[[str], None]) -> None:
        self.calls = 0
        self._at = at
        self._broken = broken

    def __getattr__(self, name: str) -> object:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments: object, **options: object) -> object:
            self.calls += 1
            if self._at(self.calls):
                self._broken(name)
            return real(*arguments, **options)

        return call


@contextmanager
def breaking(at: Callable[[int], bool], broken: Callable[[str], None]) -> Iterator[Breaking]:
    stand_in = Breaking(at, broken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.files.os", stand_in)
        yield stand_in


def only(at: int) -> Callable[[int], bool]:
    return lambda call: call == at


def never(_call: int) -> bool:
    return False


def raising(number: int) -> Callable[[str], None]:
    def broken(_name: str) -> None:
        raise OSError(number, os.strerror(number))

    return broken


def forward(kind: str) -> Callable[[Ground, Journal], Plan]:
    return lambda ground, _journal: PLANS[kind](View(ground.disk()))


def backward(kind: str) -> Callable[[Ground, Journal], Plan]:
    def plan(ground: Ground, journal: Journal) -> Plan:
        receipt = commit(PLANS[kind](View(ground.disk())), ground, journal, now=NOW)
        assert receipt.journal is not None
        return plan_undo(View(ground.disk()), journal.entry(receipt.journal), ())

    return plan


CASES = {
    **{kind: forward(kind) for kind in PLANS},
    **{f"undo-{kind}": backward(kind) for kind in PLANS},
}


def count_calls(make: Callable[[Ground, Journal], Plan], tmp_path: Path) -> tuple[int, Tree, Tree]:
    """How many system calls a commit makes when nothing breaks, and the home before and after."""
    ground = ground_of(tmp_path)
    journal = Journal(ground.state)
    plan = make(ground, journal)
    before = tree(ground.root)
    with breaking(never, raising(errno.EIO)) as counted:
        receipt = commit(plan, ground, journal, now=NOW)
    assert receipt.ok, receipt
    return counted.calls, before, tree(ground.root)


def settle(ground: Ground, journal: Journal) -> Entry | None:
    """What the next changing command does first; the newest entry after it."""
    with locks.hold([ground.lock]):
        reconcile(ground, journal)
    newest = journal.entries(str(ground.root), limit=1)
    return newest[0] if newest else None


def check(ground: Ground, entry: Entry | None, before: Tree, after: Tree, earlier: int) -> None:
    """Wholly before or wholly after, and the journal says which."""
    now = tree(ground.root)
    assert now in (before, after)
    this = entry if entry is not None and entry.id > earlier else None
    if now == after:
        assert this is not None
        assert this.state is State.DONE
    else:
        assert this is None or this.state in (State.FAILED, State.DROPPED)
    assert (RECORD in now) == (RECORD in (after if now == after else before))


@pytest.mark.parametrize("number", ERRORS)
@pytest.mark.parametrize("kind", CASES)
def test_every_call_may_fail(kind: str, number: int, tmp_path: Path) -> None:
    calls, before, after = count_calls(CASES[kind], tmp_path / "count")
    assert calls > 1
    for at in range(1, calls + 1):
        ground = ground_of(tmp_path / f"{at}")
        journal = Journal(ground.state)
        plan = CASES[kind](ground, journal)
        earlier = len(journal.entries())
        with breaking(only(at), raising(number)):
            receipt = commit(plan, ground, journal, now=NOW)
        told: Receipt = receipt
        entry = settle(ground, journal)
        check(ground, entry, before, after, earlier)
        assert told.ok == (tree(ground.root) == after), (at, told)


@pytest.mark.parametrize("number", ERRORS)
def test_each_error_is_one_sentence(number: int, tmp_path: Path) -> None:
    ground = ground_of(tmp_path)
    journal = Journal(ground.state)
    with breaking(only(1), raising(number)):
        receipt = commit(PLANS["add"](View(ground.disk())), ground, journal, now=NOW)
    assert receipt.category == "io_error"
    assert receipt.message == f"{os.strerror(number)}; nothing was changed"


@pytest.mark.parametrize("kind", CASES)
def test_killed_at_every_call(kind: str, tmp_path: Path) -> None:
    calls, before, after = count_calls(CASES[kind], tmp_path / "count")
    stages = set()
    for at in range(1, calls + 1):
        ground = ground_of(tmp_path / f"{at}")
        journal = Journal(ground.state)
        plan = CASES[kind](ground, journal)
        earlier = len(journal.entries())
        _killed(partial(_commit_until, at, plan, ground, journal))
        stages.add(tree(ground.root) == before)
        check(ground, settle(ground, journal), before, after, earlier)
        assert not [path for path in tree(ground.root) if path.endswith(".tmp")]
    assert stages == {True, False}


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("method", ["open", "close"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_around_the_journal(kind: str, method: str, moment: str, tmp_path: Path) -> None:
    _, before, after = count_calls(CASES[kind], tmp_path / "count")
    ground = ground_of(tmp_path / "home")
    journal = Journal(ground.state)
    plan = CASES[kind](ground, journal)
    earlier = len(journal.entries())
    _killed(lambda: commit(plan, ground, _Dying(ground.state, method, moment), now=NOW))
    check(ground, settle(ground, journal), before, after, earlier)
    assert (tree(ground.root) == after) == (method == "close")


def test_a_second_failure_while_taking_back_is_settled_next_time(tmp_path: Path) -> None:
    _, before, after = count_calls(CASES["patch"], tmp_path / "count")
    ground = ground_of(tmp_path / "home")
    journal = Journal(ground.state)
    plan = PLANS["patch"](View(ground.disk()))
    with breaking(lambda call: call >= 9, raising(errno.EIO)):
        receipt = commit(plan, ground, journal, now=NOW)
    assert not receipt.ok
    assert "could not be taken back" in receipt.message
    assert journal.entries()[0].state is State.OPEN
    check(ground, settle(ground, journal), before, after, 0)


class _Dying(Journal):
    """A journal whose process dies right before or right after one of its calls."""

    def __init__(self, folder: Path, method: str, moment: str) -> None:
        super().__init__(folder)
        real = getattr(self, method)

        def call(*arguments: object) -> object:
            if moment == "before":
                os._exit(9)
            real(*arguments)
            os._exit(9)

        setattr(self, method, call)


def _commit_until(at: int, plan: Plan, ground: Ground, journal: Journal) -> None:
    with breaking(only(at), lambda _name: os._exit(9)):
        commit(plan, ground, journal, now=NOW)


def _killed(work: Callable[[], object]) -> None:
    """Run ``work`` in a process that must not come back."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 9
