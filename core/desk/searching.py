"""People's search over the past of a home: no silent zero, and what was left out is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from itertools import islice

from core.conversations import Cancelled, Engine, Filters, Found, Hit, Order
from core.desk import by_index
from core.desk.indexing import index_of, ready
from core.desk.opening import Opened
from core.desk.past import past
from core.homes.base import Kind
from core.homes.hermes.sessions import fulltext
from core.homes.hermes.sessions import searching as database
from core.homes.hermes.sessions.opening import Database, reading
from core.homes.hermes.sessions.store import working_in
from core.homes.hermes.sessions.titles import Titled, Titles
from core.recall.gather import Gathering, Group, Verdict, judge
from core.recall.index import Category
from core.recall.query import Query, matches, matches_flat, needles, parse
from core.recall.spans import snippet

#: Seconds a search may take before it answers with what it has.
SECONDS = 5.0
#: Hits unless more are asked for; sessions named by their title that stand before them.
LIMIT, TITLED = 20, 5
#: Characters of a snippet, and of a message that is looked at for one.
SNIPPET, LONGEST = 240, 1 << 20
#: The most messages of one session that are marked.
MOST = 100_000
_TITLES = Titles()


@dataclass(frozen=True, slots=True)
class Request:
    """What to search for. ``filters`` are added to those written in ``text``; ``zone`` is what
    times in it mean, ``None`` for this machine's."""

    text: str
    zone: tzinfo | None
    filters: Filters = field(default_factory=Filters)
    order: Order = Order.RANKED
    limit: int = LIMIT


def read_query(opened: Opened, request: Request) -> Query:
    """The query as it is understood, its filters joined with those of the request.

    Raises :class:`NotFoundError` for an ``in:`` that names no session.
    """
    query = parse(request.text, now=opened.clock(), zone=request.zone)
    filters = _joined(query.filters, request.filters)
    if filters.session_id:
        filters = replace(filters, session_id=past(opened).resolve(filters.session_id))
    return replace(query, filters=filters)


def search(
    opened: Opened,
    request: Request,
    *,
    cancelled: Cancelled | None = None,
    seconds: float = SECONDS,
) -> Found:
    """Search what was said in the past: by the index where it is ready, else by the database.

    Raises :class:`UnreadableError`, and :class:`NotFoundError` for an ``in:`` that names no
    session.
    """
    query = read_query(opened, request)
    if opened.found.kind is Kind.VAK:
        from core.desk import by_ledgers

        return by_ledgers.search(
            opened, query, request.order, request.limit, seconds=seconds, cancelled=cancelled
        )
    with ExitStack() as stack:
        db = stack.enter_context(reading(opened.found.home, seconds=seconds, cancelled=cancelled))
        db.expect_conversations()
        if query.is_empty:
            return _listed(opened, db, query, request)
        sessions = _narrowed(opened, db, query.filters)
        answer = _by_index(opened, db, query, request, sessions)
        answer = answer or _by_database(db, query, request)
        if answer.is_late:
            # What was found until then is still to be read.
            again = reading(opened.found.home, seconds=SECONDS, cancelled=cancelled)
            db = stack.enter_context(again)
        gathering = answer.gathering
        by_title = titled(opened, db, answer.query, gathering, sessions)
        best = _at_hits(opened, db, answer, request, by_title)
        by_title = sorted(
            [best.get(each.place.session_id, each) for each in by_title],
            key=lambda group: -(group.place.at or 0.0),
        )
        named = {group.place.session_id for group in by_title}
        others = [each for each in gathering.groups() if each.place.session_id not in named]
        groups = [*by_title, *others][: request.limit]
        hits = _hits(db, answer.query, groups, named)
        if answer.engine is Engine.INDEX:
            hits = _confirmed(opened, hits)
    left_out = gathering.left_out
    return Found(
        query=request.text,
        effective=query.effective,
        engine=answer.engine,
        hits=hits,
        total_sessions=len(named | {*gathering.people, *gathering.cron})
        + max(0, gathering.unseen - len(best)),
        is_whole=gathering.is_whole,
        literally=query.literally,
        corrected=answer.corrected,
        tool_output=left_out[Verdict.TOOL_OUTPUT],
        hidden_sources=left_out[Verdict.HIDDEN_SOURCE],
        undone=left_out[Verdict.UNDONE],
        note="; ".join(filter(None, (*query.notes, answer.note))),
    )


