"""Where a proposal came from: the conversation in which a tool answered with its id.

hermes-agent keeps conversations in ``state.db``. A second process that opens it carelessly makes
the agent lose its write-ahead log (report D27), so it is opened by URI and read-only, never as a
file, and no file is made beside it. Tables and columns are looked up, never assumed: they differ
between versions. Everything is bounded in time, and whatever goes wrong is said in words.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.clock import is_date
from core.homes.hermes.pending import Proposal
from core.text import one_line

DATABASE = "state.db"
BACKGROUND = "background_review"
#: Seconds a search may take, and a wait for the agent's lock.
SECONDS, BUSY = 0.5, 0.2
#: Steps of SQLite's machine between two looks at the clock.
_STEPS = 2_000
#: Seconds around a record's time in which its message is looked for first: a turn is long.
_BEFORE, _AFTER = 3_600.0, 86_400.0
_SESSIONS, _MESSAGES, _ATTEMPTS = 400, 50, 3
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


class _UnreadableError(Exception):
    """Why the database cannot be read, in words."""


def trace(home: Path, proposal: Proposal, seconds: float = SECONDS) -> Provenance:
    """The message whose tool result carries the id of ``proposal``; never raises.

    ``home`` is the home's folder on this machine. At most about ``seconds`` are spent, and
    :data:`BUSY` for a lock.
    """
    if proposal.origin == BACKGROUND:
        return Provenance("the background review leaves no conversation")
    if not proposal.id or _SURROGATE.search(proposal.id):
        return Provenance("no conversation mentions it")
    path = os.path.realpath(home / DATABASE)
    end = time.monotonic() + seconds
    try:
        return _trace(path, proposal, end)
    except _UnreadableError as problem:
        return Provenance(f"{DATABASE} cannot be read: {problem}")


def _trace(path: str, proposal: Proposal, end: float) -> Provenance:
    for _ in range(_ATTEMPTS):
        before = _state(path)
        if before is None:
            return Provenance(f"there is no {DATABASE}, so no conversation is kept")
        try:
            with closing(_open(path, before, end)) as db:
                found = _search(db, proposal)
            if before.still and _state(path) != before:
                continue
        except sqlite3.Error as problem:
            if before.still and _state(path) != before:
                continue
            raise _UnreadableError(_reason(problem)) from problem
        return found
    raise _UnreadableError("the agent keeps writing to it")


# -- opening ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _State:
    """What stands on disk. ``still``: nothing is being written, as far as the files beside tell."""

    identity: tuple[int, int, int, int]
    still: bool


def _state(path: str) -> _State | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise _UnreadableError((problem.strerror or str(problem)).lower()) from problem
    if stat.S_ISDIR(found.st_mode):
        raise _UnreadableError("it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise _UnreadableError("it is no regular file")
    log, journal = _size(f"{path}-wal"), _size(f"{path}-journal")
    if log and not os.path.exists(f"{path}-shm"):
        # Reading it would make that file, and leave it behind.
        raise _UnreadableError("it was left in the middle of a write; the agent mends it at start")
    identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
    return _State(identity, still=not log and not journal)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _open(path: str, found: _State, end: float) -> sqlite3.Connection:
    # A read-only connection to a closed write-ahead database makes two files beside it. One that
    # is told that nothing changes makes none; whether that was true is checked afterwards.
    options = "mode=ro&immutable=1" if found.still else "mode=ro"
    uri = f"file:{quote(os.fsencode(path))}?{options}"
    db = sqlite3.connect(uri, uri=True, timeout=BUSY, isolation_level=None)
    db.text_factory = _text
    db.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    db.execute("PRAGMA query_only=ON")
    return db


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _reason(problem: sqlite3.Error) -> str:
    said = str(problem)
    if "interrupted" in said:
        return "the search took too long"
    if "locked" in said or "busy" in said or "disk I/O" in said:
        return "the agent is writing to it"
    if "not a database" in said or "malformed" in said:
        return "it is damaged"
    if "unable to open" in said:
        return "it cannot be opened"
    return one_line(said, 80)


# -- searching -------------------------------------------------------------------------------------


def _search(db: sqlite3.Connection, proposal: Proposal) -> Provenance:
    columns = _columns(db, "messages")
    if not {"id", "session_id", "content"} <= columns:
        raise _UnreadableError("its tables are of no kind that signoff knows")
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


def _indexed(db: sqlite3.Connection, proposal: Proposal, columns: frozenset[str]) -> _Rows:
    """By the full-text index; a missing, broken or stale one finds nothing."""
    if not _TOKEN.fullmatch(proposal.id):
        return
    sql = (
        f"SELECT {_fields('m', columns)} FROM messages_fts JOIN messages m"
        f" ON m.id = messages_fts.rowid WHERE messages_fts MATCH ? AND {_wanted('m', columns)}"
        " ORDER BY m.id DESC LIMIT ?"
    )
    try:
        yield from db.execute(sql, (f'"{proposal.id}"', proposal.id, _MESSAGES))
    except sqlite3.Error as problem:
        if "interrupted" in str(problem):
            raise


def _near(db: sqlite3.Connection, proposal: Proposal, columns: frozenset[str]) -> _Rows:
    """Messages around the record's time, by the sessions that had begun then, newest first."""
    at = proposal.created_at
    if at is None or "timestamp" not in columns or "started_at" not in _columns(db, "sessions"):
        return
    # CROSS JOIN keeps the order of the tables: sessions first, then their messages by index.
    sql = (
        f"SELECT {_fields('m', columns)} FROM"
        " (SELECT id FROM sessions WHERE started_at <= ? ORDER BY started_at DESC LIMIT ?) s"
        " CROSS JOIN messages m ON m.session_id = s.id"
        f" WHERE m.timestamp BETWEEN ? AND ? AND {_wanted('m', columns)} LIMIT ?"
    )
    until = at + _AFTER
    yield from db.execute(sql, (until, _SESSIONS, at - _BEFORE, until, proposal.id, _MESSAGES))


