"""A sheet of lines over a screen: the keys (help), or a problem."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from console.render.line import Line
from console.widgets.lines import LineView


class Sheet(ModalScreen[None]):
    """Shows lines until any of the closing keys."""

    BINDINGS: ClassVar = [("escape,q,question_mark,f1,enter", "close", "close")]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title = Content(title)
        self._lines = tuple(lines)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            yield LineView(id="sheet")

    def on_mount(self) -> None:
        view = self.query_one(LineView)
        view.set_lines(self._lines, keep=False)
        view.styles.height = len(self._lines)
        view.focus()

    def action_close(self) -> None:
        self.dismiss(None)
