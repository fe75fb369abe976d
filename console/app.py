"""The console: modes, themes, live changes, one write at a time. No rule of any home lives here."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.content import Content
from textual.message import Message
from textual.screen import Screen

from console import outside, themes, uistate
from console.actions import MODES
from console.jobs import Jobs
from console.palette import ActionProvider
from console.places import short
from console.render import ink
from console.render.header import HomeFacts, header, notice
from console.screens.host import Reading
from console.screens.opening import Opening
from console.screens.room import Room, bindings_of

if TYPE_CHECKING:
    from core.desk.glance import Glance
    from core.desk.opening import Opened
    from core.desk.review import Board
    from core.errors import SignoffError
    from core.model import Receipt
    from core.watch import Watcher

log = logging.getLogger("signoff")
#: Problems shown before the console gives up: something is wrong in every frame.
PATIENCE = 5
_LEFT = "The home is not there any more; it is read again when it is back"
#: Seconds the first frame gets to reach the terminal: imports would hold its thread up.
SHOWN = 0.02


@dataclass
class HomeChanged(Message):
    """Something changed; what, lies in the app's set. Only the last one in the queue counts."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, HomeChanged)


@dataclass(frozen=True)
class _Write:
    task: Callable[[], Receipt]
    done: Callable[[str, Receipt], None]
    key: str


def _unknown(broken: tuple[str, str]) -> str:
    folder, reason = broken
    return f"{folder} cannot be read ({reason}): what waits there is unknown"


def _review() -> Screen[Any]:
    from console.screens.review import ReviewScreen

    return ReviewScreen()


def _memory() -> Screen[Any]:
    from console.screens.memory import MemoryScreen

    return MemoryScreen()


def _journal() -> Screen[Any]:
    from console.screens.journal import JournalScreen

    return JournalScreen()


