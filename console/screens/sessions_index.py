"""Feeding the index of past conversations while the console runs, without ever holding it up."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from textual.message import Message
from textual.timer import Timer
from textual.worker import get_current_worker

from console.screens.host import is_vak
from console.screens.room import Room

#: Seconds between two feeds while the past changes, and between two words about progress.
PAUSE, TELL = 3.0, 0.2
#: Bytes of a megabyte: the past of a vak home is measured in them.
MEGABYTE = 1_000_000


@dataclass
class Fed(Message):
    """So many of so many messages, or bytes, are in the index; only the newest counts."""

    done: int
    total: int

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Fed)


class FeedingRoom(Room):
    """A room that keeps the index of the open home up to date."""

    def __init__(self) -> None:
        super().__init__()
        self._leaving = threading.Event()
        self._feeding = False
        self._hungry = False
        self._pausing: Timer | None = None
        self._fed = ""

    def feed(self) -> None:
        """Take in what is new, now or after the feed that runs; at most every few seconds."""
        if self._feeding or self._pausing is not None:
            self._hungry = True
            return
        opened = self.signoff.opened
        if opened is None:
            return
        self._feeding, self._hungry = True, False
        leaving = self._leaving

        def work() -> bool:
            from core.desk.indexing import index_of
            from core.desk.indexing import update as take_in

            worker, told = get_current_worker(), 0.0

            def progress(done: int, total: int) -> None:
                nonlocal told
                # Keys come first: without this a thread keeps the interpreter for 5 ms a time.
                time.sleep(0)
                if time.monotonic() - told > TELL:
                    told = time.monotonic()
                    self.post_message(Fed(done, total))

            def cancelled() -> bool:
                return leaving.is_set() or worker.is_cancelled

            return take_in(opened, index_of(opened), progress=progress, cancelled=cancelled)

        self.start_job("index", work, self._ate, self._choked)

    def on_fed(self, message: Fed) -> None:
        message.stop()
        share = 100 * message.done // max(1, message.total)
        of = ""
        if is_vak(self.signoff.opened):
            of = f", {message.done / MEGABYTE:,.1f} of {message.total / MEGABYTE:,.1f} MB"
        self._say_fed(f"indexing {share}%{of}" if self._feeding and share < 100 else "")

    def _ate(self, _ready: bool) -> None:
        self._rest_from_feeding()

    def _choked(self, problem: Exception) -> None:
        from core.errors import SignoffError

        self._rest_from_feeding()
        # The list says what is wrong with the database; a search then does without the index.
        if not isinstance(problem, SignoffError):
            self.job_failed(problem)

    def _rest_from_feeding(self) -> None:
        self._feeding = False
        self._say_fed("")
        self._pausing = self.set_timer(PAUSE, self._hungry_again)

    def _hungry_again(self) -> None:
        self._pausing = None
        if self._hungry:
            self.feed()

    def _say_fed(self, words: str) -> None:
        if words != self._fed:
            self._fed = words
            self.show_counts()

    def show_counts(self) -> None:
        """What the frame of the list says."""

    def on_unmount(self) -> None:
        self._leaving.set()
