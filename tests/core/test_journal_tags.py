"""What the journal files decisions under, what it remembers beside them, and older formats of it."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from core.database import FORMAT, FORMATS
from core.journal import Intent, Journal, State, Step, Tags, in_force
from core.model import Change
from tests.core.grounds import NOW, file

HOME = "/h"
STEP = Step(Change("memories/MEMORY.md", file(b"old", 0o640), file(b"new", 0o640)))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state")


def intent(*steps: Step, **fields: Any) -> Intent:
    made = Intent(NOW, HOME, "default", "approve", "0a0a0a0a", "ok", "added", steps)
    return replace(made, **fields)


# -- tags, bulk steps, refusals, snoozes ----------------------------------------------------


def test_tags_come_back_and_a_bulk_step_has_a_number_of_its_own(journal: Journal) -> None:
    numbers = [journal.new_bulk(HOME, NOW), journal.new_bulk("/other", NOW)]
    assert len(set(numbers)) == 2
    tags = Tags(numbers[0], "background_review", "hash")
    number = journal.open(intent(tags=tags))
    assert journal.entry(number).tags == tags
    assert journal.entries()[0].tags == tags
    assert journal.entry(journal.open(intent())).tags == Tags(None, None, "")


def test_refusals_are_found_by_what_was_proposed(journal: Journal) -> None:
    assert not journal.any_refused(HOME)
    for verb, home, state in (
        ("reject", HOME, State.DONE),
        ("reject", HOME, State.DONE),
        ("reject", HOME, State.FAILED),
        ("reject", "/other", State.DONE),
        ("approve", HOME, State.DONE),
    ):
        number = journal.open(intent(verb=verb, home=home, tags=Tags(matter="m")))
        journal.close(number, state, "rejected", "")
    assert journal.any_refused(HOME)
    assert journal.refused(HOME, ["other"]) == {}
    assert journal.refused(HOME, ["m", "other"])["m"].id == 2
    undo = journal.open(intent(verb="undo", undoes=2))
    journal.close(undo, State.DONE, "undone", "")
    assert journal.refused(HOME, ["m"])["m"].id == 1


def test_snoozes_are_per_home_and_replaced(journal: Journal) -> None:
    later, much_later = NOW + timedelta(days=1), NOW + timedelta(days=9)
    journal.snooze(HOME, "a", later, NOW)
    journal.snooze(HOME, "a", much_later, NOW)
    journal.snooze(HOME, "b", later, NOW)
    journal.snooze("/other", "b", much_later, NOW)
    assert journal.snoozes(HOME) == {"a": much_later, "b": later}
    journal.snooze(HOME, "a", None, NOW)
    assert journal.snoozes(HOME) == {"b": later}


@pytest.mark.parametrize(
    ("undone", "stands"),
    [({}, True), ({1: 2}, False), ({1: 2, 2: 3}, True), ({1: 2, 2: 3, 3: 4}, False)],
)
def test_an_undo_that_was_undone_puts_the_entry_in_force(
    undone: dict[int, int], stands: bool
) -> None:
    assert in_force(1, undone) is stands


# -- older formats -------------------------------------------------------------------------


def first_format(journal: Journal) -> None:
    """A journal as the first format left it: one entry, without tags in its body."""
    journal.folder.mkdir(mode=0o700)
    body: dict[str, object] = {
        "subject": "0a", "category": "ok", "message": "added", "note": "", "record": None,
        "undoes": None, "changed": [], "actor": {}, "entries": [], "locks": [],
    }  # fmt: skip
    with contextlib.closing(sqlite3.connect(journal.path)) as db:
        db.executescript(FORMATS[0])
        db.execute(
            "INSERT INTO entries (at, home, profile, state, verb, body)"
            " VALUES (?, ?, 'null', 'done', 'reject', ?)",
            (NOW.isoformat(), json.dumps(HOME), json.dumps(body)),
        )
        db.execute("PRAGMA user_version = 1")
        db.commit()


def format_of(journal: Journal) -> int:
    with contextlib.closing(sqlite3.connect(journal.path)) as db:
        found: int = db.execute("PRAGMA user_version").fetchone()[0]
    return found


def test_a_journal_of_the_first_format_is_read_as_it_stands(journal: Journal) -> None:
    first_format(journal)
    before = journal.path.read_bytes()
    assert [entry.tags for entry in journal.entries(HOME)] == [Tags()]
    assert journal.entry(1).subject == "0a"
    assert journal.snoozes(HOME) == {}
    assert journal.refused(HOME, ["m"]) == {}
    assert not journal.any_refused(HOME)
    assert (journal.path.read_bytes(), format_of(journal)) == (before, 1)


def test_the_first_write_brings_it_up_to_date_and_keeps_what_is_there(journal: Journal) -> None:
    first_format(journal)
    assert journal.open(intent(STEP, tags=Tags(journal.new_bulk(HOME, NOW)))) == 2
    assert format_of(journal) == FORMAT
    assert [entry.tags.bulk for entry in journal.entries(HOME)] == [1, None]
    journal.snooze(HOME, "a", NOW, NOW)
    assert journal.snoozes(HOME) == {"a": NOW}
    assert journal.entry(2).steps == (STEP,)


def test_two_processes_bring_it_up_to_date_at_once(journal: Journal) -> None:
    first_format(journal)
    children = []
    for writer in range(4):
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                journal.snooze(HOME, str(writer), NOW, NOW)
                os._exit(0)
            os._exit(1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4
    assert set(journal.snoozes(HOME)) == {"0", "1", "2", "3"}
    assert len(journal.entries(HOME)) == 1
