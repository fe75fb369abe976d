"""The list widget by keys, mouse and change: what it says, marks, draws and leaves alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import pytest
from rich.cells import cell_len
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.pilot import Pilot

from console.widgets.rows import ASCII_SIGNS, RowList, RowState, Signs


@dataclass(frozen=True)
class Row:
    key: str
    text: str = ""


def rows(*keys: object) -> list[Row]:
    return [Row(str(key)) for key in keys]


class Host(App[None]):
    """A list of twenty two-line rows, five of which fit; and what it said, in order."""

    CSS = "Screen { overflow: hidden; }"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave")]

    def __init__(self, items: Sequence[Row] | None = None, signs: Signs | None = None) -> None:
        super().__init__()
        self.start = rows(*range(20)) if items is None else items
        self.signs = signs
        self.painted: list[tuple[str, RowState]] = []
        self.said: list[tuple[str, str | int | None]] = []
        self.backs = 0

    def compose(self) -> ComposeResult:
        self.list: RowList[Row] = RowList(self.paint, id="rows", signs=self.signs)
        self.list.set_items(self.start)
        yield self.list

    def paint(self, item: Row, state: RowState) -> list[Content]:
        self.painted.append((item.key, state))
        return [Content(f"row {item.key} {item.text}"), Content("about it")]

    def action_leave(self) -> None:
        self.backs += 1

    @on(RowList.Highlighted, "#rows")
    def _highlighted(self, message: RowList.Highlighted) -> None:
        self.said.append(("at", message.key))

    @on(RowList.Activated, "#rows")
    def _activated(self, message: RowList.Activated) -> None:
        self.said.append(("open", message.key))

    @on(RowList.MarksChanged, "#rows")
    def _marks(self, message: RowList.MarksChanged) -> None:
        self.said.append(("marks", message.count))

    @on(RowList.UnseenChanged, "#rows")
    def _unseen(self, message: RowList.UnseenChanged) -> None:
        self.said.append(("unseen", message.count))

    def drawn(self) -> list[str]:
        return [self.list.render_line(y).text.rstrip() for y in range(self.list.size.height)]

    def marks(self) -> str:
        return " ".join(self.list.marked)

    def cursor_line(self) -> int:
        return next(y for y, text in enumerate(self.drawn()) if text.startswith("▌"))

    async def show(self, pilot: Pilot[None], items: Sequence[Row]) -> None:
        self.list.set_items(items)
        await pilot.pause()

    def wheel(self, lines: int) -> None:
        self.list.scroll_to(y=self.list.scroll_offset.y + lines, animate=False)


async def test_every_movement_key_moves_and_the_cursor_stays_in_view() -> None:
    app = Host()
    steps = [
        ("j", 1), ("down", 2), ("k", 1), ("up", 0), ("k", 0), ("G", 19), ("j", 19), ("g", 0),
        ("end", 19), ("home", 0), ("pagedown", 5), ("pagedown", 10), ("pageup", 5),
        ("ctrl+d", 7), ("ctrl+u", 5), ("ctrl+u", 3), ("pageup", 0), ("pageup", 0),
    ]  # fmt: skip
    async with app.run_test(size=(30, 10)) as pilot:
        assert app.said == [("at", "0")]
        for key, place in steps:
            await pilot.press(key)
            assert (key, app.list.cursor_index, app.list.cursor_key) == (key, place, str(place))
            line = app.cursor_line()
            assert app.drawn()[line : line + 2] == [f"▌ row {place}", "▌ about it"]
    moves = [0, *(place for _, place in steps)]
    expected = [("at", str(b)) for a, b in zip([-1, *moves], moves, strict=False) if a != b]
    assert app.said == expected


async def test_space_marks_and_steps_down_star_inverts_and_signs_show_it() -> None:
    app = Host(rows(0, 1, 2))
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press("space", "space")
        assert (app.marks(), app.list.cursor_key) == ("0 1", "2")
        assert app.drawn()[:6] == [
            " ●row 0", "  about it", " ●row 1", "  about it", "▌ row 2", "▌ about it",
        ]  # fmt: skip
        await pilot.press("*")
        assert app.marks() == "2"
        await pilot.press("space")
        assert (app.marks(), app.list.cursor_key) == ("", "2")
    assert [said for said in app.said if said[0] == "marks"] == [
        ("marks", 1), ("marks", 2), ("marks", 1), ("marks", 0),
    ]  # fmt: skip


async def test_a_range_follows_the_cursor_until_v_or_space_keeps_it_or_escape_drops_it() -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press("j", "v", "j", "j", "j", "k")
        assert app.marks() == "1 2 3"
        await pilot.press("v", "G", "v", "k")
        assert app.marks() == "1 2 3 18 19"
        await pilot.press("escape", "k")
        assert (app.marks(), app.backs) == ("1 2 3", 0)
        await pilot.press("escape")
        assert app.backs == 1, "without a range escape is the screen's"
        await pilot.press("v", "k", "space", "k")
        assert app.marks() == "1 2 3 16 17"
    assert app.said[-1] == ("at", "15")


async def test_marks_by_call_say_so_only_when_something_changed() -> None:
    app = Host(rows(0, 1, 2))
    async with app.run_test(size=(30, 10)) as pilot:
        app.said.clear()
        app.list.mark("1", True)
        app.list.mark("1", True)
        app.list.mark("gone", True)
        app.list.mark("2", False)
        await pilot.pause()
        assert app.said == [("marks", 1)]
        app.list.clear_marks()
        app.list.clear_marks()
        await pilot.pause()
        assert app.said == [("marks", 1), ("marks", 0)]


async def test_enter_opens_and_a_click_moves_and_a_second_click_on_the_row_opens() -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press("enter")
        assert app.said[-1] == ("open", "0")
        app.said.clear()
        await pilot.click("#rows", offset=(5, 0))
        assert app.said == [], "the first click on the row at the cursor does not open it"
        await pilot.click("#rows", offset=(5, 3))
        await pilot.press("j", "k")
        await pilot.click("#rows", offset=(5, 2))
        assert app.said == [("at", "1"), ("at", "2"), ("at", "1")]
        await pilot.click("#rows", offset=(5, 3))
        assert app.said[-1] == ("open", "1")


async def test_a_second_click_does_not_open_what_slid_under_the_pointer() -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.click("#rows", offset=(5, 2))
        await app.show(pilot, rows(0, *range(2, 20)))
        app.said.clear()
        await pilot.click("#rows", offset=(5, 2))
        assert (app.said, app.list.cursor_key) == ([], "2")


async def test_a_click_below_the_rows_and_other_buttons_do_nothing() -> None:
    app = Host(rows(0, 1))
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.click("#rows", offset=(5, 7))
        await pilot.click("#rows", offset=(5, 2), button=3)
        assert app.said == [("at", "0")]


async def test_the_wheel_moves_the_view_and_not_the_cursor() -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        down = events.MouseScrollDown(app.list, 5, 5, 0, 0, 0, False, False, False)
        app.list.post_message(down)
        await pilot.pause()
        top = app.list.scroll_offset.y
        assert top > 0
        assert (app.list.cursor_key, app.said) == ("0", [("at", "0")])
        app.wheel(20)
        await pilot.press("j")
        assert app.drawn()[0] == "▌ row 1", "a key brings the cursor back into view"


@pytest.mark.parametrize(
    ("new", "key"),
    [
        (rows("a", "b", *range(20)), "4"),
        (rows(*range(20), "a", "b"), "4"),
        (rows(*range(19, -1, -1)), "4"),
        (rows(0, 1, 2, 3, *range(5, 20)), "5"),
        (rows(0, 1, 2, 3), "3"),
        (rows(0, 1, 2, 3, "x"), "3"),
        (rows("x", "y"), "y"),
        ([], None),
    ],
    ids=["above", "below", "reorder", "its-own", "and-below", "replaced", "all-new", "all-gone"],
)
async def test_the_cursor_stays_on_its_key_or_goes_to_the_next(
    new: list[Row], key: str | None
) -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        app.list.move_to("4")
        await pilot.pause()
        app.said.clear()
        await app.show(pilot, new)
        assert app.list.cursor_key == key
        assert [said for said in app.said if said[0] == "at"] == (
            [] if key == "4" else [("at", key)]
        )


async def test_five_hundred_rows_above_move_neither_the_cursor_row_nor_its_neighbours() -> None:
    app = Host()
    async with app.run_test(size=(30, 9)) as pilot:
        for start in ("2", "7", "19"):
            app.list.move_to(start)
            app.wheel(-1)
            await pilot.pause()
            before, line = app.drawn(), app.cursor_line()
            await app.show(pilot, [*rows(*(f"n{i}" for i in range(500))), *app.start])
            assert (app.drawn(), app.cursor_line()) == (before, line)
            await app.show(pilot, app.start)
            assert (app.drawn(), app.cursor_line()) == (before, line)


async def test_when_the_cursor_is_out_of_view_the_top_row_is_held() -> None:
    app = Host()
    async with app.run_test(size=(30, 9)) as pilot:
        app.wheel(21)
        before = app.drawn()
        await app.show(pilot, rows("a", "b", *range(3), *range(5, 20), "c"))
        assert app.drawn() == before
        assert app.list.cursor_key == "0"


async def test_any_change_leaves_the_cursor_row_where_it_was_unless_the_list_is_too_short() -> None:
    app = Host()
    chance = random.Random(7)
    async with app.run_test(size=(30, 9)) as pilot:
        for _ in range(60):
            new = rows(*chance.sample(range(40), chance.randint(8, 40)))
            app.list.move_to(chance.choice(app.list.items).key)
            line, cursor = app.cursor_line(), app.list.cursor_key
            await app.show(pilot, new)
            place = app.list.cursor_index or 0
            top = max(0, min(place * 2 - line, len(new) * 2 - 9))
            assert app.list.scroll_offset.y == top
            assert app.cursor_line() == max(0, place * 2 - top)
            assert app.list.cursor_key == cursor or Row(str(cursor)) not in new


async def test_marks_survive_on_their_keys_and_leave_with_them() -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press("space", "j", "space", "G", "space")
        await app.show(pilot, rows("a", 19, *range(1, 19)))
        assert app.marks() == "19 2"
        assert [said for said in app.said if said[0] == "marks"][-2:] == [
            ("marks", 3),
            ("marks", 2),
        ]


async def test_news_are_counted_until_they_were_on_screen_and_never_jumped_to() -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        assert app.list.unseen == 0
        await app.show(pilot, rows("a", *range(20), "b", "c"))
        assert (app.list.unseen, app.list.cursor_key) == (3, "0")
        await app.show(pilot, rows("a", *range(20), "b"))
        assert app.list.unseen == 2
        await pilot.press("G")
        assert app.list.unseen == 1
        await pilot.press("g")
        assert app.list.unseen == 0
        await app.show(pilot, rows("a", "0", "new", *range(1, 20), "b"))
        assert app.list.unseen == 0, "what arrives on screen is seen"
    assert [said for said in app.said if said[0] == "unseen"] == [
        ("unseen", 3), ("unseen", 2), ("unseen", 1), ("unseen", 0),
    ]  # fmt: skip


async def test_only_changed_rows_are_painted_again() -> None:
    app = Host()
    async with app.run_test(size=(30, 10)) as pilot:
        app.painted.clear()
        await app.show(pilot, [Row(str(n), "new" if n == 2 else "") for n in range(20)])
        assert [key for key, _ in app.painted] == ["2"]
        assert app.drawn()[4] == "  row 2 new"
        app.painted.clear()
        app.list.repaint()
        await pilot.pause()
        assert [key for key, _ in app.painted] == ["0", "1", "2", "3", "4"]


async def test_a_key_paints_the_two_rows_it_changes_in_a_list_of_a_million() -> None:
    class Lazy(Sequence[Row]):
        reads = 0

        def __len__(self) -> int:
            return 1_000_000

        def __getitem__(self, index):  # type: ignore[no-untyped-def]
            Lazy.reads += 1
            return Row(str(index))

        def __iter__(self) -> Iterator[Row]:
            raise AssertionError("read whole")

    app = Host(Lazy())
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.pause()
        app.painted.clear()
        await pilot.press("j")
        assert {key for key, _ in app.painted} == {"0", "1"}
        await pilot.press("G", "k")
        assert app.list.cursor_key == "999998"
        assert app.drawn()[-2] == "  row 999999"
        assert Lazy.reads < 1_000


async def test_colours_follow_focus_marks_and_the_theme() -> None:
    app = Host()

    def colours() -> list[object]:
        return [list(app.list.render_line(y))[-1].style for y in (0, 2, 4, 5)]

    async with app.run_test(size=(30, 10)) as pilot:
        app.list.mark("1", True)
        await pilot.pause()
        focused = colours()
        assert len({str(style) for style in focused}) == 4, "cursor, marked, plain, dim"
        assert all(state.focused for _, state in app.painted[-2:])
        app.screen.set_focus(None)
        await pilot.pause()
        assert colours()[0] != focused[0]
        assert colours()[1:] == focused[1:]
        assert app.drawn()[0] == "▌ row 0"
        app.theme = "textual-light"
        await pilot.pause()
        assert all(one != other for one, other in zip(colours(), focused, strict=True))


async def test_ascii_signs_and_the_users_own_keys() -> None:
    app = Host(signs=ASCII_SIGNS)
    async with app.run_test(size=(30, 10)) as pilot:
        app.set_keymap({"rows.down": "x"})
        await pilot.press("space", "x", "j")
        assert app.drawn()[0] == " *row 0"
        assert app.drawn()[4] == "> row 2"


HOSTILE = {
    "markup": "[/x][@click=app.quit]q[/]",
    "wide": "中" * 5_000,
    "combining": "e\u0301" * 5_000,
    "family": "👨\u200d👩\u200d👧☁\ufe0f" * 100,
    "long": "x" * 10_000,
    "empty": "",
    "newline": "a\nb",
}


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 3), (20, 14)])
async def test_any_text_fits_any_size(size: tuple[int, int]) -> None:
    """D48: seven columns of wide characters neither crash nor spill."""

    class Wild(Host):
        def paint(self, item: Row, state: RowState) -> list[Content]:
            self.painted.append((item.key, state))
            return [Content(HOSTILE[item.key])] * 3

    app = Wild(rows(*HOSTILE))
    async with app.run_test(size=size) as pilot:
        for _ in HOSTILE:
            for y in range(app.list.size.height):
                strip = app.list.render_line(y)
                width = sum(cell_len(segment.text) for segment in strip)
                assert width == strip.cell_length == app.list.scrollable_content_region.width
            await pilot.press("j")
        await pilot.click("#rows", offset=(0, 0))
        assert app.is_running
        assert all(state.width >= 1 for _, state in app.painted)
        if size == (20, 14):
            app.list.action_first()
            assert app.drawn()[0] == "▌ [/x][@click=app.", "markup is text"


async def test_an_empty_list_takes_every_key_and_paints_nothing() -> None:
    app = Host([])
    keys = ["j", "k", "g", "G", "pagedown", "ctrl+u", "enter", "space", "v", "asterisk", "escape"]
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press(*keys)
        await pilot.click("#rows", offset=(3, 3))
        app.list.clear_marks()
        assert not app.list.move_to("0")
        assert (app.list.cursor_key, app.list.cursor_index, app.list.cursor_item) == (None,) * 3
        assert (app.painted, app.marks()) == ([], "")
        await app.show(pilot, rows("a"))
        assert (app.list.cursor_key, app.said[-1]) == ("a", ("at", "a"))


async def test_a_resize_keeps_the_cursor_in_view_and_paints_for_the_new_width() -> None:
    app = Host()
    async with app.run_test(size=(30, 20)) as pilot:
        app.list.move_to("9")
        await pilot.resize_terminal(24, 5)
        await pilot.pause()
        assert app.drawn()[app.cursor_line()] == "▌ row 9"
        assert app.painted[-1][1].width == 24 - 2 - app.list.scrollbar_size_vertical
        app.wheel(-10)
        await pilot.resize_terminal(24, 6)
        await pilot.pause()
        assert not any(text.startswith("▌") for text in app.drawn()), "reading elsewhere is left"
