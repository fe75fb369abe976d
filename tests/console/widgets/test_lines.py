"""The line view by keys, search, selection and change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import pytest
from rich.cells import cell_len
from textual import events, on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.pilot import Pilot

from console.render.line import Line
from console.widgets.lines import LineView


def lines(*texts: str) -> list[Line]:
    return [Line(Content(text)) for text in texts]


def numbered(count: int, every: int = 0) -> list[Line]:
    """``line 0``, ``line 1`` ..., with an anchor each ``every`` lines."""
    return [
        Line(Content(f"line {n}"), anchor=f"a{n}" if every and n % every == 0 else None)
        for n in range(count)
    ]


class Host(App[None]):
    """A view of ten lines, and what it said."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(f"escape,n,N,h,l,left,right,{'{'},{'}'}", "leave", "leave")
    ]

    def __init__(self, start: Sequence[Line]) -> None:
        super().__init__()
        self.start = start
        self.left = 0
        self.searched: list[tuple[int, int]] = []
        self.widths: list[int] = []

    def compose(self) -> ComposeResult:
        self.view = LineView(id="view")
        self.view.set_lines(self.start)
        yield self.view

    def action_leave(self) -> None:
        self.left += 1

    @on(LineView.Searched, "#view")
    def _searched(self, message: LineView.Searched) -> None:
        self.searched.append((message.current, message.total))

    @on(LineView.WidthChanged, "#view")
    def _width(self, message: LineView.WidthChanged) -> None:
        self.widths.append(message.width)

    def drawn(self) -> list[str]:
        height = self.view.scrollable_content_region.height
        return [self.view.render_line(y).text.rstrip() for y in range(height)]

    def styled(self, y: int, sign: str) -> list[str]:
        """The stretches of a line whose style has ``sign``: bold, underline ..."""
        return [
            segment.text
            for segment in self.view.render_line(y)
            if segment.style and getattr(segment.style, sign)
        ]


async def test_every_movement_key() -> None:
    app = Host(numbered(40))
    steps = [
        ("j", 1), ("down", 2), ("k", 1), ("up", 0), ("up", 0), ("pagedown", 9), ("pagedown", 18),
        ("pageup", 9), ("ctrl+d", 14), ("ctrl+u", 9), ("G", 30), ("j", 30), ("g", 0), ("end", 30),
        ("home", 0),
    ]  # fmt: skip
    async with app.run_test(size=(30, 10)) as pilot:
        for key, top in steps:
            await pilot.press(key)
            assert (key, app.view.top, app.drawn()[0]) == (key, top, f"line {top}")


async def test_long_lines_scroll_sideways_and_else_the_keys_are_the_screens() -> None:
    app = Host(lines("short", *["x"] * 20, "0123456789" * 4))
    async with app.run_test(size=(22, 10)) as pilot:
        await pilot.press("h", "l", "left", "right")
        assert app.left == 4
        await pilot.press("G", "l")
        assert (app.left, app.drawn()[-1]) == (4, "89012345678901234567")
        await pilot.press("right", "right", "right")
        assert app.drawn()[-1] == "01234567890123456789", "not past the widest line"
        await pilot.press("h", "left")
        assert app.view.scroll_offset.x == 4
        await pilot.press("g")
        assert (app.view.scroll_offset.x, app.drawn()[0]) == (0, "short")


async def test_search_goes_to_the_next_hit_counts_and_goes_round() -> None:
    app = Host(numbered(40))
    async with app.run_test(size=(30, 10)) as pilot:
        app.view.scroll_to(y=5, animate=False)
        app.view.search("NE 1")
        await pilot.press("n")
        assert app.searched == [(2, 11), (3, 11)]
        assert app.styled(10 - app.view.top, "underline") == ["ne 1"]
        assert app.styled(11 - app.view.top, "bold") == ["ne 1"], "the current one"
        assert app.styled(10 - app.view.top, "bold") == []
        await pilot.press("N", "N", "N")
        assert app.searched[2:] == [(2, 11), (1, 11), (11, 11)]
        assert "line 19" in app.drawn()
        await pilot.press("escape")
        assert (app.searched[-1], app.left) == ((0, 0), 0)
        assert app.styled(0, "underline") == []
        await pilot.press("escape", "n", "N")
        assert app.left == 3, "without a search these keys are the screen's"
        app.view.search("absent")
        await pilot.press("n")
        assert app.searched[-2:] == [(0, 0), (0, 0)]


