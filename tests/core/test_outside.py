"""Outside edits: what no decision of ours changed stands in the journal (D11, issue 4)."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from core import locks
from core.desk import history, outside
from core.desk.decide import Request
from core.desk.opening import Opened
from core.desk.outside import OutsideEdit, note_again, note_outside
from core.errors import UsageError
from core.journal import State
from core.model import Change, EntryChange
from core.sightings import Sightings
from tests.core.desks import (
    MEMORY,
    SKILL,
    add,
    approve,
    make_home,
    open_on,
    patch,
    propose,
    queue,
    reject,
    write,
)
from tests.core.grounds import tree

SKILL_FILE = "skills/ops/deploy/SKILL.md"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.fixture
def opened(home: Path, tmp_path: Path) -> Opened:
    return open_on(home, tmp_path / "state")


def noted(opened: Opened) -> list[tuple[str, tuple[str, ...]]]:
    return [(edit.subject, edit.changed) for edit in note_outside(opened)]


def change(opened: Opened, edit: OutsideEdit) -> Change:
    (step,) = history.entry(opened, edit.entry).steps
    assert isinstance(step.change, Change)
    return step.change


def data(node: object) -> bytes | None:
    found = getattr(node, "data", None)
    assert found is None or isinstance(found, bytes)
    return found


# -- what is told ----------------------------------------------------------------------------------


def test_the_first_look_only_remembers(home: Path, opened: Opened) -> None:
    before = tree(home)
    assert note_outside(opened) == ()
    assert note_outside(opened) == ()
    assert history.entries(opened) == ()
    assert tree(home) == before, "nothing is ever written into a home"


def test_the_first_look_tells_what_changed_since_a_person_began_to_look(
    home: Path, opened: Opened
) -> None:
    """The console looks behind its first table: what changes in between is no past of the home."""
    looking = replace(opened, since=time.time_ns())
    write(home / MEMORY, "the agent wrote this")
    write(home / "skills/new/SKILL.md", SKILL.format(name="new"))
    edits = {edit.subject: edit for edit in note_outside(looking)}
    assert {subject: edit.changed for subject, edit in edits.items()} == {
        MEMORY: (MEMORY,),
        "skills/new": ("skills/new/SKILL.md",),
    }
    entry = history.entry(opened, edits[MEMORY].entry)
    assert entry.message == "Changed by another writer: MEMORY.md"
    assert (entry.steps, entry.entries) == ((), ()), "what stood there before is not known"
    write(home / MEMORY, "and this")
    (edit,) = note_outside(looking)
    assert data(change(opened, edit).before) == b"the agent wrote this"


def test_the_first_look_of_a_command_tells_nothing_however_young(
    home: Path, opened: Opened
) -> None:
    write(home / MEMORY, "the agent wrote this")
    assert note_outside(replace(opened, since=0)) == ()
    assert note_outside(replace(opened, since=time.time_ns())) == ()


def test_a_memory_file_someone_else_changed(home: Path, opened: Opened) -> None:
    """D09: with its gate off the agent writes past the queue."""
    note_outside(opened)
    old = (home / MEMORY).read_bytes()
    write(home / MEMORY, "alpha one\n§\ngamma three\n§\nthe agent wrote this")
    (edit,) = note_outside(opened)
    assert (edit.subject, edit.changed) == (MEMORY, (MEMORY,))
    entry = history.entry(opened, edit.entry)
    assert (entry.verb, entry.state, entry.ok) == ("outside", State.DONE, True)
    assert (entry.category, entry.subject, entry.profile) == ("outside", MEMORY, "default")
    assert entry.message == "Changed by another writer: entries 1 added, 1 removed"
    assert entry.entries == (
        EntryChange("beta two", None),
        EntryChange(None, "the agent wrote this"),
    )
    step = change(opened, edit)
    assert (data(step.before), data(step.after)) == (old, (home / MEMORY).read_bytes())
    assert note_outside(opened) == ()


def test_a_skill_changed_through_a_shell(home: Path, opened: Opened) -> None:
    """D11: the agent runs sed on a SKILL.md."""
    note_outside(opened)
    text = SKILL.format(name="deploy").replace("Step one.", "Step 1.")
    write(home / SKILL_FILE, text)
    (edit,) = note_outside(opened)
    assert (edit.subject, edit.changed) == ("skills/ops/deploy", (SKILL_FILE,))
    assert data(change(opened, edit).after) == text.encode()
    assert history.entry(opened, edit.entry).message == "Changed by another writer: SKILL.md"


def test_a_made_and_a_removed_skill(home: Path, opened: Opened) -> None:
    note_outside(opened)
    write(home / "skills/new/SKILL.md", SKILL.format(name="new"))
    write(home / "skills/new/references/a.md", "a")
    shutil.rmtree(home / "skills/ops/deploy")
    edits = {edit.subject: edit for edit in note_outside(opened)}
    assert set(edits) == {"skills/new", "skills/ops/deploy"}
    made, gone = edits["skills/new"], edits["skills/ops/deploy"]
    assert made.changed == ("skills/new/SKILL.md", "skills/new/references/a.md")
    assert history.entry(opened, made.entry).message.startswith("Made by another writer: ")
    assert history.entry(opened, gone.entry).message == "Removed by another writer: SKILL.md"
    assert data(change(opened, gone).before) == SKILL.format(name="deploy").encode()
    assert data(change(opened, gone).after) is None


def test_a_memory_file_that_went_and_one_that_came(home: Path, opened: Opened) -> None:
    note_outside(opened)
    (home / MEMORY).unlink()
    write(home / "memories/USER.md", "likes tea")
    messages = {
        edit.subject: history.entry(opened, edit.entry).message for edit in note_outside(opened)
    }
    assert messages == {
        MEMORY: "Removed by another writer: entries 0 added, 3 removed",
        "memories/USER.md": "Made by another writer: entries 1 added, 0 removed",
    }


@pytest.mark.parametrize(
    "path",
    [
        "skills/.usage.json",
        "skills/.archive/old/SKILL.md",
        "skills/.hub/lock.json",
        "skills/ops/deploy/.git/config",
        "skills/ops/deploy/node_modules/x.js",
        "skills/ops/deploy/SKILL.md.tmp",
        "memories/MEMORY.md.lock",
        "memories/MEMORY.md.bak.20260101",
        "config.yaml",
        "pending/memory/x.json",
    ],
)
def test_what_is_no_memory_and_no_skill_is_not_told(home: Path, opened: Opened, path: str) -> None:
    note_outside(opened)
    write(home / path, "{}")
    assert note_outside(opened) == ()


def test_a_touch_that_changes_no_byte_is_no_edit(home: Path, opened: Opened) -> None:
    note_outside(opened)
    (home / MEMORY).write_bytes((home / MEMORY).read_bytes())
    os.utime(home / SKILL_FILE, (1, 1))
    (home / MEMORY).chmod(0o640)
    assert note_outside(opened) == ()


# -- what is ours ----------------------------------------------------------------------------------


def test_our_own_decisions_and_their_undo_are_no_outside_edits(home: Path, opened: Opened) -> None:
    queue(
        home,
        {
            "a": add("x"),
            "p": patch("deploy", "Step one.", "1."),
            "c": {"action": "create", "name": "fresh", "content": SKILL.format(name="fresh")},
            "d": {"action": "delete", "name": "deploy"},
            "r": add("y"),
        },
    )
    note_outside(opened)
    assert all(r.ok for r in approve(opened, Request(("a", "p", "c", "d"))))
    reject(opened, Request(("r",)))
    assert noted(opened) == []
    for _ in range(2):
        assert all(r.ok for r in history.undo_each(opened))
        assert noted(opened) == []
    assert [entry.verb for entry in history.entries(opened)].count("outside") == 0


@pytest.mark.parametrize("looked_before", [True, False])
def test_an_archived_skill_that_comes_back_is_no_news(
    home: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch, looked_before: bool
) -> None:
    """The folder moves out of sight and back; also when it left before our first look."""
    queue(home, {"d": {"action": "delete", "name": "deploy"}})
    if not looked_before:
        monkeypatch.setattr("core.desk.decide.note_outside", lambda _: ())
    approve(opened, Request(("d",)))
    assert not (home / SKILL_FILE).exists()
    assert noted(opened) == []
    assert history.undo(opened).ok
    assert noted(opened) == []
    assert (home / SKILL_FILE).exists()
    write(home / SKILL_FILE, "changed")
    assert noted(opened) == [("skills/ops/deploy", (SKILL_FILE,))]


def test_edits_before_and_after_a_decision_of_ours_are_both_told(
    home: Path, opened: Opened
) -> None:
    propose(home, "a", add("ours"))
    note_outside(opened)
    write(home / MEMORY, "theirs first")
    approve(opened, Request(("a",)))
    write(home / MEMORY, "theirs first\n§\nours\n§\ntheirs second")
    note_outside(opened)
    entries = [history.entry(opened, entry.id) for entry in history.entries(opened)]
    assert [entry.verb for entry in entries] == ["outside", "approve", "outside"]
    assert entries[0].entries == (EntryChange(None, "theirs second"),)
    assert EntryChange(None, "theirs first") in entries[2].entries


def test_an_edit_between_two_looks_shows_in_what_a_decision_met(
    home: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if nobody looked between their write and ours."""
    propose(home, "a", add("ours"))
    note_outside(opened)
    write(home / MEMORY, "theirs")
    monkeypatch.setattr("core.desk.decide.note_outside", lambda _: ())
    approve(opened, Request(("a",)))
    monkeypatch.undo()
    (edit,) = note_outside(opened)
    assert EntryChange(None, "theirs") in history.entry(opened, edit.entry).entries
    assert data(change(opened, edit).after) == b"theirs"


