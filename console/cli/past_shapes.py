"""The JSON of past conversations: the agent's own field names, plus family and visibility."""

from __future__ import annotations

from typing import Any

from core.conversations import Found, Hit, Listing, Message, Session, Totals
from core.desk.past import Reading

Json = dict[str, Any]


def listing(found: Listing) -> Json:
    """The answer of ``sessions``."""
    return {
        "sessions": [row(each) for each in found.sessions],
        "count": len(found.sessions),
        "total": found.total,
        "by_source": found.by_source,
        "left_out": {"archived": found.archived, "hidden": found.hidden},
    }


def row(session: Session) -> Json:
    """A session as ``sessions`` lists it."""
    return {
        "session_id": session.id,
        "title": session.title or None,
        "source": session.source,
        "model": session.model or None,
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "end_reason": session.end_reason or None,
        "last_active": session.last_active,
        "message_count": session.messages,
        "tool_call_count": session.tool_calls,
        "workspace": session.workspace or None,
        "preview": session.preview,
        "archived": session.archived,
        "pinned": session.pinned,
        "hidden": session.hidden,
        "unread": session.unread,
        "relation": str(session.relation),
        "parent_session_id": session.parent_id or None,
        "root_session_id": session.root_id or session.id,
        "chain": list(session.chain),
        "notes": list(session.notes),
    }


def message(found: Message, anchor: int | None = None) -> Json:
    """A message as the tool gives it: what is empty is left out, but ``content``."""
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in found.tool_calls
    ]
    optional: Json = {
        "tool_name": found.tool_name,
        "tool_calls": calls,
        "tool_call_id": found.tool_call_id,
        "entry_id": found.entry_id,
        "handoff": found.handoff and str(found.handoff),
        "notes": list(found.notes),
    }
    said: Json = {
        "id": found.id,
        "role": found.role,
        "content": found.text,
        "timestamp": found.at,
        "visibility": str(found.visibility),
    }
    said |= {name: value for name, value in optional.items() if value}
    return said | ({"anchor": True} if found.id == anchor else {})


def reading(found: Reading) -> Json:
    """The answer of ``read``."""
    session = found.session
    said: Json = {
        "session_id": session.id,
        "session_meta": {
            "when": session.started_at,
            "source": session.source,
            "model": session.model or None,
            "title": session.title or None,
        },
        "message_count": found.total,
        "row_count": found.rows,
        "truncated": found.truncated,
        "messages": [message(each, found.around) for each in found.messages],
        "family": [
            {
                "session_id": each.session.id,
                "title": each.session.title or None,
                "source": each.session.source,
                "relation": str(each.session.relation),
                "depth": each.depth,
            }
            for each in found.family
        ],
    }
    if found.around is not None:
        said |= {
            "around_message_id": found.around,
            "window": found.window,
            "messages_before": found.before,
            "messages_after": found.after,
        }
    return said


def totals(found: Totals) -> Json:
    """The answer of ``stats``."""
    return {
        "sessions": found.sessions,
        "archived": found.archived,
        "messages": found.messages,
        "by_source": found.by_source,
        "database_bytes": found.database_bytes,
    }


def found(answer: Found) -> Json:
    """The answer of ``search``."""
    return {
        "query": answer.query,
        "effective_query": answer.effective,
        "read_literally": answer.literally,
        "engine": str(answer.engine),
        "corrected": [{"asked": asked, "found": word} for asked, word in answer.corrected],
        "note": answer.note or None,
        "total_sessions": answer.total_sessions,
        "total_is_exact": answer.is_whole,
        "hits": [hit(each) for each in answer.hits],
        "left_out": {
            "hidden_sources": answer.hidden_sources,
            "tool_output": answer.tool_output,
            "undone": answer.undone,
        },
    }


def hit(each: Hit) -> Json:
    """One hit of ``search``."""
    return {
        "session_id": each.session_id,
        "root_session_id": each.root_id,
        "title": each.title or None,
        "source": each.source,
        "when": each.at,
        "role": each.role,
        "message_id": each.message_id,
        "visibility": str(each.visibility),
        "snippet": each.snippet,
        "spans": [list(span) for span in each.spans],
        "more_in_session": each.more,
        "in_title": each.in_title,
    }
