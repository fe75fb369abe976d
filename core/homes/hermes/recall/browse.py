"""Browse: the sessions with the most recent activity.

Source: hermes-agent 0.19.0, executed; the newer agent as described (specs, hermes-sessions 1.7 and
2.4). A chain of compactions is one row: the start of its root, the rest of its newest part.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from core.homes.hermes.recall import previews
from core.homes.hermes.recall.call import Call, refused
from core.homes.hermes.recall.store import RESETS, Store
from core.homes.hermes.recall.windows import Json

#: Rows that are read beyond what is asked for, since some are left out.
_SPARE, _SPARE_NEWEST = 5, 15
#: The newer agent looks at this many of the latest sessions, or at eight times what it reads.
_CANDIDATES = 128

_BRANCHED, _DELEGATED, _RESET = "_branched_from", "_delegate_from", "_reset_from"


def browse(call: Call, limit: int) -> Json:
    """The answer: at most ``limit`` sessions, without the one that asks."""
    try:
        rows = _newest(call, limit) if call.newest else _v0_19(call, limit)
    except sqlite3.Error as problem:
        return refused(f"Failed to list recent sessions: {problem}")
    return {
        "success": True,
        "mode": "browse",
        "results": rows,
        "count": len(rows),
        "message": (
            f"Showing {len(rows)} most recent sessions. Pass a query= to search, "
            "or session_id+around_message_id to scroll."
        ),
    }


# -- 0.19 ------------------------------------------------------------------------------------------


def _v0_19(call: Call, limit: int) -> list[Json]:
    """Roots alone, though branches take their places among the rows that are read.

    A chain that goes round ends (:attr:`.deviations.Deviation.CYCLE`).
    """
    store = call.store
    listed = (
        f"(s.parent_session_id IS NULL OR {_is_branch('s')}) AND {_marker('s', _DELEGATED)} IS NULL"
        f" AND s.source NOT IN ({', '.join('?' * len(call.hidden))}) AND {_off(store, 'archived')}"
    )
    sql = f"""
        WITH RECURSIVE chain(root, part) AS (
            SELECT s.id, s.id FROM sessions s WHERE {listed}
            UNION
            SELECT chain.root, child.id FROM chain
            JOIN sessions parent ON parent.id = chain.part AND parent.end_reason = 'compression'
            JOIN sessions child ON child.parent_session_id = parent.id
            WHERE {_continues("child")}
        ),
        activity(root, at) AS (
            SELECT chain.root, MAX({_active("chain.part", "part.started_at")})
            FROM chain JOIN sessions part ON part.id = chain.part GROUP BY chain.root
        )
        SELECT s.id, s.end_reason, s.parent_session_id, s.source, s.started_at
        FROM activity JOIN sessions s ON s.id = activity.root
        ORDER BY activity.at DESC, s.started_at DESC, s.id DESC LIMIT ?
    """
    root = store.root(call.current) if call.current else None
    rows: list[Json] = []
    for found in store.rows(sql, (*call.hidden, limit + _SPARE)):
        session_id, end_reason, parent, source, started_at = found
        tip = _tip(store, session_id) if end_reason == "compression" else session_id
        if (root and tip in (root, call.current)) or parent:
            continue
        rows.append(_row(call, tip, source, started_at, preview=previews.v0_19(store, tip)))
        if len(rows) == limit:
            break
    return rows


def _row(call: Call, session_id: Any, source: Any, started_at: Any, *, preview: str) -> Json:
    sql = (
        f"SELECT s.title, s.message_count, {_active('s.id', 's.started_at')}"
        " FROM sessions s WHERE s.id = ?"
    )
    title, count, last_active = call.store.rows(sql, (session_id,))[0]
    return {
        "session_id": session_id,
        "title": title or None,
        "source": source,
        "started_at": started_at,
        "last_active": last_active,
        "message_count": count,
        "preview": preview,
    }


def _tip(store: Store, session_id: Any) -> Any:
    """Where a chain of compactions goes on now: of several parts that follow one, a chain's before
    an open one's before the others, then the most recently active."""
    sql = f"""
        SELECT child.id FROM sessions parent JOIN sessions child
            ON child.parent_session_id = parent.id
        WHERE parent.id = ? AND parent.end_reason = 'compression' AND {_continues("child")}
        ORDER BY
            CASE WHEN child.end_reason = 'compression' THEN 0
                 WHEN child.ended_at IS NULL THEN 1 ELSE 2 END,
            {_active("child.id", "child.started_at")} DESC, child.started_at DESC, child.id DESC
        LIMIT 1
    """
    current, seen = session_id, {session_id}
    for _ in range(100):
        found = store.rows(sql, (current,))
        if not found or found[0][0] in seen:
            break
        current = found[0][0]
        seen.add(current)
    return current


# -- newest ----------------------------------------------------------------------------------------


def _newest(call: Call, limit: int) -> list[Json]:
    """Also branches and what follows a reset; the root of a chain is hidden from its own tip.

    It may take as long as it takes (:attr:`.deviations.Deviation.DEADLINE`).
    """
    store = call.store
    read = limit + _SPARE_NEWEST
    root, summarised = store.family(call.current) if call.current else (None, False)
    aside = {call.current, root if summarised else None}
    rows: list[Json] = []
    for found in _recent(call, read):
        tip, source, title, started_at, count, last_active = found
        if tip in aside:
            continue
        rows.append(
            {
                "session_id": tip,
                "link": call.reference(tip),
                "title": title or None,
                "source": source,
                "started_at": started_at,
                "last_active": last_active,
                "message_count": count,
                "preview": previews.newest(store, tip),
            }
        )
        if len(rows) == limit:
            break
    return rows


