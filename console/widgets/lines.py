"""A read-only text of many lines, drawn on demand: a difference, an entry, a transcript.

The caller wraps. A line that is still wider than the view is cut and scrolls sideways; how far is
measured on the lines that were on screen, so setting lines costs nothing for their width.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Span
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from console.render.line import Line
from console.widgets.cells import cut, window
from console.widgets.hits import Hits
from console.widgets.recent import Recent
from console.widgets.stops import Stops

#: Drawn lines that are remembered: a few screens of them.
_REMEMBERED = 512
#: Cells of one step sideways.
_STEP = 8
_LINE_STYLES = ("added", "removed", "heading", "dim", "warning", "error")
_COMPONENTS = (*_LINE_STYLES, "hit", "hit-current")


class LineView(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines to read, search and copy from."""

    ALLOW_SELECT = True

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"line-view--{name}" for name in _COMPONENTS}

    DEFAULT_CSS = """
    LineView {
        width: 1fr;
        height: 1fr;
        overflow: auto auto;
        scrollbar-gutter: stable;
        & > .line-view--added { background: $success-muted; color: $text-success; }
        & > .line-view--removed { background: $error-muted; color: $text-error; }
        & > .line-view--heading { color: $text-accent; text-style: bold; }
        & > .line-view--dim { color: $text-muted; }
        & > .line-view--warning { color: $text-warning; }
        & > .line-view--error { color: $text-error; text-style: bold; }
        & > .line-view--hit {
            background: $warning-muted;
            color: $text-warning;
            text-style: underline;
        }
        & > .line-view--hit-current {
            background: $text-warning;
            color: $background;
            text-style: bold underline;
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "lines(1)", "down", False, id="lines.down", tooltip="A line down"),
        Binding("k,up", "lines(-1)", "up", False, id="lines.up", tooltip="A line up"),
        Binding("h,left", "sideways(-1)", "left", False, id="lines.left", tooltip="To the left"),
        Binding("l,right", "sideways(1)", "right", False, id="lines.right", tooltip="To the right"),
        Binding("g,home", "first", "first", False, id="lines.first", tooltip="First line"),
        Binding("G,end", "last", "last", False, id="lines.last", tooltip="Last line"),
        Binding("pagedown", "page(1)", "page", False, id="lines.page_down", tooltip="A page down"),
        Binding("pageup", "page(-1)", "page", False, id="lines.page_up", tooltip="A page up"),
        Binding(
            "ctrl+d", "half(1)", "half", False, id="lines.half_down", tooltip="Half a page down"
        ),
        Binding("ctrl+u", "half(-1)", "half", False, id="lines.half_up", tooltip="Half a page up"),
        Binding("n", "hit(1)", "next", False, id="lines.hit", tooltip="Next hit, or finding"),
        Binding("N", "hit(-1)", "previous", False, id="lines.hit_back", tooltip="Previous one"),
        Binding("}", "anchor(1)", "next part", False, id="lines.anchor", tooltip="Next part"),
        Binding("{", "anchor(-1)", "part", False, id="lines.anchor_back", tooltip="Previous part"),
        Binding("escape", "end_search", "end", False, id="lines.end", tooltip="End the search"),
    ]

    @dataclass
    class Searched(Message):
        """The search stands on hit ``current`` of ``total``, from 1; 0 of 0 without a hit."""

        view: LineView
        current: int
        total: int

        @property
        def control(self) -> LineView:
            return self.view

    @dataclass
    class WidthChanged(Message):
        """Lines have ``width`` cells now: after the first layout and each change of it."""

        view: LineView
        width: int

        @property
        def control(self) -> LineView:
            return self.view

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[Line] = ()
        self._anchors: list[int] = []
        self._hits = Hits()
        self._stops = Stops()
        self._width = 0
        self._drawn: Recent[tuple[int, int, int], Strip] = Recent(_REMEMBERED)

    # --- lines

    @property
    def lines(self) -> Sequence[Line]:
        """The lines as they were set."""
        return self._lines

    @property
    def line_width(self) -> int:
        """Cells a line has, or had when the view was last seen."""
        return self._width

    @property
    def top(self) -> int:
        """The number of the first line in view, from 0."""
        return self.scroll_offset.y

    @property
    def _view(self) -> Size:
        """What lines are drawn in: without borders and scroll bars."""
        return self.scrollable_content_region.size

    def set_lines(self, lines: Sequence[Line], *, keep: bool = False) -> None:
        """Show ``lines``, which must not change afterwards.

        ``keep`` stays at the part being read, and as far to the right: the anchor at or above the
        top line, as many lines below it; without one, the line number. A search goes on.
        """
        x, y = (self.scroll_offset.x, self._same_place(lines)) if keep else (0, 0)
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()
        self._lines = lines
        self._anchors = _anchors(lines)
        self._stops.set(lines, keep=keep)
        self._drawn.clear()
        self.virtual_size = Size(self._widest(y), len(lines))
        self.refresh()
        if self._width:
            self.scroll_to(x, y, animate=False, force=True)
        if self._hits.query:
            self._hits.again(self._plain(), self.top)
            self._tell_hits()

    def _same_place(self, lines: Sequence[Line]) -> int:
        found = _anchors(lines)
        named = {lines[place].anchor: index for index, place in enumerate(found)}
        for place in reversed(self._anchors[: bisect_right(self._anchors, self.top)]):
            if (index := named.get(self._lines[place].anchor)) is not None:
                end = found[index + 1] if index + 1 < len(found) else len(lines)
                return min(found[index] + self.top - place, end - 1)
        return self.top

    def _widest(self, top: int) -> int:
        """The width of the widest line in view when ``top`` is the first."""
        seen = self._lines[top : top + max(1, self._view.height)]
        return max((line.content.cell_length for line in seen), default=0)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Let the view scroll sideways as far as the lines that came into it."""
        super().watch_scroll_y(old_value, new_value)
        self._widen()

    def _widen(self) -> None:
        widest = self._widest(self.top)
        if widest > self.virtual_size.width:
            self.virtual_size = Size(widest, len(self._lines))

    def watch_show_horizontal_scrollbar(self, shown: bool) -> None:
        """A bar that comes in at the end must not cover the last line."""
        bar = self.scrollbar_size_horizontal
        if shown and self.top + self._view.height + bar >= len(self._lines):
            self._scroll(y=self.max_scroll_y)

    def on_resize(self) -> None:
        """Tell the new width."""
        self._widen()
        if self._width != self._view.width:
            self._width = self._view.width
            self._drawn.clear()
            self.post_message(self.WidthChanged(self, self._width))

    # --- search

    def search(self, query: str) -> None:
        """Highlight every ``query``, whatever its case, and go to the first from the top line on.

        The text searched is what is shown. An empty query ends the search.
        """
        self._hits.search(query, self._plain(), self.top)
        self._show_hit()

    def action_hit(self, step: int) -> None:
        """The next hit, or the previous; without a search the next finding. Round at the end."""
        if self._hits.query:
            self._hits.step(step)
            self._show_hit()
        elif self._stops:
            self._stops.step(step, self.top)
            if (stop := self._stops.current) is not None and self._width:
                self._show(stop.line, stop.start, stop.end)
            self._drawn.clear()
            self.refresh()

    def action_end_search(self) -> None:
        """No hits any more."""
        self.search("")

    def _plain(self) -> list[str]:
        return [line.content.plain for line in self._lines]

    def _show_hit(self) -> None:
        if (hit := self._hits.current) is not None and self._width:
            self._show(hit.line, hit.start, hit.end)
        self._tell_hits()

    def _tell_hits(self) -> None:
        self._drawn.clear()
        self.refresh()
        self.refresh_bindings()
        self.post_message(self.Searched(self, self._hits.number, self._hits.total))

    def _show(self, line: int, start: int, end: int) -> None:
        """Bring characters ``start`` to ``end`` of a line into view."""
        width, height = self._view
        if not self.top <= line < self.top + height:
            self._scroll(y=line - height // 2)
        plain = self._lines[line].content.plain
        left = cell_len(plain[:start])
        right = left + cell_len(plain[start:end])
        x = self.scroll_offset.x
        if right <= width:
            self._scroll(x=0)
        elif left < x or right > x + width:
            self._scroll(x=left - width // 3)

    # --- drawing

    def notify_style_update(self) -> None:
        """Forget what was drawn in other colours."""
        super().notify_style_update()
        self._drawn.clear()

    def render_line(self, y: int) -> Strip:
        """One line, as far as it is in view."""
        x, number, width = self.scroll_offset.x, self.top + y, self._view.width
        if number >= len(self._lines):
            return Strip.blank(width, self.rich_style).apply_offsets(0, number)
        at = (number, x, width)
        if (strip := self._drawn.get(at)) is None:
            strip = self._draw(number, x, width)
            self._drawn.put(at, strip)
        return strip

    def _draw(self, number: int, x: int, width: int) -> Strip:
        line = self._lines[number]
        begin, end, _ = window(line.content.plain, x, width)
        spans = [
            Span(hit.start, hit.end, self._component("hit-current" if current else "hit"))
            for hit, current in self._hits.within(number, begin, end)
        ]
        found = self._stops.current
        if found is not None and found.line == number and not self._hits.query:
            # What a finding is about may stand reversed, and reversing it again would hide it.
            here = self._component("hit-current") + Style(reverse=False)
            spans.append(Span(found.start, found.end, here))
        selection = self.text_selection
        if selection is not None and (selected := selection.get_span(number)) is not None:
            start, stop = selected
            styles = self.screen.get_component_styles("screen--selection")
            spans.append(Span(start, end if stop == -1 else stop, Style.from_styles(styles)))
        segments, first = cut(line.content.add_spans(spans), self._base(line.style), width, x)
        return Strip(segments, width).apply_offsets(first, number)

    def _base(self, style: str) -> Style:
        if style in _LINE_STYLES:
            return self.get_visual_style(f"line-view--{style}")
        plain = self.get_visual_style()
        return plain + Style.parse(style) if style else plain

    def _component(self, name: str) -> Style:
        return Style.from_styles(self.get_component_styles(f"line-view--{name}"))

    # --- selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, as it is shown, and what ends it."""
        start, end = selection
        first = 0 if start is None else start.y
        last = len(self._lines) - 1 if end is None else min(end.y, len(self._lines) - 1)
        texts = []
        for number in range(first, last + 1):
            if (span := selection.get_span(number)) is not None:
                plain = self._lines[number].content.plain
                texts.append(plain[span[0] : None if span[1] == -1 else span[1]])
        return "\n".join(texts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw what is selected, or no more."""
        self._drawn.clear()
        self.refresh()

    # --- keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that can do nothing here are the screen's."""
        if action == "hit":
            return bool(self._hits.query or self._stops)
        if action == "end_search":
            return bool(self._hits.query)
        if action == "anchor":
            return bool(self._anchors)
        if action == "sideways":
            return self.max_scroll_x > 0
        return True

    def _scroll(self, *, x: int | None = None, y: int | None = None) -> None:
        if self._width:
            self.scroll_to(x, y, animate=False, force=True)

    def action_lines(self, count: int) -> None:
        """Down, or up."""
        self._scroll(y=self.top + count)

    def action_page(self, pages: int) -> None:
        """A page down or up, one line of which was in view before."""
        self._scroll(y=self.top + pages * max(1, self._view.height - 1))

    def action_half(self, halves: int) -> None:
        """Half a page down or up."""
        self._scroll(y=self.top + halves * max(1, self._view.height // 2))

    def action_first(self) -> None:
        """The beginning."""
        self._scroll(x=0, y=0)

    def action_last(self) -> None:
        """The end."""
        self._scroll(x=0, y=self.max_scroll_y)

    def action_sideways(self, steps: int) -> None:
        """To the right, or to the left."""
        self._scroll(x=self.scroll_offset.x + steps * _STEP)

    def action_anchor(self, step: int) -> None:
        """The next anchor below the top line, or the previous above it, to the top."""
        at = (
            bisect_right(self._anchors, self.top)
            if step > 0
            else bisect_left(self._anchors, self.top) - 1
        )
        if 0 <= at < len(self._anchors):
            self._scroll(y=self._anchors[at])

    def go_to(self, anchor: str) -> bool:
        """Put the line of that anchor on top; False if there is none."""
        for place in self._anchors:
            if self._lines[place].anchor == anchor:
                self._scroll(y=place)
                return True
        return False


def _anchors(lines: Sequence[Line]) -> list[int]:
    return [number for number, line in enumerate(lines) if line.anchor is not None]
