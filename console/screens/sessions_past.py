"""What the Sessions mode reads of the past. All of it runs in a thread and touches no widget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate

from console.ages import age
from console.render.sessions import Counts, Facets, HitItem, SessionItem, name_of
from core.conversations import (
    Cancelled,
    Conversations,
    Filters,
    Found,
    Hit,
    Listing,
    Message,
    Order,
    Relation,
    Session,
    Visibility,
)
from core.desk.opening import Opened
from core.desk.past import past
from core.desk.searching import Request, matches_in, read_query, search
from core.homes.hermes.sessions.catalogue import HIDDEN
from core.outline import Outline
from core.recall.gather import CRON
from core.recall.query import Query, respelled
from core.recall.spans import spans

#: How a pasted link to a session begins.
LINK = "@session:"
#: Seconds without a message after which a session that did not end is not live any more.
LIVE = 600.0
#: The most matches marked in one message.
MARKED = 10_000
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


@dataclass(frozen=True, slots=True)
class Texts:
    """Reads messages of a conversation, each from the part of the chain it stands in.

    ``starts`` are the numbers in ``outline`` that its ``parts`` begin with.
    """

    past: Conversations
    outline: Outline
    parts: Sequence[str]
    starts: Sequence[int]

    def __call__(self, ids: Sequence[int], longest: int) -> tuple[Message, ...]:
        by_part: dict[str, list[int]] = {}
        for key in ids:
            by_part.setdefault(self.owner(key), []).append(key)
        found: list[Message] = []
        for part, some in by_part.items():
            found += self.past.messages(some, part, longest)
        return tuple(found)

    def owner(self, message_id: int) -> str:
        """The session that a message stands in; the newest part for one that is not there."""
        number = self.outline.number(message_id)
        return self.parts[-1 if number is None else bisect_right(self.starts, number) - 1]

    def first_of(self, part: str) -> int | None:
        """The first message of a part; ``None`` if it has none."""
        if part not in self.parts:
            return None
        at = self.parts.index(part)
        start, end = (*self.starts, len(self.outline))[at : at + 2]
        return self.outline.ids[start] if start < end else None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation, all parts of its chain as one.

    ``asked`` is the part it was opened by, ``hits`` its messages that answer ``query``,
    ``version`` the past's before it was read.
    """

    asked: str
    session: Session
    parts: tuple[str, ...]
    texts: Texts
    outline: Outline
    dividers: Mapping[int, str]
    version: object
    hits: tuple[int, ...] = ()
    query: Query | None = None


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
        yield f"only {facets.source}, all", "F"
    elif CRON not in shown and (runs := listing.by_source.get(CRON, 0)):
        yield f"+{runs:,} cron run{'' if runs == 1 else 's'}", "c"
    if listing.archived and not facets.archived:
        yield f"+{listing.archived:,} archived", "a"
    hidden = listing.hidden
    if not facets.source:
        hidden += sum(n for source, n in listing.by_source.items() if source in HIDDEN)
    if hidden and not facets.hidden:
        yield f"+{hidden:,} hidden", "H"


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


# -- one conversation ------------------------------------------------------------------------------


def open_conversation(
    opened: Opened,
    session_id: str,
    query: Query | None,
    cancelled: Cancelled,
    known: Conversation | None = None,
) -> Conversation | None:
    """All of a conversation but its texts; ``None`` if it is gone. What is ``known`` of it and
    did not change since is not read again. Raises :class:`UnreadableError`."""
    conversations = past(opened)
    if known is None or session_id not in known.parts or known.version != conversations.version():
        known = _opened(conversations, session_id)
    if known is None:
        return None
    hits: list[int] = []
    if query is not None and not query.is_empty:
        for part in known.parts:
            hits += matches_in(opened, query, part, cancelled=cancelled)
    return replace(known, asked=session_id, hits=tuple(hits), query=query)


def _opened(conversations: Conversations, session_id: str) -> Conversation | None:
    """A conversation in which nothing is looked for."""
    version = conversations.version()
    session = conversations.session(session_id)
    if session is None:
        return None
    parts = session.chain or (session.id,)
    if parts[-1] != session.id:
        session = conversations.session(parts[-1]) or session
    outlines: list[Outline] = []
    dividers: dict[int, str] = {}
    for number, part in enumerate(parts, 1):
        marks = Outline.of(conversations.outline(part))
        if number > 1 and marks:
            dividers[marks[0].id] = f"part {number} of {len(parts)}: {part}, after a compaction"
        outlines.append(marks)
    outline = Outline.joined(outlines)
    for at, words in branches(conversations, session, parts):
        # The very first message has nothing above it that came before.
        if first := outline.as_late(at):
            key = outline.ids[first]
            known = dividers.get(key)
            dividers[key] = f"{known}; {words}" if known else words
    starts = tuple(accumulate(map(len, outlines[:-1]), initial=0))
    texts = Texts(conversations, outline, parts, starts)
    return Conversation(session_id, session, parts, texts, outline, dividers, version)


def branches(
    conversations: Conversations, session: Session, parts: Sequence[str]
) -> Iterator[tuple[float, str]]:
    """When other conversations branched off a conversation, or it did, and words for it."""
    if session.relation is Relation.BRANCH and session.started_at is not None:
        parent = conversations.session(session.parent_id)
        name = name_of(parent) if parent is not None else session.parent_id
        yield session.started_at, f"branched here from {name}: above is a copy"
    for relative in conversations.family(session.id):
        child = relative.session
        branched = child.parent_id in parts and child.relation is Relation.BRANCH
        if branched and child.started_at is not None:
            yield child.started_at, f"{child.title or child.id} branched off here"


def finder(query: Query | None) -> Callable[[str], Sequence[tuple[int, int]]] | None:
    """What marks the matches of ``query`` in a text; ``None`` where no words are asked."""
    if query is None or query.is_empty:
        return None
    return lambda text: spans(query, text, MARKED)
