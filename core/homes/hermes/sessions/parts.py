"""Sessions as rows of the database: what lists, lineages and records are made of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from core.conversations import Relation, Session
from core.homes.hermes.sessions.opening import Database, Row
from core.homes.hermes.sessions.values import chosen, count, flag, number, word

T = TypeVar("T")
#: Ids in one statement: older builds of SQLite take 999 values.
BATCH = 500
_NAMES = (
    "id", "source", "parent_session_id", "started_at", "ended_at", "end_reason", "title",
    "session_key", "archived", "pinned", "hidden", "message_count", "tool_call_count", "model",
    "cwd", "git_repo_root", "git_branch", "last_read_at", "last_activity_at",
)  # fmt: skip
#: Sessions that are kept as they were read last.
_RECENT = 2_000
#: What the settings of a session hold where they name another one.
_MARKER = '_from"'


class Part(NamedTuple):
    """A session as stored.

    ``last`` is when its last message was said. The three markers are ids of the session it was
    delegated from, branched off, or reset from; ``""`` for none.
    """

    id: str
    source: str
    parent_id: str
    started: float
    ended: float | None
    end_reason: str
    title: str
    session_key: str
    archived: bool
    pinned: bool
    hidden: bool
    messages: int
    tool_calls: int
    model: str
    workspace: str
    git_branch: str
    read_at: float | None
    last: float | None
    delegated: str
    branched: str
    reset: str

    @property
    def active(self) -> float:
        """When something happened in it last."""
        return self.started if self.last is None else self.last


def all_parts(db: Database) -> list[Part]:
    """Every session of the database, in no order."""
    return _parts(db, "", (), _part)


def parts_of(db: Database, ids: Sequence[str]) -> list[Part]:
    """Those of ``ids`` that exist, in no order."""
    return _by(db, "s.id", ids)


def present(db: Database, ids: Sequence[str]) -> list[Part]:
    """:func:`parts_of`, and those whose id is stored as no text, which no statement finds by it."""
    found = parts_of(db, ids)
    if len(found) == len(ids):
        return found
    wanted = set(ids)
    return [part for part in all_parts(db) if part.id in wanted]


def children_of(db: Database, ids: Sequence[str]) -> list[Part]:
    """The sessions whose parent is one of ``ids``, in no order."""
    if "parent_session_id" not in db.columns("sessions"):
        return []
    return _by(db, "s.parent_session_id", ids)


def briefs(db: Database, make: Callable[[Iterable[Row]], T]) -> T:
    """What ``make`` makes of every session in short; it may run twice.

    A row is (id, source, archived, hidden, parent's id, whether it may hold a marker, start, last
    message, heartbeat), as stored. What stands behind the prompt in a session's row costs the whole
    prompt to reach, so the start is taken from the index over it; an empty parent and a flag are
    told by the row's head. Everything else costs three times as much.
    """
    columns = db.columns("sessions")
    names = ("id", "source", "archived", "hidden", "parent_session_id")
    marked = "0"
    if "model_config" in columns:
        marked = f"instr(s.model_config, '{_MARKER}') > 0"
    fields = (
        f"{chosen(names, columns, 's')}, {marked}, {chosen(('started_at',), columns, 'begun')},"
        f" {_last(db)}, {chosen(('last_activity_at',), columns, 's')}"
    )
    sql = f"SELECT {fields} FROM sessions begun CROSS JOIN sessions s ON s.rowid = begun.rowid"
    return db.made(sql, (), make)


def folder(root: object, cwd: object) -> str:
    """The folder a session worked in, of the two that are stored."""
    return word(root).strip() or word(cwd).strip()


def active(started: object, last: object, beat: object) -> float:
    """When something happened last in a session, of the times that are stored."""
    said = _said(last, beat)
    return (number(started) or 0.0) if said is None else said


def _said(last: object, beat: object) -> float | None:
    said, beaten = number(last), number(beat)
    return beaten if said is None or (beaten is not None and beaten > said) else said


def _by(db: Database, column: str, ids: Sequence[str]) -> list[Part]:
    found: list[Part] = []
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        found += _parts(db, f" WHERE {column} IN ({', '.join('?' * len(some))})", some, _known_part)
    return found


def _parts(
    db: Database, where: str, args: Sequence[str], make: Callable[[Row], Part]
) -> list[Part]:
    columns = db.columns("sessions")
    # The whole settings may be long, and are only of use where they hold a marker.
    markers = "NULL"
    if "model_config" in columns:
        markers = f"CASE WHEN instr(s.model_config, '{_MARKER}') > 0 THEN s.model_config END"
    fields = f"{chosen(_NAMES, columns, 's')}, {markers}, {_last(db)}"
    return db.made(f"SELECT {fields} FROM sessions s{where}", args, lambda rows: [*map(make, rows)])


def _last(db: Database) -> str:
    if "timestamp" not in db.columns("messages"):
        return "NULL"
    return "(SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id)"


def _part(row: Row) -> Part:
    (
        id_, source, parent, started, ended, end_reason, title, key, archived, pinned, hidden,
        messages, tool_calls, model, cwd, repo, branch, read_at, beat, markers, last,
    ) = row  # fmt: skip
    delegated, branched, reset = _markers(markers) if markers else ("", "", "")
    return Part(
        word(id_), word(source), word(parent), number(started) or 0.0, number(ended),
        word(end_reason), word(title), word(key), flag(archived), flag(pinned), flag(hidden),
        count(messages), count(tool_calls), word(model), folder(repo, cwd),
        word(branch), number(read_at), _said(last, beat), delegated, branched, reset,
    )  # fmt: skip


#: Of the sessions that a list shows few change from one look to the next.
_known_part = lru_cache(maxsize=_RECENT)(_part)


def _markers(config: object) -> tuple[str, str, str]:
    try:
        held: Any = json.loads(config) if isinstance(config, str | bytes) else None
    except (ValueError, RecursionError):
        held = None
    if not isinstance(held, dict):
        return "", "", ""
    delegated, branched, reset = (
        word(held.get(name)) for name in ("_delegate_from", "_branched_from", "_reset_from")
    )
    return delegated, branched, reset


def record(
    part: Part,
    relation: Relation,
    root_id: str,
    chain: tuple[str, ...],
    preview: str = "",
    begin: Part | None = None,
) -> Session:
    """A session as surfaces see it. ``begin`` is the first part of its chain, where the whole
    chain is one row: it says where the row comes from and when it began."""
    first = begin or part
    unread = part.read_at is not None and part.active > part.read_at
    return Session(
        id=part.id,
        source=first.source,
        title=part.title or first.title,
        started_at=first.started or None,
        ended_at=part.ended,
        end_reason=part.end_reason,
        last_active=part.active or None,
        messages=part.messages,
        tool_calls=part.tool_calls,
        model=part.model or first.model,
        workspace=part.workspace or first.workspace,
        git_branch=part.git_branch or first.git_branch,
        parent_id=first.parent_id,
        root_id=root_id,
        relation=relation,
        chain=chain,
        preview=preview,
        archived=part.archived,
        pinned=part.pinned or first.pinned,
        hidden=part.hidden,
        unread=unread,
    )