@dataclass(frozen=True, slots=True)
class _Answer:
    """What an engine found; ``query`` is the one that ran."""

    gathering: Gathering
    query: Query
    engine: Engine
    corrected: tuple[tuple[str, str], ...] = ()
    note: str = ""
    is_late: bool = False


def _by_index(
    opened: Opened,
    db: Database,
    query: Query,
    request: Request,
    sessions: frozenset[str] | None,
) -> _Answer | None:
    index = index_of(opened)
    state = ready(opened, db, index)
    if state is None:
        return None
    found = by_index.gather(
        db, index, state.through_id, query, request.order, request.limit, sessions
    )
    if found is None:
        return None
    return _Answer(found.gathering, found.query, Engine.INDEX, found.corrected)


def _narrowed(opened: Opened, db: Database, filters: Filters) -> frozenset[str] | None:
    """The sessions whose title and workspace the filters let in; ``None`` for all."""
    found = None
    if filters.title:
        needle, titles = filters.title.casefold(), _TITLES.of(db, opened.found.home)
        found = frozenset(each.id for each in titles if needle in each.title.casefold())
    if filters.workspace:
        here = working_in(db, opened.found.home, filters.workspace)
        found = here if found is None else found & here
    return found


def _by_database(db: Database, query: Query, request: Request) -> _Answer:
    found = database.gather(db, query, query.filters, request.order, request.limit)
    return _Answer(found.gathering, query, found.engine, note=found.note, is_late=found.is_late)


def _at_hits(
    opened: Opened, db: Database, answer: _Answer, request: Request, named: Sequence[Group]
) -> dict[str, Group]:
    """The best hits of sessions that are named for their title, by their ids: of those of which no
    match was looked at."""
    gathering, query = answer.gathering, answer.query
    met = gathering.people | gathering.cron
    unmet = frozenset(each.place.session_id for each in named) - met.keys()
    if not unmet or answer.is_late or (gathering.is_whole and not gathering.unseen):
        return {}
    if answer.engine is not Engine.INDEX:
        return database.firsts(db, query, request.order, unmet)
    found = _by_index(opened, db, query, request, unmet)
    if found is None or found.corrected:
        return {}
    return found.gathering.people | found.gathering.cron


def matches_in(
    opened: Opened, query: Query, session_id: str, *, cancelled: Cancelled | None = None
) -> tuple[int, ...]:
    """Every message of a session that answers ``query``, in order, whatever its filters say.

    Raises :class:`UnreadableError`.
    """
    if query.is_empty:
        return ()
    if opened.found.kind is Kind.VAK:
        from core.desk import by_ledgers

        return by_ledgers.matches_in(opened, query, session_id)
    query = replace(query, filters=Filters(session_id=session_id))
    with reading(opened.found.home, seconds=SECONDS, cancelled=cancelled) as db:
        index = index_of(opened)
        state = ready(opened, db, index)
        if state is not None:
            later = fulltext.said_in(db, session_id, state.through_id)
            said = _matching(db, query, later)
            found = index.search(query, tuple(Category), MOST, Order.OLDEST, respell=not said)
            if found is not None:
                said = _matching(db, found.query, later) if found.corrected else said
                return (*(hit.id for hit in found.hits), *said)
        return _matching(db, query, fulltext.said_in(db, session_id, -1))


def _matching(db: Database, query: Query, ids: Sequence[int]) -> tuple[int, ...]:
    found: list[int] = []
    for start in range(0, len(ids), fulltext.BATCH):
        some = ids[start : start + fulltext.BATCH]
        texts = fulltext.texts(db, some, LONGEST)
        found += [key for key in some if matches(query, texts.get(key, ""))]
    return tuple(found)


def _joined(first: Filters, second: Filters) -> Filters:
    """Both filters at once: the narrower of two bounds, everything that either lets in."""
    after = [each for each in (first.after, second.after) if each is not None]
    before = [each for each in (first.before, second.before) if each is not None]
    return Filters(
        sources=tuple(each.lower() for each in first.sources + second.sources),
        roles=tuple(each.lower() for each in first.roles + second.roles),
        after=max(after, default=None),
        before=min(before, default=None),
        workspace=first.workspace or second.workspace,
        title=first.title or second.title,
        session_id=first.session_id or second.session_id,
        with_hidden=first.with_hidden or second.with_hidden,
        with_tool_output=first.with_tool_output or second.with_tool_output,
        with_undone=first.with_undone or second.with_undone,
        with_archived=first.with_archived or second.with_archived,
    )


