"""What the tool reads of a ``state.db``: sessions and their families, messages and their windows.

Source: hermes-agent 0.19.0, executed (specs, hermes-sessions 1.4, 1.7 and 2.1). A lookup that
SQLite refuses finds nothing there, and so here; only a database that stays locked is an error.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.homes.hermes.sessions.layout import Layout, Storage
from core.sqlite import Fault, fault

#: What SQLite and its binding say to a value or a table they cannot work with.
REFUSALS = (sqlite3.Error, UnicodeEncodeError, OverflowError)
#: Ends of a session that leave its transcript behind: a reset, or the ``/new`` of the terminal.
RESETS = frozenset(
    {"session_reset", "session_switch", "idle", "daily", "suspended", "resume_pending_expired"}
)
BOUNDARIES = RESETS | {"new_session"}
COMPRESSION = "compression"

#: Marks a content that is JSON: a list of parts, or an object.
_STRUCTURED = "\0json:"
_MESSAGE = ("id", "role", "content", "timestamp", "tool_name", "tool_calls", "tool_call_id")
_SESSION = ("id", "source", "model", "title", "started_at", "parent_session_id", "end_reason")


class Rows(Protocol):
    """What is asked of :class:`core.homes.hermes.sessions.opening.Database`."""

    @property
    def layout(self) -> Layout: ...

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    def columns(self, table: str) -> frozenset[str]: ...


class NoRows:
    """The database of a home that has none (:attr:`.deviations.Deviation.UNMADE`)."""

    layout = Layout(Storage.INLINE, Storage.INLINE, ("content",))

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Nothing."""
        return []

    def columns(self, table: str) -> frozenset[str]:
        """None."""
        return frozenset()


@dataclass(frozen=True, slots=True)
class Session:
    """One row of ``sessions``; values as stored."""

    id: Any
    source: Any = None
    model: Any = None
    title: Any = None
    started_at: Any = None
    parent: Any = None
    end_reason: Any = None

    @property
    def left(self) -> bool:
        """Whether its transcript has left the context of whoever came after it."""
        return self.end_reason == COMPRESSION or self.end_reason in BOUNDARIES


@dataclass(frozen=True, slots=True)
class Place:
    """Where a message lies and whether the agent still sees it: its owner and its two flags."""

    session_id: Any
    active: Any
    compacted: Any

    @property
    def archived(self) -> bool:
        """Folded into a summary by compaction."""
        return bool(self.active == 0 and self.compacted == 1)


@dataclass(frozen=True, slots=True)
class Window:
    """Messages around one, ids rising, and how many lie on either side of it."""

    messages: tuple[Mapping[str, Any], ...] = ()
    before: int = 0
    after: int = 0


