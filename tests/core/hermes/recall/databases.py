"""Small databases of either agent, made row by row: what the real one cannot be made to leave.

The newer agent's tables are those of its description (specs, hermes-sessions 1.4 and 1.5): further
columns, and full text over views of the messages.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from core.homes.hermes.rules import Rules
from tests.core.hermes.recall.calls import DATA, Asked, Json

START = 1_783_000_000.0

_NEWER = """
    ALTER TABLE sessions ADD COLUMN last_activity_at REAL;
    ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE messages ADD COLUMN display_kind TEXT;
    ALTER TABLE messages ADD COLUMN display_metadata TEXT;
"""
_EXTERNAL = """
    DROP TABLE messages_fts;
    DROP TABLE messages_fts_trigram;
    DROP TRIGGER messages_fts_insert;
    DROP TRIGGER messages_fts_delete;
    DROP TRIGGER messages_fts_update;
    DROP TRIGGER messages_fts_trigram_insert;
    DROP TRIGGER messages_fts_trigram_delete;
    DROP TRIGGER messages_fts_trigram_update;
    CREATE VIEW messages_fts_src AS
        SELECT id, CASE WHEN role = 'tool' THEN substr(COALESCE(content, ''), 1, 8192)
            ELSE content END AS content, tool_name, tool_calls FROM messages;
    CREATE VIRTUAL TABLE messages_fts USING fts5(
        content, tool_name, tool_calls, content='messages_fts_src', content_rowid='id');
    CREATE VIEW messages_fts_trigram_src AS
        SELECT m.id, m.content, m.tool_name FROM messages m JOIN sessions s ON s.id = m.session_id
        WHERE m.role <> 'tool' AND s.source NOT IN ('cron', 'subagent')
            AND json_extract(COALESCE(s.model_config, '{}'), '$._delegate_from') IS NULL;
    CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(
        content, tool_name, content='messages_fts_trigram_src', content_rowid='id',
        tokenize='trigram');
"""


class Made:
    """A home whose database is being made; closed before anyone asks it."""

    def __init__(self, home: Path, rules: Rules = Rules.NEWEST, *, inline: bool = False) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.external = rules is Rules.NEWEST and not inline
        self.db = sqlite3.connect(home / "state.db")
        # A test's file need not outlive a crash: waiting for the disk is most of making it.
        self.db.execute("PRAGMA synchronous=OFF")
        schema = DATA / "hermes-sessions" / "schema-0.19.sql"
        self.db.executescript(schema.read_text("utf-8"))
        if rules is Rules.NEWEST:
            self.db.executescript(_NEWER)
        if self.external:
            self.db.executescript(_EXTERNAL)
        self.clock = START

    def session(self, session_id: str, source: str = "cli", **more: Any) -> str:
        """A session, a minute after what was made last."""
        self.clock += 60
        marks = more.pop("model_config", None)
        row = {"id": session_id, "source": source, "started_at": self.clock, **more}
        if marks is not None:
            row["model_config"] = marks if isinstance(marks, str) else json.dumps(marks)
        self._insert("sessions", row)
        return session_id

    def say(self, session_id: str, content: Any, role: str = "user", **more: Any) -> int:
        """A message, a second later; its id."""
        self.clock += 1
        row = {"session_id": session_id, "role": role, "content": content, "timestamp": self.clock}
        return self._insert("messages", row | more)

    def meta(self, **values: object) -> None:
        """Rows of ``state_meta``."""
        for key, value in values.items():
            self._insert("state_meta", {"key": key, "value": str(value)})

    def run(self, sql: str) -> None:
        """Any statements."""
        self.db.executescript(sql)

    def done(self) -> Path:
        """Fill the newer agent's indexes and close."""
        if self.external:
            self.db.execute("INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
            self.db.execute(
                "INSERT INTO messages_fts_trigram(messages_fts_trigram) VALUES ('rebuild')"
            )
        self.db.commit()
        self.db.close()
        return self.home

    def reopen(self) -> None:
        """Go on with a finished database; what is said now is in no index."""
        self.db = sqlite3.connect(self.home / "state.db")
        self.external = False

    def _insert(self, table: str, row: dict[str, Any]) -> int:
        marks = ", ".join("?" * len(row))
        cursor = self.db.execute(
            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values())
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid


def both(made: Made, current: str = "default") -> tuple[Asked, Asked]:
    """The finished database under 0.19 and under the newest rules."""
    home = made.done()
    return Asked(home, Rules.V0_19, current), Asked(home, Rules.NEWEST, current)


def found(answer: Json) -> list[str]:
    """The sessions of an answer, in order."""
    return [result["session_id"] for result in answer["results"]]
