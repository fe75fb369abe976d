"""A sheet of lines over a screen: the keys (help), or a problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen

from console.keymap import keyed
from console.render.line import Line
from console.widgets.lines import LineView

#: Cells of a sheet that has no use for more.
NARROW = 76


class Sheet(ModalScreen[None]):
    """Shows what ``draw`` makes of a width in cells, until any of the closing keys.

    ``wide`` is the width it takes where the terminal is that wide.
    """

    BINDINGS: ClassVar = [("escape,q,question_mark,f1,enter,i", "close", "close")]

    def __init__(
        self, title: str, draw: Callable[[int], Sequence[Line]], *, wide: int = NARROW
    ) -> None:
        super().__init__()
        self._draw = draw
        self._wide = wide
        self._box = Vertical(LineView(id="sheet"), classes="dialog")
        self._box.border_title = Content(title)
        self._box.border_subtitle = Content("esc closes")

    def compose(self) -> ComposeResult:
        yield self._box

    def on_resize(self, event: Resize) -> None:
        wide = self._wide if event.size.width >= self._wide else NARROW
        self._box.styles.width = wide

    def on_line_view_width_changed(self, message: LineView.WidthChanged) -> None:
        message.stop()
        lines = self._draw(message.width)
        message.view.set_lines(lines, keep=True)
        message.view.styles.height = len(lines)
        self.call_after_refresh(self._say_keys, message.view)

    def _say_keys(self, view: LineView) -> None:
        """Say that there is more than what is in view."""
        more = keyed("{lines.down} {lines.up} scroll, ") if view.max_scroll_y else ""
        self._box.border_subtitle = Content(f"{more}esc closes")

    def action_close(self) -> None:
        self.dismiss(None)