def _scanned(db: sqlite3.Connection, proposal: Proposal, columns: frozenset[str]) -> _Rows:
    """All messages, newest first, until the time is up."""
    sql = (
        f"SELECT {_fields('m', columns)} FROM messages m WHERE {_wanted('m', columns)}"
        " ORDER BY m.id DESC LIMIT ?"
    )
    yield from db.execute(sql, (proposal.id, _MESSAGES))


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
        text = _text(content) if isinstance(content, bytes) else str(content)
        if isinstance(message_id, int) and isinstance(session_id, str) and word.search(text):
            when = float(at) if isinstance(at, int | float) else None
            yield _Hit(message_id, session_id, when, bool(answer.search(text)))


def _rank(hit: _Hit, created_at: float | None) -> tuple[bool, float, int]:
    """The tool's own answer first, then the nearest in time, then the oldest."""
    distance = 0.0 if hit.at is None or created_at is None else abs(hit.at - created_at)
    return not hit.exact, distance, hit.message_id


def _session(db: sqlite3.Connection, session_id: str) -> tuple[str, float | None]:
    """Its title, safe and short (``""`` for none), and when it began."""
    columns = _columns(db, "sessions")
    if "id" not in columns:
        return "", None
    fields = [name if name in columns else "NULL" for name in ("title", "started_at")]
    row = db.execute(
        f"SELECT {', '.join(fields)} FROM sessions WHERE id = ?", (session_id,)
    ).fetchone()
    title, started = row or (None, None)
    shown = one_line(title, _TITLE_CELLS).strip() if isinstance(title, str) else ""
    return shown, float(started) if isinstance(started, int | float) else None


def _columns(db: sqlite3.Connection, table: str) -> frozenset[str]:
    return frozenset(str(row[1]) for row in db.execute(f"PRAGMA table_info({table})"))
