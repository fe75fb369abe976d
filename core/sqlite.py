"""SQLite files on disk: how one is made, how one is opened only to be read, and what went wrong.

A database is opened by SQLite alone, never as a file: when a process closes any handle of a file,
the system takes away all locks the process holds on it, those of its other threads and connections
too (POSIX, close).
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.atomic import whole


class Fault(Enum):
    """Why SQLite did not answer, and the words that tell it; the first that fits holds."""

    LOCKED = ("locked", "busy")
    DISK = ("disk I/O",)
    READ_ONLY = ("readonly",)
    DAMAGED = ("not a database", "malformed")
    SHUT = ("unable to open",)
    OTHER = ("",)


def fault(problem: Exception) -> Fault:
    """Which fault ``problem`` tells of."""
    said = str(problem)
    return next(each for each in Fault if any(sign in said for sign in each.value))


class Connection(sqlite3.Connection):
    """A connection that raises ``sqlite3.Error`` of a damaged schema too.

    CPython reads SQLite's message as UTF-8, and the name of a damaged table in it may be none.
    """

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        try:
            return super().execute(sql, parameters)
        except UnicodeDecodeError as problem:
            raise sqlite3.DatabaseError(_NO_TEXT) from problem

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        try:
            return super().executemany(sql, parameters)
        except UnicodeDecodeError as problem:
            raise sqlite3.DatabaseError(_NO_TEXT) from problem


_NO_TEXT = "malformed database schema: a name in it is no text"


def make(path: Path) -> None:
    """Make a database's empty file, mode 0600, unless something is there. Raises ``OSError``."""
    if not os.path.lexists(path):
        with contextlib.suppress(FileExistsError), whole(path, over=False):
            """Empty, and closed before it has its name."""


def connect(path: str | Path, patience: float, *, frozen: bool = False) -> sqlite3.Connection:
    """``path`` to be read: never made, never changed, its locks waited for ``patience`` seconds.

    ``frozen`` says that nobody writes: no lock is taken, and nothing is made beside the file.
    Raises ``sqlite3.Error``.
    """
    uri = f"file:{quote(os.fsencode(path))}?mode=ro{'&immutable=1' if frozen else ''}"
    db = sqlite3.connect(uri, patience, uri=True, isolation_level=None, factory=Connection)
    db.execute("PRAGMA query_only = ON")
    return db


def connect_anywhere(path: Path, patience: float) -> sqlite3.Connection:
    """As :func:`connect`, and also in a folder that takes no files: there nobody can write.

    Raises ``sqlite3.Error``.
    """
    db = connect(path, patience)
    try:
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as problem:
        db.close()
        refused = fault(problem) in (Fault.SHUT, Fault.READ_ONLY)
        if not refused or os.access(path.parent, os.W_OK):
            raise
        db = connect(path, patience, frozen=True)
    return db
