"""The transcript by keys: scrolling, going to messages and matches, folding, growth, resize."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual import events
from textual.pilot import Pilot

from console.widgets.outline import Shown
from console.widgets.transcript import Find
from console.widgets.transcript_view import BEGINNING
from core.conversations import Mark, Visibility
from core.errors import UnreadableError
from tests.console.widgets.talks import (
    BEGAN,
    Host,
    Talk,
    long_talk,
    mark_of,
    said,
    settle,
    talk,
    words,
)


@asynccontextmanager
async def reading(
    shown: Talk,
    size: tuple[int, int] = (60, 12),
    hits: tuple[int, ...] = (),
    find: Find | None = None,
    narrowed: Shown | None = None,
    dividers: dict[int, str] | None = None,
) -> AsyncIterator[tuple[Host, Pilot[None]]]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        app.view.focus()
        app.view.show(
            shown.marks, shown.fetch, hits=hits, find=find, shown=narrowed, dividers=dividers
        )
        await settle(app, pilot)
        yield app, pilot


async def press(app: Host, pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(app, pilot)


# -- moving ----------------------------------------------------------------------------------------


async def test_it_begins_with_the_first_message_and_says_which_it_is_on() -> None:
    async with reading(talk("hello", "hi")) as (app, _):
        assert app.drawn()[:7] == [
            "▌ user  2026-11-29 12:01  5 chars",
            "▏   hello",
            "▏",
            "  assistant  2026-11-29 12:02  2 chars",
            "    hi",
            "",
            "",
        ]
        assert app.moves == [(None, 0, 0), (1, 1, 2)] or app.moves == [(1, 1, 2)]


async def test_a_line_down_and_up_moves_the_cursor_then_the_view() -> None:
    async with reading(long_talk(50)) as (app, pilot):
        await press(app, pilot, *["j"] * 11)
        assert app.at_cursor() == ""
        assert app.id_at_cursor() == 4
        assert app.drawn()[0].endswith("12:01  9 chars")
        await press(app, pilot, "down", "j")
        assert app.at_cursor() == "message 5"
        assert app.drawn()[0].strip() == ""
        await press(app, pilot, *["k"] * 12, "up")
        assert app.at_cursor().startswith("user  2026-11-29 12:01")
        await press(app, pilot, "k")
        assert app.at_cursor().startswith("user  2026-11-29 12:01")


async def test_to_the_end_and_back_page_by_page_shows_every_message() -> None:
    async with reading(long_talk(300)) as (app, pilot):
        seen = set[str]()
        for key in ("pagedown", "pageup"):
            for _ in range(120):
                seen.update(row.strip("▌▏ ") for row in app.drawn())
                await press(app, pilot, key)
            assert {f"message {n}" for n in range(1, 301)} <= seen, key
            seen.clear()
        assert app.id_at_cursor() == 1


async def test_home_and_end() -> None:
    async with reading(long_talk(100_000)) as (app, pilot):
        await press(app, pilot, "G")
        assert app.id_at_cursor() == 100_000
        assert app.drawn()[-2].strip("▏ ") == "message 100000"
        assert app.at_cursor() == ""
        await press(app, pilot, "g")
        assert app.id_at_cursor() == 1
        await press(app, pilot, "end", "home")
        assert app.at_cursor().startswith("user  2026-11-29 12:01")


async def test_only_what_is_near_is_loaded_and_never_on_the_event_loop() -> None:
    shown = long_talk(100_000)
    async with reading(shown) as (app, pilot):
        assert app.view.go_to(50_000)
        await settle(app, pilot)
        asked = [each for ids, _ in shown.asked for each in ids]
        assert len(asked) < 200
        assert all(abs(each - 50_000) < 60 or each < 60 for each in asked)
        assert "MainThread" not in shown.threads
        assert len(app.view._pages.loaded) <= 1_500


async def test_upwards_the_cursor_enters_a_message_from_its_end() -> None:
    """A message not loaded yet is two rows; who came up to it wants to read its end."""
    shown = long_talk(90, lambda n: "\n".join(f"{n} line {k}" for k in range(6)))
    async with reading(shown) as (app, pilot):
        app.view.go_to(80)
        await settle(app, pilot)
        shown.gate.clear()
        await pilot.press(*["{"] * 33)
        assert app.view.is_loading
        await pilot.press("k")
        here = app.id_at_cursor()
        shown.gate.set()
        await settle(app, pilot)
        assert app.id_at_cursor() == here
        await press(app, pilot, "k")
        assert app.at_cursor() == f"{here} line 5"


async def test_message_by_message() -> None:
    async with reading(talk("one\ntwo\nthree", "b", "c")) as (app, pilot):
        await press(app, pilot, "j", "j", "{")
        assert app.at_cursor().startswith("user  2026-11-29 12:01")
        await press(app, pilot, "}")
        assert app.id_at_cursor() == 2
        await press(app, pilot, "shift+down", "}", "}")
        assert app.id_at_cursor() == 3
        await press(app, pilot, "shift+up")
        assert app.id_at_cursor() == 2
        assert [move[0] for move in app.moves[-4:]] == [1, 2, 3, 2]


async def test_half_pages() -> None:
    async with reading(long_talk(50)) as (app, pilot):
        await press(app, pilot, "ctrl+d")
        assert app.id_at_cursor() == 3
        assert "12:03" in app.drawn()[0]
        await press(app, pilot, "ctrl+u")
        assert app.id_at_cursor() == 1


# -- going to a message ----------------------------------------------------------------------------


async def test_a_message_comes_to_the_middle_and_stays_there_when_texts_arrive() -> None:
    shown = long_talk(1_000, lambda n: f"message {n}\n" * (n % 7 + 1))
    async with reading(shown, size=(60, 21)) as (app, pilot):
        shown.gate.clear()
        assert app.view.go_to(500)
        await pilot.pause()
        assert app.drawn()[10].startswith("▌ assistant  2026-11-29 20:20")
        assert app.drawn()[11] == "▏ …"
        shown.gate.set()
        await settle(app, pilot)
        assert app.drawn()[10].startswith("▌ assistant  2026-11-29 20:20")
        assert app.drawn()[11].strip("▏ ") == "message 500"
        assert not app.view.go_to(1_001)
        assert app.id_at_cursor() == 500


async def test_a_time_names_the_first_message_as_late_whatever_clocks_did() -> None:
    """Times may go back, ids do not (spec hermes-sessions 7, case 1)."""
    messages = [said(n, "user", str(n)) for n in range(1, 6)]
    messages[1] = replace(messages[1], at=BEGAN - 3_600)
    messages[3] = replace(messages[3], at=None)
    async with reading(talk(*messages)) as (app, _):
        app.view.go_to_time(BEGAN + 100)
        assert app.id_at_cursor() == 3
        app.view.go_to_time(BEGAN + 61)
        assert app.id_at_cursor() == 3
        app.view.go_to_time(BEGAN + 10_000)
        assert app.id_at_cursor() == 5


async def test_a_message_that_is_left_out_is_shown_when_one_goes_to_it() -> None:
    undone = said(4, "tool", "undone", visibility=Visibility.UNDONE)
    messages = [said(1, "user", "a"), said(2, "tool", "out"), said(3, "user", "b"), undone]
    people = Shown(frozenset({"user"}), undone=False, copies=False)
    async with reading(talk(*messages), narrowed=people) as (app, pilot):
        assert [row for row in app.drawn() if "tool" in row] == []
        assert app.view.go_to(2)
        await settle(app, pilot)
        assert app.at_cursor().startswith("tool")
        assert app.view.outline.shown == Shown(None, undone=False, copies=False), "no more than it"
        assert app.view.go_to(4)
        assert app.view.outline.shown == Shown()


# -- filters and dividers --------------------------------------------------------------------------


def compacted() -> Talk:
    """Two messages folded into a summary, one taken back, one carried on as a copy."""
    shown = talk(
        said(1, "user", "old", visibility=Visibility.SUMMARISED),
        said(2, "assistant", "older", visibility=Visibility.SUMMARISED),
        said(3, "user", "the summary"),
        said(4, "user", "a slip", visibility=Visibility.UNDONE),
        said(5, "user", "old"),
        said(6, "assistant", "new"),
    )
    marks = tuple(m._replace(copy_of=1) if m.id == 5 else m for m in shown.marks)
    return Talk(marks, shown.made)


async def test_a_line_stands_where_the_conversation_was_compacted() -> None:
    async with reading(compacted(), size=(60, 24), dividers={6: "X branched off"}) as (app, _):
        rows = app.drawn()
        line = next(n for n, row in enumerate(rows) if "compacted" in row)
        assert rows[line].startswith("  ── compacted: above, the agent has only a summary ──")
        assert "12:03" in rows[line + 1]
        assert rows[0].startswith("▌ user  summarised  2026-11-29 12:01")
        assert any(row.startswith("  user  undone  ") for row in rows)
        assert any(row.startswith("  ── X branched off ──") for row in rows)


async def test_what_was_taken_back_and_copies_are_left_out_and_counted() -> None:
    async with reading(compacted(), (60, 24), narrowed=Shown(None, False, False)) as (app, pilot):
        rows = app.drawn()
        assert "a slip" not in "".join(rows)
        assert any(row.startswith("  ── 1 undone message not shown") for row in rows)
        assert any(row.startswith("  ── 1 copy not shown") for row in rows)
        app.view.go_to(6)
        await settle(app, pilot)
        assert app.moves[-1] == (6, 6, 6)
        app.view.narrow(Shown())
        await settle(app, pilot)
        assert "a slip" in "".join(app.drawn())
        assert app.id_at_cursor() == 6


async def test_a_filter_that_hides_the_current_message_goes_to_the_next_that_is_shown() -> None:
    messages = [said(n, "tool" if n % 2 else "user", str(n)) for n in range(1, 8)]
    async with reading(talk(*messages)) as (app, pilot):
        app.view.go_to(3)
        app.view.narrow(Shown(frozenset({"user"})))
        await settle(app, pilot)
        assert app.id_at_cursor() == 4
        app.view.narrow(Shown(frozenset({"nobody"})))
        assert app.id_at_cursor() is None
        assert app.drawn()[0] == ""
        await press(app, pilot, "j", "G", "enter", "n", "}", "pageup", "g", "ctrl+d")


# -- folding ---------------------------------------------------------------------------------------


async def test_a_tool_output_is_one_line_until_it_is_opened() -> None:
    output = said(2, "tool", "first\nsecond\nthird")
    async with reading(talk("go", output)) as (app, pilot):
        await press(app, pilot, "}")
        assert app.drawn()[4] == "▏   first  ⋯ 18 characters, 3 lines, enter opens"
        await press(app, pilot, "enter")
        assert [row.strip("▌▏ ") for row in app.drawn()[4:7]] == ["first", "second", "third"]
        assert app.view.is_open(2)
        await press(app, pilot, "j", "j", "j", "enter")
        assert app.drawn()[4] == "▏   first  ⋯ 18 characters, 3 lines, enter opens"
        assert app.at_cursor().startswith("tool")


async def test_a_text_that_was_cut_is_loaded_in_full_on_enter() -> None:
    text = "\n".join(f"row {n}" for n in range(6_000))
    shown = talk("go", said(2, "tool", text))
    async with reading(shown, size=(60, 30)) as (app, pilot):
        await press(app, pilot, "}", "enter", "G")
        assert {longest for _, longest in shown.asked} == {BEGINNING}
        left = len(text) - BEGINNING
        assert f"… {left:,} more characters, enter loads the rest" in app.drawn()[-2]
        await press(app, pilot, "k", "enter")
        assert shown.asked[-1][0] == (2,)
        assert shown.asked[-1][1] > len(text)
        await press(app, pilot, "G")
        assert app.drawn()[-2].strip("▏ ") == "row 5999"


async def test_a_long_text_keeps_its_head() -> None:
    text = "\n".join(f"row {n}" for n in range(100))
    async with reading(talk(text), size=(60, 40)) as (app, pilot):
        rows = [row.strip("▌▏ ") for row in app.drawn()]
        assert rows[1] == "row 0"
        assert rows[16] == "row 15"
        assert (
            rows[17]
            == f"⋯ {len(text) - len(chr(10).join(text.split(chr(10))[:16])):,} characters, 84 lines more, enter opens"
        )
        await press(app, pilot, *["j"] * 17, "enter")
        assert app.at_cursor() == "row 16"


# -- matches ---------------------------------------------------------------------------------------


async def test_from_match_to_match_and_a_message_at_either_end() -> None:
    texts = {2: "a needle", 5: "needle\n\nneedle", 9: "needle"}
    shown = long_talk(12, lambda n: texts.get(n, "hay"))
    async with reading(shown, hits=(2, 5, 9), find=words("needle")) as (app, pilot):
        await press(app, pilot, "n")
        assert app.at_cursor() == "a needle"
        assert app.hits[-1] == (2, 1, 3)
        assert [row for row in app.drawn() if row.startswith("▌»")] == ["▌»  a needle"]
        await press(app, pilot, "n", "n")
        assert app.hits[-2:] == [(5, 2, 3), (5, 2, 3)]
        assert app.at_cursor() == "needle"
        await press(app, pilot, "n", "n")
        assert app.id_at_cursor() == 9
        assert app.ends == [1]
        await press(app, pilot, "N", "N", "N", "N")
        assert app.ends == [1, -1]
        assert app.id_at_cursor() == 2


async def test_a_match_in_a_fold_is_counted_and_opened() -> None:
    output = said(3, "tool", "\n".join(["x"] * 30 + ["needle here"] + ["x"] * 30 + ["needle"]))
    shown = talk("hay", "hay", output, "hay")
    async with reading(shown, hits=(3,), find=words("needle")) as (app, pilot):
        assert any("2 matches in it" in row for row in app.drawn())
        await press(app, pilot, "n")
        assert app.at_cursor() == "needle here"
        await press(app, pilot, "n")
        assert app.at_cursor() == "needle"
        await press(app, pilot, "N", "N")
        assert app.ends == [-1]


async def test_a_match_past_the_loaded_beginning_is_found() -> None:
    output = said(2, "tool", "x" * 30_000 + "\nneedle\n" + "y" * 50)
    async with reading(talk("hay", output), hits=(2,), find=words("needle")) as (app, pilot):
        await press(app, pilot, "n")
        assert app.at_cursor() == "needle"
        assert app.hits == [(2, 1, 1)]


async def test_a_match_behind_the_head_of_a_long_text_is_reached_after_those_in_it() -> None:
    lines = [f"row {n}" for n in range(100)]
    lines[3], lines[70] = "needle one", "needle two"
    async with reading(talk("\n".join(lines)), hits=(1,), find=words("needle")) as (app, pilot):
        await press(app, pilot, "n")
        assert app.at_cursor() == "needle one"
        assert not app.view.is_open(1)
        await press(app, pilot, "n")
        assert app.at_cursor() == "needle two"


async def test_a_hit_without_a_match_in_its_text_is_still_gone_to() -> None:
    async with reading(long_talk(30), hits=(20,), find=words("nowhere")) as (app, pilot):
        await press(app, pilot, "n")
        assert app.id_at_cursor() == 20
        assert app.hits == [(20, 1, 1)]


async def test_other_matches_leave_the_reader_where_they_are() -> None:
    async with reading(long_talk(30)) as (app, pilot):
        app.view.go_to(20)
        await settle(app, pilot)
        assert app.view.check_action("hit", (1,)) is False
        app.view.mark((25,), words("message"))
        await settle(app, pilot)
        assert app.id_at_cursor() == 20
        assert sum(row[1:2] == "›" for row in app.drawn()) >= 3
        await press(app, pilot, "n")
        assert app.id_at_cursor() == 25


# -- growth ----------------------------------------------------------------------------------------


def grown(shown: Talk, count: int) -> tuple[Mark, ...]:
    more = long_talk(count)
    shown.marks = more.marks
    return more.marks


async def test_growth_leaves_the_reader_alone_and_is_counted() -> None:
    shown = long_talk(30)
    async with reading(shown) as (app, pilot):
        app.view.go_to(10)
        await settle(app, pilot)
        before = app.drawn()
        app.view.extend(grown(shown, 33))
        await settle(app, pilot)
        assert app.drawn() == before
        assert app.counts == [3]
        assert app.view.unseen == 3
        await press(app, pilot, "G")
        assert app.counts[-1] == 0
        assert app.id_at_cursor() == 33


async def test_who_stands_at_the_end_follows() -> None:
    shown = long_talk(30)
    async with reading(shown) as (app, pilot):
        await press(app, pilot, "G")
        app.view.extend(grown(shown, 32))
        await settle(app, pilot)
        assert app.id_at_cursor() == 32
        assert app.drawn()[-2].strip("▏ ") == "message 32"
        assert app.counts == []
        await press(app, pilot, "k")
        app.view.extend(grown(shown, 34))
        await settle(app, pilot)
        assert app.id_at_cursor() == 32


async def test_a_message_that_changed_is_drawn_as_it_is_now() -> None:
    first = talk("a", "b")
    async with reading(first) as (app, pilot):
        gone = said(1, "user", "a", visibility=Visibility.SUMMARISED)
        first.marks = (mark_of(gone), first.marks[1])
        first.made = talk(gone, "b").made
        app.view.extend(first.marks)
        await settle(app, pilot)
        assert app.drawn()[0].startswith("▌ user  summarised")
        assert app.counts == []


# -- resize ----------------------------------------------------------------------------------------


async def test_resize_keeps_the_message_on_top_and_the_cursor() -> None:
    shown = long_talk(200, lambda n: f"{n} " + "word " * (20 + n % 30))
    async with reading(shown, size=(100, 30)) as (app, pilot):
        app.view.go_to(100, center=False)
        await press(app, pilot, "pagedown", "pagedown", *["k"] * 40, *["j"] * 3)
        top, current = app.view.top, app.id_at_cursor()
        assert top is not None
        for size in ((40, 30), (23, 12), (140, 40), (100, 30)):
            await pilot.resize_terminal(*size)
            await settle(app, pilot)
            assert app.view.top == top, size
            assert app.id_at_cursor() == current, size


async def test_a_smaller_view_keeps_the_line_at_the_cursor() -> None:
    async with reading(long_talk(200), size=(60, 40)) as (app, pilot):
        await press(app, pilot, *["j"] * 34)
        before = app.at_cursor()
        await pilot.resize_terminal(60, 8)
        await settle(app, pilot)
        assert app.at_cursor() == before


# -- mouse -----------------------------------------------------------------------------------------


async def test_the_wheel_scrolls_and_keeps_the_cursor_while_it_is_in_view() -> None:
    async with reading(long_talk(100)) as (app, pilot):
        await press(app, pilot, *["j"] * 6)
        here = app.id_at_cursor()

        def wheel(kind: type[events.MouseScrollDown | events.MouseScrollUp]) -> None:
            app.view.post_message(
                kind(app.view, 5, 5, 0, 1, 0, False, False, False, screen_x=5, screen_y=5)
            )

        wheel(events.MouseScrollDown)
        await settle(app, pilot)
        assert app.id_at_cursor() == here
        assert "12:02" in app.drawn()[0]
        for _ in range(3):
            wheel(events.MouseScrollDown)
        await settle(app, pilot)
        assert app.id_at_cursor() == 5
        for _ in range(10):
            wheel(events.MouseScrollUp)
        await settle(app, pilot)
        assert "12:01" in app.drawn()[0]


async def test_a_click_moves_a_second_one_opens_and_the_bar_jumps() -> None:
    output = said(2, "tool", "first\nsecond")
    async with reading(talk("go", output, *["x"] * 200)) as (app, pilot):
        await pilot.click("#view", offset=(10, 4))
        assert app.id_at_cursor() == 2
        assert not app.view.is_open(2)
        await pilot.click("#view", offset=(10, 4))
        assert app.view.is_open(2)
        await pilot.click("#view", offset=(59, 6))
        await settle(app, pilot)
        assert 80 <= (app.id_at_cursor() or 0) <= 140


# -- odd conversations -----------------------------------------------------------------------------


async def test_an_empty_conversation() -> None:
    async with reading(talk()) as (app, pilot):
        keys = ("j", "k", "G", "g", "pagedown", "pageup", "}", "{", "enter", "n", "N", "ctrl+d")
        await press(app, pilot, *keys)
        assert set(app.drawn()) == {""}
        assert app.view.current is None
        app.view.go_to_time(0.0)
        app.view.extend(long_talk(1).marks)
        assert not app.view.go_to(7)


async def test_a_message_without_text() -> None:
    async with reading(talk("")) as (app, _):
        assert app.drawn()[:2] == ["▌ user  2026-11-29 12:01", "▏   no text"]


HOSTILE = (
    "\x1b[31mred\x1b]52;c;ZXZpbA==\x07",
    "\x9b31m\x85\x00",
    "[/foo] [@click=app.quit]q[/]",
    "\u202eevil\u202c \u200b\u2066x",
    "a\rb\tc\x7f",
    "\U000e0068\U000e0069",
)


async def test_hostile_texts_are_drawn_as_signs() -> None:
    messages = [
        replace(said(n, text, text, visibility=Visibility.UNDONE), tool_name=text, notes=(text,))
        for n, text in enumerate(HOSTILE, 1)
    ]
    async with reading(talk(*messages), (70, 40), dividers=dict(enumerate(HOSTILE, 1))) as (app, _):
        shown = "\n".join(app.drawn())
        assert "[/foo] [@click=app.quit]q[/]" in shown
        assert not re.search(
            "[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u202c\u200b\u2066\U000e0068]", shown
        )
        assert all(cell_len(app.view.render_line(y).text) == 70 for y in range(40))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 12])
async def test_very_narrow_views_draw_and_move(width: int) -> None:
    texts = ("中文字符" * 9, "plain words " * 9, *HOSTILE)
    async with reading(talk(*texts), size=(width, 5)) as (app, pilot):
        await press(app, pilot, *["j"] * 9, "G", "pageup", "enter", "g", "}", "enter")
        assert all(cell_len(app.view.render_line(y).text) == width for y in range(5))


async def test_wide_characters_fill_the_rows() -> None:
    async with reading(talk("中" * 100), size=(47, 12)) as (app, _):
        assert [row.strip("▌▏ ") for row in app.drawn()[1:4]] == ["中" * 21, "中" * 21, "中" * 21]


async def test_a_text_that_cannot_be_read_says_so_and_enter_tries_again() -> None:
    shown = long_talk(5)
    shown.problem = UnreadableError("it is damaged")
    async with reading(shown) as (app, pilot):
        assert "cannot be read now; enter tries again" in app.drawn()[1]
        assert [type(problem) for problem in app.problems] == [UnreadableError]
        asked = len(shown.asked)
        await press(app, pilot, "j", "j")
        assert len(shown.asked) == asked
        shown.problem = None
        await press(app, pilot, "g", "enter")
        assert app.drawn()[1].strip("▏ ") == "message 1"


async def test_a_message_that_is_gone_says_so() -> None:
    shown = long_talk(3)
    marks = shown.marks
    shown.marks = marks[:2]
    app = Host()
    async with app.run_test(size=(60, 12)) as pilot:
        app.view.show(marks, shown.fetch)
        await settle(app, pilot)
        assert any("not there any more" in row for row in app.drawn())
