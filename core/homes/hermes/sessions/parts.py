"""Sessions as rows of the database: what lists, lineages and records are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from core.conversations import Relation, Session
from core.homes.hermes.sessions.opening import Database, Row
from core.homes.hermes.sessions.values import chosen, count, flag, number, word

#: Ids in one statement: older builds of SQLite take 999 values.
BATCH = 500
_NAMES = (
    "id", "source", "parent_session_id", "started_at", "ended_at", "end_reason", "title",
    "session_key", "archived", "pinned", "hidden", "message_count", "tool_call_count", "model",
    "cwd", "git_repo_root", "git_branch", "last_read_at", "last_activity_at",
)  # fmt: skip


class Part(NamedTuple):
    """A session as stored. A tuple, since a home may have tens of thousands of them.

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
    return list(_parts(db, "", ()))


def parts_of(db: Database, ids: Sequence[str]) -> list[Part]:
    """Those of ``ids`` that exist, in no order."""
    return _by(db, "s.id", ids)


def children_of(db: Database, ids: Sequence[str]) -> list[Part]:
    """The sessions whose parent is one of ``ids``, in no order."""
    if "parent_session_id" not in db.columns("sessions"):
        return []
    return _by(db, "s.parent_session_id", ids)


def _by(db: Database, column: str, ids: Sequence[str]) -> list[Part]:
    found: list[Part] = []
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        found += _parts(db, f" WHERE {column} IN ({', '.join('?' * len(some))})", some)
    return found


def _parts(db: Database, where: str, args: Sequence[str]) -> Iterator[Part]:
    columns = db.columns("sessions")
    # The whole settings may be long, and are only of use where they hold a marker.
    markers = "NULL"
    if "model_config" in columns:
        markers = "CASE WHEN instr(s.model_config, '_from\"') > 0 THEN s.model_config END"
    last = "NULL"
    if "timestamp" in db.columns("messages"):
        last = "(SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id)"
    sql = f"SELECT {chosen(_NAMES, columns, 's')}, {markers}, {last} FROM sessions s{where}"
    return map(_part, db.rows(sql, args))


def _part(row: Row) -> Part:
    (
        id_, source, parent, started, ended, end_reason, title, key, archived, pinned, hidden,
        messages, tool_calls, model, cwd, repo, branch, read_at, beat, markers, last,
    ) = row  # fmt: skip
    said, beaten = number(last), number(beat)
    if said is None or (beaten is not None and beaten > said):
        said = beaten
    delegated, branched, reset = _markers(markers) if markers else ("", "", "")
    return Part(
        word(id_), word(source), word(parent), number(started) or 0.0, number(ended),
        word(end_reason), word(title), word(key), flag(archived), flag(pinned), flag(hidden),
        count(messages), count(tool_calls), word(model), word(repo).strip() or word(cwd).strip(),
        word(branch), number(read_at), said, delegated, branched, reset,
    )  # fmt: skip


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
