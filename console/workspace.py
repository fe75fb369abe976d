"""The open home: opened, looked at, watched, written to one decision at a time, left for another.

Screens are told what changed. No rule of any home lives here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.content import Content
from textual.screen import Screen

from console import looking, outside
from console.herald import Herald
from console.jobs import Jobs
from console.live import HomeChanged, Live
from console.problems import Problems
from console.render import ink
from console.render.header import HomeFacts, header, notice, waiting
from console.screens.host import Reading
from console.screens.room import Room
from console.writes import Writes, remarked

#: The mode that is shown while no home is.
OPENING = "opening"
#: Seconds between two looks whether the first mode has what it shows.
SOON = 0.05

if TYPE_CHECKING:
    from core.desk.elsewhere import Place
    from core.desk.opening import Opened
    from core.desk.review import Board
    from core.desk.snoozing import Nap
    from core.model import Receipt


@dataclass(frozen=True, slots=True)
class Entered:
    """A home, opened and watched; ``stop`` ends the watch."""

    opened: Opened
    board: Board
    live: Live | None
    stop: threading.Event


class Workspace(Jobs, Problems):
    """An app with a home open in it, or none yet. ``now`` tells the time (UTC), ``ticks`` the
    seconds of a clock that nobody sets.
    """

    now: Callable[[], datetime]
    ticks: Callable[[], float]
    #: By kind of home, the rooms that its modes have instead of the usual ones.
    INSTEAD: ClassVar[Mapping[str, Mapping[str, Callable[[], Screen[Any]]]]] = {}

    def __init__(self, start: Callable[[], Opened], *, live: bool, herald: Herald | None) -> None:
        super().__init__()
        self._herald = herald
        self._start = start
        self._watches = live
        self.opened: Opened | None = None
        self.board: Board | None = None
        self.reading: Reading | None = None
        self._facts: HomeFacts | None = None
        self._has_looked = False
        self.writes = Writes(self, self._settled, self.show_problem)
        #: What became of the last run of decisions, and how many of it are not written yet.
        self.receipts: list[Receipt] = []
        #: What was put off last, for the key that takes it back.
        self.naps: list[Nap] = []
        self.undecided = 0
        self._stop = threading.Event()
        self._live: Live | None = None
        self._has_noted = False

    # -- opening ---------------------------------------------------------------------------

    def open_first(self, failed: Callable[[Exception], None]) -> None:
        """Open the home the console was started on."""

        def work() -> Entered:
            return self._enter_home(self._start(), self._stop)

        self.start_job("open", work, self._first_opened, failed)

    def _first_opened(self, found: Entered) -> None:
        self._choose_rooms(found.opened)
        self._home_opened(found)

    def _enter_home(self, opened: Opened, stop: threading.Event) -> Entered:
        from core.desk.review import Board

        opened = replace(opened, since=time.time_ns())
        # Before the queue is read: no change falls between the two.
        live = Live(opened, stop) if self._watches else None
        return Entered(opened, Board(opened), live, stop)

    def _home_opened(self, found: Entered) -> None:
        self.opened, self.board, self._live = found.opened, found.board, found.live
        self._has_noted = False
        self.look()
        for room in self.rooms():
            room.refresh_if_stale()
        if self._live is not None:
            self._watch(self._live)
            self._note_behind(found.opened)

    def on_unmount(self) -> None:
        self._stop.set()

    # -- the header ------------------------------------------------------------------------

    def header_for(self, mode: str, width: int) -> Content:
        """The header of a mode in ``width`` cells."""
        live = "" if self._live is None else self._live.mode
        return header(mode, self._facts, live, max(1, width))

    def notice(self) -> Content:
        """What to mend before deciding, and which modes have an answer; empty if there is none."""
        rooms = (room.MODE for room in self.rooms() if room.waits)
        return notice(self._facts, tuple(mode for mode in rooms if mode != self.current_mode))

    def show_headers(self) -> None:
        """Draw the header and the notice of every screen again."""
        for room in self.rooms():
            room.show_header()

    def look(self) -> None:
        """Read the queue and the header's facts again."""
        if self.opened is not None and self.board is not None:
            work = partial(looking.look, self.opened, self.board)
            done = partial(self._looked, self.opened)
            self.start_job("glance", work, done, self.show_problem, every=True)

    def _looked(self, opened: Opened, looked: looking.Looked | None) -> None:
        if opened is not self.opened:
            return
        if looked is None:
            self._facts = looking.left(self._facts)
        else:
            self.reading, self._facts = looked.reading, looked.facts
            self._proclaim(opened, looked)
            self._tell_first(looked)
        for room in self.rooms():
            room.show_header()
            if looked is not None:
                room.queue_read()

    def _tell_first(self, looked: looking.Looked) -> None:
        if not self._has_looked:
            self._has_looked = True
            queue = looked.reading.queue
            self.first_looked(bool(queue.proposals or queue.unreadable or queue.broken))

    def first_looked(self, waits: bool) -> None:
        """The first queue of all is read; ``waits``: something is in it, or may be."""

    def _proclaim(self, opened: Opened, looked: looking.Looked) -> None:
        if self._herald is None or self._driver is None:
            return
        queue, found = looked.reading.queue, opened.found
        records = [p.file for p in queue.proposals] + [u.file for u in queue.unreadable]
        said = self._herald.news(str(found.home), found.profile, waiting(looked.facts), records)
        if said:
            self._driver.write(said)

    # -- live ------------------------------------------------------------------------------

    @property
    def watches(self) -> bool:
        """Whether changes are looked out for as they happen."""
        return self._watches

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
        self.look()
        for room in self.rooms():
            room.home_changed(areas)

    def rooms(self) -> list[Room]:
        """Every mode that was seen; one that has no panes yet reads everything once it has."""
        return [
            screen
            for stack in self._screen_stacks.values()
            for screen in stack
            if isinstance(screen, Room) and screen.is_mounted
        ]

    # -- writing ---------------------------------------------------------------------------

    def write(
        self, task: Callable[[], Receipt], done: Callable[[str, Receipt], None], key: str
    ) -> None:
        """Queue a decision: one at a time, in order, never cancelled half way."""
        if self._live is not None and not self._has_noted:
            # A decision of ours must not be taken for what was there at first.
            self.note_outside()
        if not self.undecided:
            self.receipts = []
        self.undecided += 1

        def decided(key: str, receipt: Receipt) -> None:
            self.undecided -= 1
            self.receipts.append(receipt)
            # What other modes said last may name a key that takes something else back by now.
            for room in self.rooms():
                if self.current_mode != room.MODE:
                    room.flash("")
            done(key, receipt)

        self.writes.add(task, decided, key)

    def remark(self, sentence: str) -> None:
        """Add what was found out later to the newest receipt."""
        if self.receipts:
            self.receipts[-1] = remarked(self.receipts[-1], sentence)

    def _settled(self, receipt: Receipt) -> None:
        if receipt.journal is not None:
            for room in self.rooms():
                room.home_changed(frozenset({"journal"}))
        # Between the rows of a bulk step nobody needs the whole queue read again.
        if not self.writes.waiting:
            self.look()

    def _note_behind(self, opened: Opened) -> None:
        """Note what others changed once the first mode shows what it has: every file is looked at.

        What changes until then is told by that look, the first of all included.
        """
        if opened is not self.opened or self._has_noted:
            return
        room = self.screen_stack[0]
        shown = isinstance(room, Room) and room.is_mounted and not room.runs("list")
        if shown and not self.runs("glance"):
            self.note_outside()
        else:
            self.set_timer(SOON, partial(self._note_behind, opened))

    def note_outside(self) -> None:
        """Write down what others changed, in turn with our own writes; one look waits at most."""
        if self.opened is not None and not self.writes.holds(outside.OUTSIDE):
            self._has_noted = True
            look = partial(outside.look_outside, self.opened)
            self.writes.add(look, self._noted, outside.OUTSIDE)

    def _noted(self, _key: str, receipt: Receipt) -> None:
        if receipt.changed:
            self.tell(frozenset({"journal"}))

    # -- another home ----------------------------------------------------------------------

    def action_homes(self) -> None:
        from console.screens.homes import HomesScreen

        if self.opened is not None:
            self.push_screen(HomesScreen(), self._leave_for)

    def _leave_for(self, place: Place | None) -> None:
        if place is None or self.opened is None:
            return
        if place.current:
            self.flash("It is open already", ink.LABEL)
            return
        opened, stop = self.opened, threading.Event()

        def work() -> Entered:
            from core.desk.elsewhere import open_place

            return self._enter_home(open_place(opened, place), stop)

        def entered(found: Entered) -> None:
            # A decision on the home that is left belongs to it: it is written first.
            if self.writes.busy or self.writes.waiting:
                self.flash("The home opens once what is being written is through", ink.LABEL)
            self.writes.when_idle(partial(self._move_in, found))

        self.start_job("open", work, entered, self._not_entered)

    def _not_entered(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if isinstance(problem, SignoffError):
            self.flash(f"{problem.message}. {problem.hint}", ink.DANGER)
        else:
            self.show_problem(problem)

    def _move_in(self, found: Entered) -> None:
        """Show another home as if it had been opened first: nothing of the old one stays."""
        self._stop.set()
        self._stop = found.stop
        self.reading = self._facts = None
        self.receipts = []
        self.naps = []
        mode = self.current_mode
        self.switch_mode(OPENING)
        self._renew(found.opened, *(name for name in self.MODES if name != OPENING))
        self._home_opened(found)
        self.switch_mode(mode)
        self._renew(found.opened, OPENING)

    def _choose_rooms(self, opened: Opened) -> None:
        """Take the rooms a home of this kind has instead, before any of them is looked into."""
        instead = self.INSTEAD.get(str(opened.found.kind), {})
        if not instead:
            return
        mode = self.current_mode
        if mode in instead:
            self.switch_mode(OPENING)
        self._renew(opened, *instead)
        if mode in instead:
            self.switch_mode(mode)
            self._renew(opened, OPENING)

    def _renew(self, opened: Opened, *modes: str) -> None:
        rooms = {**self.MODES, **self.INSTEAD.get(str(opened.found.kind), {})}
        for name in modes:
            self.remove_mode(name)
            self.add_mode(name, rooms[name])

    def flash(self, said: str, style: str) -> None:
        """Say it in the mode on screen."""
        if isinstance(self.screen, Room):
            self.screen.flash(said, style)
