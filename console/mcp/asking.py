"""Who asks, and how a long work tells its client how far it is.

A tool works in a thread of its own; what it tells goes out in the loop that serves the client.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from core.homes.hermes.staging import Caller
from core.homes.rag.ingest import Progress, Tell

#: Seconds between two reports of one call; the last one is never left out.
EVERY = 0.5


class StoppedError(Exception):
    """The client took its call back, or went away; one sentence says what is left of the work."""


def silent(progress: Progress) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who calls, and whom a long work tells how far it is."""

    caller: Caller
    tell: Tell = silent


class Reports:
    """Progress for one call. ``send`` gives it to the client; ``stopped``: none waits any more.

    Raises :class:`StoppedError` out of the work then: what it has written stays, and the same call
    goes on behind it. Numbers only grow, as the protocol wants them.
    """

    def __init__(self, send: Callable[[Progress], None], stopped: Callable[[], bool]) -> None:
        self._send, self._stopped = send, stopped
        self._last, self._at = -1, float("-inf")

    def __call__(self, progress: Progress) -> None:
        if self._stopped():
            raise StoppedError(
                f"Stopped behind {progress.files:,} of {progress.of_files:,} files; what was"
                " indexed before stays in place, and the same call goes on from there"
            )
        now, done = time.monotonic(), progress.files == progress.of_files
        if progress.files > self._last and (done or now - self._at >= EVERY):
            self._last, self._at = progress.files, now
            self._send(progress)
