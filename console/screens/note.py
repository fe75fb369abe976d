"""A note with a decision: one line, kept in the journal."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console.render import ink


class NoteScreen(ModalScreen[str | None]):
    """Asks for a note; ``None`` when the person thought better of it.

    ``verb`` says what enter does (``approves``), ``example`` what to type.
    """

    BINDINGS: ClassVar = [("escape", "cancel", "cancel")]

    def __init__(self, question: str, verb: str, example: str = "why, in a line") -> None:
        super().__init__()
        self._example = example
        self._question = ink.line(question)
        self._hint = Content.styled(f"enter {verb}, esc leaves all as it is", ink.LABEL)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._question
            yield Input(placeholder=self._example, max_length=500)
            yield Static(self._hint, markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        self.dismiss(None)
