"""Scroll: the messages around one of a session.

Source: hermes-agent 0.19.0, executed; the newer agent's guard as described (specs, hermes-sessions
2.2).
"""

from __future__ import annotations

from typing import Any

from core.homes.hermes.recall.call import Call, refused
from core.homes.hermes.recall.store import REFUSALS, Place, Session, Window
from core.homes.hermes.recall.windows import Json, shape

DEFAULT_WINDOW, LARGEST_WINDOW = 5, 20
# In our own words: Deviation.HINTS.
_HINT = (
    "Forward: pass the id of the last message as around_message_id; backward: that of the first."
    " The message at the edge comes again. Fewer than `window` messages before or after mean the"
    " start or the end of the session."
)


def scroll(call: Call, session_id: str, around: Any, window: int) -> Json:
    """The answer; ``session_id`` is stripped, ``around`` as given, ``window`` clamped."""
    try:
        anchor = int(around)
    except (TypeError, ValueError, OverflowError):
        return refused("scroll requires integer around_message_id")
    place = call.store.place(anchor)
    if call.current and _in_context(call, session_id, place):
        return refused(
            "scroll rejected: anchor lives in the current session lineage "
            "(already in your active context)"
        )
    session = call.store.session(session_id)
    if session is None:
        return refused(f"session_id not found: {session_id}")
    try:
        found = call.store.around(session_id, anchor, window)
    except REFUSALS as problem:
        return refused(f"failed to load messages: {problem}")
    warning = ""
    if not found.messages and place is not None and _related(call, session_id, place):
        owner = place.session_id
        found = call.store.around(owner, anchor, window)
        session = call.store.session(owner) or session
        warning = (
            f"around_message_id {anchor} lives in {owner} (child of {session_id}); "
            "rebound transparently"
        )
        session_id = owner
    if not found.messages:
        return refused(f"around_message_id {anchor} not in session_id {session_id}")
    return _answer(call, session_id, session, anchor, window, found, warning)


def _in_context(call: Call, session_id: str, place: Place | None) -> bool:
    """Whether the session that asks has the messages before it already.

    0.19 judges the session that was named, by its family alone. The newer agent judges the owner
    of the message, and lets through what its family has left behind, but nothing taken back.
    """
    store = call.store
    judged = session_id if place is None or not call.newest else place.session_id
    if store.root(judged) != store.root(call.current):
        return False
    if not call.newest:
        return True
    if place is not None and place.active == 0:
        return not place.archived
    return not store.left(judged)


def _related(call: Call, session_id: str, place: Place) -> bool:
    owner = place.session_id
    same = call.store.root(session_id) == call.store.root(owner)
    return bool(owner) and owner != session_id and same


def _answer(
    call: Call,
    session_id: str,
    session: Session,
    anchor: int,
    window: int,
    found: Window,
    warning: str,
) -> Json:
    said: Json = {
        "success": True,
        "mode": "scroll",
        "session_id": session_id,
        "around_message_id": anchor,
        "session_meta": call.about(session),
        "window": window,
        "messages": shape(found.messages, call.rules, anchor=anchor),
        "messages_before": found.before,
        "messages_after": found.after,
    }
    if call.newest:
        said["hint"] = _HINT
    if warning:
        said["warning"] = warning
    return said
