"""The short cut of a search: a query that is the title of a session.

Source: hermes-agent 0.19.0, executed (specs, hermes-sessions 3.1); the newer agent's exception for
sessions that left the context, and its caps, as described.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.homes.hermes.recall.call import Call
from core.homes.hermes.recall.matching import like
from core.homes.hermes.recall.store import REFUSALS, Session, Store
from core.homes.hermes.recall.windows import (
    BOOKEND,
    BOOKEND_CAP,
    WINDOW,
    WINDOW_CAP,
    Json,
    Message,
    View,
    shape,
    view,
)


@dataclass(frozen=True, slots=True)
class Titled:
    """A session found by its title: the entry of the answer, its family's root and its start."""

    entry: Json
    root: Any
    started_at: Any


def titled(call: Call, query: str, current_root: Any) -> Titled | None:
    """The session that ``query`` names; none if it is the family that asks, or a hidden one."""
    title = query.strip().strip("`'\"")
    session_id = _named(call.store, title) if title else None
    if not session_id:
        return None
    root = call.store.root(session_id)
    if current_root and root == current_root and not (call.newest and call.store.left(session_id)):
        return None
    session = call.store.session(root) or call.store.session(session_id) or Session(None)
    if session.source in call.hidden:
        return None
    return Titled(_entry(call, session_id, root, session, title), root, session.started_at)


def _named(store: Store, title: str) -> Any:
    """The id behind a title: the newest numbered one, else the one that is exactly so called."""
    numbered = store.quiet(
        "SELECT s.id FROM sessions s WHERE s.title LIKE ? ESCAPE '\\'"
        " ORDER BY s.started_at DESC LIMIT 1",
        (f"{like(title)} #%",),
    )
    exact = numbered or store.quiet("SELECT s.id FROM sessions s WHERE s.title = ?", (title,))
    return exact[0][0] if exact else None


def _entry(call: Call, session_id: Any, root: Any, session: Session, query: str) -> Json:
    messages: Sequence[Message] = []
    found = View()
    try:
        messages = call.store.live(session_id)
        if messages:
            found = view(call.store, session_id, messages[0]["id"])
    except REFUSALS:
        pass
    anchor = messages[0]["id"] if messages else None
    title = session.title or query
    rules = call.rules
    last = messages[-BOOKEND:]
    entry: Json = {
        "session_id": session_id,
        "when": call.when(session.started_at),
        "source": session.source if session.id is not None else "unknown",
        "model": session.model or "unknown",
        "title": title,
        "matched_role": "session_title",
        "match_message_id": anchor,
        "snippet": f"Session title matched: {title}",
        "bookend_start": shape(found.start or messages[:BOOKEND], rules, cap=BOOKEND_CAP),
        "messages": shape(
            found.messages or messages[:WINDOW], rules, anchor=anchor, cap=WINDOW_CAP
        ),
        "bookend_end": shape(found.end or last, rules, cap=BOOKEND_CAP),
        "messages_before": found.before,
        "messages_after": found.after,
    }
    if call.newest:
        entry["detail"] = "full"
    if root and root != session_id:
        entry["parent_session_id"] = root
    return entry
