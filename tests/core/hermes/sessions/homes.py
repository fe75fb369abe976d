"""Homes with a ``state.db``: the real one of hermes-agent 0.19.0, and ones of any schema.

A copy is made with the file system's own copy, before any connection to it exists.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from core.conversations import Session
from core.homes.hermes.sessions.store import StateDb

DATA = Path(__file__).parents[3] / "data" / "hermes-sessions"
AT = 1_795_997_264.5
#: Columns and tables that hermes-agent 0.21 adds (spec hermes-sessions 1.4 and 1.5).
NEW_SESSIONS = (
    "created_source TEXT", "system_prompt_hash TEXT", "git_metadata_generation INTEGER",
    "title_source TEXT", "last_activity_at REAL", "last_activity_description TEXT",
    "pinned INTEGER DEFAULT 0", "hidden INTEGER DEFAULT 0", "last_read_at REAL", "tool_names TEXT",
)  # fmt: skip
NEW_MESSAGES = (
    "_compressed_summary INTEGER", "display_kind TEXT", "display_metadata TEXT",
    "display_identity BLOB", "display_order INTEGER",
)  # fmt: skip
EXTERNAL = """
CREATE VIEW messages_fts_src AS SELECT id, COALESCE(content, '') AS content,
 COALESCE(tool_name, '') AS tool_name, COALESCE(tool_calls, '') AS tool_calls FROM messages;
CREATE VIRTUAL TABLE messages_fts USING fts5(content, tool_name, tool_calls,
 content='messages_fts_src', content_rowid='id');
CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, tool_name,
 content='messages_fts_src', content_rowid='id', tokenize='trigram');
"""


def fixture_home(folder: Path) -> Path:
    """The conversations of the real agent in a home of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DATA / "state.db", folder / "state.db")
    return folder


def make_home(folder: Path, *, version: int = 22, mode: str = "delete") -> Path:
    """An empty database as 0.19.0 makes it; ``version`` 30 as 0.21 makes a new one, and 25 as
    an older one is after 0.21 opened it: newer columns, the full text as it was."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = (DATA / "schema-0.19.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(folder / "state.db", isolation_level=None)) as db:
        db.execute(f"PRAGMA journal_mode={mode}")
        db.execute("PRAGMA synchronous=OFF")
        db.executescript(schema)
        db.execute("DELETE FROM schema_version")
        db.execute("INSERT INTO schema_version VALUES (?)", (version,))
        if version > 22:
            for column in NEW_SESSIONS:
                db.execute(f"ALTER TABLE sessions ADD COLUMN {column}")
            for column in NEW_MESSAGES:
                db.execute(f"ALTER TABLE messages ADD COLUMN {column}")
            db.execute("CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT)")
        if version >= 30:
            drop_full_text(db)
            db.executescript(EXTERNAL)
    return folder


def drop_full_text(db: sqlite3.Connection) -> None:
    """Without its full-text tables, and the triggers that fill them."""
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    for table in ("messages_fts", "messages_fts_trigram"):
        db.execute(f"DROP TABLE IF EXISTS {table}")


def change(home: Path, *statements: str | tuple[str, tuple[object, ...]]) -> None:
    """Write to a home's database, as the agent would."""
    with closing(sqlite3.connect(home / "state.db", isolation_level=None)) as db:
        db.execute("PRAGMA synchronous=OFF")
        for statement in statements:
            sql, args = (statement, ()) if isinstance(statement, str) else statement
            db.execute(sql, args)


def insert(home: Path, table: str, *rows: Mapping[str, object]) -> None:
    """Add rows; a session needs an ``id``, a message a ``session_id``, the rest has defaults."""
    defaults: dict[str, object] = {"source": "cli", "started_at": AT}
    if table == "messages":
        defaults = {"role": "user", "content": "hello", "timestamp": AT}
    with closing(sqlite3.connect(home / "state.db", isolation_level=None)) as db:
        db.execute("PRAGMA synchronous=OFF")
        db.execute("BEGIN")
        for given in rows:
            row = defaults | dict(given)
            names = ", ".join(f'"{name}"' for name in row)
            marks = ", ".join("?" * len(row))
            db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values()))
        db.execute("COMMIT")


def session(home: Path, session_id: str) -> Session:
    """One session that is there."""
    found = StateDb(home).session(session_id)
    assert found is not None
    return found


def listing(home: Path) -> dict[str, tuple[int, ...]]:
    """Everything in a folder and when it was last touched; not the time of last access."""
    found: dict[str, tuple[int, ...]] = {}
    for name in sorted(os.listdir(home)):
        status = os.stat(home / name)
        found[name] = (
            status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )  # fmt: skip
    return found


class Agent:
    """Another process that has a database open, as a running agent has.

    ``script`` is Python with ``db`` bound to its connection (autocommit); it runs up to each
    ``pause()``, where it waits for :meth:`go_on`.
    """

    def __init__(self, home: Path, script: str) -> None:
        lead = (
            "import sqlite3, sys, time\n"
            "def pause(say='ready'):\n    print(say, flush=True)\n    sys.stdin.readline()\n"
            f"db = sqlite3.connect({str(home / 'state.db')!r}, isolation_level=None, timeout=5)\n"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", lead + script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.said = self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def go_on(self) -> str:
        """Let it run to its next pause; what it says there."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.said = self._line()
        return self.said

    def kill(self) -> None:
        """As a crash: nothing is closed."""
        self._process.kill()
        self._process.communicate()

    def end(self) -> None:
        """Let it run to its end."""
        self._process.communicate("\n" * 50, timeout=90)


def beside(agent: Agent, work: Callable[[], None]) -> None:
    """``work`` while the agent waits, which then ends by itself."""
    try:
        work()
    finally:
        agent.end()
