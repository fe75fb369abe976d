"""Ctrl-C while deciding: kept until the decision under way is written, then obeyed."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType


@dataclass(slots=True)
class Stop:
    """Whether Ctrl-C was pressed."""

    asked: bool = False


@contextlib.contextmanager
def held() -> Iterator[Stop]:
    """Hold SIGINT back for the length of the block; the caller looks at ``asked``."""
    stop = Stop()

    def note(number: int, frame: FrameType | None) -> None:
        stop.asked = True

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:
        # Not the main thread: it gets no signals.
        yield stop
        return
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
