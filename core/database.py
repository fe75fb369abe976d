"""The one SQLite file in signoff's own folder: how it is made, opened, and brought up to date.

A format only ever adds tables, so a file of an older one is read as it stands (what it lacks is
empty) and gets the missing tables with the next write.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from core import sqlite
from core.errors import StateError
from core.files import private_folder

#: Seconds to wait for another signoff that is writing its entry.
BUSY = 5.0

_FIRST = """
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    home TEXT NOT NULL,
    profile TEXT NOT NULL,
    state TEXT NOT NULL,
    verb TEXT NOT NULL,
    undone_by INTEGER,
    body TEXT NOT NULL
);
CREATE INDEX entries_by_home ON entries (home, state);
CREATE TABLE steps (
    entry INTEGER NOT NULL REFERENCES entries (id),
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (entry, number)
) WITHOUT ROWID;
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pins (
    home TEXT NOT NULL,
    record TEXT NOT NULL,
    operation INTEGER NOT NULL,
    entry TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (home, record, operation)
) WITHOUT ROWID;
"""
# Bulk steps, refused texts, snoozed records, files as they were last seen and when that was.
_SECOND = """
CREATE TABLE bulks (
    id INTEGER PRIMARY KEY,
    home TEXT NOT NULL,
    at TEXT NOT NULL
);
CREATE TABLE refused (
    home TEXT NOT NULL,
    matter TEXT NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (home, matter, entry)
) WITHOUT ROWID;
CREATE TABLE snoozes (
    home TEXT NOT NULL,
    record TEXT NOT NULL,
    until TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (home, record)
) WITHOUT ROWID;
CREATE TABLE sightings (
    home TEXT NOT NULL,
    path TEXT NOT NULL,
    stamp TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    PRIMARY KEY (home, path)
) WITHOUT ROWID;
CREATE TABLE looks (
    home TEXT PRIMARY KEY,
    entry INTEGER NOT NULL,
    at TEXT NOT NULL
) WITHOUT ROWID;
"""
#: What each format added, the first one first.
FORMATS = (_FIRST, _SECOND)
FORMAT = len(FORMATS)


class Database:
    """The file in ``folder`` (mode 0700, file 0600), made on the first write.

    Raises :class:`StateError` when it cannot be read or written, or a newer signoff made it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "journal.sqlite3"

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction; the tables of the newest format are there."""
        try:
            private_folder(self.folder)
            sqlite.make(self.path)
            with contextlib.closing(self._connect()) as db:
                db.execute("PRAGMA synchronous = FULL")
                db.execute("BEGIN IMMEDIATE")
                # Asked again inside the transaction: another signoff may have made them meanwhile.
                if _format(db) < FORMAT:
                    for statement in _added_since(_format(db)):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {FORMAT}")
                yield db
                db.execute("COMMIT")
        except (OSError, sqlite3.Error) as problem:
            raise self._problem(problem) from problem

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Every table of the newest format, empty where the file has none yet."""
        try:
            with contextlib.closing(self._existing() or _empty()) as db:
                yield db
        except (OSError, sqlite3.Error) as problem:
            raise self._problem(problem) from problem

    def _existing(self) -> sqlite3.Connection | None:
        """The file, if it holds tables yet: a crash may have left it without any."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return None
        db = self._connect()
        try:
            found = _format(db)
            if found:
                # Temporary tables of this connection: the file itself may be read-only.
                for statement in _added_since(found):
                    db.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE", 1))
                return db
        except BaseException:
            db.close()
            raise
        db.close()
        return None

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.path, timeout=BUSY, isolation_level=None, factory=sqlite.Connection
        )
        try:
            if _format(db) > FORMAT:
                raise StateError(
                    "The journal was made by a newer signoff",
                    f"Update signoff, or set SIGNOFF_STATE to another folder than {self.folder}",
                )
        except BaseException:
            db.close()
            raise
        return db

    def _problem(self, problem: Exception) -> StateError:
        return StateError(
            f"The journal {self.path} cannot be used ({problem})",
            "Nothing was changed; free or repair that folder, or name another in SIGNOFF_STATE",
        )


def _added_since(found: int) -> Iterator[str]:
    for script in FORMATS[found:]:
        yield from (part for part in script.split(";") if part.strip())


def _empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    for statement in _added_since(0):
        db.execute(statement)
    return db


def _format(db: sqlite3.Connection) -> int:
    return cast("int", db.execute("PRAGMA user_version").fetchone()[0])