def _recent(call: Call, read: int) -> Sequence[tuple[Any, ...]]:
    store = call.store
    heartbeat = "last_activity_at" in store.db.columns("sessions")
    beat = "COALESCE(s.last_activity_at, s.started_at)" if heartbeat else "s.started_at"
    visible = f"{_off(store, 'archived')} AND {_off(store, 'hidden')} AND {_not_delegated('s')}"
    continues = _continues_newest("parent", "child")
    sql = f"""
        WITH RECURSIVE candidate(id) AS (
            SELECT s.id FROM sessions s
            WHERE {visible} AND s.source NOT IN ({", ".join("?" * len(call.hidden))})
            ORDER BY {beat} DESC, s.started_at DESC, s.id DESC LIMIT ?
        ),
        ancestor(id) AS (
            SELECT id FROM candidate
            UNION
            SELECT parent.id FROM ancestor JOIN sessions child ON child.id = ancestor.id
            JOIN sessions parent ON {continues}
        ),
        chain(root, part) AS (
            SELECT ancestor.id, ancestor.id FROM ancestor
            JOIN sessions child ON child.id = ancestor.id
            WHERE NOT EXISTS (SELECT 1 FROM sessions parent WHERE {continues})
            UNION
            SELECT chain.root, child.id FROM chain JOIN sessions parent ON parent.id = chain.part
            JOIN sessions child ON {continues}
        ),
        tip(root, part, at) AS (
            SELECT chain.root, chain.part, {_latest(heartbeat)}
            FROM chain JOIN sessions part ON part.id = chain.part
            WHERE NOT EXISTS (
                SELECT 1 FROM sessions parent JOIN sessions child ON {continues}
                WHERE parent.id = chain.part
            )
        )
        SELECT t.id, t.source, COALESCE(t.title, s.title), s.started_at, t.message_count, tip.at
        FROM tip JOIN sessions s ON s.id = tip.root JOIN sessions t ON t.id = tip.part
        WHERE {visible} AND (s.parent_session_id IS NULL OR {_is_branch("s")} OR {_is_reset("s")})
            AND NOT EXISTS (
                SELECT 1 FROM tip other WHERE other.root = tip.root
                AND (other.at, other.part) > (tip.at, tip.part)
            )
        ORDER BY tip.at DESC, s.started_at DESC, t.id DESC LIMIT ?
    """
    candidates = max(_CANDIDATES, 8 * read)
    return store.rows(sql, (*call.hidden, candidates, read))


def _latest(heartbeat: bool) -> str:
    said = "(SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = part.id)"
    if not heartbeat:
        return f"COALESCE({said}, part.started_at)"
    later = f"MAX(COALESCE({said}, part.last_activity_at), COALESCE(part.last_activity_at, {said}))"
    return f"COALESCE({later}, part.started_at)"


# -- what a child is to its parent -----------------------------------------------------------------


def _marker(session: str, name: str) -> str:
    return f"json_extract(COALESCE({session}.model_config, '{{}}'), '$.{name}')"


def _mark(session: str, name: str) -> str:
    """As :func:`_marker`; a config that is no JSON has no marks for the newer agent."""
    config = f"{session}.model_config"
    return f"CASE WHEN json_valid({config}) THEN json_extract({config}, '$.{name}') END"


def _is_branch(child: str) -> str:
    return (
        f"({_marker(child, _BRANCHED)} IS NOT NULL OR EXISTS (SELECT 1 FROM sessions p"
        f" WHERE p.id = {child}.parent_session_id AND p.end_reason = 'branched'"
        f" AND {child}.started_at >= p.ended_at))"
    )


def _is_reset(child: str) -> str:
    """A mark, or a conversation of the same key whose predecessor was reset."""
    reasons = ", ".join(f"'{reason}'" for reason in sorted(RESETS))
    return (
        f"({_mark(child, _RESET)} IS NOT NULL OR EXISTS (SELECT 1 FROM sessions p"
        f" WHERE p.id = {child}.parent_session_id AND p.end_reason IN ({reasons})"
        f" AND {child}.session_key <> '' AND {child}.session_key = p.session_key))"
    )


def _continues(child: str) -> str:
    return (
        f"{_marker(child, _BRANCHED)} IS NULL AND {_marker(child, _DELEGATED)} IS NULL"
        f" AND COALESCE({child}.source, '') <> 'tool'"
    )


def _continues_newest(parent: str, child: str) -> str:
    """Without a mark that is bound to that parent: one may be inherited from further up."""
    free = " AND ".join(
        f"{_mark(child, name)} IS NOT {parent}.id" for name in (_BRANCHED, _DELEGATED, _RESET)
    )
    return (
        f"({child}.parent_session_id = {parent}.id AND {parent}.end_reason = 'compression'"
        f" AND {free} AND COALESCE({child}.source, '') <> 'tool')"
    )


def _not_delegated(session: str) -> str:
    return f"{_mark(session, _DELEGATED)} IS NULL"


def _active(session_id: str, started_at: str) -> str:
    said = f"(SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = {session_id})"
    return f"COALESCE({said}, {started_at})"


def _off(store: Store, flag: str) -> str:
    return f"s.{flag} = 0" if flag in store.db.columns("sessions") else "1"
