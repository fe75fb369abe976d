"""A list of items of a few lines each, drawn on demand: cursor, marks and view follow keys.

Whatever happens to the list, the row the reader looks at stays where it is on the screen. Rows
that arrive elsewhere are only counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from console.widgets.cells import cut
from console.widgets.listing import Item, ItemT, Listing
from console.widgets.recent import Recent

__all__ = ["ASCII_SIGNS", "MARKING", "Item", "RowList", "RowState", "Signs"]

#: Items whose drawn lines are remembered: a few screens of them.
_REMEMBERED = 256
_GUTTER = 2
#: Actions of a list whose rows can be marked.
MARKING = frozenset({"toggle_mark", "range", "drop_range", "invert_marks"})
_EMPTY = Content("")


@dataclass(frozen=True, slots=True)
class RowState:
    """What a row looks like apart from its item. ``width``: cells for its lines, at least 1."""

    width: int
    cursor: bool
    marked: bool
    focused: bool


@dataclass(frozen=True, slots=True)
class Signs:
    """The two one-cell signs left of a row, so that cursor and marks need no colour."""

    cursor: str = "▌"
    mark: str = "●"


ASCII_SIGNS = Signs(">", "*")


@dataclass
class RowsMessage(Message):
    """A message of a list, which ``@on`` can select by the list's id."""

    rows: RowList[Any]

    @property
    def control(self) -> RowList[Any]:
        return self.rows


