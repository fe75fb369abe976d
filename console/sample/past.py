"""The past of the sample home: conversations in words, made into a ``state.db`` at copy time.

``conversations.json`` tells each session and its messages, times as minutes: before "now" for a
session, after its beginning for a message. The tables are those of hermes-agent 0.19.0 (schema
version 22), in one file without a log.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import datetime, timedelta
from importlib.resources.abc import Traversable
from typing import Any

VERSION = 22
MODEL = "sample-model-1"
#: Columns and their types as the agent declares them.
_SESSIONS = (
    "id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT,"
    " chat_type TEXT, thread_id TEXT, display_name TEXT, origin_json TEXT,"
    " expiry_finalized INTEGER DEFAULT 0, model TEXT, model_config TEXT, system_prompt TEXT,"
    " parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,"
    " message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,"
    " input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,"
    " cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,"
    " reasoning_tokens INTEGER DEFAULT 0, cwd TEXT, git_branch TEXT, git_repo_root TEXT,"
    " title TEXT, api_call_count INTEGER DEFAULT 0, profile_name TEXT,"
    " rewind_count INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0"
)
_MESSAGES = (
    "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,"
    " content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, effect_disposition TEXT,"
    " timestamp REAL NOT NULL, token_count INTEGER, finish_reason TEXT, reasoning TEXT,"
    " reasoning_content TEXT, reasoning_details TEXT, codex_reasoning_items TEXT,"
    " codex_message_items TEXT, platform_message_id TEXT, observed INTEGER DEFAULT 0,"
    " active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0, api_content TEXT"
)
_TABLES = (
    "CREATE TABLE schema_version (version INTEGER NOT NULL)",
    "CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)",
    f"CREATE TABLE sessions ({_SESSIONS})",
    f"CREATE TABLE messages ({_MESSAGES})",
    "CREATE INDEX idx_sessions_started ON sessions(started_at DESC)",
    "CREATE INDEX idx_sessions_parent ON sessions(parent_session_id)",
    "CREATE INDEX idx_messages_session ON messages(session_id, timestamp)",
)
#: Full-text tables, with the options of each.
_INDEXES = (("messages_fts", ""), ("messages_fts_trigram", ", tokenize='trigram'"))


def state_db(source: Traversable, now: datetime) -> bytes:
    """The bytes of a database with the conversations of ``source``; the same for the same now."""
    told = json.loads(source.read_text(encoding="utf-8"))
    with closing(sqlite3.connect(":memory:")) as db:
        _make(db)
        names = {each["key"]: _name(each, now) for each in told}
        db.executemany(*_insert("sessions", [_session(each, names, now) for each in told]))
        rows = [row for each in told for row in _rows(each, names[each["key"]], now)]
        rows.sort(key=lambda row: row["timestamp"])
        db.executemany(*_insert("messages", rows))
        _index(db)
        db.commit()
        return db.serialize()


def _make(db: sqlite3.Connection) -> None:
    for statement in _TABLES:
        db.execute(statement)
    db.execute("INSERT INTO schema_version VALUES (?)", (VERSION,))


def _index(db: sqlite3.Connection) -> None:
    """Fill the full text, and keep it filled as the agent does: by triggers."""
    words = "COALESCE({0}content, '') || ' ' || COALESCE({0}tool_name, '')"
    words += " || ' ' || COALESCE({0}tool_calls, '')"
    for table, options in _INDEXES:
        db.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(content{options})")
        columns = f"INSERT INTO {table}(rowid, content)"
        db.execute(f"{columns} SELECT id, {words.format('')} FROM messages")
        forget = f"DELETE FROM {table} WHERE rowid = old.id"
        take = f"{columns} VALUES (new.id, {words.format('new.')})"
        for when, done in (
            ("INSERT", take),
            ("DELETE", forget),
            ("UPDATE", f"{forget}; {take}"),
        ):
            db.execute(
                f"CREATE TRIGGER {table}_{when.lower()} AFTER {when} ON messages BEGIN {done}; END"
            )


def _insert(table: str, rows: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    columns = list(rows[0])
    marks = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows


def _name(told: Mapping[str, Any], now: datetime) -> str:
    """The id as the agent makes it: the time it began, and for a cron run the job before it."""
    began = now - timedelta(minutes=told["minutes_ago"])
    if "cron" in told:
        return f"cron_{told['cron']}_{began:%Y%m%d_%H%M%S}"
    return f"{began:%Y%m%d_%H%M%S}_{told['key']}"


def _session(told: Mapping[str, Any], names: Mapping[str, str], now: datetime) -> dict[str, Any]:
    began = now - timedelta(minutes=told["minutes_ago"])
    ended = told.get("ended")
    parent = names[told["parent"]] if "parent" in told else None
    config: dict[str, Any] = {"model": MODEL}
    if told.get("delegate"):
        config["_delegate_from"] = parent
    if told.get("branch_of"):
        config["_branched_from"] = parent
    messages = told["messages"]
    return {
        "id": names[told["key"]],
        "source": told["source"],
        "model": MODEL,
        "model_config": json.dumps(config),
        "system_prompt": "You are the assistant of a small team.",
        "parent_session_id": parent,
        "started_at": began.timestamp(),
        "ended_at": None if ended is None else (began + timedelta(minutes=ended)).timestamp(),
        "end_reason": told.get("end_reason"),
        "message_count": len(messages),
        "tool_call_count": sum(len(message.get("calls", ())) for message in messages),
        "cwd": told.get("cwd"),
        "git_branch": told.get("branch"),
        "git_repo_root": told.get("cwd"),
        "title": told.get("title"),
        "archived": told.get("archived", 0),
    }


def _rows(told: Mapping[str, Any], name: str, now: datetime) -> Iterator[dict[str, Any]]:
    began = now - timedelta(minutes=told["minutes_ago"])
    waiting: list[str] = []
    for number, message in enumerate(told["messages"]):
        calls: list[dict[str, Any]] = [
            {
                "id": f"call_{told['key']}_{number}_{place}",
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": json.dumps(call["arguments"], ensure_ascii=False),
                },
            }
            for place, call in enumerate(message.get("calls", ()))
        ]
        waiting += [call["id"] for call in calls]
        is_tool = message["role"] == "tool"
        yield {
            "session_id": name,
            "role": message["role"],
            "content": message.get("text"),
            "tool_call_id": waiting.pop(0) if is_tool and waiting else None,
            "tool_calls": json.dumps(calls, ensure_ascii=False) if calls else None,
            "tool_name": message.get("tool"),
            "timestamp": (began + timedelta(minutes=message["at"])).timestamp(),
            "finish_reason": "tool_calls" if calls else None,
            "active": message.get("active", 1),
            "compacted": message.get("compacted", 0),
        }
