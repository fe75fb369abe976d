"""A note with a decision: one line, kept in the journal."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class NoteScreen(ModalScreen[str | None]):
    """Asks for a note; ``None`` when the person thought better of it."""

    BINDINGS: ClassVar = [("escape", "cancel", "cancel")]

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = Content(question)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(self._question, markup=False)
            yield Input(
                placeholder="why; enter decides, escape leaves all as it is", max_length=500
            )

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)

    def action_cancel(self) -> None:
        self.dismiss(None)
