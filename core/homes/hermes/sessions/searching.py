"""People's search by the database itself: its full text, else a look at every message.

No answer is a silent zero: what the index cannot find (parts of words, scripts written without
spaces, signs, what JSON escapes) is looked for in the texts, and a damaged or stale index is said
and gone around.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TypeAlias

from core.conversations import Engine, Filters, Order
from core.homes.hermes.sessions import fulltext
from core.homes.hermes.sessions.catalogue import HIDDEN
from core.homes.hermes.sessions.opening import Database, TimeUpError
from core.recall.gather import CRON, Gathering, Group
from core.recall.query import All, Either, Node, Query, Term, fts, matches, wanted
from core.recall.words import is_cjk

Sift: TypeAlias = Callable[[Sequence[int]], Sequence[int]]
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
    """Hits by session, what answered, and what it could not do, in words; ``is_late`` where time
    was up."""

    gathering: Gathering
    engine: Engine
    note: str = ""
    is_late: bool = False


def gather(db: Database, query: Query, filters: Filters, order: Order, limit: int) -> Gathered:
    """The messages that answer ``query``, at most ``limit`` sessions of people among them.

    Time that is up ends it with what was found until then, and the note says so. Raises
    :class:`core.errors.UnreadableError`.
    """
    there = fulltext.by_source(db)
    others = {CRON} if filters.with_hidden or filters.sources else {CRON, *HIDDEN}
    people = sum(count for source, count in there.items() if source not in others)
    fresh = partial(Gathering, filters, limit, people)
    found, note = fresh(), fulltext.usable(db)
    engine, is_late = Engine.SCAN if note else Engine.DATABASE, False
    walk = partial(_walk, db, order, 2 * there[CRON] > there.total())
    look = partial(_look, db, query)
    pieces, saying = _pieces(query), partial(_saying, db, query)
    try:
        if not note:
            try:
                if _by_words(query):
                    words = fts(query)
                    # An escape is a word to the index even where it stands inside one.
                    walk(found, words, sift=list if words.isascii() else saying)
                    if not found.sessions:
                        look(found, fulltext.encoded(db, f"NOT {words}"))
                    if not found.sessions and _by_grams(db, query):
                        walk(inside := fresh(), words, trigram=True)
                        if inside.sessions or found.is_empty:
                            found = inside
                            note = "" if found.is_empty else "found inside longer words only"
                elif grams := _grams(db, query.terms):
                    walk(found, grams, trigram=True, sift=saying)
                    if not found.enough:
                        look(found, fulltext.encoded(db, fulltext.escapes(pieces)))
                if not found.sessions and not _by_words(query):
                    found, engine = fresh(), Engine.SCAN
            except sqlite3.DatabaseError as problem:
                found, engine = fresh(), Engine.SCAN
                note = f"the database's full text is damaged ({problem})"
        if engine is Engine.SCAN:
            look(found, fulltext.scan(db, order, pieces))
    except TimeUpError:
        found.is_whole, is_late = False, True
        note = "; ".join(filter(None, (note, "not everything was looked at: it took too long")))
    return Gathered(found, engine, note, is_late)


def firsts(db: Database, query: Query, order: Order, sessions: Collection[str]) -> dict[str, Group]:
    """The first hit of each of a few sessions by the words of the database's full text, where that
    can tell. Raises as :func:`gather`."""
    if not _by_words(query) or fulltext.usable(db):
        return {}
    found = Gathering(query.filters, len(sessions))
    try:
        ids = fulltext.ids(db, fts(query), order, BLOCK * len(sessions), within=sessions)
    except sqlite3.DatabaseError:
        return {}
    found.add(fulltext.places(db, ids, query.filters))
    return found.people | found.cron


def _by_words(query: Query) -> bool:
    """Whether the words of ``query`` are words to the database's index as well."""
    return query.terms is not None and not is_cjk(fts(query))


def _by_grams(db: Database, query: Query) -> bool:
    """Whether the trigram index can find every word of ``query``, in every message."""
    shown = [term.shown for term in wanted(query.terms)]
    return db.layout.trigram_covers_all and bool(shown) and min(map(len, shown)) >= _GRAM


def _grams(db: Database, node: Node | None) -> str:
    """What the trigram index is asked for the few messages that may answer, written without spaces;
    ``""`` where it cannot tell."""
    if node is None or not db.layout.trigram_covers_all:
        return ""
    if isinstance(node, Term):
        run = max(_runs(node), key=len, default="")
        return fulltext.trigrams(db, run) if run else ""
    parts = [_grams(db, part) for part in node.of]
    if isinstance(node, Either):
        return f"({' OR '.join(parts)})" if all(parts) else ""
    return " AND ".join(filter(None, parts))


def _runs(term: Term) -> list[str]:
    """The characters of scripts without spaces that were typed together in ``term``."""
    parted = groupby(term.shown, lambda char: is_cjk(char) and char.isalnum())
    return ["".join(chars) for is_run, chars in parted if is_run]


def _pieces(query: Query) -> tuple[str, ...]:
    """Texts that every answer holds, in the message or escaped in JSON.

    Letters may stand in another case or with marks, characters written without spaces may not.
    """
    node = query.terms
    if node is None:
        return query.symbols
    parts = node.of if isinstance(node, All) else (node,)
    runs = [run for part in parts if isinstance(part, Term) for run in _runs(part)]
    return tuple(dict.fromkeys("".join(runs)))


def _walk(
    db: Database,
    order: Order,
    is_mostly_cron: bool,
    found: Gathering,
    expression: str,
    *,
    trigram: bool = False,
    sift: Sift = list,
) -> None:
    """Take matches until there are enough: those of people first, where cron jobs said most."""
    ask = partial(fulltext.ids, db, expression, order, trigram=trigram)
    take = partial(_take, db, order=order, found=found, sift=sift)
    most = PARTED if order is Order.RANKED else WALKED * max(found.limit, 1)
    if not is_mostly_cron or fulltext.count(db, expression, most + 1, trigram=trigram) <= most:
        found.is_whole = take(ask, is_done=lambda: found.enough)
        return
    people = take(partial(ask, cron=False), is_done=lambda: found.has_people)
    found.is_whole = False
    if not found.enough:
        crons = take(partial(ask, cron=True), is_done=lambda: found.enough)
        found.is_whole = people and crons


def _take(
    db: Database,
    ask: Callable[..., list[int]],
    *,
    order: Order,
    found: Gathering,
    is_done: Callable[[], bool],
    sift: Sift,
) -> bool:
    """Take matches block by block, of each those that pass ``sift``; true when that were all there
    are.

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
        found.add(fulltext.places(db, sift(some), found.filters))
        seen, block = seen + len(some), int(block * GROWTH)
    return False


def _look(
    db: Database, query: Query, found: Gathering, candidates: Iterable[Sequence[int]]
) -> None:
    """Look at the texts of messages that may answer, some at a time, until there are enough."""
    for some in candidates:
        found.add(fulltext.places(db, _saying(db, query, some), found.filters))
        if found.enough:
            found.is_whole = False
            return


def _saying(db: Database, query: Query, some: Sequence[int]) -> list[int]:
    """Those of ``some`` that answer ``query``, in their order."""
    texts = fulltext.texts(db, some, LONGEST)
    return [key for key in some if matches(query, texts.get(key, ""))]
