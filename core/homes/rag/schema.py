"""The own store's SQLite file: how it is made and opened.

A collection's nodes, full text and vectors lie in tables of their own number. So a rebuild fills
new ones aside and takes the name over in one transaction.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from core import sqlite
from core.errors import UnreadableError
from core.files import private_folder
from core.sqlite import Fault

FILE = "signoff.sqlite3"
FORMAT = 1
#: Seconds to wait for another process that writes.
BUSY = 10.0

_TABLES = """
CREATE TABLE IF NOT EXISTS collections (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    ready INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    progress TEXT NOT NULL DEFAULT '',
    UNIQUE (name, ready)
);
CREATE TABLE IF NOT EXISTS events (
    ts REAL NOT NULL,
    project TEXT NOT NULL,
    event TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_project ON events (project, event, ts);
"""
# The text comes last: what is asked of every row is read without it.
_COLLECTION = """
CREATE TABLE nodes_{n} (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    live INTEGER NOT NULL,
    created TEXT NOT NULL,
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    metadata TEXT NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX nodes_{n}_live ON nodes_{n} (live, created, source);
CREATE TABLE vectors_{n} (
    number INTEGER PRIMARY KEY,
    embedder TEXT NOT NULL,
    dim INTEGER NOT NULL,
    data BLOB NOT NULL
);
"""
_FULL_TEXT = (
    "CREATE VIRTUAL TABLE words_{n} USING fts5(document, path, content='nodes_{n}',"
    " content_rowid='number', tokenize='porter unicode61 remove_diacritics 2')",
    "CREATE TRIGGER words_{n}_in AFTER INSERT ON nodes_{n} BEGIN"
    " INSERT INTO words_{n} (rowid, document, path) VALUES (new.number, new.document, new.path);"
    " END",
    "CREATE TRIGGER words_{n}_on AFTER UPDATE ON nodes_{n}"
    " WHEN old.document <> new.document OR old.path <> new.path BEGIN"
    " INSERT INTO words_{n} (words_{n}, rowid, document, path)"
    " VALUES ('delete', old.number, old.document, old.path);"
    " INSERT INTO words_{n} (rowid, document, path) VALUES (new.number, new.document, new.path);"
    " END",
)


@cache
def has_full_text() -> bool:
    """Whether this SQLite has FTS5."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        try:
            db.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
        except sqlite3.Error:
            return False
    return True


def make_tables(db: sqlite3.Connection, number: int) -> None:
    """The tables of one collection."""
    statements = [part for part in _COLLECTION.split(";") if part.strip()]
    if has_full_text():
        statements += _FULL_TEXT
    for statement in statements:
        db.execute(statement.replace("{n}", str(number)))


def drop_tables(db: sqlite3.Connection, number: int) -> None:
    """Take the tables of one collection away."""
    for table in ("words", "vectors", "nodes"):
        db.execute(f"DROP TABLE IF EXISTS {table}_{number}")


@contextlib.contextmanager
def writing(folder: Path, *, patience: float | None = None) -> Iterator[sqlite3.Connection]:
    """One transaction on the store in ``folder``, which is made (0700, the file 0600).

    Raises :class:`UnreadableError`.
    """
    file, wait = folder / FILE, BUSY if patience is None else patience
    try:
        private_folder(folder)
        sqlite.make(file)
    except OSError as problem:
        raise unusable(file, problem) from problem
    try:
        db = sqlite3.connect(file, wait, isolation_level=None, factory=sqlite.Connection)
        with contextlib.closing(db):
            if _format(db, file) < FORMAT:
                db.execute("PRAGMA journal_mode = WAL")
            db.execute("BEGIN IMMEDIATE")
            if _format(db, file) < FORMAT:
                for statement in _TABLES.split(";"):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {FORMAT}")
            yield db
            db.execute("COMMIT")
    except sqlite3.Error as problem:
        raise unusable(file, problem) from problem


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """The store in ``folder`` to ask, all answers of one moment; ``None`` while there is none.

    Nothing is made or changed. Raises :class:`UnreadableError`.
    """
    file = folder / FILE
    if not _is_made(file):
        yield None
        return
    try:
        with contextlib.closing(sqlite.connect_anywhere(file, BUSY)) as db:
            if not _format(db, file):
                yield None
                return
            db.execute("BEGIN")
            yield db
    except sqlite3.Error as problem:
        raise unusable(file, problem) from problem


def _is_made(file: Path) -> bool:
    try:
        return file.is_file() and file.stat().st_size > 0
    except OSError as problem:
        raise unusable(file, problem) from problem


def unusable(file: Path, problem: Exception) -> UnreadableError:
    """``problem`` as a sentence and a next step."""
    said, hint = str(problem), "Check the folder, or name another store with --store"
    match sqlite.fault(problem):
        case Fault.LOCKED:
            said, hint = "another process is writing to it", "Try again in a moment"
        case Fault.DAMAGED:
            said, hint = "it is damaged", "Restore an export into another store"
    return UnreadableError(f"The note store {file} cannot be used: {said}", hint)


def _format(db: sqlite3.Connection, file: Path) -> int:
    found = int(db.execute("PRAGMA user_version").fetchone()[0])
    if found > FORMAT:
        raise UnreadableError(
            f"The note store {file} was made by a newer signoff", "Update signoff"
        )
    return found
