"""The past conversations of a home: listed, and read as the agent's own tool reads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from core.conversations import (
    Conversations,
    Filters,
    Listing,
    Message,
    Relative,
    Session,
    Totals,
    Visibility,
)
from core.desk import kinds
from core.desk.indexing import index_folder
from core.desk.opening import Opened
from core.errors import NotFoundError
from core.homes.base import Kind
from core.homes.hermes.sessions.opening import DATABASE
from core.homes.hermes.sessions.store import StateDb
from core.outline import Outline

#: What a long session shows of its beginning and its end, as hermes-agent 0.19.0's tool does.
HEAD, TAIL = 20, 10
#: Messages on either side of the one asked for: the tool's default and its most.
WINDOW, WIDEST = 5, 20


@dataclass(frozen=True, slots=True)
class Reading:
    """Messages of a session, in order.

    ``total`` counts those the agent still sees, ``rows`` all of the session. With ``around``,
    ``before`` and ``after`` count what the window holds on either side of that message: less than
    ``window`` is an end of the session. ``truncated``: the middle is left out.
    """

    session: Session
    messages: tuple[Message, ...]
    family: tuple[Relative, ...]
    total: int
    rows: int
    around: int | None = None
    window: int = WINDOW
    before: int = 0
    after: int = 0
    truncated: bool = False


def past(opened: Opened) -> Conversations:
    """The past conversations of the home; opening it reads nothing."""
    found = opened.found
    return kinds.past(found.kind, found.home, found.profile, index_folder(opened))


def lacks_past(opened: Opened) -> str:
    """Why no conversation is kept yet, ``""`` where some may be: an agent that never ran has made
    no database, which is no failure."""
    if opened.found.kind is not Kind.HERMES or os.path.lexists(opened.found.home / DATABASE):
        return ""
    return f"There is no {DATABASE} yet: the agent makes it with its first conversation"


def listing(opened: Opened, wanted: Filters, limit: int) -> Listing:
    """Sessions, newest activity first. Raises :class:`UnreadableError`."""
    return past(opened).listing(wanted, limit)


def totals(opened: Opened) -> Totals:
    """Counts of the home. Raises :class:`UnreadableError`."""
    return past(opened).totals()


def names_of(opened: Opened, ids: Sequence[str]) -> dict[str, str]:
    """What to call sessions that have no title: their chain's, with which part they are of it.

    Raises :class:`UnreadableError`.
    """
    conversations = past(opened)
    names: dict[str, str] = {}
    for key in ids:
        session = conversations.session(key)
        if session is None:
            continue
        name = session.title or session.preview
        if len(session.chain) > 1:
            tip = conversations.session(session.chain[-1])
            name = (tip.title if tip is not None else "") or name
            name = f"{name} (part {session.chain.index(key) + 1} of {len(session.chain)})"
        names[key] = name or key
    return names


def read(
    opened: Opened,
    named: str,
    *,
    around: int | None = None,
    window: int = WINDOW,
    everything: bool = False,
) -> Reading:
    """The session that ``named`` names: whole if short, else its beginning and end.

    ``around`` gives ``window`` messages on either side of that one instead, whatever their
    visibility; ``everything`` leaves nothing out. Raises :class:`NotFoundError` for an unknown
    session or message, :class:`UnreadableError`.
    """
    conversations = past(opened)
    session_id = conversations.resolve(named)
    session = conversations.session(session_id)
    if session is None:
        raise NotFoundError(f"There is no session {named!r}", "See `signoff sessions`")
    outline = Outline.of(conversations.outline(session_id))
    live = outline.select(visibilities=(Visibility.LIVE,))
    shown: Sequence[int]
    before = after = 0
    if around is not None:
        shown, before, after = _window(outline, around, window)
    elif everything:
        shown = range(len(outline))
    else:
        shown = live if len(live) <= HEAD + TAIL else [*live[:HEAD], *live[-TAIL:]]
    ids = [outline.ids[number] for number in shown]
    messages = conversations.messages(ids, session_id, sys.maxsize)
    return Reading(
        session,
        messages,
        conversations.family(session_id),
        total=len(live),
        rows=len(outline),
        around=around,
        window=window,
        before=before,
        after=after,
        truncated=around is None and not everything and len(shown) < len(live),
    )


def debug(opened: Opened, message_id: int) -> tuple[tuple[str, str], ...]:
    """What else is stored with a message, as (label, text). Raises :class:`UnreadableError`."""
    if opened.found.kind is not Kind.HERMES:
        return ()
    return StateDb(opened.found.home).debug(message_id)


def owner(opened: Opened, message_id: int) -> str | None:
    """The session that a message stands in. Raises :class:`UnreadableError`."""
    if opened.found.kind is not Kind.HERMES:
        return None
    return StateDb(opened.found.home).owner(message_id)


def _window(outline: Outline, around: int, window: int) -> tuple[range, int, int]:
    """The numbers of the messages around one, and how many stand on either side of it."""
    number = outline.number(around)
    if number is None:
        raise NotFoundError(
            f"Message {around} is not in this session",
            f"It has {len(outline):,} messages; `signoff read SESSION` shows their numbers",
        )
    first = max(0, number - window)
    last = min(len(outline), number + window + 1)
    return range(first, last), number - first, last - number - 1
