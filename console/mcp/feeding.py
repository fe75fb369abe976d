"""The index of a vak home, built behind the answers: no call waits for it.

A question is answered by a look at every ledger that is not indexed as it stands; meanwhile the
server takes those in. What was taken in stays when it ends.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from core.desk import indexing
from core.desk.opening import Opened
from core.errors import SignoffError

_serving = threading.Event()
_one = threading.Lock()


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """While a server runs; at its end a build stops behind the ledger that it reads."""
    _serving.set()
    try:
        yield
    finally:
        _serving.clear()


def feed(opened: Opened) -> None:
    """Begin to take in what changed; nothing while that is under way."""
    if _serving.is_set() and _one.acquire(blocking=False):
        threading.Thread(target=_feed, args=(opened,), name="index").start()


def _feed(opened: Opened) -> None:
    try:
        if indexing.behind(opened):
            index = indexing.index_of(opened)
            indexing.update(opened, index, progress=_give_way, cancelled=_is_over)
    except SignoffError:
        # Whoever asks the next time is told what is wrong with the home.
        return
    finally:
        _one.release()


def _is_over() -> bool:
    return not _serving.is_set()


def _give_way(done: int, total: int) -> None:
    # Calls come first: without this a thread keeps the interpreter for 5 ms a time.
    time.sleep(0)
