"""Bringing the index of a vak home up to date before a question that would read much without it."""

from __future__ import annotations

import contextlib
import sys
import time

from console.cli.interrupt import held
from core.desk import indexing
from core.desk.opening import Opened

#: Bytes of ledgers that a question may look through line by line.
MUCH = 32_000_000
#: Seconds a build takes at most where nobody sees how far it is; the next question goes on.
PATIENCE = 10.0
#: Seconds between two words about progress.
TELL = 0.2
_MEGABYTE = 1_000_000


def catch_up(opened: Opened) -> None:
    """Take in what changed if that is much. On a terminal it says how far it is, and Ctrl-C goes
    on without the rest; what was taken in stays. Never raises for an index that cannot be made.
    """
    if indexing.behind(opened) < MUCH:
        return
    shown = sys.stderr.isatty()
    begun = told = time.monotonic()
    with held() as stop:

        def progress(done: int, total: int) -> None:
            nonlocal told
            now = time.monotonic()
            if shown and now - told > TELL:
                told = now
                share = 100 * done // max(1, total)
                megabytes = f"{done / _MEGABYTE:,.1f} of {total / _MEGABYTE:,.1f} MB"
                _write(f"\rIndexing {share}%, {megabytes}; ctrl+c goes on without the rest ")

        def cancelled() -> bool:
            return stop.asked or (not shown and time.monotonic() - begun > PATIENCE)

        index = indexing.index_of(opened)
        indexing.update(opened, index, progress=progress, cancelled=cancelled)
    if shown and told != begun:
        _write("\r\x1b[K")


def _write(words: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(words)
        sys.stderr.flush()
