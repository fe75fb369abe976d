"""A line of a person's own: a note with a decision, a date, a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from console.jobs import Jobs
from console.render import ink
from console.screens.host import Host

#: Characters of such a line.
NOTE = 500


class NoteScreen(Jobs, ModalScreen[Any]):
    """Asks for a line; ``None`` when the person thought better of it.

    ``verb`` says what enter does (``approves``), ``example`` what to type. ``read`` makes of the
    line what is handed back: while it raises a :class:`SignoffError` the line stays, with what is
    wrong below it. It runs off the event loop, or ``at_once`` where it looks at nothing but the
    line. Without ``read`` any line will do. ``value`` is what the line begins with.
    """

    BINDINGS: ClassVar = [("escape", "cancel", "cancel")]

    def __init__(
        self,
        question: str,
        verb: str,
        example: str = "why, in a line",
        read: Callable[[str], Any] = str,
        *,
        at_once: bool = False,
        value: str = "",
    ) -> None:
        super().__init__()
        self._example, self._value = example, value
        self._read, self._at_once = read, at_once or read is str
        self._question = ink.line(question)
        self._hint = Content.styled(f"enter {verb}, esc leaves all as it is", ink.LABEL)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._question
            # What is there is changed, not typed over.
            yield Input(
                self._value, placeholder=self._example, max_length=NOTE, select_on_focus=False
            )
            yield Static(self._hint, markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        work = partial(self._read, event.value)
        if not self._at_once:
            self.start_job("sheet", work, self._is_read, self._is_not)
            return
        try:
            found = work()
        except Exception as problem:
            self._is_not(problem)
        else:
            self.dismiss(found)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.query_one(Static).update(self._hint)

    def _is_read(self, found: Any) -> None:
        if self.is_current:
            self.dismiss(found)

    def _is_not(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if isinstance(problem, SignoffError):
            said = ink.block(f"{problem.message}. {problem.hint}", ink.WARNING)
            self.query_one(Static).update(said)
        elif self.is_current:
            self.dismiss(None)
            cast("Host", self.app).show_problem(problem)

    def action_cancel(self) -> None:
        self.dismiss(None)
