"""Sessions and messages as the agent's own export has them: every column, under its own name.

One row is read by one short statement, so that a session of any length passes through without
standing in memory and without holding the agent up (specs, hermes-sessions 1.3 and 4.3).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from core.homes.hermes.sessions.opening import Database

#: A row by its column names, as :mod:`json` takes it but for BLOBs, which stay ``bytes``.
Raw: TypeAlias = dict[str, Any]
#: What the agent puts before content that is no plain text.
_STRUCTURED = "\x00json:"


def raw_session(db: Database, session_id: str) -> Raw | None:
    """Every column of one session; ``None`` where there is no such row.

    Raises ``sqlite3.Error``, as everything here.
    """
    names = _columns(db, "sessions")
    found = db.rows(f"SELECT {_listed(names)} FROM sessions WHERE id = ?", (session_id,))
    return dict(zip(names, found[0], strict=True)) if found else None


def raw_ids(db: Database, session_id: str, *, every: bool = False) -> tuple[int, ...]:
    """The ids of a session's messages in order: those the agent sees, or ``every`` one.

    Where ``active`` is missing or NULL, as in old files, a message counts as seen.
    """
    wanted = "" if every or "active" not in db.columns("messages") else " AND active IS NOT 0"
    found = db.rows(f"SELECT id FROM messages WHERE session_id = ?{wanted}", (session_id,))
    # Sorted here: hermes-agent 0.19.0 has no index for it, and SQLite would carry whole rows.
    return tuple(sorted(int(row[0]) for row in found))


def raw_messages(db: Database, session_id: str, ids: Sequence[int]) -> Iterator[Raw]:
    """These messages of a session, one at a time, ``content`` and ``tool_calls`` decoded.

    A message that went meanwhile is left out.
    """
    names = _columns(db, "messages")
    sql = f"SELECT {_listed(names)} FROM messages WHERE id = ? AND session_id = ?"
    for number in ids:
        for row in db.rows(sql, (number, session_id)):
            raw = dict(zip(names, row, strict=True))
            raw["content"] = _content(raw["content"])
            if raw.get("tool_calls"):
                raw["tool_calls"] = _calls(raw["tool_calls"])
            yield raw


def _content(stored: Any) -> Any:
    """Content as it was before the agent stored it; what does not parse stays as it is."""
    if not isinstance(stored, str) or not stored.startswith(_STRUCTURED):
        return stored
    try:
        return json.loads(stored[len(_STRUCTURED) :])
    except (ValueError, RecursionError):
        return stored


def _calls(stored: Any) -> Any:
    """Tool calls parsed; those that do not parse are none, as in hermes-agent 0.19.0."""
    try:
        return json.loads(stored) if isinstance(stored, str | bytes) else []
    except (ValueError, RecursionError):
        return []


def _columns(db: Database, table: str) -> tuple[str, ...]:
    return tuple(str(row[1]) for row in db.rows(f'PRAGMA table_info("{table}")'))


def _listed(names: Sequence[str]) -> str:
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names)
