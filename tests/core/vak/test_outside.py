"""What a vak agent, or a hand, wrote past signoff stands in the journal (field report D11)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.desk import history, notes
from core.desk.opening import Opened
from core.desk.outside import note_outside
from core.homes.base import Kind
from core.model import EntryChange
from tests.core.desks import open_on

ATLAS = "67b506f04aa724b1"
FILE = f"memory/{ATLAS}/MEMORY.md"
NOTE = "9e47ec659a17c656"
ADDED = "## 2026-09-20T12:00:00+00:00 [fact] tag= session=s\nThe kiln is warm.\n\n"


@pytest.fixture
def desk(tmp_path: Path) -> Opened:
    home = tmp_path / "vak"
    shutil.copytree(Path(__file__).parents[2] / "data" / "vak", home)
    opened = open_on(home, tmp_path / "state", kind=Kind.VAK)
    assert note_outside(opened) == ()
    return opened


def told(opened: Opened) -> tuple[str, tuple[EntryChange, ...]]:
    (edit,) = note_outside(opened)
    assert edit.changed == (FILE,)
    entry = history.entry(opened, edit.entry)
    return entry.message, entry.entries


def test_a_note_the_agent_wrote(desk: Opened) -> None:
    file = desk.found.home / FILE
    file.write_bytes(file.read_bytes() + b"\n" + ADDED.encode())
    message, entries = told(desk)
    assert message == "Changed by another writer: entries 1 added, 0 removed"
    assert entries == (EntryChange(None, "The kiln is warm."),)
    assert note_outside(desk) == ()


def test_a_note_a_hand_amended(desk: Opened) -> None:
    file = desk.found.home / FILE
    file.write_bytes(file.read_bytes().replace(b"pauses ninety", b"pauses sixty"))
    message, (pair,) = told(desk)
    assert message == "Changed by another writer: entries 0 added, 0 removed, 1 changed"
    assert "pauses ninety" in (pair.before or "")
    assert "pauses sixty" in (pair.after or "")


def test_the_first_note_of_a_workspace_and_of_the_profile(desk: Opened) -> None:
    home = desk.found.home
    made = ["agents/scout/memory/user/USER.md", "memory/00000000000000aa/MEMORY.md"]
    for file in made:
        (home / file).parent.mkdir(parents=True)
        (home / file).write_text(ADDED)
    assert [edit.subject for edit in note_outside(desk)] == made


def test_what_signoff_wrote_is_no_outside_edit(desk: Opened) -> None:
    assert notes.carry_out(desk, notes.add_to(desk, FILE, "The wharf is closed.")).ok
    assert note_outside(desk) == ()
    assert notes.carry_out(desk, notes.amend_in(desk, FILE, NOTE, "It waits a minute.")).ok
    assert note_outside(desk) == ()
    assert notes.carry_out(desk, notes.forget_in(desk, FILE, NOTE)).ok
    assert note_outside(desk) == ()
