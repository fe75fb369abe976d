"""What nobody looked at is not decided, and the keys of the preview stay with what is read.

Newcomers' reports on Review at 140x42 and 80x24. The sample home's records: see
``test_review_screen``. Time passes by the console's own clock: :meth:`Console.tap` lets none pass.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets._footer import FooterKey

from console.screens.note import NoteScreen
from console.screens.review_preview import LOOK
from console.widgets.filterline import FilterLine
from core.journal import Journal
from tests.console.pilots import Console, open_console, sample

WIDE, NARROW = (140, 42), (80, 24)
READY_SKILL, READY_USER, READY_MEMORY = "1a6fd3b8", "b71d90e4", "3f8a1c20"
STALE = "81e5a2cc"
#: A question without a place in the text, and a text with one marked place.
QUESTION, HIDDEN = "c85b3e92", "947acd31"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


def decided(console: Console) -> list[tuple[str, str]]:
    """Verb and subject of every decision, the oldest first."""
    return [(e.verb, e.subject) for e in reversed(Journal(console.state).entries())]


def here(console: Console) -> str:
    item = console.review.queue.cursor_item
    assert item is not None
    return str(item.id)


async def narrowed(console: Console, line: str) -> None:
    await console.press("slash", *("colon" if c == ":" else c for c in line), "enter")


# -- the key that decided one proposal does not decide the next ------------------------------


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_a_double_tap_of_a_approves_one_proposal(home: Path, size: tuple[int, int]) -> None:
    async with open_console(home, size=size) as console:
        await narrowed(console, "status:ready")
        first = here(console)
        await console.tap("a")
        second = here(console)
        assert second != first
        await console.tap("a")
        assert console.flash == "This is the next proposal; a again approves it"
        assert decided(console) == [("approve", first)]
        console.seconds += LOOK - 0.125
        await console.tap("a")
        assert decided(console) == [("approve", first)]
        console.seconds += 0.25
        await console.tap("a")
        assert decided(console) == [("approve", first), ("approve", second)]


async def test_a_double_tap_of_r_refuses_one_proposal(home: Path) -> None:
    async with open_console(home, size=WIDE) as console:
        await console.at(STALE)
        await console.tap("r", "r")
        assert console.flash == "This is the next proposal; r again refuses it"
        await console.tap("R")
        assert console.flash == "This is the next proposal; R again refuses it"
        await console.tap("E")
        assert console.flash == "This is the next proposal; E again converts it"
        assert decided(console) == [("reject", STALE)]


async def test_the_preview_that_fills_a_narrow_screen_is_not_decided_by_a_double_tap(
    home: Path,
) -> None:
    """Below 100 columns the preview swaps to the next proposal at once."""
    async with open_console(home, size=NARROW) as console:
        await console.at(READY_SKILL)
        await console.press("enter")
        assert console.review.preview.has_focus
        await console.tap("a", "a")
        assert console.flash == "This is the next proposal; a again approves it"
        assert f"{READY_USER}, " in console.text
        assert decided(console) == [("approve", READY_SKILL)]


async def test_one_key_a_proposal_is_enough_for_who_looks_at_each(home: Path) -> None:
    async with open_console(home, size=WIDE) as console:
        await narrowed(console, "status:ready")
        for _ in range(3):
            await console.press("a")
        assert len(decided(console)) == 3


async def test_a_row_the_person_went_to_is_decided_at_once(home: Path) -> None:
    async with open_console(home, size=WIDE) as console:
        await console.at(STALE)
        await console.tap("r")
        came = here(console)
        await console.tap("j")
        chosen = here(console)
        await console.tap("r")
        assert decided(console) == [("reject", STALE), ("reject", chosen)]
        assert console.row(came) is not None


async def test_after_marked_rows_the_row_at_the_cursor_is_looked_at_first(home: Path) -> None:
    """``space`` steps down: the second key would decide a row of which only a forecast was seen."""
    async with open_console(home, size=WIDE) as console:
        await console.at(STALE)
        await console.tap("space", "space")
        left = here(console)
        await console.tap("r", "r")
        assert console.flash == "This is the next proposal; r again refuses it"
        assert len(decided(console)) == 2
        assert console.row(left) is not None
        console.seconds += LOOK
        await console.tap("r")
        assert decided(console)[-1] == ("reject", left)


# -- the keys of the preview -----------------------------------------------------------------


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("key", ["n", "N"])
async def test_a_preview_without_a_mark_is_not_left_by_the_keys_that_walk_marks(
    home: Path, key: str, size: tuple[int, int]
) -> None:
    async with open_console(home, size=size) as console:
        await console.at(QUESTION)
        await console.press("enter")
        assert not console.review.preview._stops
        await console.press(key)
        assert here(console) == QUESTION
        assert console.flash == "There is no mark in this text; ] is the proposal below"


async def test_the_only_mark_is_gone_to_once(home: Path) -> None:
    async with open_console(home, size=WIDE) as console:
        await console.at(HIDDEN)
        await console.press("enter", "n")
        assert console.flash == ""
        await console.press("n")
        assert here(console) == HIDDEN
        assert console.flash == "There is no further mark in this text; ] is the proposal below"


async def test_brackets_go_to_the_proposals_beside_it_while_reading(home: Path) -> None:
    async with open_console(home, size=NARROW) as console:
        items = console.review.queue.items
        await console.press("enter", "right_square_bracket")
        assert here(console) == items[1].id
        assert console.review.preview.has_focus
        assert f"{items[1].id}, " in console.text
        await console.press("left_square_bracket", "left_square_bracket")
        assert here(console) == items[0].id
        assert console.flash == "No further proposal above"


async def test_the_preview_offers_the_way_back(home: Path) -> None:
    async with open_console(home, size=NARROW) as console:

        def offered() -> set[tuple[str, str]]:
            return {(k.key_display, k.description) for k in console.app.screen.query(FooterKey)}

        assert ("esc", "back") not in offered()
        await console.press("enter")
        assert ("esc", "back") in offered()
        await console.press("escape")
        assert console.review.queue.has_focus
        assert ("esc", "back") not in offered()


async def test_a_filter_is_typed_where_it_is_seen(home: Path) -> None:
    """In the narrow preview ``/`` opened a line behind it."""
    async with open_console(home, size=NARROW) as console:
        await console.press("enter", "slash", "t", "e", "a")
        line = console.review.query_one(FilterLine)
        assert line.has_focus
        assert line.region.height == 1
        assert " tea" in console.picture


# -- what is said ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["G", "n", "enter", "z"])
async def test_what_was_said_of_a_key_goes_with_the_next(home: Path, key: str) -> None:
    async with open_console(home, size=NARROW) as console:
        await console.press("i")
        assert console.flash == "Nothing was decided yet; the journal has what was before"
        await console.press(key)
        assert console.review.said == ""


async def test_what_was_said_goes_with_a_click(home: Path) -> None:
    async with open_console(home, size=WIDE) as console:
        await console.press("i")
        assert console.flash
        await console.pilot.click("#queue", offset=(10, 6))
        await console.settle()
        assert console.flash == ""


async def test_a_filter_says_how_many_rows_it_hides(home: Path) -> None:
    async with open_console(home, size=NARROW) as console:
        every = len(console.review.queue.items)
        await narrowed(console, "status:ready")
        hidden = every - len(console.review.queue.items)
        assert f"{hidden} hidden by the filter" in str(console.review.queue.border_subtitle)
        await console.press("escape")
        assert "hidden" not in str(console.review.queue.border_subtitle)


async def test_a_filter_word_that_is_none_is_said_while_it_is_typed(home: Path) -> None:
    """``/status:foo`` and ``/target:skill(s)`` left an empty list and said nothing."""
    async with open_console(home, size=NARROW) as console:
        every = len(console.review.queue.items)
        await console.press("slash", *"status", "colon")
        assert len(console.review.queue.items) == every
        await console.press(*"foo")
        assert console.flash.startswith("No status is called foo. Write ready, attention, noop,")
        assert len(console.review.queue.items) == every
        await console.press("ctrl+u", *"target", "colon", *"skills")
        assert console.flash.startswith("No target is called skills. Write ")
        await console.press("ctrl+u", *"status", "colon", *"ready")
        assert console.flash == "enter keeps the filter, esc takes it off"


async def test_a_time_that_is_none_is_said_where_it_is_typed(home: Path) -> None:
    """``Z`` with "bananas" closed the line, and what was typed next ran as keys."""
    async with open_console(home, size=NARROW) as console:
        await console.at(STALE)
        await console.press("Z", *"bananas", "enter")
        assert isinstance(console.app.screen, NoteScreen)
        assert "'bananas' is no time. Write it like 7d, 12h or 2026-12-24T09:00" in console.picture
        await console.press("ctrl+u")
        assert "enter puts it off, esc leaves all as it is" in console.picture
        await console.press(*"7d", "enter")
        assert console.row(STALE) is None
        assert console.flash.startswith(f"{STALE} sleeps until 2026-")
        assert decided(console) == []


async def test_a_row_that_could_not_be_decided_stays_although_the_filter_leaves_it_out(
    home: Path,
) -> None:
    """A newcomer's report: "their rows say why" stood over "Queue (0 of 16)"."""
    async with open_console(home, size=NARROW) as console:
        await narrowed(console, "status:ready")
        count = len(console.review.queue.items)
        await console.press("*", "a")
        assert console.flash.startswith(f"{count - 1} approved; 1 not, its row says why; ")
        (left,) = console.review.queue.items
        assert left.fate == "failed"
        assert str(console.review.queue.border_title).startswith("Queue (1 of ")
        assert "hidden by the filter" in str(console.review.queue.border_subtitle)


async def test_a_wide_screen_says_where_rows_came_from_and_which_pane_has_the_keys(
    home: Path,
) -> None:
    async with open_console(home, size=WIDE) as console:
        await console.at(STALE)
        row = next(line for line in console.picture.splitlines() if "Deploys go out" in line)
        assert row[: row.index("┃│")].rstrip("▁▂▃▄▅▆▇█ ").endswith("7w  auto")
        assert f"{STALE}, 7w ago, from the background review" in console.text
        assert "┏━ Queue" in console.picture
        assert "╭─ Preview" in console.picture
        await console.press("enter")
        assert "╭─ Queue" in console.picture
        assert "┏━ Preview" in console.picture
