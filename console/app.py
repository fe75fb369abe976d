"""The console: modes, themes, keys, the palette. No rule of any home lives here."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.screen import Screen

from console import keymap, themes, uistate, undoing
from console.actions import MODES
from console.herald import Herald
from console.palette import ActionProvider
from console.render import ink
from console.screens.host import Asked, kind_of
from console.screens.opening import Opening
from console.screens.room import Room, bindings_of
from console.workspace import OPENING, Workspace

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.errors import SignoffError
    from core.journal import Entry
    from core.model import Receipt

#: Seconds the first frame gets to reach the terminal: imports would hold its thread up.
SHOWN = 0.02


def _review() -> Screen[Any]:
    from console.screens.review import ReviewScreen

    return ReviewScreen()


def _sessions() -> Screen[Any]:
    from console.screens.sessions import SessionsScreen

    return SessionsScreen()


def _skills() -> Screen[Any]:
    from console.screens.skills import SkillsScreen

    return SkillsScreen()


def _memory() -> Screen[Any]:
    from console.screens.memory import MemoryScreen

    return MemoryScreen()


def _notes() -> Screen[Any]:
    from console.screens.notes import NotesScreen

    return NotesScreen()


def _installed() -> Screen[Any]:
    from console.screens.installed import InstalledScreen

    return InstalledScreen()


def _journal() -> Screen[Any]:
    from console.screens.journal import JournalScreen

    return JournalScreen()


def _knowledge() -> Screen[Any]:
    from console.screens.knowledge import KnowledgeScreen

    return KnowledgeScreen()


class SignoffApp(Workspace):
    """``start`` opens the home, off the event loop; ``state`` is signoff's own folder."""

    TITLE = "signoff"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - Textual's own name
    COMMANDS: ClassVar = {ActionProvider}
    BINDINGS: ClassVar = bindings_of("app")
    MODES: ClassVar = {
        OPENING: Opening,
        "review": _review,
        "sessions": _sessions,
        "skills": _skills,
        "memory": _memory,
        "journal": _journal,
        "knowledge": _knowledge,
    }
    INSTEAD: ClassVar = {"vak": {"memory": _notes, "skills": _installed}}

    def __init__(
        self,
        start: Callable[[], Opened],
        *,
        state: Path,
        clock: Callable[[], datetime],
        ticks: Callable[[], float] = time.monotonic,
        keys: Mapping[str, str] | None = None,
        live: bool = True,
        herald: Herald | None = None,
    ) -> None:
        super().__init__(start, live=live, herald=herald)
        self._state = state
        self.log_file = state / "signoff.log"
        self._keys = dict(keys or {})
        keymap.choose(self._keys)
        self.now, self.ticks = clock, ticks
        self.started = clock()
        self.ui = uistate.load(state)
        self.no_home: SignoffError | None = None
        self.asked: Asked | None = None
        self.wanted = ""
        self.sought = ""
        self.of_notes = False
        self._went = False
        self._saving = threading.Lock()
        self._dress()

    # -- start and end ---------------------------------------------------------------------

    def get_default_screen(self) -> Screen[None]:
        return Opening()

    def _dress(self) -> None:
        """Choose the theme; before the app runs, or the style sheet is read twice."""
        for theme in (*themes.THEMES, themes.SIXTEEN):
            self.register_theme(theme)
        names = {theme.name for theme in themes.THEMES}
        wanted = self.ui.theme if self.ui.theme in names else themes.DEFAULT
        self.theme = themes.CONTRAST.name if self.no_color else wanted

    def on_load(self) -> None:
        """Listen for signals before the terminal is taken: whatever is taken is given back."""
        loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.exit)

    def on_mount(self) -> None:
        if self._keys:
            self.set_keymap(self._keys)
        self.call_after_refresh(self.set_timer, SHOWN, self._enter)

    @property
    def first_mode(self) -> str:
        """The mode to begin with: what waits, until it is known that nothing does."""
        return "review"

    def first_looked(self, waits: bool) -> None:
        """Go on where the last start ended if nothing waits, and the person did not go on."""
        left = self.ui.mode if self.ui.mode in MODES else "review"
        if not waits and not self._went and self.current_mode == self.first_mode:
            self.switch_mode(left)

    def _enter(self) -> None:
        """Go on after the first frame: only now is anything heavy imported."""
        if self._exit:
            return
        self.switch_mode(self.first_mode)
        self.open_first(self._no_home)

    def _no_home(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if not isinstance(problem, SignoffError):
            self.show_problem(problem)
            return
        self.no_home = problem
        self.exit(return_code=problem.exit_code)

    # -- actions ---------------------------------------------------------------------------

    def action_mode(self, mode: str) -> None:
        self._went = True
        self.ui = replace(self.ui, mode=mode)
        self._remember()
        self.switch_mode(mode)

    def leave_for(self, mode: str) -> None:
        """Go to a mode as a visitor does: the next start does not remember it."""
        self._went = True
        self.switch_mode(mode)

    def show_message(self, session_id: str, message_id: int | None, words: str = "") -> None:
        """Show a message, ``words`` marked, with the way back to the mode on screen."""
        self.asked = Asked(session_id, message_id, self.current_mode, words)
        self.leave_for("sessions")

    def show_proposal(self, file: str) -> None:
        """Show a proposal that waits in the queue."""
        self.wanted = file
        self.leave_for("review")

    def show_note(self, name: str) -> None:
        """Show a note of a vak home in its Memory mode; ``name`` as recall gives it."""
        self.sought = name
        self.leave_for("memory")

    def show_decided_on_notes(self) -> None:
        """Show what was decided on the note store, with the way back to it."""
        self.of_notes = True
        self.leave_for("journal")

    def action_help(self) -> None:
        from console.help import SHEET, help_lines
        from console.screens.sheet import Sheet

        room = self.screen
        if isinstance(room, Room):
            title = f"Keys in {MODES[room.MODE]}"
            draw = partial(help_lines, room.MODE, kind_of(self.opened))
            self.push_screen(Sheet(title, draw, wide=SHEET))

    def action_undo(self) -> None:
        room = self.screen
        if not isinstance(room, Room) or room.takes_back():
            return
        if self.opened is not None:
            taken: list[Receipt] = []
            older: list[Entry] = []
            since = self.started
            task = partial(undoing.take_back, self.opened, taken, self.naps, since, older)
            self.write(task, partial(self._undone, room, taken, older), "undo")

    def _undone(
        self, room: Room, taken: list[Receipt], older: list[Entry], _key: str, receipt: Receipt
    ) -> None:
        if older:
            self._ask_back(room, older)
            return
        back = undoing.paths_of(taken)
        for room in self.rooms():
            room.brought_back(back)
        self.flash(undoing.said_of(taken, receipt), ink.GOOD if receipt.ok else ink.DANGER)
        self.tell(frozenset({"queue", "memory", "notes", "skills", "curator"}))

    def _ask_back(self, room: Room, older: Sequence[Entry]) -> None:
        from console.screens.taking_back import ask_back

        def agreed() -> None:
            if self.opened is not None:
                taken: list[Receipt] = []
                numbers = [entry.id for entry in older]
                task = partial(undoing.take_these, self.opened, taken, numbers)
                self.write(task, partial(self._undone, room, taken, []), "undo")

        ask_back(room, "It was not decided just now, or not here", older, agreed)

    def action_receipt(self) -> None:
        from console.render.receipts import receipt_lines
        from console.screens.sheet import Sheet

        if self.undecided:
            self.flash("It is being written; try again in a moment", ink.LABEL)
        elif not self.receipts:
            self.flash("Nothing was decided yet; the journal has what was before", ink.LABEL)
        elif isinstance(self.screen, Room):
            draw = partial(receipt_lines, tuple(self.receipts))
            self.push_screen(Sheet("What became of it", draw))

    def action_reload(self) -> None:
        for room in self.rooms():
            room.clear_gone()
            room.home_changed(room.AREAS)
        self.look()

    def action_gate(self) -> None:
        from console.screens.gates import turn_on

        if isinstance(self.screen, Room):
            turn_on(self.screen)

    def action_theme(self) -> None:
        names = [theme.name for theme in themes.THEMES]
        here = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(here + 1) % len(names)]
        self.ui = replace(self.ui, theme=self.theme)
        self._remember()

    def toggle_split(self, width: int) -> None:
        """Old and new side by side, or not; kept for the next start."""
        from console.render.preview import SPLIT_WIDTH

        now = self.ui.split if self.ui.split is not None else width >= SPLIT_WIDTH
        self.ui = replace(self.ui, split=not now)
        self._remember()

    def _remember(self) -> None:
        def save() -> None:
            with self._saving:
                uistate.save(self._state, self.ui)

        self.run_worker(save, group="ui", thread=True, exit_on_error=False)