def titled(
    opened: Opened,
    db: Database,
    query: Query,
    gathered: Gathering,
    sessions: frozenset[str] | None = None,
) -> list[Group]:
    """Those of ``sessions`` (all, if ``None``) whose title answers the query, the newest first, at
    most :data:`TITLED`.

    Each stands at its first hit, or where nothing in it matches at its first message. They are
    looked at in the order of their newest message, until no other can stand before those found.
    """
    known = gathered.people | gathered.cron
    found: list[tuple[Group, Titled]] = []
    waiting = _named(query, _TITLES.of(db, opened.found.home), sessions)
    count = TITLED
    while some := list(islice(waiting, count)):
        if len(found) == TITLED and (found[-1][0].place.at or 0.0) > some[0].newest:
            break
        unmet = [each.id for each in some if each.id not in known]
        if query.filters.sources:
            unmet = [*fulltext.from_sources(db, unmet, query.filters.sources)]
        anchors = fulltext.firsts_live(db, unmet)
        places = fulltext.places(db, list(anchors.values()), query.filters)
        at = {each.session_id: each for each in places if judge(query.filters, each) is Verdict.HIT}
        for each in some:
            if each.id in known:
                found.append((known[each.id], each))
            elif each.id in at:
                found.append((Group(at[each.id]), each))
        found.sort(key=lambda pair: _title_order(pair[0], pair[1], pair[1].id in known))
        del found[TITLED:]
        count = min(2 * count, fulltext.BATCH)
    return [group for group, _ in found]


def _title_order(group: Group, titled: Titled, is_known: bool) -> tuple[float, bool, str]:
    return -(group.place.at or 0.0), not is_known, titled.title


def _named(
    query: Query, titles: Sequence[Titled], sessions: frozenset[str] | None
) -> Iterator[Titled]:
    """The titles that answer the query, of sessions that its filters may let in."""
    for needle in needles(query):
        titles = [each for each in titles if needle in each.flat]
    filters = query.filters
    for each in titles:
        if sessions is not None and each.id not in sessions:
            continue
        if filters.session_id and each.id != filters.session_id:
            continue
        if filters.after is not None and each.newest < filters.after:
            continue
        if filters.before is not None and each.oldest >= filters.before:
            continue
        if matches_flat(query, each.title, each.flat):
            yield each


def _hits(
    db: Database, query: Query, groups: Sequence[Group], named: Set[str] = frozenset()
) -> tuple[Hit, ...]:
    texts = fulltext.texts(db, [group.place.id for group in groups], LONGEST)
    families = fulltext.families(db, (group.place.session_id for group in groups))
    hits = []
    for group in groups:
        place = group.place
        root_id, title = families[place.session_id]
        text = texts.get(place.id, "")
        cut, spans = snippet(query, text, SNIPPET)
        hits.append(
            Hit(
                session_id=place.session_id,
                root_id=root_id,
                message_id=place.id,
                role=place.role,
                at=place.at,
                title=title,
                source=place.origin.source,
                visibility=place.visibility,
                snippet=cut,
                spans=spans,
                more=group.more,
                in_title=place.session_id in named,
                says_it=bool(spans) or matches(query, text),
            )
        )
    return tuple(hits)


def _confirmed(opened: Opened, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Those whose message still says it; the index takes the others in anew when it is fed."""
    changed = {hit.message_id for hit in hits if not hit.says_it and not hit.in_title}
    index_of(opened).changed.update(changed)
    return tuple(hit for hit in hits if hit.message_id not in changed)


def _listed(opened: Opened, db: Database, query: Query, request: Request) -> Found:
    """Filters without words: the sessions they let in, each at its first message."""
    listing = past(opened).listing(query.filters, request.limit)
    anchors = [fulltext.first_live(db, each.id) for each in listing.sessions]
    places = fulltext.places(db, [each for each in anchors if each is not None])
    return Found(
        query=request.text,
        effective=query.effective,
        engine=Engine.DATABASE,
        hits=_hits(db, query, [Group(place) for place in places]),
        total_sessions=listing.total,
        hidden_sources=listing.hidden,
        note="; ".join(query.notes),
    )
