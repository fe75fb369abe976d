"""A room with a list and, beside it, the text of the chosen row. Journal and Memory are such."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.content import Content
from textual.widget import Widget

from console.render import ink
from console.render.hints import with_keys
from console.render.line import Line, wrapped
from console.screens.room import Room
from console.widgets.lines import LineView
from console.widgets.rows import RowList, RowState


class Browser(Room):
    """Subclasses say how rows are painted and fill list and text."""

    TITLES: ClassVar[tuple[str, str]]

    def __init__(self) -> None:
        super().__init__()
        self._sentence = "Reading the home…"
        self._folded = True

    def panes(self) -> Iterable[Widget]:
        rows = RowList(self._paint, marks=False, id="rows", classes="pane list")
        rows.border_title = Content(self.TITLES[0])
        detail = LineView(id="detail", classes="pane detail")
        detail.border_title = Content(self.TITLES[1])
        return (rows, detail)

    def paint_row(self, item: Any, width: int) -> Sequence[Content]:
        """The lines of one row."""
        raise LookupError(f"{type(self).__name__} paints no rows")

    def _paint(self, item: Any, state: RowState) -> Sequence[Content]:
        return self.paint_row(item, state.width)

    def on_mount(self) -> None:
        self.rows.focus()

    @property
    def rows(self) -> RowList[Any]:
        return self.query_one("#rows", RowList)

    @property
    def detail(self) -> LineView:
        return self.query_one("#detail", LineView)

    @property
    def detail_width(self) -> int:
        return max(20, self.detail.line_width)

    def draw(self, *, keep: bool) -> None:
        """Draw the text of the row at the cursor."""

    def action_fold(self) -> None:
        self._folded = not self._folded
        self.draw(keep=True)

    def action_split(self) -> None:
        self.signoff.toggle_split(self.detail_width)
        self.draw(keep=True)

    def say(self, sentence: str) -> None:
        """A sentence in place of the text."""
        self._sentence = with_keys(sentence)
        self.draw_sentence()

    def draw_sentence(self) -> None:
        """The sentence last said, in the width there is now."""
        pieces = wrapped(ink.block(self._sentence), self.detail_width)
        self.detail.set_lines([Line(piece) for piece in pieces], keep=False)

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        message.stop()
        self._folded = True
        self.draw(keep=False)
        self.refresh_bindings()

    def on_row_list_activated(self, message: RowList.Activated) -> None:
        message.stop()
        self.action_open()

    def on_line_view_width_changed(self, message: LineView.WidthChanged) -> None:
        message.stop()
        if self.rows.cursor_key is None:
            self.draw_sentence()
        else:
            self.draw(keep=True)

    def action_open(self) -> None:
        self.add_class("-inside")
        self.detail.focus()

    def action_close(self) -> None:
        self.remove_class("-inside")
        self.rows.focus()