# -- undo ------------------------------------------------------------------------------------------


def test_an_outside_edit_cannot_be_undone_and_is_never_the_newest(
    home: Path, opened: Opened
) -> None:
    propose(home, "a", patch("deploy", "Step one.", "1."))
    note_outside(opened)
    approve(opened, Request(("a",)))
    write(home / MEMORY, "theirs")
    (edit,) = note_outside(opened)
    with pytest.raises(UsageError, match="another writer"):
        history.undo(opened, edit.entry)
    assert history.undo(opened).subject == "a"
    assert (home / MEMORY).read_text() == "theirs"


# -- bounds ----------------------------------------------------------------------------------------


def test_large_and_support_files_are_told_without_their_bytes(home: Path, opened: Opened) -> None:
    big = home / "skills/big/SKILL.md"
    write(big, "x" * (outside.KEPT + 1))
    write(home / "skills/ops/deploy/references/a.md", "one")
    note_outside(opened)
    write(big, "y" * (outside.KEPT + 1))
    write(home / "skills/ops/deploy/references/a.md", "two")
    edits = {edit.subject: edit for edit in note_outside(opened)}
    assert edits["skills/big"].changed == ("skills/big/SKILL.md",)
    for edit in edits.values():
        entry = history.entry(opened, edit.entry)
        assert entry.steps == ()
        assert entry.changed == edit.changed


