"""The index's answer to a search, checked against the home and brought up to its newest message."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.conversations import Filters, Order
from core.homes.hermes.sessions import fulltext
from core.homes.hermes.sessions.opening import Database
from core.recall.gather import Gathering, Place, Verdict
from core.recall.index import Candidates, Category, Index
from core.recall.query import Query, matches

#: Candidates asked for one session that is to be shown: several are often of the same one.
EACH, LEAST = 4, 200
#: How many times more are asked when these are of fewer sessions.
MORE = 8
#: Messages said since the index was fed that are looked at by a search.
NEWEST = 2_000
#: Characters of a message that are looked at.
LONGEST = 1 << 20
_TOOLS = (Category.TOOL, Category.CRON_TOOL)


@dataclass(frozen=True, slots=True)
class Indexed:
    """Hits by session. ``query`` is the one that ran: with other words where ``corrected`` says
    so. ``matched`` counts all messages that answer, ``gone`` are those the home no
    longer has, ``is_cut`` says that more would have been found."""

    gathering: Gathering
    query: Query
    corrected: tuple[tuple[str, str], ...]
    matched: int
    gone: tuple[int, ...]
    is_cut: bool


def gather(
    db: Database, index: Index, through: int, query: Query, order: Order, limit: int
) -> Indexed | None:
    """What the index finds and the home confirms; ``None`` when the index cannot answer.

    ``through`` is the last message the index knows: later ones are looked at one by one.
    """
    count = max(LEAST, EACH * limit)
    gathered = _look(db, index, through, query, order, limit, count)
    if gathered and gathered.is_cut and gathered.gathering.sessions < limit:
        return _look(db, index, through, query, order, limit, count * MORE)
    return gathered


def _look(
    db: Database, index: Index, through: int, query: Query, order: Order, limit: int, count: int
) -> Indexed | None:
    filters = query.filters
    sessions = fulltext.sessions_of(db, filters.title, filters.workspace)
    answers = []
    for category in (Category.SAID, Category.CRON, *_let_in(filters)):
        answer = index.search(query, (category,), count, order, sessions=sessions)
        if answer is None:
            return None
        answers.append(answer)
    return _gathered(db, query, answers, through, order, limit, count)


def _let_in(filters: Filters) -> list[Category]:
    """Categories that are left out unless a filter lets them in."""
    tools = filters.with_tool_output or "tool" in filters.roles
    hidden = filters.with_hidden or bool(filters.sources)
    return [*(_TOOLS if tools else ()), *((Category.HIDDEN,) if hidden else ())]


def _gathered(
    db: Database,
    query: Query,
    answers: list[Candidates],
    through: int,
    order: Order,
    limit: int,
    count: int,
) -> Indexed:
    asked = answers[0].query
    hits = [hit for answer in answers for hit in answer.hits]
    if order is Order.RANKED and answers[0].by_score:
        hits.sort(key=lambda hit: (-hit.score, hit.id))
    else:
        hits.sort(key=lambda hit: hit.id, reverse=order is not Order.OLDEST)
    places = fulltext.places(db, [hit.id for hit in hits])
    gathering = Gathering(query.filters, limit)
    newest = _newest(db, asked, through)
    if order is Order.OLDEST:
        gathering.add(places)
        gathering.add(reversed(newest))
    else:
        gathering.add(newest)
        gathering.add(places)
    known = {place.id for place in places}
    counts = answers[0].counts
    # The index counts all of them, the gathering only those that were looked at.
    gathering.left_out[Verdict.TOOL_OUTPUT] = _count(counts, _TOOLS, wanted=_let_in(query.filters))
    gathering.left_out[Verdict.HIDDEN_SOURCE] = _count(
        counts, (Category.HIDDEN,), wanted=_let_in(query.filters)
    )
    return Indexed(
        gathering,
        replace(asked, filters=query.filters),
        answers[0].corrected,
        sum(counts.values()),
        tuple(hit.id for hit in hits if hit.id not in known),
        any(len(answer.hits) == count for answer in answers),
    )


def _count(counts: dict[Category, int], of: tuple[Category, ...], wanted: list[Category]) -> int:
    return sum(counts[each] for each in of if each not in wanted)


def _newest(db: Database, query: Query, through: int) -> list[Place]:
    """Messages behind the end of the index that answer, the newest first."""
    sql = "SELECT id FROM messages WHERE id > ? ORDER BY id DESC LIMIT ?"
    ids = [int(row[0]) for row in db.rows(sql, (through, NEWEST))]
    texts = fulltext.texts(db, ids, LONGEST)
    return fulltext.places(db, [key for key in ids if matches(query, texts.get(key, ""))])
