"""Read: a whole session, or its beginning and its end.

Source: hermes-agent 0.19.0, executed; link, cap and miss of the newer agent as described (specs,
hermes-sessions 2.3).
"""

from __future__ import annotations

from core.homes.hermes.recall.call import Call, refused
from core.homes.hermes.recall.store import REFUSALS
from core.homes.hermes.recall.windows import READ_CAP, Json, shape

#: Messages of a long session that are shown: the first ones and the last ones.
HEAD, TAIL = 20, 10


def read(call: Call, session_id: str) -> Json:
    """The answer: only messages that the agent still sees; at most thirty of them."""
    session = call.store.session(session_id)
    if session is None:
        return refused(f"session_id not found: {session_id}")
    try:
        messages = call.store.live(session_id)
    except REFUSALS as problem:
        return refused(f"failed to load session: {problem}")
    total = len(messages)
    truncated = total > HEAD + TAIL
    said: Json = {"success": True, "mode": "read", "session_id": session_id}
    if call.newest:
        said["link"] = call.reference(session_id)
    shown = messages[:HEAD] + messages[-TAIL:] if truncated else messages
    said |= {
        "session_meta": call.about(session),
        "message_count": total,
        "truncated": truncated,
        "messages": shape(shown, call.rules, cap=READ_CAP),
    }
    if truncated:
        said["message"] = (
            f"Session has {total} messages; showing first {HEAD} + last {TAIL}. "
            "Pass around_message_id (any id above) to scroll the middle."
        )
    return said
