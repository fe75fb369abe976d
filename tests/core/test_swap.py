"""Two folders that change places in one step: written, taken back, and settled after a crash."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core import locks
from core.commit import commit
from core.ground import Ground
from core.journal import Journal, State
from core.model import Move, Outcome
from core.plan import Plan, bind
from core.recover import reconcile
from core.undo import plan_undo
from core.view import View
from tests.core.grounds import NOW, SKILL, ground_of, tree

KEPT, COPY = "skills/.archive/deploy", "skills/.archive/older"


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    found = ground_of(tmp_path)
    (found.root / COPY).mkdir(parents=True)
    (found.root / COPY / "SKILL.md").write_text("older\n")
    return found


def swap(ground: Ground) -> Plan:
    moves = (Move(SKILL, KEPT), Move(COPY, SKILL))
    return bind(View(ground.disk()), "swap", "deploy", Outcome("restored", "swapped", moves))


def undo_of(ground: Ground, journal: Journal, number: int) -> Plan:
    return plan_undo(View(ground.disk()), journal.entry(number), ())


class Dies(BaseException):
    """The process ends here."""


def die_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ``number``-th rename of a folder never happens."""
    real, left = os.rename, [number]

    def rename(source: Path, target: Path) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Dies
        real(source, target)

    monkeypatch.setattr(os, "rename", rename)


def test_a_swap_is_done_and_taken_back(ground: Ground) -> None:
    journal, before = Journal(ground.state), tree(ground.root)
    done = commit(swap(ground), ground, journal, now=NOW)
    assert done.ok, done
    assert (ground.root / SKILL / "SKILL.md").read_text() == "older\n"
    assert (ground.root / KEPT / "references/a.md").exists()
    assert not (ground.root / COPY).exists()
    assert done.journal is not None
    back = commit(undo_of(ground, journal, done.journal), ground, journal, now=NOW)
    assert (back.ok, back.category) == (True, "undone"), back
    assert tree(ground.root) == before


@pytest.mark.parametrize("way", ["there", "back"])
@pytest.mark.parametrize("renames", [0, 1])
def test_a_crash_between_the_moves_is_settled(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, way: str, renames: int
) -> None:
    """Nothing was moved: dropped. One was: the other follows."""
    journal, before = Journal(ground.state), tree(ground.root)
    plan = swap(ground)
    if way == "back":
        done = commit(plan, ground, journal, now=NOW)
        assert done.journal is not None
        plan = undo_of(ground, journal, done.journal)
    stood = tree(ground.root)
    with monkeypatch.context() as patch:
        die_at(renames, patch)
        with pytest.raises(Dies):
            commit(plan, ground, journal, now=NOW)
    with locks.hold([ground.lock]):
        (settled,) = reconcile(ground, journal)
    if renames == 0:
        assert settled.state is State.DROPPED
        assert tree(ground.root) == stood
    else:
        assert settled.state is State.DONE
        after = before if way == "back" else tree(ground.root)
        assert tree(ground.root) == after
        older = (ground.root / SKILL / "SKILL.md").read_text() == "older\n"
        assert older is (way == "there")


def test_a_move_that_fails_takes_the_other_back(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, before = Journal(ground.state), tree(ground.root)
    real = os.rename

    def rename(source: Path, target: Path) -> None:
        if str(source).endswith("older"):
            raise PermissionError(13, "Permission denied")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename)
        receipt = commit(swap(ground), ground, journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "io_error")
    assert tree(ground.root) == before


def test_a_crash_after_both_moves_is_found_done(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(ground.state)

    def never(*_: object) -> None:
        raise Dies

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "close", never)
        with pytest.raises(Dies):
            commit(swap(ground), ground, journal, now=NOW)
    stood = tree(ground.root)
    with locks.hold([ground.lock]):
        (settled,) = reconcile(ground, journal)
    assert settled.state is State.DONE
    assert tree(ground.root) == stood