@dataclass(slots=True)
class Store:
    """A database as the tool reads it; sessions are remembered for the length of a call."""

    db: Rows
    _sessions: dict[Any, Session | None] = field(default_factory=dict)

    # -- sessions ----------------------------------------------------------------------------------

    def session(self, session_id: Any) -> Session | None:
        """A session by its exact id."""
        if session_id not in self._sessions:
            sql = f"SELECT {self.columns('sessions', _SESSION)} FROM sessions s WHERE s.id = ?"
            found = self.quiet(sql, (session_id,))
            self._sessions[session_id] = Session(*found[0]) if found else None
        return self._sessions[session_id]

    def family(self, session_id: Any) -> tuple[Any, bool]:
        """Where the family of a session begins, whatever each step to there is, and whether one of
        the sessions on the way was ended by a compaction."""
        seen: set[Any] = set()
        current, summarised = session_id, False
        while current and current not in seen:
            seen.add(current)
            found = self.session(current)
            summarised = summarised or (found is not None and found.end_reason == COMPRESSION)
            if found is None or not found.parent:
                break
            current = found.parent
        return current, summarised

    def root(self, session_id: Any) -> Any:
        """Where the family of a session begins; a parent that is missing counts."""
        return self.family(session_id)[0]

    def left(self, session_id: Any) -> bool:
        """Whether the transcript of a session is in nobody's context any more."""
        found = self.session(session_id)
        return found is not None and found.left

    # -- messages ----------------------------------------------------------------------------------

    def place(self, message_id: Any) -> Place | None:
        """Where a message lies."""
        active, compacted = self.flags("m")
        sql = f"SELECT m.session_id, {active}, {compacted} FROM messages m WHERE m.id = ?"
        found = self.quiet(sql, (message_id,)) if message_id else []
        return Place(*found[0]) if found else None

    def live(self, session_id: str) -> list[Mapping[str, Any]]:
        """The messages of a session that the agent still sees."""
        return self._messages(f"m.session_id = ? AND {self.flags('m')[0]} = 1", (session_id,))

    def around(self, session_id: str, message_id: int, window: int) -> Window:
        """At most ``window`` messages on either side of one, and itself; none if it lies elsewhere.

        Rewound and archived ones count like any other, in every version.
        """
        here = "m.session_id = ? AND m.id"
        if not self.rows(f"SELECT 1 FROM messages m WHERE {here} = ?", (session_id, message_id)):
            return Window()
        before = self._messages(f"{here} <= ?", (session_id, message_id), window + 1, last=True)
        after = self._messages(f"{here} > ?", (session_id, message_id), window)
        return Window((*before, *after), len(before) - 1, len(after))

    def prose(
        self, session_id: str, limit: int, *, below: int | None = None, above: int | None = None
    ) -> list[Mapping[str, Any]]:
        """The first messages with text of the person or the agent that lie below an id, or the
        last ones above it."""
        side = "<" if above is None else ">"
        where = (
            f"m.session_id = ? AND m.id {side} ? AND m.role IN ('user', 'assistant')"
            " AND length(m.content) > 0"
        )
        bound = below if above is None else above
        return self._messages(where, (session_id, bound), limit, last=above is not None)

    def _messages(
        self, where: str, args: Sequence[Any], limit: int = -1, *, last: bool = False
    ) -> list[Mapping[str, Any]]:
        sql = (
            f"SELECT {self.columns('messages', _MESSAGE)} FROM messages m WHERE {where}"
            f" ORDER BY m.id {'DESC' if last else 'ASC'} LIMIT ?"
        )
        found = [_message(row) for row in self.rows(sql, (*args, limit))]
        return found[::-1] if last else found

    # -- what the database has ---------------------------------------------------------------------

    def columns(self, table: str, names: Sequence[str]) -> str:
        """The terms of a SELECT for ``names``; a column that is not there yet reads as NULL."""
        known = self.db.columns(table)
        return ", ".join(f"{table[0]}.{name}" if name in known else "NULL" for name in names)

    def flags(self, alias: str) -> tuple[str, str]:
        """SQL for the two flags of a message. Old files hold NULL, older ones no such column."""
        known = self.db.columns("messages")
        active = f"COALESCE({alias}.active, 1)" if "active" in known else "1"
        return active, f"COALESCE({alias}.compacted, 0)" if "compacted" in known else "0"

    def meta(self, key: str) -> str | None:
        """One value of ``state_meta``."""
        found = self.quiet("SELECT value FROM state_meta WHERE key = ?", (key,))
        return str(found[0][0]) if found and found[0][0] is not None else None

    def rows(self, sql: str, args: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows of a statement. Raises one of :data:`REFUSALS`; a lone surrogate is refused as
        Python's SQLite refuses it, before it gets there."""
        for value in args:
            if isinstance(value, str):
                value.encode()
        return self.db.rows(sql, args)

    def quiet(self, sql: str, args: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows of a statement, none if it is refused."""
        try:
            return self.rows(sql, args)
        except REFUSALS as problem:
            if isinstance(problem, sqlite3.Error) and fault(problem) is Fault.LOCKED:
                raise
            return []


def _message(row: Sequence[Any]) -> Mapping[str, Any]:
    found = dict(zip(_MESSAGE, row, strict=True))
    content = found["content"]
    if isinstance(content, bytes):
        # Deviation.BYTES.
        found["content"] = content = content.decode("utf-8", "replace")
    if isinstance(content, str) and content.startswith(_STRUCTURED):
        found["content"] = _json(content.removeprefix(_STRUCTURED), content)
    if found["tool_calls"]:
        found["tool_calls"] = _json(found["tool_calls"], [])
    return found


def _json(text: Any, otherwise: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return otherwise
