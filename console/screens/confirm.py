"""A list of what one key would decide: looked through, then agreed to or left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from console.render import ink
from console.render.line import Line
from console.widgets.lines import LineView

#: Lines of a list that are in view at most; the rest scrolls.
IN_VIEW = 24
#: Cells of a title: the name of a skill may be long, and anything.
TITLE = 60


class Confirm(ModalScreen[bool]):
    """Shows what ``draw`` makes of a width in cells; whether the person agreed.

    ``verb`` says what y does (``refuses these 12``). Enter does nothing: a key pressed by habit
    is no answer.
    """

    BINDINGS: ClassVar = [("y", "agree", "do it"), ("escape,q,n", "leave", "leave")]

    def __init__(self, title: str, verb: str, draw: Callable[[int], Sequence[Line]]) -> None:
        super().__init__()
        self._draw = draw
        self._box = Vertical(LineView(id="sheet"), classes="dialog")
        self._box.border_title = ink.cut(title, TITLE)
        self._box.border_subtitle = Content(f"y {verb}, n or esc leaves all as it is")

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
