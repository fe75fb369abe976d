"""The journal: private, whole, for any text, for several writers at once (design, section 1)."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.database import FORMAT
from core.errors import NotFoundError, StateError
from core.journal import Intent, Journal, State, Step
from core.model import Change, EntryChange, Move, Node, NodeKind, RowAction, RowEdit
from core.sightings import Sightings
from tests.core.grounds import NOW, apart, file, folder, link

HOME = "/h"

INTENT = Intent(
    at=NOW,
    home=HOME,
    profile="default",
    verb="approve",
    subject="0a0a0a0a",
    category="ok",
    message="added",
    steps=(),
)


def intent(*steps: Step, **fields: Any) -> Intent:
    return replace(INTENT, steps=steps, **fields)


def one_file(data: bytes = b"new") -> Step:
    return Step(Change("memories/MEMORY.md", file(b"old", 0o640), file(data, 0o640)))


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state")


def test_reading_makes_nothing(journal: Journal) -> None:
    assert journal.entries() == ()
    assert journal.pins(HOME) == {}
    with pytest.raises(NotFoundError, match="no entry 1"):
        journal.entry(1)
    assert not journal.folder.exists()


def test_folder_and_file_are_private_whatever_the_umask(journal: Journal) -> None:
    old = os.umask(0)
    try:
        journal.open(intent(one_file()))
    finally:
        os.umask(old)
    assert journal.folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in journal.folder.iterdir()] == ["journal.sqlite3"]
    assert journal.path.stat().st_mode & 0o777 == 0o600


def test_an_entry_comes_back_as_it_was_opened(journal: Journal) -> None:
    edits = (
        RowEdit("skills/.usage.json", "x", RowAction.ADD, "n", 1, 2, {"n": 0}),
        RowEdit("skills/.usage.json", "x", RowAction.SET, "at", None, "now", None, sealed=True),
        RowEdit("skills/.usage.json", "y", RowAction.DROP, old={"a": [1, {"b": None}]}),
    )
    steps = (
        Step(Change("skills/.archive", None, folder(0o750))),
        Step(Move("skills/ops/x", "skills/.archive/x")),
        Step(Change("skills/l", link("../x"), None)),
        Step(Change("skills/.usage.json", file(b"{}"), file(b"{1}")), edits),
        Step(Change("skills/.usage.json", file(b"{1}"), None), edits, taken_back=True),
        Step(Change(".cache", file(b"c"), None, cache=True)),
        one_file(),
    )
    pairs = (EntryChange("before", "after"), EntryChange(None, "added"))
    number = journal.open(
        intent(
            *steps, record="pending/memory/0a.json", note="why", entries=pairs, locks=("a.lock",)
        )
    )
    entry = journal.entry(number)
    assert entry.steps == steps
    assert (entry.state, entry.ok, entry.undone_by) == (State.OPEN, False, None)
    assert (entry.record, entry.note, entry.entries) == ("pending/memory/0a.json", "why", pairs)
    assert entry.locks == ("a.lock",)
    assert entry.changed == tuple(step.change.path for step in steps)
    assert (entry.at, entry.home, entry.profile) == (NOW.isoformat(), HOME, "default")
    (line,) = journal.entries()
    assert line == replace(entry, steps=())


def test_each_line_says_who_decided(journal: Journal) -> None:
    entry = journal.entry(journal.open(intent()))
    assert set(entry.actor) == {"user", "terminal", "parent"}
    assert entry.actor["parent"].split()[0] == str(os.getppid())


def test_listing_is_newest_first_by_home_state_and_limit(journal: Journal) -> None:
    for home in (HOME, "/other", HOME, HOME):
        journal.open(intent(home=home))
    journal.close(1, State.DONE, "ok", "done")
    journal.close(3, State.FAILED, "io_error", "no")
    assert [entry.id for entry in journal.entries()] == [4, 3, 2, 1]
    assert [entry.id for entry in journal.entries(HOME)] == [4, 3, 1]
    assert [entry.id for entry in journal.entries(HOME, limit=2)] == [4, 3]
    assert [entry.id for entry in journal.entries(states=(State.OPEN,))] == [4, 2]
    assert [entry.id for entry in journal.entries(HOME, states=(State.DONE, State.FAILED))] == [
        3,
        1,
    ]
    assert journal.entries(limit=0) == ()


def test_closing_tells_how_it_ended(journal: Journal) -> None:
    number = journal.open(intent(one_file()))
    journal.close(number, State.FAILED, "io_error", "the disk is full")
    entry = journal.entry(number)
    assert (entry.state, entry.category, entry.message) == (
        State.FAILED,
        "io_error",
        "the disk is full",
    )
    assert entry.steps == (one_file(),)


@pytest.mark.parametrize("state", [state for state in State if state is not State.OPEN])
def test_only_an_undo_that_was_done_marks_what_it_took_back(journal: Journal, state: State) -> None:
    first = journal.open(intent())
    journal.close(first, State.DONE, "ok", "done")
    second = journal.open(intent(undoes=first))
    assert journal.entry(first).undone_by is None
    journal.close(second, state, "undone", "taken back")
    assert journal.entry(first).undone_by == (second if state is State.DONE else None)
    assert journal.entry(second).undoes == first


@given(
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.binary(max_size=50),
)
@settings(max_examples=30)
def test_any_text_and_any_bytes_survive(
    tmp_path_factory: pytest.TempPathFactory, text: str, data: bytes
) -> None:
    journal = Journal(tmp_path_factory.mktemp("state"))
    edit = RowEdit("u", text, RowAction.SET, text, text, {text: [text]}, {text: text})
    steps = (
        Step(Change(text, None, file(data))),
        Step(Move(text, f"{text}/2")),
        Step(Change("u", file(data), file(b"{}")), (edit,)),
    )
    given = intent(
        *steps,
        home=text,
        profile=text,
        subject=text,
        message=text,
        note=text,
        record=text,
        entries=(EntryChange(text, text),),
        locks=(text,),
    )
    entry = journal.entry(journal.open(given))
    assert entry.steps == steps
    assert [entry.home, entry.profile, entry.subject, entry.message, entry.note, entry.record] == [
        text
    ] * 6
    assert entry.entries == (EntryChange(text, text),)
    journal.pin(text, text, {0: text}, NOW)
    assert journal.pins(text) == {text: {0: text}}
    assert [found.id for found in journal.entries(text)] == [entry.id]
    journal.close(entry.id, State.DONE, "ok", text)
    assert journal.entry(entry.id).message == text


@pytest.mark.parametrize("text", ["half \ud83d", "nul \0 inside", "x" * 3_000_000])
def test_hostile_and_huge_text(journal: Journal, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    number = journal.open(intent(one_file(data), subject=text, note=text))
    entry = journal.entry(number)
    assert (entry.subject, entry.note, entry.steps) == (text, text, (one_file(data),))


def test_bytes_are_kept_once(journal: Journal) -> None:
    big = b"b" * 100_000
    for _ in range(5):
        journal.open(intent(one_file(big), Step(Change("copy", None, file(big)))))
    with contextlib.closing(sqlite3.connect(journal.path)) as db:
        assert db.execute("SELECT count(*) FROM blobs").fetchone() == (2,)
    assert journal.path.stat().st_size < 2 * len(big)
    assert journal.entry(3).steps[1].change == Change("copy", None, file(big))


def test_kinds_and_modes_belong_to_the_step_not_to_the_bytes(journal: Journal) -> None:
    steps = (
        Step(Change("f", file(b"x", 0o600), file(b"x", 0o644))),
        Step(Change("l", None, Node(NodeKind.LINK, b"x"))),
    )
    assert journal.entry(journal.open(intent(*steps))).steps == steps


def test_the_first_pin_of_an_operation_stays(journal: Journal) -> None:
    journal.pin(HOME, "memory/0a", {0: "first", 2: "third"}, NOW)
    journal.pin(HOME, "memory/0a", {0: "later", 1: "second"}, NOW)
    journal.pin("/other", "memory/0a", {0: "elsewhere"}, NOW)
    assert journal.pins(HOME) == {"memory/0a": {0: "first", 1: "second", 2: "third"}}
    assert journal.pins("/other") == {"memory/0a": {0: "elsewhere"}}
    assert journal.pins("/none") == {}


# -- when the file is odd --------------------------------------------------------------------

USES: Mapping[str, Callable[[Journal], object]] = {
    "open": lambda journal: journal.open(intent(one_file())),
    "close": lambda journal: journal.close(1, State.DONE, "ok", ""),
    "pin": lambda journal: journal.pin(HOME, "r", {0: "e"}, NOW),
    "entries": lambda journal: journal.entries(),
    "entry": lambda journal: journal.entry(1),
    "pins": lambda journal: journal.pins(HOME),
    "bulk": lambda journal: journal.new_bulk(HOME, NOW),
    "snooze": lambda journal: journal.snooze(HOME, "r", NOW, NOW),
    "snoozes": lambda journal: journal.snoozes(HOME),
    "refused": lambda journal: journal.refused(HOME, ["m"]),
    "last look": lambda journal: Sightings(journal.folder).last(HOME),
}


@pytest.mark.parametrize("use", USES)
def test_a_newer_format_is_not_touched(journal: Journal, use: str) -> None:
    journal.open(intent())
    with contextlib.closing(sqlite3.connect(journal.path)) as db:
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")
    before = journal.path.read_bytes()
    with pytest.raises(StateError, match="made by a newer signoff") as caught:
        USES[use](journal)
    assert "SIGNOFF_STATE" in caught.value.hint
    assert journal.path.read_bytes() == before


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("damage", ["noise", "cut", "name", "folder"])
def test_a_damaged_file_is_said_and_never_written_over(
    journal: Journal, use: str, damage: str
) -> None:
    for _ in range(40):
        journal.open(intent(one_file(os.urandom(500))))
    if damage == "noise":
        journal.path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    elif damage == "cut":
        journal.path.write_bytes(journal.path.read_bytes()[:4096])
    elif damage == "name":
        # SQLite says the name of the table it cannot read, here one that is no UTF-8.
        with contextlib.closing(sqlite3.connect(journal.path)) as db, db:
            db.execute("PRAGMA writable_schema = 1")
            db.execute("UPDATE sqlite_master SET name = CAST(x'ff' AS TEXT), sql = 'CREATE'")
    else:
        journal.path.unlink()
        journal.path.mkdir()
    before = None if damage == "folder" else journal.path.read_bytes()
    with pytest.raises(StateError, match="cannot be used"):
        USES[use](journal)
    assert before is None or journal.path.read_bytes() == before


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _no_tables(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("VACUUM")
        db.execute("PRAGMA application_id = 1")
    assert path.stat().st_size > 0


@pytest.mark.parametrize("leave", [_empty, _no_tables])
def test_a_file_without_tables_left_by_a_crash(
    journal: Journal, leave: Callable[[Path], None]
) -> None:
    journal.folder.mkdir()
    leave(journal.path)
    assert journal.entries() == ()
    assert journal.pins(HOME) == {}
    with pytest.raises(NotFoundError):
        journal.entry(1)
    assert journal.open(intent(one_file())) == 1
    assert journal.entry(1).steps == (one_file(),)


def test_a_writer_killed_inside_its_first_transaction(journal: Journal) -> None:
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException), journal._writing() as db:
            db.execute("PRAGMA cache_size = 1")
            for number in range(50):
                db.execute("INSERT INTO blobs VALUES (?, ?)", (str(number), os.urandom(5000)))
            os._exit(9)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert journal.path.stat().st_size > 0, "the case itself: pages were spilled"
    assert journal.entries() == ()
    assert journal.open(intent(one_file())) == 1


def test_nothing_of_a_failed_intent_stays(journal: Journal) -> None:
    journal.open(intent())
    odd = RowEdit("u", "k", RowAction.SET, "f", None, object())
    with pytest.raises(TypeError):
        journal.open(intent(one_file(), Step(Change("u", None, file(b"lost")), (odd,))))
    assert [entry.id for entry in journal.entries()] == [1]
    with contextlib.closing(sqlite3.connect(journal.path)) as db:
        assert db.execute("SELECT count(*) FROM blobs").fetchone() == (0,)


def test_a_folder_one_may_not_write() -> None:
    with apart() as place:
        journal = Journal(place.root / "state")

        def use() -> list[str]:
            said = [str(len(Journal(place.root / "state").entries()))]
            for write in ("open", "pin"):
                try:
                    USES[write](journal)
                except StateError as problem:
                    said.append(problem.message)
            return said

        said = place.unprivileged(use)
        assert said[0] == "0"
        assert len(said) == 3
        assert all("Permission denied" in line for line in said[1:])
        assert not journal.folder.exists()


def test_a_journal_of_someone_else_is_read_but_not_written() -> None:
    with apart() as place:
        journal = Journal(place.root / "state")
        journal.open(intent(one_file()))
        journal.folder.chmod(0o755)
        journal.path.chmod(0o444)

        def use() -> list[str]:
            said = [entry.subject for entry in journal.entries()]
            try:
                journal.open(intent())
            except StateError as problem:
                said.append(problem.hint)
            return said

        said = place.unprivileged(use)
    assert said[0] == "0a0a0a0a"
    assert said[1].startswith("Nothing was changed")


def test_four_processes_write_at_once(journal: Journal) -> None:
    children = []
    for writer in range(4):
        child = os.fork()
        if child == 0:
            status = 1
            with contextlib.suppress(BaseException):
                for number in range(15):
                    data = f"{writer}-{number}".encode()
                    opened = journal.open(intent(one_file(data), subject=data.decode()))
                    journal.pin(HOME, "shared", {number: str(writer)}, NOW)
                    journal.close(opened, State.DONE, "ok", "done")
                status = 0
            os._exit(status)
        children.append(child)
    ended = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ended == [0, 0, 0, 0]
    found = journal.entries()
    assert {entry.subject for entry in found} == {f"{w}-{n}" for w in range(4) for n in range(15)}
    assert {entry.state for entry in found} == {State.DONE}
    for entry in found:
        assert journal.entry(entry.id).steps == (one_file(entry.subject.encode()),)
    assert set(journal.pins(HOME)["shared"]) == set(range(15))
