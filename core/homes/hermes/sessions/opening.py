"""The only place that opens a ``state.db``: read-only, and leaving nothing behind.

A second process that opens the database carelessly makes the agent lose its write-ahead log
(field report D27), so it is opened by URI, never as a file, and every statement is a short one of
its own. Rules measured with hermes-agent 0.19.0 (specs, hermes-sessions 1.3).
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from core.errors import NotFoundError, UnreadableError
from core.homes.hermes.sessions.ground import Ground, look
from core.homes.hermes.sessions.layout import Layout, detect
from core.sqlite import Fault, connect, fault
from core.text import one_line

DATABASE = "state.db"
#: Seconds to wait for an agent that holds the lock, and between two attempts.
BUSY, PAUSE = 5.0, 0.05
#: Attempts at a statement that failed on the disk, and at one during which the file changed.
FAULTS, MOVES = 3, 5
#: Kilobytes of pages that a question may keep while it is answered.
_ROOM = 16_000
#: Steps of SQLite's machine between two looks at the clock.
_STEPS = 2_000
_BUSY = "the agent is writing to it", "Try again in a moment"
_TORN = (
    "it was left in the middle of a write; the agent mends it at start",
    "Start the agent once on this home",
)
_WORDS = {
    Fault.LOCKED: _BUSY,
    Fault.DISK: _BUSY,
    Fault.READ_ONLY: _TORN,
    Fault.DAMAGED: ("it is damaged", "`hermes sessions repair` mends what can be mended"),
    Fault.SHUT: ("it cannot be opened", "Check who may read it and its folder"),
}
_CANCELLED = f"{DATABASE} cannot be read: it was cancelled"

Row: TypeAlias = tuple[Any, ...]
T = TypeVar("T")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NoDatabaseError(UnreadableError):
    """There is no ``state.db``: the agent has not held a conversation yet, so none can be named."""

    code, exit_code = NotFoundError.code, NotFoundError.exit_code


class TimeUpError(UnreadableError):
    """The seconds given for reading are over."""


class CancelledError(UnreadableError):
    """The answer is not wanted any more."""


class Database:
    """A ``state.db`` to ask; made by :func:`reading`, used in the thread that made it.

    Every statement is a transaction of its own. A file that is replaced or written while a
    statement runs is opened again and asked again; the agent's lock is waited for.
    """

    def __init__(
        self,
        path: str,
        end: float,
        cancelled: Callable[[], bool] | None,
        spotless: bool,
    ) -> None:
        self._path = path
        self._end = end
        self._cancelled = cancelled
        self._spotless = spotless
        self._db: sqlite3.Connection | None = None
        self._ground: Ground | None = None
        self._frozen = self._has_room = False
        self._columns: dict[str, frozenset[str]] = {}
        self._tables: frozenset[str] | None = None
        self._layout: Layout | None = None
        self._look()

    # -- asking ------------------------------------------------------------------------------------

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[Row]:
        """Every row of one statement. Texts are decoded tolerantly; a BLOB stays ``bytes``.

        Raises ``sqlite3.Error`` for a statement that SQLite refuses (:func:`reading` turns those
        that nobody catches into :class:`UnreadableError`), :class:`TimeUpError` and
        :class:`CancelledError`.
        """
        return self.made(sql, args, list)

    def made(self, sql: str, args: Sequence[Any], make: Callable[[Iterable[Row]], T]) -> T:
        """What ``make`` makes of the rows of one statement, each as it comes; it may run twice.

        Raises as :meth:`rows`.
        """
        bound = tuple([scrubbed(each) if isinstance(each, str) else each for each in args])
        return self.ask(lambda db: _made(db, sql, bound, make))

    def ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What ``work`` answers; it may run several times, and must leave nothing open.

        Raises as :meth:`rows`.
        """
        patience = min(self._end, time.monotonic() + BUSY)
        faults = moves = 0
        while True:
            self._stop_if_over()
            found: T | None = None
            problem: sqlite3.Error | None = None
            try:
                connection = self._connection(moves)
                found = work(connection)
                self._make_room(connection)
            except sqlite3.Error as raised:
                problem = raised
                if fault(raised) is not Fault.LOCKED:
                    self._stop_if_over()
                if "interrupted" in str(raised):
                    raise CancelledError(_CANCELLED) from raised
            if self._moved():
                moves += 1
                if moves == MOVES:
                    raise _unreadable(*_BUSY)
                self._drop()
            elif problem is None:
                return cast(T, found)
            elif fault(problem) is Fault.LOCKED and time.monotonic() + PAUSE < patience:
                time.sleep(PAUSE)
            elif fault(problem) is Fault.DISK and faults < FAULTS:
                faults += 1
                self._drop()
                time.sleep(PAUSE)
            else:
                raise problem

    def columns(self, table: str) -> frozenset[str]:
        """The columns of ``table``; none where there is no such table."""
        if table not in self._columns:
            found = self.rows(f"PRAGMA table_info({_quoted(table)})")
            self._columns[table] = frozenset(str(row[1]) for row in found)
        return self._columns[table]

    def tables(self) -> frozenset[str]:
        """The names of tables and views."""
        if self._tables is None:
            found = self.rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            self._tables = frozenset(str(row[0]) for row in found)
        return self._tables

    @property
    def layout(self) -> Layout:
        """Its full-text tables."""
        if self._layout is None:
            found = self.rows(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"
            )
            self._layout = detect((str(name), str(sql)) for name, sql in found)
        return self._layout

    def expect_conversations(self) -> None:
        """Raises :class:`UnreadableError` unless the tables are those of an agent."""
        if not {"id", "source"} <= self.columns("sessions") or not (
            {"id", "session_id", "role", "content"} <= self.columns("messages")
        ):
            raise _unreadable(
                "its tables are of no kind that signoff knows",
                "Start the agent once on this home; it makes and mends its tables",
            )

    def interrupt(self) -> None:
        """End the statement that runs; may be called from another thread."""
        db = self._db
        if db is not None:
            db.interrupt()

    # -- the connection ----------------------------------------------------------------------------

    def _connection(self, moves: int) -> sqlite3.Connection:
        if self._db is not None:
            return self._db
        ground = self._look()
        # A read-only connection to a closed write-ahead database makes two files beside it. One
        # that is told that nothing changes makes none; whether that was true is checked after each
        # statement. An agent that writes all the time is alive: its files are there already.
        self._frozen = ground.still and moves < 2
        db = connect(self._path, PAUSE, frozen=self._frozen)
        db.set_progress_handler(self._over, _STEPS)
        self._db, self._ground, self._has_room = db, ground, False
        self._columns, self._tables, self._layout = {}, None, None
        return db

    def _make_room(self, db: sqlite3.Connection) -> None:
        # Pages read once are kept: half the time of a search. Not before the first statement, since
        # this one looks at the file, and that may make its ``-shm``.
        if not self._has_room:
            self._has_room = True
            db.execute(f"PRAGMA cache_size=-{_ROOM}")

    def _look(self) -> Ground:
        ground = look(self._path)
        if ground is None:
            raise NoDatabaseError(
                f"There is no {DATABASE}, so no conversation is kept",
                "The agent makes it with its first conversation",
            )
        if self._spotless and ground.torn:
            raise _unreadable(*_TORN)
        return ground

    @property
    def is_torn(self) -> bool:
        """Whether a log stands there without its ``-shm``."""
        return self._look().torn

    def _moved(self) -> bool:
        if self._db is None or self._ground is None:
            return False
        ground = look(self._path)
        if self._frozen:
            return ground != self._ground
        return ground is None or ground.file != self._ground.file

    def _drop(self) -> None:
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def close(self) -> None:
        """Let go of the file until the next question; :func:`reading` does it at its end.

        Worth doing between the steps of a long task: an agent that ends while its database is
        open elsewhere leaves the files of its log behind.
        """
        self._drop()

    # -- the clock ---------------------------------------------------------------------------------

    def _over(self) -> bool:
        return time.monotonic() > self._end or (self._cancelled is not None and self._cancelled())

    def _stop_if_over(self) -> None:
        if self._cancelled is not None and self._cancelled():
            raise CancelledError(_CANCELLED)
        if time.monotonic() > self._end:
            raise TimeUpError(
                f"{DATABASE} cannot be read: the search took too long", "Ask for less, or again"
            )


