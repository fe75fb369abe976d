"""Where a proposal came from: the conversation in which a tool answered with its id.

hermes-agent keeps conversations in ``state.db``. A second process that opens it carelessly makes
the agent lose its write-ahead log (report D27), so it is opened by URI and read-only, never as a
file, and no file is made beside it. Tables and columns are looked up, never assumed: they differ
between versions. Everything is bounded in time, and whatever goes wrong is said in words.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.clock import is_date
from core.errors import UnreadableError
from core.homes.hermes.pending import Proposal
from core.homes.hermes.sessions.opening import DATABASE, Database, NoDatabaseError, decoded, reading
from core.homes.hermes.staging import staged_by
from core.text import one_line

BACKGROUND = "background_review"
#: Seconds a search may take.
SECONDS = 0.5
#: Seconds around a record's time in which its message is looked for first: a turn is long.
_BEFORE, _AFTER = 3_600.0, 86_400.0
_SESSIONS, _MESSAGES = 400, 50
_TITLE_CELLS = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(r"[0-9A-Za-z]{4,64}")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a proposal came from, in ``words`` for people (safe to draw, no full stop).

    ``session_id`` and ``message_id`` are ``None`` together: then ``words`` say why.
    """

    words: str
    session_id: str | None = None
    message_id: int | None = None


@dataclass(frozen=True, slots=True)
class _Hit:
    """A message that mentions the id. ``exact``: it is the answer of the tool that staged it."""

    message_id: int
    session_id: str
    at: float | None
    exact: bool


def trace(home: Path, proposal: Proposal, seconds: float = SECONDS) -> Provenance:
    """The message whose tool result carries the id of ``proposal``; never raises.

    A record that was staged for another client says itself who proposed it and why.
    ``home`` is the home's folder on this machine. At most about ``seconds`` are spent, waiting for
    a lock included.
    """
    if caller := staged_by(proposal.raw):
        return Provenance(caller.words)
    if proposal.origin == BACKGROUND:
        return Provenance("the background review leaves no conversation")
    if not proposal.id or _SURROGATE.search(proposal.id):
        return Provenance("no conversation mentions it")
    try:
        with reading(home, seconds=seconds, spotless=True) as db:
            return _search(db, proposal)
    except NoDatabaseError:
        return Provenance(f"there is no {DATABASE}, so no conversation is kept")
    except UnreadableError as problem:
        return Provenance(problem.message)


# -- searching -------------------------------------------------------------------------------------


def _search(db: Database, proposal: Proposal) -> Provenance:
    columns = db.columns("messages")
    if not {"id", "session_id", "content"} <= columns:
        raise UnreadableError(
            f"{DATABASE} cannot be read: its tables are of no kind that signoff knows"
        )
    hits: list[_Hit] = []
    for rows in (_indexed, _near, _scanned):
        hits += _hits(rows(db, proposal, columns), proposal.id)
        if any(hit.exact for hit in hits):
            break
    if not hits:
        return Provenance("no conversation mentions it")
    hit = min(hits, key=lambda each: _rank(each, proposal.created_at))
    title, started = _session(db, hit.session_id)
    named = f'"{title}"' if title else one_line(hit.session_id, _TITLE_CELLS)
    when = hit.at if hit.at is not None else started
    day = f" ({datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M} UTC)" if is_date(when) else ""
    lead = "from" if hit.exact else "mentioned in"
    words = f"{lead} session {named}{day}, message {hit.message_id}"
    return Provenance(words, hit.session_id, hit.message_id)


_Rows = Iterator[tuple[Any, ...]]


def _indexed(db: Database, proposal: Proposal, columns: frozenset[str]) -> _Rows:
    """By the full-text index; a missing, broken or stale one finds nothing."""
    if not _TOKEN.fullmatch(proposal.id):
        return
    sql = (
        f"SELECT {_fields('m', columns)} FROM messages_fts JOIN messages m"
        f" ON m.id = messages_fts.rowid WHERE messages_fts MATCH ? AND {_wanted('m', columns)}"
        " ORDER BY m.id DESC LIMIT ?"
    )
    try:
        yield from db.rows(sql, (f'"{proposal.id}"', proposal.id, _MESSAGES))
    except sqlite3.Error:
        return


def _near(db: Database, proposal: Proposal, columns: frozenset[str]) -> _Rows:
    """Messages around the record's time, by the sessions that had begun then, newest first."""
    at = proposal.created_at
    if at is None or "timestamp" not in columns or "started_at" not in db.columns("sessions"):
        return
    # CROSS JOIN keeps the order of the tables: sessions first, then their messages by index.
    sql = (
        f"SELECT {_fields('m', columns)} FROM"
        " (SELECT id FROM sessions WHERE started_at <= ? ORDER BY started_at DESC LIMIT ?) s"
        " CROSS JOIN messages m ON m.session_id = s.id"
        f" WHERE m.timestamp BETWEEN ? AND ? AND {_wanted('m', columns)} LIMIT ?"
    )
    until = at + _AFTER
    yield from db.rows(sql, (until, _SESSIONS, at - _BEFORE, until, proposal.id, _MESSAGES))


def _scanned(db: Database, proposal: Proposal, columns: frozenset[str]) -> _Rows:
    """All messages, newest first, until the time is up."""
    sql = (
        f"SELECT {_fields('m', columns)} FROM messages m WHERE {_wanted('m', columns)}"
        " ORDER BY m.id DESC LIMIT ?"
    )
    yield from db.rows(sql, (proposal.id, _MESSAGES))


def _fields(table: str, columns: frozenset[str]) -> str:
    at = f"{table}.timestamp" if "timestamp" in columns else "NULL"
    return f"{table}.id, {table}.session_id, {at}, {table}.content"


def _wanted(table: str, columns: frozenset[str]) -> str:
    # instr, not LIKE: an encoded content begins with a NUL, at which LIKE stops.
    role = f"{table}.role = 'tool' AND " if "role" in columns else ""
    return f"{role}instr({table}.content, ?) > 0"


def _hits(rows: _Rows, token: str) -> Iterator[_Hit]:
    """Rows that name the id as a word; the tool that staged it answers ``"pending_id": "ID"``."""
    word = re.compile(rf"(?<![0-9A-Za-z]){re.escape(token)}(?![0-9A-Za-z])")
    answer = re.compile(rf'pending_id\\*"\s*:\s*\\*"{re.escape(token)}\\*"')
    for message_id, session_id, at, content in rows:
        text = decoded(content) if isinstance(content, bytes) else str(content)
        if isinstance(message_id, int) and isinstance(session_id, str) and word.search(text):
            when = float(at) if isinstance(at, int | float) else None
            yield _Hit(message_id, session_id, when, bool(answer.search(text)))


def _rank(hit: _Hit, created_at: float | None) -> tuple[bool, float, int]:
    """The tool's own answer first, then the nearest in time, then the oldest."""
    distance = 0.0 if hit.at is None or created_at is None else abs(hit.at - created_at)
    return not hit.exact, distance, hit.message_id


def _session(db: Database, session_id: str) -> tuple[str, float | None]:
    """Its title, safe and short (``""`` for none), and when it began."""
    columns = db.columns("sessions")
    if "id" not in columns:
        return "", None
    fields = [name if name in columns else "NULL" for name in ("title", "started_at")]
    rows = db.rows(f"SELECT {', '.join(fields)} FROM sessions WHERE id = ?", (session_id,))
    title, started = rows[0] if rows else (None, None)
    shown = one_line(title, _TITLE_CELLS).strip() if isinstance(title, str) else ""
    return shown, float(started) if isinstance(started, int | float) else None
