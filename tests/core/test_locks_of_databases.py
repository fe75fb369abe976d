"""One process with several threads keeps SQLite's locks: a database is opened by SQLite alone.

The system takes away all record locks a process holds on a file when the process closes any handle
of it (POSIX, close): found by two clients of one MCP server, whose store answered "disk I/O error".
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core import sqlite
from core.errors import StateError, UnreadableError
from core.homes.rag import schema
from core.homes.rag.own import OwnStore
from core.journal import Journal

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
TAKE = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=0.1, isolation_level=None)
try:
    db.execute("BEGIN IMMEDIATE")
    db.execute("ROLLBACK")
    print("taken")
except sqlite3.OperationalError as problem:
    print(problem)
db.close()
"""


def another_process_writes(file: Path) -> str:
    """What becomes of another process that wants to write."""
    done = subprocess.run(
        [sys.executable, "-c", TAKE, str(file)], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_second_writer_in_the_process_leaves_the_first_its_lock_on_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.database.BUSY", 0.05)
    journal = Journal(tmp_path)
    journal.pin("home", "first", {0: "x"}, NOW)
    file = tmp_path / "journal.sqlite3"
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateError):
            journal.pin("home", "second", {0: "x"}, NOW)
        assert another_process_writes(file) == "database is locked"
        db.execute("ROLLBACK")
    assert another_process_writes(file) == "taken"


def test_a_second_writer_in_the_process_leaves_the_store_its_log(tmp_path: Path) -> None:
    """Without the lock another process would think itself the last and take the log away."""
    store, log = OwnStore(tmp_path, lambda: NOW), tmp_path / f"{schema.FILE}-wal"
    with schema.writing(tmp_path) as db:
        db.execute("INSERT INTO events VALUES (1, 'a', 'b', 'kept')")
    with schema.writing(tmp_path) as db:
        db.execute("INSERT INTO events VALUES (2, 'a', 'b', 'kept too')")
        store.log("a", "b", "no room for this one")
        assert another_process_writes(tmp_path / schema.FILE) == "database is locked"
        assert log.exists()
    assert [event.detail for event in store.events()] == ["kept", "kept too"]


def test_a_database_is_made_once_and_private(tmp_path: Path) -> None:
    file = tmp_path / "x.sqlite3"
    sqlite.make(file)
    assert (file.stat().st_size, file.stat().st_mode & 0o777) == (0, 0o600)
    file.write_bytes(b"something")
    sqlite.make(file)
    assert file.read_bytes() == b"something"
    assert [path.name for path in tmp_path.iterdir()] == ["x.sqlite3"]


class Refusing(sqlite3.Connection):
    """As on a medium that takes no files beside the database."""

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        if "sqlite_master" in sql:
            raise sqlite3.OperationalError("unable to open database file")
        return super().execute(sql, *args)


@pytest.mark.parametrize("may_write", [True, False])
def test_a_store_is_read_without_locks_only_where_nobody_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_write: bool
) -> None:
    with schema.writing(tmp_path) as db:
        db.execute("INSERT INTO events VALUES (1, 'a', 'b', 'kept')")
    connect, asked = sqlite3.connect, list[str]()

    def refusing(name: str, *args: float, **options: object) -> sqlite3.Connection:
        asked.append(str(name).rpartition("?")[2])
        kind = sqlite3.Connection if "immutable" in str(name) else Refusing
        return connect(name, *args, **{**options, "factory": kind})  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", refusing)
    monkeypatch.setattr("os.access", lambda *_: may_write)
    store = OwnStore(tmp_path, lambda: NOW)
    if may_write:
        with pytest.raises(UnreadableError, match="unable to open"):
            store.events()
        assert asked == ["mode=ro"]
    else:
        assert [event.detail for event in store.events()] == ["kept"]
        assert asked == ["mode=ro", "mode=ro&immutable=1"]