async def test_a_hit_far_to_the_right_comes_into_view() -> None:
    app = Host(lines(*["x"] * 30, "中" * 50 + "needle" + "中" * 50))
    async with app.run_test(size=(30, 10)) as pilot:
        app.view.search("needle")
        await pilot.pause()
        line = 30 - app.view.top
        assert app.styled(line, "underline") == ["needle"]
        app.view.search("x")
        await pilot.pause()
        assert app.view.scroll_offset.x == 0


async def test_a_search_goes_on_in_new_lines_without_moving_them() -> None:
    app = Host(numbered(40))
    async with app.run_test(size=(30, 10)) as pilot:
        app.view.search("line 3")
        app.view.scroll_to(y=0, animate=False)
        app.view.set_lines(numbered(35), keep=True)
        await pilot.pause()
        assert (app.searched, app.view.top) == ([(1, 11), (1, 6)], 0)


async def test_anchors_come_to_the_top() -> None:
    app = Host(numbered(60, every=12))
    async with app.run_test(size=(30, 10)) as pilot:
        tops = []
        for key in ["}", "}", "j", "{", "{", "}", "}", "}", "}", "{"]:
            await pilot.press(key)
            tops.append(app.view.top)
        assert tops == [12, 24, 25, 24, 12, 24, 36, 48, 48, 36]
        assert app.view.go_to("a12")
        assert app.view.top == 12
        assert not app.view.go_to("a13")
        app.view.set_lines(numbered(60))
        await pilot.press("{", "}")
        assert app.left == 2, "without anchors these keys are the screen's"


@pytest.mark.parametrize(
    ("new", "keep", "top"),
    [
        (numbered(60, every=10), True, "line 23"),
        ([*lines("x", "y"), *numbered(60, every=10)], True, "line 23"),
        ([line for line in numbered(60, every=10) if line.anchor != "a20"], True, "line 24"),
        ([*numbered(21, every=10), *numbered(60, every=10)[30:]], True, "line 20"),
        (numbered(60), True, "line 23"),
        (numbered(12), True, "line 2"),
        (numbered(60, every=10), False, "line 0"),
    ],
    ids=["same", "above", "anchor-gone", "part-shorter", "none", "short", "anew"],
)
async def test_the_part_being_read_stays_at_the_top(new: list[Line], keep: bool, top: str) -> None:
    app = Host(numbered(60, every=10))
    async with app.run_test(size=(30, 10)) as pilot:
        app.view.scroll_to(y=23, animate=False)
        app.view.set_lines(new, keep=keep)
        await pilot.pause()
        assert app.drawn()[0] == top


async def test_keep_holds_the_column_too() -> None:
    app = Host(lines(*["0123456789" * 5] * 30))
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press("l", "j")
        app.view.set_lines(lines(*["abcdefghij" * 5] * 30), keep=True)
        await pilot.pause()
        assert (app.view.scroll_offset, app.drawn()[0][:3]) == ((8, 1), "ija")
        app.view.set_lines(lines("abc"))
        await pilot.pause()
        assert app.view.scroll_offset == (0, 0)


async def test_the_width_is_told_first_and_when_it_changes() -> None:
    app = Host(numbered(40))
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.resize_terminal(24, 10)
        await pilot.resize_terminal(24, 8)
        await pilot.pause()
        app.view.set_lines(numbered(2))
        await pilot.pause()
        assert app.widths == [28, 22], "a scroll bar that comes or goes changes nothing"


async def drag(pilot: Pilot[None], start: tuple[int, int], end: tuple[int, int]) -> str:
    await pilot.mouse_down("#view", offset=start)
    await pilot.hover("#view", offset=end)
    await pilot.mouse_up("#view", offset=end)
    return pilot.app.screen.get_selected_text() or ""


