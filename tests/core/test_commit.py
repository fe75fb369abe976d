"""Commit: the plan that was shown, byte for byte, or nothing (design, section 1)."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from core.commit import commit
from core.errors import StateError
from core.ground import Ground
from core.homes.hermes.skills import usage
from core.journal import Journal, State
from core.model import Change, Move, Outcome, Receipt, RowAction, RowEdit
from core.plan import Plan, bind
from core.view import View
from tests.core.grounds import (
    MEMORY,
    NOW,
    PLANS,
    RECORD,
    SKILL,
    agent_writes_rows,
    file,
    folder,
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


# -- whole -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PLANS)
def test_a_plan_is_committed_with_receipt_and_entry(
    kind: str, ground: Ground, journal: Journal
) -> None:
    plan = planned(kind, ground)
    receipt = commit(plan, ground, journal, now=NOW, note="because")
    assert receipt.ok
    assert (receipt.subject, receipt.category) == ("0a0a0a0a", plan.outcome.category)
    assert receipt.journal is not None
    entry = journal.entry(receipt.journal)
    assert (entry.state, entry.verb, entry.note) == (State.DONE, plan.verb, "because")
    assert (entry.home, entry.record) == (str(ground.root), RECORD)
    assert receipt.changed[-1] == RECORD
    assert not (ground.root / RECORD).exists()
    for change in plan.changes:
        if isinstance(change, Change) and change.after is not None:
            assert ground.disk().node(change.path, data=True) == change.after
        elif isinstance(change, Change):
            assert ground.disk().node(change.path, data=True) is None


def test_a_refused_outcome_touches_nothing(ground: Ground, journal: Journal) -> None:
    view = View(ground.disk())
    change = Change(MEMORY, None, file(b"never"))
    plan = bind(
        view, "approve", "x", Outcome("no_match", "No such entry", (change,)), record=RECORD
    )
    before = tree(ground.root)
    assert commit(plan, ground, journal, now=NOW) == Receipt(
        "x", False, "no_match", "No such entry"
    )
    assert (tree(ground.root), journal.folder.exists()) == (before, False)


def test_a_plan_without_steps_is_no_decision_that_undo_would_find(
    ground: Ground, journal: Journal
) -> None:
    plan = bind(View(ground.disk()), "pin", "deploy", Outcome("noop", "Pinned already"))
    before = tree(ground.root)
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category, receipt.changed) == (True, "noop", ())
    assert tree(ground.root) == before
    assert receipt.journal is None
    assert journal.entries() == ()


def test_a_success_that_changes_no_byte_removes_the_record(
    ground: Ground, journal: Journal
) -> None:
    view = View(ground.disk())
    node = view.node(MEMORY)
    outcome = Outcome("noop", "There already", (Change(MEMORY, node, node),))
    plan = bind(view, "approve", "0a0a0a0a", outcome, record=RECORD)
    inode = (ground.root / MEMORY).stat().st_ino
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.changed) == (True, (RECORD,))
    assert (ground.root / MEMORY).stat().st_ino == inode, "not even rewritten"


def test_bytes_mode_and_line_ends_are_those_of_the_plan(ground: Ground, journal: Journal) -> None:
    raw = b"\xef\xbb\xbfalpha\r\n\xc2\xa7\r\nbeta\r\n"
    (ground.root / MEMORY).write_bytes(raw)
    (ground.root / MEMORY).chmod(0o604)
    assert commit(planned("add", ground), ground, journal, now=NOW).ok
    assert (ground.root / MEMORY).read_bytes() == raw + b"\n\xc2\xa7\ngamma"
    assert (ground.root / MEMORY).stat().st_mode & 0o7777 == 0o604


def test_a_link_of_the_person_stays_a_link(ground: Ground, journal: Journal) -> None:
    real = ground.root.parent / "dotfiles.md"
    (ground.root / MEMORY).rename(real)
    (ground.root / MEMORY).symlink_to("../../dotfiles.md")
    assert commit(planned("add", ground), ground, journal, now=NOW).ok
    assert (ground.root / MEMORY).is_symlink()
    assert real.read_bytes().endswith(b"gamma")
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_first_memory_in_a_home_without_the_folder(ground: Ground, journal: Journal) -> None:
    shutil.rmtree(ground.root / "memories")
    view = View(ground.disk())
    assert view.read(MEMORY).absent
    assert view.kind("memories") is None
    assert view.names("memories") == ()
    changes = (
        Change("memories", None, folder(0o700)),
        Change(MEMORY, None, file(b"gamma")),
    )
    outcome = Outcome("ok", "added", changes, locks=(f"{MEMORY}.lock",))
    receipt = commit(bind(view, "approve", "x", outcome, record=RECORD), ground, journal, now=NOW)
    assert receipt.ok, "the lock file needs the folder first; that is no foreign change"
    assert (ground.root / "memories").stat().st_mode & 0o777 == 0o700
    assert (ground.root / MEMORY).read_bytes() == b"gamma"


# -- nothing ---------------------------------------------------------------------------------


def _append(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / path).open("ab") as stream:
            stream.write(b"!")

    return change


def _folder_instead(root: Path) -> None:
    (root / MEMORY).unlink()
    (root / MEMORY).mkdir()


def _record_through_a_link(root: Path) -> None:
    (root / RECORD).rename(root / "r")
    (root / RECORD).symlink_to("../../r")


def _same_bytes_through_a_link(root: Path) -> None:
    (root / MEMORY).rename(root / "memories/elsewhere.md")
    (root / MEMORY).symlink_to("elsewhere.md")


MOVED: dict[str, tuple[str, Callable[[Path], object]]] = {
    "memory bytes": ("add", _append(MEMORY)),
    "memory mode": ("add", lambda root: (root / MEMORY).chmod(0o600)),
    "memory gone": ("add", lambda root: (root / MEMORY).unlink()),
    "memory a link now": ("add", _same_bytes_through_a_link),
    "memory a folder now": ("add", _folder_instead),
    "record bytes": ("add", _append(RECORD)),
    "record bytes, refused": ("reject", _append(RECORD)),
    "record a link now": ("reject", _record_through_a_link),
    "skill file bytes": ("patch", _append(NOTES)),
    "name taken": ("create", lambda root: (root / "skills/new").mkdir()),
    "name taken by a file": ("create", lambda root: (root / "skills/new").write_bytes(b"")),
    "another file in the skill": (
        "delete",
        lambda root: (root / SKILL / "foreign.md").write_bytes(b"foreign"),
    ),
    "another skill beside it": ("delete", lambda root: (root / "skills/ops/other").mkdir()),
    "one file less": ("delete", lambda root: (root / NOTES).unlink()),
    "skill folder shut": ("delete", lambda root: (root / SKILL).chmod(0o700)),
}


@pytest.mark.parametrize("case", MOVED)
def test_what_moved_since_it_was_shown_stops_everything(
    case: str, ground: Ground, journal: Journal
) -> None:
    kind, change = MOVED[case]
    plan = planned(kind, ground)
    change(ground.root)
    before = tree(ground.root)
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category, receipt.journal) == (False, "moved", None)
    assert "changed since it was shown" in receipt.message
    assert (tree(ground.root), journal.entries()) == (before, ())


@pytest.mark.parametrize("kind", PLANS)
def test_a_record_decided_elsewhere_is_gone(kind: str, ground: Ground, journal: Journal) -> None:
    plan = planned(kind, ground)
    (ground.root / RECORD).unlink()
    before = tree(ground.root)
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "gone")
    assert (tree(ground.root), journal.entries()) == (before, ())


@pytest.mark.parametrize("kind", ["add", "patch", "archive"])
def test_a_lock_the_agent_holds(kind: str, ground: Ground, journal: Journal) -> None:
    plan = planned(kind, ground)
    before = tree(ground.root)
    (lock,) = plan.outcome.locks
    with held_elsewhere(ground.root / lock):
        receipt = commit(plan, ground, journal, now=NOW, patience=0.1)
    assert (receipt.ok, receipt.category) == (False, "locked")
    assert receipt.message == f"Someone else holds {Path(lock).name}; nothing was changed"
    assert (tree(ground.root), journal.entries()) == (before, ())
    assert commit(plan, ground, journal, now=NOW).ok


def test_another_signoff_on_the_same_home(ground: Ground, journal: Journal) -> None:
    plan = planned("add", ground)
    before = tree(ground.root)
    with held_elsewhere(ground.lock):
        assert commit(plan, ground, journal, now=NOW, patience=0.05).category == "locked"
        other = ground_of(ground.root.parent / "other")
        beside = Ground(other.root, "default", ground.state, ground.rows)
        assert commit(planned("add", beside), beside, journal, now=NOW, patience=0.05).ok
    assert tree(ground.root) == before


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"a": 1}x',
        *(b'{"x": ' + b"[" * n + b"]" * n + b"}" for n in (900, 9000)),
    ],
    ids=["cut", "list", "binary", "more", "deep", "deeper"],
)
@pytest.mark.parametrize("kind", ["patch", "create", "archive", "delete"])
def test_rows_that_cannot_be_read_are_never_written_over(
    data: bytes, kind: str, ground: Ground, journal: Journal
) -> None:
    plan = planned(kind, ground)
    (ground.root / usage.PATH).write_bytes(data)
    before = tree(ground.root)
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "unreadable_target")
    assert (tree(ground.root), journal.entries()) == (before, ())


def test_a_sealed_field_that_moved(ground: Ground, journal: Journal) -> None:
    edit = RowEdit(usage.PATH, "deploy", RowAction.SET, "pinned", False, True, None, sealed=True)
    outcome = Outcome("pinned_ok", "pinned", (edit,), locks=(usage.LOCK,))
    plan = bind(View(ground.disk()), "pin", "deploy", outcome)
    agent_writes_rows(ground, lambda rows: rows["deploy"].update(patch_count=7))
    agent_writes_rows(ground, lambda rows: rows["deploy"].update(pinned="yes"))
    before = tree(ground.root)
    assert commit(plan, ground, journal, now=NOW).category == "moved"
    assert tree(ground.root) == before
    agent_writes_rows(ground, lambda rows: rows["deploy"].update(pinned=False))
    assert commit(plan, ground, journal, now=NOW).ok
    assert rows_of(ground)["deploy"] == {"patch_count": 7, "pinned": True}


@pytest.mark.parametrize(
    "change",
    [
        Change("skills/out/x", None, file(b"1")),
        Change("../x", None, file(b"1")),
        Change("skills/a\0b", None, file(b"1")),
        Change("skills/half\ud800", None, folder()),
        Move(SKILL, "../deploy"),
    ],
)
def test_a_path_that_leaves_the_home_is_refused_before_anything_is_written(
    change: Change | Move, ground: Ground, journal: Journal
) -> None:
    (ground.root.parent / "outside").mkdir()
    (ground.root / "skills/out").symlink_to("../../outside")
    first = Change("skills/fine", None, file(b"1"))
    plan = bind(View(ground.disk()), "approve", "x", Outcome("ok", "ok", (first, change)))
    before = tree(ground.root.parent)
    receipt = commit(plan, ground, journal, now=NOW)
    assert (receipt.ok, receipt.category, receipt.journal) == (False, "path_escape", None)
    assert receipt.message.endswith("; nothing was changed")
    shutil.rmtree(ground.state)
    assert tree(ground.root.parent) == before


def test_a_folder_swapped_for_a_link_after_the_plan(ground: Ground, journal: Journal) -> None:
    """The bytes read the same, so only the writer can tell that they lie elsewhere now."""
    plan = planned("patch", ground)
    outside = ground.root.parent / "outside"
    (ground.root / "skills/ops").rename(outside)
    (ground.root / "skills/ops").symlink_to(outside)
    before, beside = tree(ground.root), tree(outside)
    receipt = commit(plan, ground, journal, now=NOW)
    assert receipt.category == "path_escape"
    assert (tree(ground.root), tree(outside), journal.entries()) == (before, beside, ())


def test_no_place_for_the_journal(ground: Ground) -> None:
    plan = planned("add", ground)
    before = tree(ground.root)
    ground.state.write_bytes(b"a file")
    with pytest.raises(StateError, match="own folder cannot be used"):
        commit(plan, ground, Journal(ground.state), now=NOW)
    ground.state.unlink()
    ground.state.mkdir()
    (ground.state / "journal.sqlite3").write_bytes(b"no database at all" * 100)
    receipt = commit(plan, ground, Journal(ground.state), now=NOW)
    assert (receipt.ok, receipt.category) == (False, "io_error")
    assert receipt.message.startswith("The journal")
    assert receipt.message.endswith("nothing was changed")
    assert tree(ground.root) == before


def test_what_it_leaves_in_its_own_folder_is_private(ground: Ground, journal: Journal) -> None:
    """README, "Where things lie": folders 0700, files 0600."""
    assert commit(planned(next(iter(PLANS)), ground), ground, journal, now=NOW).ok
    for path in (ground.state, *ground.state.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
