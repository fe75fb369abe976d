"""What people met who used the console from the README alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.content import Content

from console.render.acceptance import OriginRate, acceptance_lines
from console.render.journal import BulkStep, JournalItem, journal_row
from console.widgets.bars import FlashLine, KeyBar
from core.journal import Journal
from tests.console.pilots import (
    JOURNAL_MODE,
    MEMORY_MODE,
    SKILLS_MODE,
    Console,
    open_console,
    sample,
)

NARROW = (80, 24)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


def first(console: Console, status: str) -> str:
    return next(item.id for item in console.review.queue.items if item.status == status)


async def test_the_first_a_shows_the_warning_where_one_pane_shows_at_a_time(home: Path) -> None:
    """It said "read the warning" while the warning was behind the list."""
    async with open_console(home, size=NARROW) as console:
        await console.at(first(console, "attention"))
        await console.press("a")
        assert console.flash == "It asks first: read the warning; a again applies it"
        assert console.review.has_class("-inside")
        assert "? attention" in console.picture
        assert not Journal(console.state).entries()
        await console.press("a")
        assert len(Journal(console.state).entries()) == 1


async def test_rows_that_failed_are_judged_anew_once_the_step_is_taken_back(home: Path) -> None:
    """They kept "failed", with the reason of a home that was not there any more."""
    async with open_console(home) as console:
        before = [(item.id, item.status) for item in console.review.queue.items]
        await console.press("*", "a")
        assert "failed" in {item.fate for item in console.review.queue.items}
        await console.press("u")
        assert {item.fate for item in console.review.queue.items} == {""}
        assert [(item.id, item.status) for item in console.review.queue.items] == before


async def test_what_another_mode_said_last_goes_with_the_next_decision(home: Path) -> None:
    """Review still said "u takes it back" of what was taken back in the journal."""
    async with open_console(home) as console:
        await console.at(first(console, "ready"))
        await console.press("a")
        said, review = console.flash, console.review
        assert "u takes it back" in said
        await console.press(JOURNAL_MODE, "1")
        assert console.flash == "", "it goes with the next key"
        await console.press(MEMORY_MODE)
        # As if the decision had been through only now.
        review.flash(said)
        await console.press("d")
        assert console.flash.startswith("✓ Forgotten")
        await console.press("1")
        assert console.flash == ""


async def test_a_record_that_cannot_be_read_says_why_once(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("*", "a", "G")
        assert console.words.count("Unterminated string") == 1


@pytest.mark.parametrize("mode", ["1", SKILLS_MODE])
async def test_the_bar_offers_no_keys_while_a_line_is_typed(home: Path, mode: str) -> None:
    """ "enter look" and "? help" stood there while both keys meant the line."""
    keys = dict.fromkeys(("review.close", "skills.close"), "f8")
    async with open_console(home, size=NARROW, keys=keys) as console:
        await console.press(mode, "slash")
        assert not console.app.screen.query_one(KeyBar).visible
        assert console.flash == "enter keeps the filter, esc takes it off"
        await console.press("escape")
        assert console.app.screen.query_one(KeyBar).visible
        assert console.flash == "", "no word of a line that is closed"


async def test_the_narrow_header_says_that_a_record_cannot_be_read(home: Path) -> None:
    async with open_console(home, size=NARROW) as console:
        said = console.header.splitlines()[0].replace(" ", "")
        assert said.endswith(("24waiting+1!", "24waiting1!"))


async def test_a_line_that_is_too_long_keeps_the_keys_at_its_end(home: Path) -> None:
    """At 80 columns "u takes it back" was cut off."""
    async with open_console(home, size=NARROW) as console:
        await console.at(first(console, "ready"))
        await console.press("r")
        said = "✓ The proposal was refused; nothing else was changed (u takes it back)"
        assert console.flash == said
        line = console.app.screen.query_one(FlashLine)
        line.say(Content("x" * 90))
        assert console.flash == "x" * 90


def test_origins_are_called_as_in_the_queue() -> None:
    (row, *_) = acceptance_lines([OriginRate("background_review", 2, 1, 2 / 3)], 60)
    assert row.content.plain.startswith("auto ")


def test_a_bulk_step_shows_whether_its_parts_are_listed() -> None:
    part = JournalItem("1", 1, "approve", "x", "done", "1d ago", "Added.", "", None)
    for opened, sign in ((False, "▸"), (True, "▾")):
        step = BulkStep(1, 2, 2, opened)
        item = JournalItem(
            *("bulk 1", 2, "approve", "2 at once", "done", "1d ago", "2 decisions", "", None),
            bulk=step,
            whole=(part, part),
        )
        assert f"{sign} approve 2 at once" in journal_row(item, 70)[0].plain


async def test_a_sheet_says_that_it_goes_on_below(home: Path) -> None:
    async with open_console(home, size=NARROW) as console:
        await console.press("question_mark")
        assert "j k scroll, esc closes" in console.picture
        await console.press("escape", "i", JOURNAL_MODE, "t")
        assert "esc closes" in console.picture
        assert "j k scroll" not in console.picture
