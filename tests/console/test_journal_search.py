"""The journal screen: searching, rates, bulk steps, torn entries, and what others wrote."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from console.app import SignoffApp
from console.screens.skills import SkillsScreen
from console.screens.skills_table import SkillTable
from core.desk.opening import Opened
from core.desk.outside import OutsideEdit, note_outside
from core.desk.review import Board
from core.homes.hermes.pending import Queue
from core.journal import Journal, State
from core.sightings import Sightings
from tests.console.pilots import (
    DEADLINE,
    JOURNAL_MODE,
    NOW,
    Console,
    open_console,
    sample,
    settle,
    start_of,
    tree,
)

USER = "b71d90e4"
SKILL = "1a6fd3b8"
PATCH = "c31e9f60"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


async def decide(console: Console, key: str, *names: str) -> None:
    for name in names:
        await console.at(name)
        await console.press(key)


async def mark(console: Console, *names: str) -> None:
    for name in names:
        console.review.queue.mark((await console.at(name)).key, on=True)
    await console.settle()


def keys(console: Console) -> list[str]:
    return [item.key for item in console.journal.rows.items]


def numbers(console: Console) -> list[int]:
    return [item.number for item in console.journal.rows.items]


def title(console: Console) -> str:
    return str(console.journal.rows.border_title)


# -- searching -----------------------------------------------------------------------------


async def test_a_search_finds_notes_subjects_messages_and_paths(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, "a", SKILL, USER)
        await console.at(PATCH)
        await console.press("R", *"too vague", "enter", JOURNAL_MODE)
        assert numbers(console) == [3, 2, 1]
        for words, found in (
            ("TOO  vague", [3]),
            (USER, [2]),
            ("flaky-browser-tests/skill.md", [1]),
            ("memories/user.md", [2]),
        ):
            await console.press("slash", *words, "enter")
            assert numbers(console) == found, words
        assert title(console) == "1 with “memories/user.md”"
        await console.press("escape")
        assert numbers(console) == [3, 2, 1]
        assert title(console) == "Decisions (3)"


async def test_a_search_that_finds_nothing_says_so_and_escape_shows_all(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, "a", USER)
        await console.press(JOURNAL_MODE, "slash", *"kiln", "enter")
        assert "No decision has “kiln” in its words or paths." in console.words
        await console.press("U")
        assert console.flash == "No decision is found"
        await console.press("escape")
        assert numbers(console) == [1]
        assert console.journal.rows.has_focus


async def test_a_search_stays_while_the_journal_grows_and_can_be_left(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, "a", USER, SKILL)
        await console.press(JOURNAL_MODE, "slash", *USER, "enter")
        await console.press("U")
        assert numbers(console) == [3, 1]
        await console.press("slash", "escape")
        assert numbers(console) == [3, 1]
        await console.press("slash", "enter")
        assert numbers(console) == [3, 2, 1]


async def test_hostile_words_are_looked_for_as_they_are(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, "a", USER)
        await console.press(JOURNAL_MODE, "slash", *"[/x]", "enter")
        assert "No decision has “[/x]” in its words" in console.words


# -- rates ---------------------------------------------------------------------------------


async def test_t_shows_how_often_whose_proposals_are_approved(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(JOURNAL_MODE, "t")
        assert "Nothing was approved or refused here yet." in console.words
        await console.press("escape", "1")
        await decide(console, "a", USER, SKILL)
        await decide(console, "r", PATCH)
        await console.press(JOURNAL_MODE, "t")
        assert "Approved, by origin" in console.picture
        assert "auto ███████░░░ 67% 2 approved, 1 refused" in console.words
        await console.press("escape", "g", "U")
        await console.press("t")
        assert "auto ██████████ 100% 2 approved, 0 refused" in console.words
        assert "Decisions that were taken back do not count." in console.words


# -- bulk steps ----------------------------------------------------------------------------


async def test_a_bulk_step_is_shown_as_one_and_u_takes_it_back_as_one(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await mark(console, USER, SKILL)
        await console.press("a")
        await decide(console, "r", PATCH)
        await console.press(JOURNAL_MODE)
        assert keys(console) == ["3", "bulk 1"]
        assert console.picture.count("bulk step 1: ") == 1
        await console.press("G")
        assert "Bulk step 1: approve 2 at once" in console.words
        assert "2 decisions; U takes all of it back as one" in console.words
        assert f"✓ 2 approve {USER}: Added 1 entry" in console.words
        await console.press("enter")
        assert keys(console) == ["3", "bulk 1", "2", "1"]
        await console.press("G")
        assert "Part of bulk step 1: 2 decisions; U takes all of it back as one" in console.words
        await console.press("escape")
        assert keys(console) == ["3", "bulk 1"]
        assert console.journal.rows.cursor_key == "bulk 1"
        await console.press("U")
        assert console.flash == "2 decisions of bulk step 1 taken back"
        assert "2 decisions, all taken back" in console.words
        assert (home / f"pending/memory/{USER}.json").exists()
        assert (home / f"pending/skills/{SKILL}.json").exists()
        assert keys(console) == ["bulk 2", "3", "bulk 1"]
        await console.press("U")
        assert console.flash == "Bulk step 1 is undone already"
        # Taking several back is one step too: it opens to its parts, and goes back as one.
        await console.press("g")
        assert "Bulk step 2: undo 2 at once" in console.words
        assert "Entry 1 (approve" in console.words
        await console.press("U")
        assert console.flash == "2 decisions of bulk step 2 taken back"
        assert not (home / f"pending/memory/{USER}.json").exists()
        await console.press("g", "U", "j", "j", "U")
        assert console.flash.startswith("Entry 3 (reject")
        assert tree(home) == before


async def test_a_part_that_cannot_be_taken_back_ends_it_and_says_what_stands(home: Path) -> None:
    async with open_console(home) as console:
        await mark(console, USER, SKILL)
        await console.press("a")
        first = Journal(console.state).entry(1)
        path = home / first.changed[0] / "SKILL.md"
        path.write_text(path.read_text() + "\nWritten by another hand.\n")
        before = path.read_bytes()
        await console.press(JOURNAL_MODE, "U")
        assert path.read_bytes() == before
        assert console.flash.startswith("1 decision of bulk step 1 taken back, then: ")
        assert "2 decisions; U takes the 1 that stand back as one" in console.words


# -- torn entries --------------------------------------------------------------------------


async def test_a_torn_entry_says_what_to_do_and_p_puts_it_away(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, "a", SKILL, USER)
        await console.press(JOURNAL_MODE, "p")
        assert console.flash == "Entry 2 is not torn: there is nothing to put away"
        Journal(console.state).close(1, State.TORN, "torn", "interrupted")
        await console.press("f5", "g")
        assert numbers(console)[0] == 1
        assert "mend by hand what is wrong, then put it away with p." in console.words
        await console.press("p")
        assert console.flash == "Entry 1 is put away"
        assert numbers(console) == [2, 1]
        assert "did not end" not in console.picture
        await console.press("G", "U")
        assert console.flash == (
            "Entry 1 was torn and put away: what is left of it is mended by hand"
        )


async def test_an_open_entry_says_that_the_next_decision_settles_it(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, "a", SKILL, USER)
        Journal(console.state).close(1, State.OPEN, "ok", "interrupted")
        await console.press("f5", JOURNAL_MODE, "g")
        assert "It did not end. The next decision settles it" in console.words


# -- what others wrote ---------------------------------------------------------------------


async def test_what_another_writer_changed_stands_apart_and_is_not_undone(home: Path) -> None:
    user = home / "memories/USER.md"
    async with open_console(home) as console:
        console.app.note_outside()
        await console.settle()
        await console.press(JOURNAL_MODE)
        assert numbers(console) == []
        user.write_text(user.read_text() + "\n§\nA fact from elsewhere.")
        console.app.note_outside()
        await console.settle()
        (item,) = console.journal.rows.items
        assert (item.verb, item.state, item.subject) == ("outside", "outside", "memories/USER.md")
        assert "≠ outside" in console.picture
        assert "noticed by" in console.words
        assert "Another writer made this change: no decision of yours." in console.words
        assert "A fact from elsewhere." in console.words
        before = tree(home)
        await console.press("U")
        assert console.flash == "Another writer made this change: signoff cannot undo it"
        await console.press("u")
        assert tree(home) == before


async def test_our_own_writes_are_no_outside_edits(home: Path) -> None:
    async with open_console(home) as console:
        console.app.note_outside()
        await decide(console, "a", USER)
        console.app.note_outside()
        await console.settle()
        await console.press(JOURNAL_MODE)
        assert [item.verb for item in console.journal.rows.items] == ["approve"]


async def test_a_look_settles_nothing_and_one_at_most_waits(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, "a", USER)
        Journal(console.state).close(1, State.OPEN, "ok", "interrupted")
        before = tree(home)
        for _ in range(5):
            console.app.note_outside()
        assert console.app.writes.waiting <= 1
        await console.settle()
        assert tree(home) == before
        assert Journal(console.state).entry(1).state is State.OPEN


async def test_a_journal_that_cannot_be_used_stops_no_one(home: Path) -> None:
    async with open_console(home) as console:
        journal = Journal(console.state).path
        journal.parent.mkdir(exist_ok=True)
        journal.unlink(missing_ok=True)
        journal.mkdir()
        console.app.note_outside()
        await console.settle()
        assert not console.app.writes.busy
        assert "Problem" not in console.picture


async def test_a_change_seen_by_the_watcher_reaches_the_open_journal(home: Path) -> None:
    app = SignoffApp(start_of(home), state=home.parent / "state", clock=lambda: NOW, live=True)
    user = home / "memories/USER.md"
    async with app.run_test(size=(120, 36)) as pilot:
        console = Console(app, pilot, home)
        await settle(app, pilot)
        await console.press(JOURNAL_MODE)
        user.write_text(user.read_text() + "\n§\nA fact from elsewhere.")
        loop = asyncio.get_running_loop()
        end = loop.time() + DEADLINE
        while not console.journal.rows.items:
            assert loop.time() < end, "the outside edit did not arrive"
            await pilot.pause(0.05)
        await settle(app, pilot)
        assert [item.state for item in console.journal.rows.items] == ["outside"]
        assert app.opened is not None
        assert note_outside(app.opened) == ()


def watched(home: Path) -> SignoffApp:
    """The console on ``home``, as a person starts it."""
    return SignoffApp(start_of(home), state=home.parent / "state", clock=lambda: NOW, live=True)


async def until_noted(app: SignoffApp, pilot: Pilot[None]) -> None:
    """Wait until the first look at the home was taken."""
    loop = asyncio.get_running_loop()
    end = loop.time() + 20
    while Sightings(app.log_file.parent).last(str(app.opened and app.opened.found.home)) is None:
        assert loop.time() < end, "no first look was taken"
        await pilot.pause(0.05)
    await settle(app, pilot)


async def test_the_first_table_stands_before_every_file_is_looked_at(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noting(opened: Opened) -> tuple[OutsideEdit, ...]:
        order.append("looked")
        return note_outside(opened)

    def listed(screen: SkillTable, read: Any) -> None:
        order.append("table")
        SkillTable._listed(screen, read)

    monkeypatch.setattr("core.desk.outside.note_outside", noting)
    monkeypatch.setattr(SkillsScreen, "_listed", listed)
    shutil.rmtree(home / "pending")
    app = watched(home)
    app.ui = replace(app.ui, mode="skills")
    async with app.run_test(size=(120, 36)) as pilot:
        await until_noted(app, pilot)
        assert order == ["table", "looked"]


async def test_what_changes_between_start_and_first_look_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also by the first look of all: the file changes while the queue is read for the first time."""
    user, read = home / "memories/USER.md", Board.read

    def meanwhile(board: Board) -> Queue:
        if "elsewhere" not in user.read_text():
            user.write_text(user.read_text() + "\n§\nA fact from elsewhere.")
        return read(board)

    monkeypatch.setattr(Board, "read", meanwhile)
    app = watched(home)
    async with app.run_test(size=(120, 36)) as pilot:
        console = Console(app, pilot, home)
        await until_noted(app, pilot)
        await console.press(JOURNAL_MODE)
        (item,) = console.journal.rows.items
        assert (item.verb, item.subject) == ("outside", "memories/USER.md")


async def test_a_decision_at_once_waits_for_the_first_look(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what it wrote would be taken for another's."""
    monkeypatch.setattr("console.workspace.SOON", 3600)
    app = watched(home)
    async with app.run_test(size=(120, 36)) as pilot:
        console = Console(app, pilot, home)
        await settle(app, pilot)
        assert app.opened is not None
        looks, place = Sightings(console.state), str(app.opened.found.home)
        assert looks.last(place) is None
        await decide(console, "a", USER)
        assert looks.last(place) is not None
        await console.press(JOURNAL_MODE)
        assert [item.verb for item in console.journal.rows.items] == ["approve"]
        assert note_outside(app.opened) == ()
