"""Standard streams that are closed or full: an answer that cannot be printed is a failure said."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from core.errors import SignoffError

#: Columns and lines that a terminal may have.
LARGEST = 10_000


class UnprintableError(SignoffError):
    """The answer did not get out; what was decided before stands."""

    title = "Nowhere to print"
    code = "unprintable"


def forget_odd_sizes() -> None:
    """Leave out a ``COLUMNS`` or ``LINES`` that no terminal has: a frame of that size never ends.

    Rich, Textual and click all read them.
    """
    for name in ("COLUMNS", "LINES"):
        said = os.environ.get(name, "")
        # Cut first: a number of thousands of digits cannot be read at all.
        if said.isascii() and said.isdigit() and int(said[:9]) > LARGEST:
            del os.environ[name]


def fill_closed() -> None:
    """Put something where a standard stream is closed: no file of ours may get its number.

    What is written to such an output fails, as it should; what is said aside is lost.
    """
    # In this order: the system gives the lowest free number.
    streams: list[TextIO | None] = [sys.stdin, sys.stdout, sys.stderr]
    if streams[0] is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), "r", closefd=False)
    if streams[1] is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)
    if streams[2] is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", closefd=False)


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Around what prints the answer. Raises :class:`UnprintableError` where it does not get out.

    A reader that went away stays a ``BrokenPipeError``.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise UnprintableError(
            f"The answer cannot be printed: {(problem.strerror or str(problem)).lower()}",
            "What was decided stands; `signoff journal` lists it",
        ) from problem


def flush_answer() -> None:
    """Get out what was printed so far. Raises as :func:`printing`."""
    with printing():
        sys.stdout.flush()


def probe_answer() -> None:
    """See whether anything gets out at all, by an empty line. Raises as :func:`printing`."""
    with printing():
        sys.stdout.write("\n")
        sys.stdout.flush()


def let_go(stream: TextIO) -> None:
    """Drop what ``stream`` still holds back, so that leaving does not fail on it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