async def test_a_selection_copies_the_text_it_covers() -> None:
    app = Host(lines("first line", "中文字 wide", "third", "\u0085odd", "fifth"))
    async with app.run_test(size=(30, 10)) as pilot:
        assert await drag(pilot, (6, 0), (2, 1)) == "line\n中文"
        assert app.view.render_line(0).text.rstrip() == "first line"
        plain = app.view.render_line(2)
        selected = [s.text for s in app.view.render_line(0) if s.style and s.style.bgcolor]
        assert "line" in "".join(selected)
        assert plain.text.rstrip() == "third"
        assert await drag(pilot, (1, 2), (2, 2)) == "hi"
        assert await drag(pilot, (3, 2), (1, 8)) == "rd\n\u0085odd\nfifth", "below the last line"
        await pilot.press("ctrl+c")
        assert app.clipboard == "rd\n\u0085odd\nfifth"
        app.view.set_lines(lines("other"), keep=True)
        await pilot.pause()
        assert not app.screen.get_selected_text(), "never what stands there now"
        await pilot.click("#view", times=2, offset=(1, 0))
        assert app.screen.get_selected_text() == "other"


async def test_a_selection_of_scrolled_lines_counts_from_where_they_are() -> None:
    app = Host(lines(*[f"{n:02d}" + "中" * 30 + "end" for n in range(40)]))
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press("j", "j", "j", "l")
        assert app.drawn()[0][:2] == "中中"
        assert await drag(pilot, (20, 0), (2, 1)) == "中" * 17 + "end\n04" + "中" * 5


async def test_styles_fill_the_line_and_follow_the_theme() -> None:
    app = Host(
        [
            Line(Content("plain")),
            Line(Content("+ new"), "added"),
            Line(Content("- old"), "removed"),
            Line(Content("odd"), "bold on $error-muted"),
        ]
    )

    def grounds() -> list[object]:
        ends = [list(app.view.render_line(y))[-1].style for y in range(4)]
        return [style.bgcolor if style else None for style in ends]

    async with app.run_test(size=(30, 10)) as pilot:
        dark = grounds()
        assert len({str(ground) for ground in dark[:3]}) == 3
        assert dark[3] == dark[2]
        assert app.styled(3, "bold") == ["odd", " " * 25]
        app.theme = "textual-light"
        await pilot.pause()
        assert all(one != other for one, other in zip(grounds(), dark, strict=True))


HOSTILE = [
    "[/x][@click=app.quit]q[/]",
    "中" * 150_000,
    "e\u0301" * 3_000,
    "👨\u200d👩\u200d👧☁\ufe0f" * 100,
    "",
    "a\nb",
]


@pytest.mark.parametrize("size", [(1, 1), (3, 2), (7, 6), (20, 10)])
async def test_any_text_fits_any_size(size: tuple[int, int]) -> None:
    """D48: seven columns of wide characters neither crash nor spill."""
    app = Host(lines(*HOSTILE))
    async with app.run_test(size=size) as pilot:
        for key in ["l", "l", "j", "l", "j", "j", "G", "g"]:
            await pilot.press(key)
            width = app.view.scrollable_content_region.width
            for y in range(app.view.size.height):
                strip = app.view.render_line(y)
                assert sum(cell_len(s.text) for s in strip) == strip.cell_length == width
        await pilot.click("#view", offset=(0, 0))
        app.view.search("中")
        await pilot.press("n")
        assert app.is_running
        if size == (20, 10):
            assert app.drawn()[0] == "[/x][@click=app.qu", "markup is text"
            assert app.searched[-1] == (2, 150_000)


async def test_no_lines_take_every_key() -> None:
    app = Host([])
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.press("j", "G", "g", "pagedown", "ctrl+u", "n", "}", "l", "escape")
        app.view.search("x")
        assert await drag(pilot, (1, 1), (5, 5)) == ""
        app.view.post_message(events.Resize(app.view.size, app.view.virtual_size))
        await pilot.pause()
        assert (app.view.top, app.drawn()) == (0, [""] * 10)
        assert app.searched == [(0, 0)]


async def test_the_horizontal_bar_does_not_hide_the_last_line() -> None:
    app = Host(lines(*["x"] * 30, "y" * 50, "the end"))
    async with app.run_test(size=(30, 10)) as pilot:
        assert len(app.drawn()) == 10
        await pilot.press("G")
        assert (len(app.drawn()), app.drawn()[-1]) == (9, "the end")
