"""Undo is a plan like any other: the same steps backwards, or a word on who wrote since."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from core.commit import commit
from core.errors import UsageError
from core.ground import Ground
from core.homes.hermes.skills import usage
from core.journal import Entry, Journal, State
from core.model import Change, Outcome, Receipt, RowAction, RowEdit
from core.plan import Plan, bind
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
    folder,
    ground_of,
    rows_of,
    tree,
)

NOTES = f"{SKILL}/references/a.md"
ROWS = [kind for kind in PLANS if kind not in ("add", "reject")]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return ground_of(tmp_path)


@pytest.fixture
def journal(ground: Ground) -> Journal:
    return Journal(ground.state)


def do(plan: Plan, ground: Ground, journal: Journal) -> int:
    receipt = commit(plan, ground, journal, now=NOW)
    assert receipt.ok, receipt
    assert receipt.journal is not None
    return receipt.journal


def approve(kind: str, ground: Ground, journal: Journal) -> int:
    return do(PLANS[kind](View(ground.disk())), ground, journal)


def later_than(number: int, journal: Journal) -> list[Entry]:
    done = journal.entries(states=(State.DONE,))
    return [entry for entry in done if entry.id > number and entry.undone_by is None]


def undo_plan(number: int, ground: Ground, journal: Journal) -> Plan:
    return plan_undo(View(ground.disk()), journal.entry(number), later_than(number, journal))


def undo(number: int, ground: Ground, journal: Journal) -> Receipt:
    return commit(undo_plan(number, ground, journal), ground, journal, now=NOW)


def without_rows(found: Tree) -> Tree:
    return {path: node for path, node in found.items() if path != usage.PATH}


# -- there and back ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PLANS)
def test_every_kind_of_plan_is_taken_back_whole(
    kind: str, ground: Ground, journal: Journal
) -> None:
    before = tree(ground.root)
    number = approve(kind, ground, journal)
    assert tree(ground.root) != before
    receipt = undo(number, ground, journal)
    assert (receipt.ok, receipt.category) == (True, "undone")
    assert tree(ground.root) == before, "bytes and modes, the record too"
    assert receipt.journal is not None
    assert journal.entry(number).undone_by == receipt.journal
    assert journal.entry(receipt.journal).undoes == number


@pytest.mark.parametrize("kind", PLANS)
def test_there_and_back_again_three_times(kind: str, ground: Ground, journal: Journal) -> None:
    before = tree(ground.root)
    number = approve(kind, ground, journal)
    after = tree(ground.root)
    for wanted in (before, after, before, after):
        receipt = undo(number, ground, journal)
        assert receipt.ok, receipt
        assert tree(ground.root) == wanted
        assert receipt.journal is not None
        number = receipt.journal


def test_odd_modes_come_back(ground: Ground, journal: Journal) -> None:
    for path, mode in (("skills/ops", 0o2750), (SKILL, 0o700), (NOTES, 0o4755), (RECORD, 0o444)):
        (ground.root / path).chmod(mode)
    before = tree(ground.root)
    number = approve("delete", ground, journal)
    assert not (ground.root / "skills/ops").exists()
    assert undo(number, ground, journal).ok
    assert tree(ground.root) == before


def test_links_come_back_as_links(ground: Ground, journal: Journal) -> None:
    (ground.root / SKILL / "link").symlink_to("references/a.md")
    (ground.root / SKILL / "dangling").symlink_to("../gone")
    (ground.root / RECORD).rename(ground.root / "kept.json")
    (ground.root / RECORD).symlink_to("../../kept.json")
    before = tree(ground.root)
    number = approve("delete", ground, journal)
    assert not os.path.lexists(ground.root / RECORD)
    assert (ground.root / "kept.json").exists(), "what a record's link leads to is not removed"
    assert undo(number, ground, journal).ok
    assert tree(ground.root) == before


def test_a_memory_behind_a_link_is_put_back_behind_it(ground: Ground, journal: Journal) -> None:
    real = ground.root.parent / "dotfiles.md"
    (ground.root / MEMORY).rename(real)
    (ground.root / MEMORY).symlink_to(real)
    before = real.read_bytes()
    number = approve("add", ground, journal)
    assert real.read_bytes() != before
    assert undo(number, ground, journal).ok
    assert (ground.root / MEMORY).is_symlink()
    assert real.read_bytes() == before


def test_entries_are_shown_the_other_way_round(ground: Ground, journal: Journal) -> None:
    number = approve("add", ground, journal)
    plan = undo_plan(number, ground, journal)
    assert plan.outcome.entries == ()
    assert plan.undoes == number
    assert plan.outcome.message == f"Entry {number} (approve 0a0a0a0a) is taken back"
    assert plan.outcome.locks == (f"{MEMORY}.lock",)


# -- what others did since -----------------------------------------------------------------------


def _by_hand(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        with (root / path).open("ab") as stream:
            stream.write(b"!")

    return change


def _skill_again(root: Path) -> None:
    (root / SKILL).mkdir(parents=True)
    (root / SKILL / "SKILL.md").write_bytes(b"made again")


def _category_a_file(root: Path) -> None:
    (root / "skills/ops").write_bytes(b"a file of this name")


FOREIGN: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "memory written": ("add", _by_hand(MEMORY), MEMORY),
    "memory closed": ("add", lambda root: (root / MEMORY).chmod(0o400), MEMORY),
    "memory gone": ("add", lambda root: (root / MEMORY).unlink(), MEMORY),
    "record staged again": ("add", lambda root: (root / RECORD).write_bytes(b"{}"), RECORD),
    "record staged again, refused": (
        "reject",
        lambda root: (root / RECORD).write_bytes(b"{}"),
        RECORD,
    ),
    "skill file written": ("patch", _by_hand(NOTES), NOTES),
    "new skill written": ("create", _by_hand("skills/new/fresh/SKILL.md"), "skills/new/fresh"),
    "archived skill moved on": (
        "archive",
        lambda root: (root / "skills/.archive/deploy").rename(root / "skills/.archive/deploy-1"),
        SKILL,
    ),
    "archived skill made again": ("archive", _skill_again, SKILL),
    "deleted skill made again": ("delete", _skill_again, f"{SKILL}/SKILL.md"),
    "category a file now": ("delete", _category_a_file, "skills/ops"),
    "category of the archived a file now": ("archive", _category_a_file, "skills/ops"),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_what_someone_else_wrote_since_is_never_undone_over(
    case: str, ground: Ground, journal: Journal
) -> None:
    kind, change, path = FOREIGN[case]
    number = approve(kind, ground, journal)
    change(ground.root)
    now = tree(ground.root)
    receipt = undo(number, ground, journal)
    assert (receipt.ok, receipt.category) == (False, "moved_on")
    assert path in receipt.message
    assert receipt.message.endswith("by another writer; put it right by hand")
    assert tree(ground.root) == now
    assert journal.entry(number).undone_by is None


def test_a_later_entry_on_the_same_file_is_named(ground: Ground, journal: Journal) -> None:
    before = tree(ground.root)
    first = approve("add", ground, journal)
    middle = tree(ground.root)
    (ground.root / RECORD).write_bytes(b"{}")
    second = approve("add", ground, journal)
    receipt = undo(first, ground, journal)
    assert (receipt.ok, receipt.category) == (False, "moved_on")
    assert receipt.message == (
        f"{MEMORY} changed since entry {first}: undo {second} first, the newest first"
    )
    assert undo(second, ground, journal).ok
    (ground.root / RECORD).unlink()
    assert tree(ground.root) == middle
    assert undo(first, ground, journal).ok
    assert tree(ground.root) == before


def test_a_later_entry_elsewhere_does_not_hinder(ground: Ground, journal: Journal) -> None:
    first = approve("add", ground, journal)
    (ground.root / RECORD).write_bytes(b"{}")
    second = approve("patch", ground, journal)
    assert undo(first, ground, journal).ok
    (ground.root / RECORD).unlink()
    assert undo(second, ground, journal).ok


def test_it_moves_between_the_plan_and_the_commit(ground: Ground, journal: Journal) -> None:
    number = approve("add", ground, journal)
    plan = undo_plan(number, ground, journal)
    _by_hand(MEMORY)(ground.root)
    now = tree(ground.root)
    assert commit(plan, ground, journal, now=NOW).category == "moved"
    assert tree(ground.root) == now


def test_a_new_folder_others_use_by_now_stays(ground: Ground, journal: Journal) -> None:
    number = approve("create", ground, journal)
    (ground.root / "skills/new/other").mkdir()
    assert undo(number, ground, journal).ok
    assert not (ground.root / "skills/new/fresh").exists()
    assert (ground.root / "skills/new/other").is_dir()


def test_lock_files_left_behind_do_not_hinder(ground: Ground, journal: Journal) -> None:
    (ground.root / MEMORY).unlink()
    (ground.root / "memories").rmdir()
    view = View(ground.disk())
    view.read(MEMORY)
    changes = (Change("memories", None, folder()), Change(MEMORY, None, file(b"gamma")))
    outcome = Outcome("ok", "added", changes, locks=(f"{MEMORY}.lock",))
    number = do(bind(view, "approve", "x", outcome), ground, journal)
    assert undo(number, ground, journal).ok
    assert [path.name for path in (ground.root / "memories").iterdir()] == ["MEMORY.md.lock"]
    assert undo(number + 1, ground, journal).ok, "and it can be done again"
    assert (ground.root / MEMORY).read_bytes() == b"gamma"


# -- rows ----------------------------------------------------------------------------------------


def _busy(rows: dict[str, dict[str, object]]) -> None:
    rows.setdefault("other", {})["use_count"] = 5
    for row in rows.values():
        row["view_count"] = 9


@pytest.mark.parametrize("kind", ROWS)
def test_rows_are_taken_back_by_field_when_the_agent_counted_meanwhile(
    kind: str, ground: Ground, journal: Journal
) -> None:
    before, rows = tree(ground.root), rows_of(ground)
    number = approve(kind, ground, journal)
    agent_writes_rows(ground, _busy)
    assert undo(number, ground, journal).ok
    assert without_rows(tree(ground.root)) == without_rows(before)
    found = rows_of(ground)
    assert found.pop("other") == {"use_count": 5, "view_count": 9}
    if kind == "create":
        assert found.pop("fresh")["view_count"] == 9, "the row is in use by now"
    if kind != "delete":
        assert found["deploy"].pop("view_count") == 9
    assert {key: found["deploy"].get(key) for key in rows["deploy"]} == rows["deploy"]


@pytest.mark.parametrize("kind", ROWS)
def test_an_undo_can_be_undone_while_the_agent_counts(
    kind: str, ground: Ground, journal: Journal
) -> None:
    number = approve(kind, ground, journal)
    after, rows = tree(ground.root), rows_of(ground)
    agent_writes_rows(ground, lambda found: found.setdefault("other", {}).update(use_count=5))
    back = undo(number, ground, journal)
    assert back.journal is not None
    agent_writes_rows(ground, lambda found: found["other"].update(use_count=6))
    assert undo(back.journal, ground, journal).ok
    assert without_rows(tree(ground.root)) == without_rows(after)
    found = rows_of(ground)
    assert found.pop("other") == {"use_count": 6}
    assert found == rows


def test_counters_lose_only_what_was_added(ground: Ground, journal: Journal) -> None:
    number = approve("patch", ground, journal)
    assert rows_of(ground)["deploy"]["patch_count"] == 2
    agent_writes_rows(ground, lambda rows: rows["deploy"].update(patch_count=12))
    assert undo(number, ground, journal).ok
    assert rows_of(ground)["deploy"]["patch_count"] == 11


def test_a_field_someone_set_since_is_kept(ground: Ground, journal: Journal) -> None:
    number = approve("archive", ground, journal)
    agent_writes_rows(ground, lambda rows: rows["deploy"].update(state="stale"))
    assert undo(number, ground, journal).ok
    assert rows_of(ground)["deploy"]["state"] == "stale"


def test_rows_that_cannot_be_read_stop_an_undo(ground: Ground, journal: Journal) -> None:
    number = approve("patch", ground, journal)
    (ground.root / usage.PATH).write_bytes(b"{")
    now = tree(ground.root)
    assert undo(number, ground, journal).category == "unreadable_target"
    assert tree(ground.root) == now


def test_a_row_file_that_was_absent_goes_again(ground: Ground, journal: Journal) -> None:
    (ground.root / usage.PATH).unlink()
    before = tree(ground.root)
    number = approve("create", ground, journal)
    assert "fresh" in rows_of(ground)
    back = undo(number, ground, journal)
    assert tree(ground.root) == before
    assert back.journal is not None
    assert undo(back.journal, ground, journal).ok
    assert "fresh" in rows_of(ground)


# -- what cannot be undone -----------------------------------------------------------------------


def test_undo_twice_is_refused(ground: Ground, journal: Journal) -> None:
    number = approve("add", ground, journal)
    assert undo(number, ground, journal).ok
    now = tree(ground.root)
    with pytest.raises(UsageError, match=f"Entry {number} is undone already"):
        undo(number, ground, journal)
    assert tree(ground.root) == now


@pytest.mark.parametrize("kind", ["counter", "record"])
def test_two_undos_planned_at_once_take_it_back_once(
    kind: str, ground: Ground, journal: Journal
) -> None:
    """Nothing of these plans is sealed on bytes: only the journal can tell."""
    edit = RowEdit(usage.PATH, "deploy", RowAction.ADD, "patch_count", 1, 3)
    outcome = Outcome("ok", "ok", (edit,) if kind == "counter" else (), locks=(usage.LOCK,))
    record = RECORD if kind == "record" else None
    number = do(bind(View(ground.disk()), "curate", "x", outcome, record=record), ground, journal)
    plans = [undo_plan(number, ground, journal) for _ in range(2)]
    told = [commit(plan, ground, journal, now=NOW) for plan in plans]
    assert [receipt.category for receipt in told] == ["undone", "gone"]
    assert told[1].message == f"Entry {number} is undone already, by entry {number + 1}"
    assert rows_of(ground)["deploy"]["patch_count"] == 1


@pytest.mark.parametrize("state", [State.OPEN, State.FAILED, State.DROPPED])
def test_what_did_nothing_has_nothing_to_undo(
    state: State, ground: Ground, journal: Journal
) -> None:
    number = approve("add", ground, journal)
    journal.close(number, state, "io_error", "")
    with pytest.raises(UsageError, match="changed nothing that could be undone"):
        undo(number, ground, journal)


def test_a_torn_entry_says_what_a_person_does_next(ground: Ground, journal: Journal) -> None:
    number = approve("add", ground, journal)
    journal.close(number, State.TORN, "torn", "")
    with pytest.raises(UsageError, match="torn: someone else wrote") as problem:
        undo(number, ground, journal)
    assert f"signoff journal {number} --seen" in problem.value.hint


# -- the cache -----------------------------------------------------------------------------------


def test_a_cache_the_agent_rebuilt_goes_and_an_absent_one_comes_back(
    ground: Ground, journal: Journal
) -> None:
    number = approve("patch", ground, journal)
    (ground.root / CACHE).write_bytes(b"rebuilt on the patched skill")
    back = undo(number, ground, journal)
    assert back.ok
    assert not (ground.root / CACHE).exists()
    assert back.journal is not None
    again = undo(back.journal, ground, journal)
    assert again.ok
    assert again.journal is not None
    (ground.root / CACHE).unlink(missing_ok=True)
    assert undo(again.journal, ground, journal).ok
