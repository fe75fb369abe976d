"""People's search by the database itself: its full text, else a look at every message.

No answer is a silent zero: what the index cannot find (parts of words, scripts written without
spaces, signs) is looked for in the texts, and a damaged or stale index is said and gone around.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from core.conversations import Engine, Filters, Order
from core.homes.hermes.sessions import fulltext
from core.homes.hermes.sessions.opening import Database, TimeUpError
from core.recall.gather import Gathering
from core.recall.query import All, Query, Term, fts, matches, wanted
from core.recall.words import is_cjk

#: Matches looked at before a search is content; ranked, those behind are worse. And how many times
#: more when these are of too few sessions.
BLOCK, GROWTH = 100, 1.5
#: Matches ranked at first, and those walked by id at a time for a session that is wanted.
RANKED, WALKED = 2_000, 40
#: Matches up to which it costs more to part those of people than to rank all.
PARTED = 5_000
#: The most matches that are looked at; beyond, counts are of these.
MOST = 50_000
#: Characters of a message that a scan reads.
LONGEST = 1 << 20
#: The shortest word that a trigram index can find.
_GRAM = 3


@dataclass(frozen=True, slots=True)
class Gathered:
    """Hits by session, what answered, and what it could not do, in words."""

    gathering: Gathering
    engine: Engine
    note: str = ""


def gather(db: Database, query: Query, filters: Filters, order: Order, limit: int) -> Gathered:
    """The messages that answer ``query``, at most ``limit`` sessions of people among them.

    Time that is up ends it with what was found until then, and the note says so. Raises
    :class:`core.errors.UnreadableError`.
    """
    people = fulltext.people(db, with_hidden=filters.with_hidden or bool(filters.sources))
    found = Gathering(filters, limit, people)
    note = fulltext.usable(db)
    engine = Engine.SCAN
    try:
        if not note:
            try:
                if _by_words(query):
                    engine = Engine.DATABASE
                    _walk(db, fts(query), order, found)
                if found.is_empty and _by_grams(db, query):
                    engine = Engine.DATABASE
                    _walk(db, fts(query), order, found, trigram=True)
                    if _by_words(query) and not found.is_empty:
                        note = "found inside longer words only"
            except sqlite3.DatabaseError as problem:
                found = Gathering(filters, limit, people)
                engine, note = Engine.SCAN, f"the database's full text is damaged ({problem})"
        if engine is Engine.SCAN:
            _scan(db, query, order, found)
    except TimeUpError:
        found.is_whole = False
        note = "; ".join(filter(None, (note, "not everything was looked at: it took too long")))
    return Gathered(found, engine, note)


def _by_words(query: Query) -> bool:
    """Whether the words of ``query`` are words to the database's index as well."""
    return query.terms is not None and not is_cjk(query.effective)


def _by_grams(db: Database, query: Query) -> bool:
    """Whether the trigram index can find every word of ``query``, in every message."""
    shown = [term.shown for term in wanted(query.terms)]
    return db.layout.trigram_covers_all and bool(shown) and min(map(len, shown)) >= _GRAM


def _walk(
    db: Database, expression: str, order: Order, found: Gathering, *, trigram: bool = False
) -> None:
    """Take matches until there are enough: those of people first, where cron jobs said most."""
    ask = partial(fulltext.ids, db, expression, order, trigram=trigram)
    few = fulltext.count(db, expression, PARTED + 1, trigram=trigram) <= PARTED
    if few or not fulltext.is_mostly_cron(db):
        found.is_whole = _take(db, ask, order, found, lambda: found.enough)
        return
    people = _take(db, partial(ask, cron=False), order, found, lambda: found.has_people)
    found.is_whole = False
    if not found.enough:
        crons = _take(db, partial(ask, cron=True), order, found, lambda: found.enough)
        found.is_whole = people and crons


def _take(
    db: Database,
    ask: Callable[..., list[int]],
    order: Order,
    found: Gathering,
    is_done: Callable[[], bool],
) -> bool:
    """Take matches block by block; true when that were all there are.

    Ranking looks at every match whatever is asked, so it is done once, twice at most; by id a walk
    goes on where it stopped.
    """
    ids: list[int] = []
    seen, block = 0, BLOCK
    while seen < MOST and not is_done():
        if seen == len(ids):
            if order is not Order.RANKED:
                ids += ask(WALKED * max(found.limit, 1), beyond=ids[-1] if ids else None)
            elif seen in (0, RANKED):
                ids = ask(MOST if seen else RANKED)
        some = ids[seen : seen + block]
        if not some:
            return True
        found.add(fulltext.places(db, some, found.filters))
        seen, block = seen + len(some), int(block * GROWTH)
    return False


def _scan(db: Database, query: Query, order: Order, found: Gathering) -> None:
    """Look at the texts themselves, those first that hold the longest thing asked for."""
    ids: list[int] = []
    for key in fulltext.scan(db, partial(matches, query), order, LONGEST, _needle(query)):
        ids.append(key)
        if len(ids) == fulltext.BATCH:
            found.add(fulltext.places(db, ids, found.filters))
            ids = []
            if found.enough:
                found.is_whole = False
                return
    found.add(fulltext.places(db, ids, found.filters))


def _needle(query: Query) -> str:
    """Text that every answer holds as it was typed, ``""`` where nothing can be named.

    Letters may stand in another case or with marks; what is written without spaces may not.
    """
    node = query.terms
    if node is None:
        return query.symbols[0] if query.symbols else ""
    parts = node.of if isinstance(node, All) else (node,)
    shown = [part.shown for part in parts if isinstance(part, Term)]
    return max((text for text in shown if all(map(is_cjk, text))), key=len, default="")
