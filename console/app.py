"""The console: modes, themes, live changes, one write at a time. No rule of any home lives here."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.content import Content
from textual.screen import Screen

from console import looking, outside, themes, uistate, undoing
from console.actions import MODES
from console.jobs import Jobs
from console.live import HomeChanged, Live
from console.palette import ActionProvider
from console.problems import Problems
from console.render import ink
from console.render.header import HomeFacts, header, notice
from console.screens.host import Reading
from console.screens.opening import Opening
from console.screens.room import Room, bindings_of
from console.writes import Writes

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.review import Board
    from core.errors import SignoffError
    from core.model import Receipt

#: Seconds the first frame gets to reach the terminal: imports would hold its thread up.
SHOWN = 0.02


def _review() -> Screen[Any]:
    from console.screens.review import ReviewScreen

    return ReviewScreen()


def _memory() -> Screen[Any]:
    from console.screens.memory import MemoryScreen

    return MemoryScreen()


def _journal() -> Screen[Any]:
    from console.screens.journal import JournalScreen

    return JournalScreen()


class SignoffApp(Jobs, Problems):
    """``start`` opens the home, off the event loop; ``state`` is signoff's own folder."""

    TITLE = "signoff"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 - Textual's own name
    COMMANDS: ClassVar = {ActionProvider}
    BINDINGS: ClassVar = bindings_of("app")
    MODES: ClassVar = {"review": _review, "memory": _memory, "journal": _journal}

    def __init__(
        self,
        start: Callable[[], Opened],
        *,
        state: Path,
        clock: Callable[[], datetime],
        keys: Mapping[str, str] | None = None,
        live: bool = True,
    ) -> None:
        super().__init__()
        self._start = start
        self._state = state
        self.log_file = state / "signoff.log"
        self.keys: Mapping[str, str] = keys or {}
        self._watches = live
        self.now = clock
        self.ui = uistate.load(state)
        self.opened: Opened | None = None
        self.board: Board | None = None
        self.reading: Reading | None = None
        self.no_home: SignoffError | None = None
        self._facts: HomeFacts | None = None
        self.writes = Writes(self, self._settled, self.show_problem)
        self._saving = threading.Lock()
        self._stop = threading.Event()
        self._live: Live | None = None
        self._dress()

    # -- start and end ---------------------------------------------------------------------

    def get_default_screen(self) -> Screen[None]:
        return Opening()

    def _dress(self) -> None:
        """Choose the theme; before the app runs, or the style sheet is read twice."""
        for theme in themes.THEMES:
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
        if self.keys:
            self.set_keymap(dict(self.keys))
        self.call_after_refresh(self.set_timer, SHOWN, self._enter)

    @property
    def first_mode(self) -> str:
        """The mode to begin with: the one that was left."""
        return self.ui.mode if self.ui.mode in MODES else "review"

    def _enter(self) -> None:
        """Go on after the first frame: only now is anything heavy imported."""
        if self._exit:
            return
        self.switch_mode(self.first_mode)
        self.start_job("open", self._open, self._home_opened, self._no_home)

    def on_unmount(self) -> None:
        self._stop.set()

    def _open(self) -> tuple[Opened, Board, Live | None]:
        from core.desk.review import Board

        opened = self._start()
        # Before the queue is read: no change falls between the two.
        return opened, Board(opened), Live(opened, self._stop) if self._watches else None

    def _home_opened(self, found: tuple[Opened, Board, Live | None]) -> None:
        self.opened, self.board, self._live = found
        self._look()
        for room in self._rooms():
            room.refresh_if_stale()
        if self._live is not None:
            # The first look of all only remembers, so it is taken before anything changes.
            self.note_outside()
            self._watch(self._live)

    def _no_home(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if not isinstance(problem, SignoffError):
            self.show_problem(problem)
            return
        self.no_home = problem
        self.exit(return_code=problem.exit_code)

    # -- the header ------------------------------------------------------------------------

    def header_for(self, mode: str, width: int) -> Content:
        """The header of a mode in ``width`` cells."""
        live = "" if self._live is None else self._live.mode
        return header(mode, self._facts, live, max(1, width))

    def notice(self) -> Content:
        """What a person should mend before deciding; empty if there is nothing."""
        return notice(self._facts)

    def _look(self) -> None:
        if self.opened is not None and self.board is not None:
            work = partial(looking.look, self.opened, self.board)
            self.start_job("glance", work, self._looked, self.show_problem, every=True)

    def _looked(self, looked: looking.Looked | None) -> None:
        if looked is None:
            self._facts = looking.left(self._facts)
        else:
            self.reading, self._facts = looked.reading, looked.facts
        for room in self._rooms():
            room.show_header()
            if looked is not None:
                room.queue_read()

    # -- live ------------------------------------------------------------------------------

    def _watch(self, live: Live) -> None:
        run = partial(live.run, lambda: self.post_message(HomeChanged()))
        self.run_worker(run, group="watch", thread=True, exit_on_error=False)

    def on_home_changed(self) -> None:
        areas = frozenset() if self._live is None else self._live.take()
        self.tell(areas)
        if areas & outside.AREAS:
            self.note_outside()

    def tell(self, areas: frozenset[str]) -> None:
        """Tell every room that these areas changed; events may be slow or not come at all."""
        self._look()
        for room in self._rooms():
            room.home_changed(areas)

    def _rooms(self) -> list[Room]:
        return [
            screen
            for stack in self._screen_stacks.values()
            for screen in stack
            if isinstance(screen, Room)
        ]

    # -- writing ---------------------------------------------------------------------------

    def write(
        self, task: Callable[[], Receipt], done: Callable[[str, Receipt], None], key: str
    ) -> None:
        """Queue a decision: one at a time, in order, never cancelled half way."""
        self.writes.add(task, done, key)

    def _settled(self, receipt: Receipt) -> None:
        if receipt.journal is not None:
            for room in self._rooms():
                room.home_changed(frozenset({"journal"}))
        # Between the rows of a bulk step nobody needs the whole queue read again.
        if not self.writes.waiting:
            self._look()

    def note_outside(self) -> None:
        """Write down what others changed, in turn with our own writes; one look waits at most."""
        if self.opened is not None and not self.writes.holds(outside.OUTSIDE):
            self.write(partial(outside.look_outside, self.opened), self._noted, outside.OUTSIDE)

    def _noted(self, _key: str, receipt: Receipt) -> None:
        if receipt.changed:
            self.tell(frozenset({"journal"}))

    # -- actions ---------------------------------------------------------------------------

    def action_mode(self, mode: str) -> None:
        self.ui = replace(self.ui, mode=mode)
        self._remember()
        self.switch_mode(mode)

    def action_help(self) -> None:
        from console.help import SHEET, help_lines
        from console.screens.sheet import Sheet

        room = self.screen
        if isinstance(room, Room):
            title = f"Keys in {MODES[room.MODE]}"
            self.push_screen(Sheet(title, partial(help_lines, room.MODE, self.keys), wide=SHEET))

    def action_undo(self) -> None:
        if self.opened is not None:
            taken: list[Receipt] = []
            task = partial(undoing.take_back, self.opened, taken)
            self.write(task, partial(self._undone, taken), "undo")

    def _undone(self, taken: list[Receipt], _key: str, receipt: Receipt) -> None:
        if isinstance(self.screen, Room):
            said = undoing.said_of(taken, receipt)
            self.screen.flash(said, ink.GOOD if receipt.ok else ink.DANGER)
        self.tell(frozenset({"queue", "memory", "skills"}))

    def action_reload(self) -> None:
        for room in self._rooms():
            room.clear_gone()
            room.home_changed(room.AREAS)
        self._look()

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
