"""Which ledgers are indexed, in what state each was, and where their messages stand in them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from core import sqlite
from core.homes.vak.listing import LedgerFile
from core.homes.vak.summaries import Summary

NAME = "ledgers.sqlite3"
#: Raised when what is kept, or how a message becomes words, changes.
FORMAT = 1
#: Values in one question to the database.
_BATCH = 500
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ledgers (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    file TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL,
    lines INTEGER NOT NULL,
    summary TEXT NOT NULL
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    ledger INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    number INTEGER NOT NULL,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL,
    at INTEGER NOT NULL,
    seen INTEGER NOT NULL
);
CREATE INDEX by_ledger ON messages (ledger);
"""


class Row(NamedTuple):
    """A message: its ledger's number, its line, where its bytes are. ``at`` in nanoseconds.

    ``seen`` is the place of its visibility in :class:`core.conversations.Visibility`.
    """

    id: int
    ledger: int
    ordinal: int
    number: int
    start: int
    size: int
    at: int
    seen: int


class Known(NamedTuple):
    """A ledger as it was indexed; ``lines`` counts those that are not blank."""

    number: int
    file: str
    identity: str
    lines: int


def identity_of(file: LedgerFile) -> str:
    """What tells two states of a ledger apart, as text."""
    return ":".join(map(str, file.identity))


class Catalogue:
    """The database in ``folder``, open for one use. Raises ``sqlite3.Error``."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def value(self, key: str) -> str:
        """A word about the whole index, ``""`` for none."""
        found = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(found[0]) if found else ""

    def put(self, key: str, value: str) -> None:
        """Say something about the whole index."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def state(self) -> str:
        """Differs after every run that changed anything."""
        return ":".join(self.value(key) for key in ("stamp", "run", "words", "last"))

    def ledgers(self) -> dict[str, Known]:
        """``file -> ledger`` of all that are indexed."""
        rows = self._db.execute("SELECT number, file, identity, lines FROM ledgers")
        return {row[1]: Known(*row) for row in rows}

    def summaries(self, files: Iterable[str]) -> dict[str, tuple[str, Summary]]:
        """``file -> (identity, summary)`` of those that are indexed, without previews."""
        found = {}
        for some in _batches(list(files)):
            marks = ", ".join("?" * len(some))
            sql = f"SELECT file, identity, summary FROM ledgers WHERE file IN ({marks})"
            for file, identity, summary in self._db.execute(sql, some):
                found[file] = (identity, Summary(**json.loads(summary)))
        return found

    def add(self, file: LedgerFile, lines: int, summary: Summary) -> int:
        """Enter a ledger in place of what was known of it; its new number."""
        self._db.execute(
            "DELETE FROM messages WHERE ledger IN (SELECT number FROM ledgers WHERE file = ?)",
            (file.file,),
        )
        self._db.execute("DELETE FROM ledgers WHERE file = ?", (file.file,))
        text = json.dumps(asdict(replace(summary, preview="")))
        made = self._db.execute(
            "INSERT INTO ledgers (file, identity, lines, summary) VALUES (?, ?, ?, ?)",
            (file.file, identity_of(file), lines, text),
        )
        return int(made.lastrowid or 0)

    def drop(self, numbers: Sequence[int]) -> None:
        """Forget ledgers."""
        for number in numbers:
            self._db.execute("DELETE FROM messages WHERE ledger = ?", (number,))
            self._db.execute("DELETE FROM ledgers WHERE number = ?", (number,))

    def add_messages(self, rows: Iterable[Row]) -> None:
        """Enter messages of a ledger."""
        self._db.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def messages(self, ids: Sequence[int]) -> list[Row]:
        """The messages of these ids that are known."""
        if self._are_many(len(ids)):
            wanted = frozenset(ids)
            every = self._db.execute("SELECT * FROM messages")
            return [Row(*row) for row in every if row[0] in wanted]
        found = []
        for some in _batches(ids):
            sql = f"SELECT * FROM messages WHERE id IN ({', '.join('?' * len(some))})"
            found += [Row(*row) for row in self._db.execute(sql, some)]
        return found

    def after(self, known: int) -> Iterator[tuple[str, Row]]:
        """Messages with a greater id, in order, with the file they are in."""
        sql = (
            "SELECT ledgers.file, messages.* FROM messages JOIN ledgers"
            " ON ledgers.number = messages.ledger WHERE messages.id > ? ORDER BY messages.id"
        )
        for file, *row in self._db.execute(sql, (known,)):
            yield file, Row(*row)

    def count(self) -> int:
        """How many messages are known."""
        return int(self._db.execute("SELECT count(*) FROM messages").fetchone()[0])

    def commit(self) -> None:
        """Make what was entered last."""
        self._db.commit()

    def ids(self, numbers: Sequence[int]) -> list[int]:
        """The messages of these ledgers."""
        sql = "SELECT id FROM messages WHERE ledger = ?"
        return [row[0] for number in numbers for row in self._db.execute(sql, (number,))]

    def _are_many(self, count: int) -> bool:
        return count > 20 * _BATCH and count > self.count() // 8


@contextmanager
def reading(folder: Path) -> Iterator[Catalogue | None]:
    """The catalogue for reading; ``None`` where there is none, or one of another format.

    Raises ``sqlite3.Error``.
    """
    if not (folder / NAME).is_file():
        yield None
        return
    made = sqlite3.connect(folder / NAME, isolation_level=None, factory=sqlite.Connection)
    with closing(made) as connection:
        connection.execute("PRAGMA query_only = 1")
        connection.execute("BEGIN")
        catalogue = Catalogue(connection)
        yield catalogue if catalogue.value("format") == str(FORMAT) else None


@contextmanager
def writing(folder: Path) -> Iterator[Catalogue]:
    """The catalogue for writing; the caller holds the index. Raises ``sqlite3.Error``."""
    sqlite.make(folder / NAME)
    with closing(sqlite3.connect(folder / NAME, factory=sqlite.Connection)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        catalogue = Catalogue(connection)
        # Empty: new, or left so by a crash.
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
            connection.executescript(_SCHEMA)
            catalogue.put("format", str(FORMAT))
            catalogue.commit()
        yield catalogue


def _batches(values: Sequence[str] | Sequence[int]) -> Iterator[list[str] | list[int]]:
    for start in range(0, len(values), _BATCH):
        yield list(values[start : start + _BATCH])  # type: ignore[misc]