@contextmanager
def reading(
    home: Path,
    *,
    seconds: float | None = None,
    cancelled: Callable[[], bool] | None = None,
    spotless: bool = False,
) -> Iterator[Database]:
    """The ``state.db`` of the folder ``home``, open for the length of a ``with``.

    ``seconds`` bounds all of it, waiting for locks included; ``cancelled`` is asked between steps.
    ``spotless`` refuses a log left by a crash, which cannot be read without making ``state.db-shm``
    beside it; otherwise that file is made, as any reader of SQLite makes it.

    Raises :class:`UnreadableError` saying why and what to do next; :class:`NoDatabaseError`,
    :class:`TimeUpError` and :class:`CancelledError` are kinds of it.
    """
    end = math.inf if seconds is None else time.monotonic() + seconds
    db = Database(os.path.realpath(home / DATABASE), end, cancelled, spotless)
    try:
        yield db
    except sqlite3.Error as problem:
        if fault(problem) is Fault.SHUT and db.is_torn:
            raise _unreadable(*_TORN) from problem
        other = one_line(str(problem), 80), "`signoff doctor` looks closer"
        raise _unreadable(*_WORDS.get(fault(problem), other)) from problem
    finally:
        db.close()


def _unreadable(reason: str, hint: str) -> UnreadableError:
    return UnreadableError(f"{DATABASE} cannot be read: {reason}", hint)


def _made(db: sqlite3.Connection, sql: str, bound: Row, make: Callable[[Iterable[Row]], T]) -> T:
    """Texts are decoded one by one, which takes twice as long, only where one is no UTF-8."""
    try:
        return make(db.execute(sql, bound))
    except sqlite3.OperationalError as problem:
        if not str(problem).startswith("Could not decode"):
            raise
    db.text_factory = decoded
    try:
        return make(db.execute(sql, bound))
    finally:
        db.text_factory = str


def decoded(data: bytes) -> str:
    """Text as the agent may have stored it: what is no UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace")


def scrubbed(text: str) -> str:
    """``text`` with U+FFFD for lone surrogates, as the agent stores it: no encoding has them."""
    return _SURROGATE.sub("\ufffd", text)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
