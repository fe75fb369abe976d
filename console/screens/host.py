"""What a screen may ask of the app it lives in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from textual.content import Content

from console.uistate import UiState

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.review import Board
    from core.desk.snoozing import Nap
    from core.homes.hermes.pending import Queue
    from core.model import Receipt


#: The kind of a vak home.
VAK = "vak"


@dataclass(frozen=True, slots=True)
class Reading:
    """The queue as it was read; ``begun``: ``time.monotonic()`` before that."""

    begun: float
    queue: Queue


@dataclass(frozen=True, slots=True)
class Asked:
    """A message that a screen asked to be shown in its conversation, ``words`` marked in it.

    ``mode`` is where the way back leads.
    """

    session_id: str
    message_id: int | None
    mode: str
    words: str = ""


def is_vak(opened: Opened | None) -> bool:
    """Whether the open home is one of a vak agent."""
    return kind_of(opened) == VAK


def kind_of(opened: Opened | None) -> str:
    """The kind of the open home; ``""`` while there is none."""
    return "" if opened is None else str(opened.found.kind)


class Host(Protocol):
    """The app as its screens see it.

    ``opened`` and ``board`` are ``None`` until the home is found, ``reading`` until its queue is
    read. ``asked`` and ``wanted`` wait for the screen
    that shows them: a message, and the file of a proposal; ``sought`` is a note of a vak home, as
    recall names it, ``of_notes`` asks for the decisions on the note store. ``naps`` is what was put
    off last.
    """

    opened: Opened | None
    board: Board | None
    reading: Reading | None
    ui: UiState
    now: Callable[[], datetime]
    ticks: Callable[[], float]
    asked: Asked | None
    wanted: str
    sought: str
    of_notes: bool
    naps: list[Nap]

    @property
    def watches(self) -> bool:
        """Whether changes are looked out for as they happen."""

    @property
    def first_mode(self) -> str:
        """The mode to begin with."""

    def header_for(self, mode: str, width: int) -> Content:
        """The header of a mode in ``width`` cells."""

    def notice(self) -> Content:
        """What a person should mend before deciding; empty if there is nothing."""

    def show_headers(self) -> None:
        """Draw the header and the notice of every screen again."""

    def write(
        self, task: Callable[[], Receipt], done: Callable[[str, Receipt], None], key: str
    ) -> None:
        """Queue a decision: one at a time, in order, never cancelled half way."""

    def remark(self, sentence: str) -> None:
        """Add what was found out later to the newest receipt."""

    def tell(self, areas: frozenset[str]) -> None:
        """Tell every screen that these areas changed."""

    def show_message(self, session_id: str, message_id: int | None, words: str = "") -> None:
        """Show a message, ``words`` marked, with the way back to the mode on screen."""

    def show_proposal(self, file: str) -> None:
        """Show a proposal that waits in the queue."""

    def show_note(self, name: str) -> None:
        """Show a note of a vak home in its Memory mode; ``name`` as recall gives it."""

    def show_decided_on_notes(self) -> None:
        """Show what was decided on the note store, with the way back to it."""

    def leave_for(self, mode: str) -> None:
        """Go to another mode as a visitor does: the next start does not remember it."""

    def toggle_split(self, width: int) -> None:
        """Old and new side by side, or not; kept for the next start."""

    def show_problem(self, problem: Exception) -> None:
        """Show a bug as a panel with a way on."""