class SignoffApp(Jobs, App[None]):
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
        self.keys: Mapping[str, str] = keys or {}
        self._live = live
        self.now = clock
        self.ui = uistate.load(state)
        self.opened: Opened | None = None
        self.board: Board | None = None
        self.reading: Reading | None = None
        self.no_home: SignoffError | None = None
        self._facts: HomeFacts | None = None
        self._writes: deque[_Write] = deque()
        self._writing = False
        self._areas: set[str] = set()
        self._areas_lock = threading.Lock()
        self._saving = threading.Lock()
        self._stop = threading.Event()
        self._watcher: Watcher | None = None
        self._problems = 0
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

    def _open(self) -> tuple[Opened, Board, Watcher | None]:
        from core.desk.review import Board

        opened = self._start()
        # Before the queue is read: no change falls between the two.
        return opened, Board(opened), self._watcher_of(opened) if self._live else None

    def _home_opened(self, found: tuple[Opened, Board, Watcher | None]) -> None:
        self.opened, self.board, self._watcher = found
        self._look()
        for room in self._rooms():
            room.refresh_if_stale()
        if self._watcher is not None:
            # The first look of all only remembers, so it is taken before anything changes.
            self.note_outside()
            self._watch(self._watcher)

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
        live = "" if self._watcher is None else str(self._watcher.mode)
        return header(mode, self._facts, live, max(1, width))

    def notice(self) -> Content:
        """What a person should mend before deciding; empty if there is nothing."""
        return notice(self._facts)

    def _look(self) -> None:
        opened, board = self.opened, self.board
        if opened is None or board is None:
            return

        def work() -> tuple[Reading, Glance, tuple[str, ...]] | None:
            from core.desk.glance import glance
            from core.desk.overview import remarks

            if not opened.found.home.is_dir():
                return None
            reading = Reading(time.monotonic(), board.read())
            return reading, glance(opened, reading.queue), remarks(opened)

        self.start_job("glance", work, self._looked, self.show_problem, every=True)

    def _looked(self, looked: tuple[Reading, Glance, tuple[str, ...]] | None) -> None:
        if looked is None:
            self._home_left()
            return
        self.reading, seen, remarks = looked
        gates = (("memory", seen.memory_gate.on), ("skills", seen.skills_gate.on))
        self._facts = HomeFacts(
            home=short(seen.home),
            kind=seen.kind,
            profile=seen.profile,
            rules=seen.rules,
            gates=gates,
            waiting=seen.waiting,
            unreadable=seen.unreadable,
            others=seen.others,
            remarks=(*map(_unknown, seen.broken), *remarks),
        )
        for room in self._rooms():
            room.show_header()
            room.queue_read()

    def _home_left(self) -> None:
        """The home is not there: what was read stays on screen, nothing was decided elsewhere."""
        if self._facts is not None:
            self._facts = replace(self._facts, gates=(), remarks=(_LEFT,))
        for room in self._rooms():
            room.show_header()

    # -- live ------------------------------------------------------------------------------

    def _watcher_of(self, opened: Opened) -> Watcher:
        from core.watch import Watcher

        home = opened.found.home
        elsewhere = [(home / folder, "skills") for folder in opened.config().external_dirs]
        return Watcher(home, stop=self._stop, extra=elsewhere)

    def _watch(self, watcher: Watcher) -> None:
        def run() -> None:
            for changed in watcher.changes():
                with self._areas_lock:
                    self._areas |= {str(area) for area in changed.areas}
                self.post_message(HomeChanged())

        self.run_worker(run, group="watch", thread=True, exit_on_error=False)

    def on_home_changed(self) -> None:
        with self._areas_lock:
            areas, self._areas = frozenset(self._areas), set()
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
        self._writes.append(_Write(task, done, key))
        self._next_write()

    def _next_write(self) -> None:
        if self._writing or not self._writes:
            return
        self._writing = True
        write = self._writes.popleft()

        def done(receipt: Receipt) -> None:
            self._writing = False
            write.done(write.key, receipt)
            if receipt.journal is not None:
                for room in self._rooms():
                    room.home_changed(frozenset({"journal"}))
            # Between the rows of a bulk step nobody needs the whole queue read again.
            if not self._writes:
                self._look()
            self._next_write()

        def failed(problem: Exception) -> None:
            from core.errors import SignoffError
            from core.model import Receipt

            self._writing = False
            code, message = "unforeseen", "something went wrong inside signoff"
            if isinstance(problem, SignoffError):
                code, message = problem.code, f"{problem.message}. {problem.hint}"
            else:
                self.show_problem(problem)
            write.done(write.key, Receipt(write.key, False, code, message))
            self._next_write()

        self.start_job("write", write.task, done, failed)

    def note_outside(self) -> None:
        """Write down what others changed, in turn with our own writes; one look waits at most."""
        if self.opened is not None and all(w.key != outside.OUTSIDE for w in self._writes):
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
        opened = self.opened
        if opened is None:
            return

        taken: list[Receipt] = []

        def task() -> Receipt:
            from core.desk.history import undo_each

            taken.extend(undo_each(opened))
            return taken[-1]

        self.write(task, partial(self._undone, taken), "undo")

    def _undone(self, taken: list[Receipt], _key: str, receipt: Receipt) -> None:
        said = receipt.message
        if (count := sum(each.ok for each in taken)) and len(taken) > 1:
            said = f"{count:,} decisions of one step taken back"
            said += "" if receipt.ok else f", then: {receipt.message} {receipt.next}"
        if isinstance(self.screen, Room):
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

    async def run_action(self, action, default_namespace=None, namespaces=None):  # type: ignore[no-untyped-def]
        """Run an action; one that cannot run says why."""
        ran = await super().run_action(action, default_namespace, namespaces)
        if not ran:
            self._say_why_not(action, default_namespace)
        return ran

    def _say_why_not(self, action: object, namespace: object) -> None:
        room = self.screen
        if not isinstance(room, Room) or namespace is not room or not isinstance(action, str):
            return
        if not room.is_mounted:
            return
        name = action.partition("(")[0].rpartition(".")[2]
        if name == "note":
            name = action.partition("'")[2].partition("'")[0]
        if reason := room.why_not(name):
            room.flash(reason, ink.WARNING, passing=True)

    # -- problems --------------------------------------------------------------------------

    def show_problem(self, problem: Exception) -> None:
        """A bug is a panel with a way on, not a traceback; the log has no values of variables."""
        from console.render.problem import problem_lines
        from console.screens.sheet import Sheet

        self._problems += 1
        log.error("%s", type(problem).__name__, exc_info=problem)
        if self._problems > PATIENCE:
            self.exit(return_code=1, message=Content("signoff: it keeps failing; see signoff.log"))
            return
        where = short(str(self._state / "signoff.log"))
        self.push_screen(Sheet("Problem", partial(problem_lines, problem, where)))

    def _handle_exception(self, error: Exception) -> None:
        # Textual's own hook prints a traceback with every local variable: agent text included.
        if self.is_running and not self._exit and not os.environ.get("SIGNOFF_DEBUG"):
            self.show_problem(error)
        else:
            super()._handle_exception(error)
