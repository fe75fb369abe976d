"""What the Sessions mode reads of the past. All of it runs in a thread and touches no widget."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from console.ages import age
from console.keymap import key_of
from console.render.sessions import Counts, Facets, HitItem, SessionItem, name_of
from core.conversations import (
    Cancelled,
    Filters,
    Found,
    Hit,
    Listing,
    Order,
    Session,
    Visibility,
)
from core.desk.opening import Opened
from core.desk.past import past
from core.desk.searching import Request, read_query, search
from core.homes.hermes.sessions.catalogue import HIDDEN
from core.recall.gather import CRON
from core.recall.query import Query, respelled

#: How a pasted link to a session begins.
LINK = "@session:"
#: Seconds without a message after which a session that did not end is not live any more.
LIVE = 600.0
#: How many words a text is looked for by: first enough to be sure, then fewer.
PHRASES = (8, 5)
#: Workspaces that are offered for ``in:``.
OFFERED = 50


@dataclass(frozen=True, slots=True)
class Page:
    """The list: rows, how many there are in all, what it leaves out, values known of filters."""

    items: tuple[SessionItem, ...]
    total: int
    counts: Counts
    by_source: Mapping[str, int]
    known: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Results:
    """The answer to a search. ``query`` is what marks matches, corrections included."""

    text: str
    items: tuple[HitItem, ...]
    found: Found | None
    query: Query | None


# -- the list --------------------------------------------------------------------------------------


def list_page(opened: Opened, facets: Facets, limit: int, sources: Collection[str] = ()) -> Page:
    """At most ``limit`` conversations. ``sources`` are those known from the last time.

    Raises :class:`UnreadableError`.
    """
    conversations = past(opened)
    wanted = _wanted(facets, sources)
    listing = conversations.listing(wanted, limit)
    if set(listing.by_source) != set(sources):
        # Another source, or the first time: what is no person's is only known now.
        wanted = _wanted(facets, listing.by_source)
        listing = conversations.listing(wanted, limit)
    now = opened.clock()
    items = tuple(_item(session, now) for session in listing.sessions)
    shown = {
        source: number
        for source, number in sorted(
            listing.by_source.items(), key=lambda each: (-each[1], each[0])
        )
        if source in wanted.sources or not (wanted.sources or source in HIDDEN)
    }
    folders = dict.fromkeys(item.session.workspace.rstrip("/").rpartition("/")[2] for item in items)
    known = {
        "source": list(listing.by_source),
        "in": [folder for folder in folders if folder][:OFFERED],
    }
    left_out = tuple(_left_out(facets, listing, shown))
    return Page(items, listing.total, Counts(shown, left_out), listing.by_source, known)


def _wanted(facets: Facets, sources: Collection[str]) -> Filters:
    """What is listed: what people held, and what the facets let in. Cron alone if there is no
    other, rather than nothing."""
    wanted = Filters(with_archived=facets.archived, with_hidden=facets.hidden)
    if facets.source:
        return replace(wanted, sources=(facets.source,))
    seen = [source for source in sources if facets.hidden or source not in HIDDEN]
    people = [source for source in seen if source != CRON]
    return replace(wanted, sources=tuple(seen if facets.cron or not people else people))


def _left_out(
    facets: Facets, listing: Listing, shown: Mapping[str, int]
) -> Iterator[tuple[str, str]]:
    """What the list does not show, each with the key that shows it."""
    if facets.source:
        yield f"only {facets.source}, all", key_of("sessions.sources")
    elif CRON not in shown and (runs := listing.by_source.get(CRON, 0)):
        yield f"+{runs:,} cron run{'' if runs == 1 else 's'}", key_of("sessions.let.cron")
    if listing.archived and not facets.archived:
        yield f"+{listing.archived:,} archived", key_of("sessions.let.archived")
    hidden = listing.hidden
    if not facets.source:
        hidden += sum(n for source, n in listing.by_source.items() if source in HIDDEN)
    if hidden and not facets.hidden:
        yield f"+{hidden:,} hidden", key_of("sessions.let.hidden")


def _item(session: Session, now: datetime) -> SessionItem:
    last = session.last_active or session.started_at
    goes_on = session.ended_at is None and last is not None and now.timestamp() - last < LIVE
    return SessionItem(session, age(last, now), goes_on)


# -- searching -------------------------------------------------------------------------------------


def search_page(
    opened: Opened, line: str, facets: Facets, order: Order, limit: int, cancelled: Cancelled
) -> Results:
    """The sessions that answer ``line``, which may be a pasted ``@session:profile/id``.

    Raises :class:`UnreadableError`, and :class:`NotFoundError` for a session that is not there.
    """
    now = opened.clock()
    if line.strip().startswith(LINK):
        session = session_of(opened, line)
        last = session.last_active or session.started_at
        hit = Hit(
            session.id, session.root_id, 0, "", last, name_of(session), session.source,
            Visibility.LIVE, session.preview,
        )  # fmt: skip
        return Results(line, (HitItem(hit, age(last, now)),), None, None)
    request = Request(
        line,
        None,
        Filters(
            sources=(facets.source,) if facets.source else (),
            with_hidden=facets.hidden,
            with_tool_output=facets.tools,
            with_undone=facets.undone,
            with_archived=facets.archived,
        ),
        order,
        limit,
    )
    query = read_query(opened, request)
    found = search(opened, request, cancelled=cancelled)
    if found.corrected:
        instead: dict[str, list[str]] = {}
        for asked, other in found.corrected:
            instead.setdefault(asked, []).append(other)
        query = respelled(query, instead)
    items = tuple(HitItem(hit, age(hit.at, now)) for hit in found.hits)
    return Results(line, items, found, query)


def where_said(opened: Opened, text: str) -> tuple[Hit, str] | None:
    """The oldest message that holds how ``text`` begins, and the words it was found by.

    Raises :class:`UnreadableError`.
    """
    words = text.replace('"', " ").split()
    everything = Filters(
        with_hidden=True, with_tool_output=True, with_archived=True, with_undone=True
    )
    for count in PHRASES:
        phrase = " ".join(words[:count])
        request = Request(f'"{phrase}"', None, everything, Order.OLDEST, 1)
        found = search(opened, request) if phrase else None
        # A word in another spelling is another text.
        if found is not None and found.hits and not found.corrected:
            return found.hits[0], phrase
    return None


def session_of(opened: Opened, named: str) -> Session:
    """The session that an id, its beginning or a pasted link names.

    Raises :class:`NotFoundError`, :class:`UnreadableError`.
    """
    from core.errors import NotFoundError

    conversations = past(opened)
    session = conversations.session(conversations.resolve(named))
    if session is None:
        raise NotFoundError(f"The session {named!r} is not there any more", "Look for another")
    return session