class RowList(ScrollView, Generic[ItemT], can_focus=True, inherit_bindings=False):
    """A list of ``height`` lines an item; ``paint`` makes them of safe ``Content``.

    Only visible rows are painted, and remembered while item and state stay equal: ``paint`` must
    depend on its arguments alone, or :meth:`repaint` be called. Too many or too wide lines are
    cut, missing ones are blank.
    """

    ALLOW_SELECT = False

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row-list--cursor",
        "row-list--cursor-blurred",
        "row-list--marked",
        "row-list--dim",
    }

    DEFAULT_CSS = """
    RowList {
        width: 1fr;
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        & > .row-list--dim { color: $text-muted; }
        & > .row-list--marked { background: $warning-muted; color: $foreground; }
        & > .row-list--cursor {
            background: $block-cursor-background;
            color: $block-cursor-foreground;
            text-style: $block-cursor-text-style;
        }
        & > .row-list--cursor-blurred {
            background: $block-cursor-blurred-background;
            color: $block-cursor-blurred-foreground;
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "cursor_down", "down", False, id="rows.down", tooltip="Next row"),
        Binding("k,up", "cursor_up", "up", False, id="rows.up", tooltip="Previous row"),
        Binding("g,home", "first", "first", False, id="rows.first", tooltip="First row"),
        Binding("G,end", "last", "last", False, id="rows.last", tooltip="Last row"),
        Binding("pagedown", "page(1)", "page", False, id="rows.page_down", tooltip="A page down"),
        Binding("pageup", "page(-1)", "page", False, id="rows.page_up", tooltip="A page up"),
        Binding(
            "ctrl+d", "half(1)", "half", False, id="rows.half_down", tooltip="Half a page down"
        ),
        Binding("ctrl+u", "half(-1)", "half", False, id="rows.half_up", tooltip="Half a page up"),
        Binding("enter", "activate", "open", False, id="rows.activate", tooltip="Open the row"),
        Binding("space", "toggle_mark", "mark", True, id="rows.mark", tooltip="Mark, step down"),
        Binding("v", "range", "range", False, id="rows.range", tooltip="Mark as the cursor moves"),
        Binding("escape", "drop_range", "drop", False, id="rows.drop", tooltip="Drop the range"),
        Binding("*", "invert_marks", "invert", False, id="rows.invert", tooltip="Invert marks"),
    ]

    @dataclass
    class Highlighted(RowsMessage):
        """The cursor is on another item, or on none."""

        key: str | None

    @dataclass
    class Activated(RowsMessage):
        """Enter, or a second click on a row."""

        key: str

    @dataclass
    class MarksChanged(RowsMessage):
        """``count`` items are marked now."""

        count: int

    @dataclass
    class UnseenChanged(RowsMessage):
        """``count`` items arrived and were not on screen yet."""

        count: int

    def __init__(
        self,
        paint: Callable[[ItemT, RowState], Sequence[Content]],
        *,
        height: int = 2,
        signs: Signs | None = None,
        marks: bool = True,
        id: str | None = None,  # noqa: A002
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._paint = paint
        self._lines = max(1, height)
        self._signs = signs or Signs()
        self._marks = marks
        self._list: Listing[ItemT] = Listing()
        self._told_unseen = 0
        self._clicked: str | None = None
        self._seen_lines = 0
        self._drawn: Recent[tuple[str, RowState, int], tuple[ItemT, list[Strip]]]
        self._drawn = Recent(_REMEMBERED)

    # --- items

    @property
    def items(self) -> Sequence[ItemT]:
        """The items as they were set."""
        return self._list.items

    def set_items(self, items: Sequence[ItemT], *, news: bool = True) -> None:
        """Show ``items``; cursor, marks and view stay on their keys. ``news``: count the new ones.

        A cursor whose item is gone goes to the next one that stayed, else the previous. The first
        call reads no item, a later one reads every key (a second or two for a million). The
        sequence must not change afterwards: set another one.
        """
        before, marked = self.cursor_key, self._list.marked
        cursor = self._list.cursor
        held = cursor if self._in_view(cursor) else self._top // self._lines
        on_screen = held * self._lines - self._top
        top = self._list.replace(items, held, news=news) * self._lines - on_screen
        self.virtual_size = Size(0, len(items) * self._lines)
        if self._laid_out:
            self.scroll_to(y=top, animate=False, force=True)
        self.refresh()
        self._tell_cursor(before)
        if self._list.marked != marked:
            self._tell_marks()
        self.call_after_refresh(self.call_later, self._tell_unseen)

    def repaint(self) -> None:
        """Ask ``paint`` again for every row on screen."""
        self._drawn.clear()
        self.refresh()

    @property
    def unseen(self) -> int:
        """Items that arrived after the first ``set_items`` and were not on screen yet."""
        return len(self._list.unseen)

    def note_seen(self, keys: Iterable[str]) -> None:
        """Items the reader knows of are not new, on screen or not."""
        self._list.unseen.difference_update(keys)
        self._tell_unseen()

    def _tell_unseen(self) -> None:
        if self._told_unseen != self.unseen:
            self._told_unseen = self.unseen
            self.post_message(self.UnseenChanged(self, self.unseen))

    # --- cursor and view

    @property
    def cursor_index(self) -> int | None:
        """The place of the cursor, from 0; None in an empty list."""
        return self._list.cursor if self.items else None

    @property
    def cursor_item(self) -> ItemT | None:
        """The item at the cursor."""
        return self._list.item

    @property
    def cursor_key(self) -> str | None:
        """The key of the item at the cursor."""
        return self._list.key

    def move_to(self, key: str) -> bool:
        """Put the cursor on ``key`` and bring it into view; False if it is not in the list."""
        place = self._list.place(key)
        if place is None:
            return False
        self._move(place)
        return True

    def _move(self, place: int) -> None:
        before, old = self.cursor_key, self._list.cursor
        self._list.move(place)
        for row in (old, self._list.cursor):
            self.refresh_lines(row * self._lines, self._lines)
        self._follow()
        self._tell_cursor(before)
        if self._list.in_range and old != self._list.cursor:
            self._tell_marks()

    def _tell_cursor(self, before: str | None) -> None:
        if self.cursor_key != before:
            self._clicked = None
            self.post_message(self.Highlighted(self, self.cursor_key))

    @property
    def _top(self) -> int:
        return self.scroll_offset.y

    @property
    def _view(self) -> Size:
        """What rows are drawn in: without borders and the scroll bar."""
        return self.scrollable_content_region.size

    @property
    def _laid_out(self) -> bool:
        return self._seen_lines > 0

    def _in_view(self, place: int) -> bool:
        return -self._lines < place * self._lines - self._top < self._seen_lines

    def _follow(self) -> None:
        """Bring the row at the cursor into view by the least move."""
        if self._laid_out:
            first, seen = self._list.cursor * self._lines, self._seen_lines
            top = max(min(self._top, first), min(first, first + self._lines - seen))
            self.scroll_to(y=top, animate=False, force=True)

    def on_resize(self) -> None:
        """Keep the row at the cursor in view if it was, and on the first layout."""
        follow = not self._laid_out or self._in_view(self._list.cursor)
        self._seen_lines = self._view.height
        if follow:
            self._follow()

    # --- marks

    @property
    def marked(self) -> tuple[str, ...]:
        """The marked keys in list order."""
        return self._list.marked

    def mark(self, key: str, on: bool) -> None:
        """Mark ``key`` or take its mark off; nothing happens to a key that is not in the list."""
        if self._list.mark(key, on):
            self._tell_marks()

    def clear_marks(self) -> None:
        """Take every mark off."""
        if self.marked:
            self._list.clear()
            self._tell_marks()

    def invert_marks(self) -> None:
        """Mark what is not marked, and the other way round."""
        if self.items:
            self._list.invert()
            self._tell_marks()

    def _tell_marks(self) -> None:
        self.refresh()
        self.refresh_bindings()
        self.post_message(self.MarksChanged(self, self._list.count))

    # --- drawing

    def notify_style_update(self) -> None:
        """Forget what was drawn in other colours."""
        super().notify_style_update()
        self._drawn.clear()

    def render_line(self, y: int) -> Strip:
        """One line of one row."""
        place, line = divmod(y + self._top, self._lines)
        if not 0 <= place < len(self.items):
            return Strip.blank(self._view.width, self.rich_style)
        item = self.items[place]
        if item.key in self._list.unseen:
            self._list.unseen.discard(item.key)
            self.call_later(self._tell_unseen)
        return self._strips(place, item)[line]

    def _strips(self, place: int, item: ItemT) -> list[Strip]:
        width = self._view.width
        state = RowState(
            width=max(1, width - _GUTTER),
            cursor=place == self._list.cursor,
            marked=self._list.is_marked(place, item.key),
            focused=self.has_focus,
        )
        at = (item.key, state, width)
        drawn = self._drawn.get(at)
        if drawn is None or not (drawn[0] is item or drawn[0] == item):
            drawn = (item, self._draw(item, state, width))
            self._drawn.put(at, drawn)
        return drawn[1]

    def _draw(self, item: ItemT, state: RowState, width: int) -> list[Strip]:
        lines = [*self._paint(item, state), *[_EMPTY] * self._lines][: self._lines]
        sign = self._signs.cursor if state.cursor else " "
        strips = []
        for number, content in enumerate(lines):
            mark = self._signs.mark if state.marked and number == 0 else " "
            style = self.get_visual_style(*self._components(state, number))
            gutter = Segment((sign + mark)[:width], style.rich_style)
            segments = cut(content, style, max(0, width - _GUTTER)).segments
            strips.append(Strip([gutter, *segments], width))
        return strips

    def _components(self, state: RowState, line: int) -> list[str]:
        names = ["row-list--dim"] if line else []
        if state.cursor:
            names.append("row-list--cursor" if state.focused else "row-list--cursor-blurred")
        elif state.marked:
            names.append("row-list--marked")
        return names

    # --- keys and mouse

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Escape is this list's only while a range is open; without marks their keys are not."""
        if action in MARKING and not self._marks:
            return False
        return action != "drop_range" or self._list.in_range

    def action_cursor_down(self) -> None:
        """The next row."""
        self._move(self._list.cursor + 1)

    def action_cursor_up(self) -> None:
        """The previous row."""
        self._move(self._list.cursor - 1)

    def action_first(self) -> None:
        """The first row."""
        self._move(0)

    def action_last(self) -> None:
        """The last row."""
        self._move(len(self.items) - 1)

    def action_page(self, pages: int) -> None:
        """As many rows as fit on the screen, down or up."""
        self._move(self._list.cursor + pages * max(1, self._seen_lines // self._lines))

    def action_half(self, halves: int) -> None:
        """Half as many rows as fit on the screen, down or up."""
        self._move(self._list.cursor + halves * max(1, self._seen_lines // self._lines // 2))

    def action_activate(self) -> None:
        """Open the row at the cursor."""
        if (key := self.cursor_key) is not None:
            self.post_message(self.Activated(self, key))

    def action_toggle_mark(self) -> None:
        """Keep an open range; else turn the mark of this row and step down."""
        if self._list.keep_range():
            self._tell_marks()
        elif (key := self.cursor_key) is not None:
            self.mark(key, not self._list.is_marked(self._list.cursor, key))
            self._move(self._list.cursor + 1)

    def action_range(self) -> None:
        """Begin to mark every row from here to the cursor, or keep what was marked so."""
        if not self._list.keep_range():
            self._list.open_range()
        self._tell_marks()

    def action_drop_range(self) -> None:
        """Give the open range up; marks made before stay."""
        self._list.drop_range()
        self._tell_marks()

    def action_invert_marks(self) -> None:
        """Mark what is not marked, and the other way round."""
        self.invert_marks()

    def on_click(self, event: events.Click) -> None:
        """Move to the row; a second click on it, with no move between, opens it."""
        at = event.get_content_offset(self)
        if at is None or event.button != 1:
            return
        place = (at.y + self._top) // self._lines
        if place < len(self.items):
            again = self._clicked == self.items[place].key
            self._move(place)
            self._clicked = self.cursor_key
            if again:
                self.action_activate()
