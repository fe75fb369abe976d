"""A list of what one key would decide: looked through, then agreed to or left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from console.render.line import Line
from console.widgets.lines import LineView

#: Lines of a list that are in view at most; the rest scrolls.
IN_VIEW = 24


class Confirm(ModalScreen[bool]):
    """Shows what ``draw`` makes of a width in cells; whether the person agreed.

    ``verb`` says what enter does (``refuses these 12``).
    """

    BINDINGS: ClassVar = [("y,enter", "agree", "do it"), ("escape,q,n", "leave", "leave")]

    def __init__(self, title: str, verb: str, draw: Callable[[int], Sequence[Line]]) -> None:
        super().__init__()
        self._draw = draw
        self._box = Vertical(LineView(id="sheet"), classes="dialog")
        self._box.border_title = Content(title)
        self._box.border_subtitle = Content(f"y or enter {verb}, esc leaves all as it is")

    def compose(self) -> ComposeResult:
        yield self._box

    def on_line_view_width_changed(self, message: LineView.WidthChanged) -> None:
        message.stop()
        lines = self._draw(message.width)
        message.view.set_lines(lines, keep=True)
        message.view.styles.height = min(len(lines), IN_VIEW)

    def action_agree(self) -> None:
        self.dismiss(True)

    def action_leave(self) -> None:
        self.dismiss(False)