def test_too_many_skill_files_are_not_looked_at(
    home: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_outside(opened)
    monkeypatch.setattr(outside, "MAX_FILES", 2)
    for number in range(3):
        write(home / f"skills/ops/deploy/references/{number}.md", "x")
    write(home / SKILL_FILE, "changed")
    write(home / MEMORY, "theirs")
    assert noted(opened) == [(MEMORY, (MEMORY,))]
    monkeypatch.setattr(outside, "MAX_FILES", 100)
    ((subject, changed),) = noted(opened)
    assert (subject, len(changed)) == ("skills/ops/deploy", 4)


def test_nothing_unchanged_is_read_again(
    home: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_outside(opened)
    monkeypatch.setattr(outside, "_node", lambda *_: pytest.fail("read"))
    writes: list[str] = []
    monkeypatch.setattr(Sightings, "look", lambda *_: writes.append("look"))
    assert note_outside(opened) == ()
    assert writes == []


def test_a_linked_memory_file_is_seen_where_it_leads(
    home: Path, opened: Opened, tmp_path: Path
) -> None:
    shutil.move(home / MEMORY, tmp_path / "real.md")
    (home / MEMORY).symlink_to(tmp_path / "real.md")
    note_outside(opened)
    (tmp_path / "real.md").write_text("theirs")
    assert noted(opened) == [(MEMORY, (MEMORY,))]


def test_a_file_that_cannot_be_read_is_not_taken_for_a_gone_one(
    home: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_outside(opened)
    write(home / MEMORY, "theirs, long enough")
    monkeypatch.setattr("core.disk.MAX_BYTES", 5)
    assert noted(opened) == []
    monkeypatch.setattr("core.disk.MAX_BYTES", 1000)
    assert noted(opened) == [(MEMORY, (MEMORY,))]


def test_pipes_and_odd_bytes_do_no_harm(home: Path, opened: Opened) -> None:
    os.mkfifo(home / "skills/ops/deploy/pipe.md")
    (home / MEMORY).write_bytes(b"\xff\xfe latin")
    note_outside(opened)
    (home / MEMORY).write_bytes(b"\xff\xfe other")
    assert noted(opened) == [(MEMORY, (MEMORY,))]


# -- when nothing is noted -------------------------------------------------------------------------


def test_while_a_decision_is_under_way_nothing_is_noted(home: Path, opened: Opened) -> None:
    note_outside(opened)
    write(home / MEMORY, "theirs")
    with locks.hold([opened.ground().lock]):
        assert note_outside(opened) == ()
    assert len(note_outside(opened)) == 1


def test_reading_makes_no_journal(home: Path, opened: Opened) -> None:
    assert note_again(opened) == ()
    assert not opened.state.exists()
    note_outside(opened)
    write(home / MEMORY, "theirs")
    assert [edit.subject for edit in note_again(opened)] == [MEMORY]


def test_two_homes_have_looks_of_their_own(tmp_path: Path) -> None:
    one = open_on(make_home(tmp_path / "one"), tmp_path / "state")
    other = open_on(make_home(tmp_path / "other"), tmp_path / "state")
    note_outside(one)
    write(tmp_path / "one" / MEMORY, "theirs")
    assert noted(other) == []
    assert len(note_outside(one)) == 1
