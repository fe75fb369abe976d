"""A note of one's own for the store: its text, its kind, and the project it is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console.render import ink

#: Characters a note keeps; past them the original cuts it.
LONGEST = 500
_ASKED = (
    ("text", "the note", "one thing worth knowing, in a sentence or two"),
    ("kind", "kind", "learning; queue:gotcha is merged into modules/queue.md"),
    ("project", "project", "a name; global for every project"),
)


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed; ``kind`` may be empty."""

    text: str
    kind: str
    project: str


class LearnScreen(ModalScreen["Typed | None"]):
    """Asks for a note; ``None`` when the person thought better of it.

    ``fixed``: the project is given. ``given`` is what stands there to begin with.
    """

    BINDINGS: ClassVar = [("escape", "cancel", "cancel")]

    def __init__(self, title: str, given: Typed, *, fixed: bool = False) -> None:
        super().__init__()
        self._title = ink.line(title)
        self._given = given
        self._asked = _ASKED[:2] if fixed else _ASKED

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            for name, label, example in self._asked:
                yield Static(Content.styled(label, ink.LABEL), markup=False)
                value = getattr(self._given, name)
                yield Input(value, placeholder=example, max_length=LONGEST, id=name)
            hint = "enter keeps it, tab goes on, esc leaves all as it is"
            yield Static(Content.styled(hint, ink.LABEL), markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        found = {each.id: each.value.strip() for each in self.query(Input)}
        empty = next((n for n in ("text", "project") if not found.get(n, self._given.project)), "")
        if empty:
            self.query_one(f"#{empty}", Input).focus()
            return
        project = found.get("project", self._given.project)
        self.dismiss(Typed(found["text"], found["kind"], project))

    def action_cancel(self) -> None:
        self.dismiss(None)
