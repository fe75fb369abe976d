"""The index's answer to a search, checked against the home and brought up to its newest message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.conversations import Filters, Order
from core.homes.hermes.sessions import fulltext
from core.homes.hermes.sessions.opening import Database
from core.recall.gather import Gathering, Place, Verdict
from core.recall.index import Candidate, Candidates, Category, Index
from core.recall.query import Query, matches

#: Candidates asked for one session that is to be shown: several are often of the same one. Of what
#: cron jobs said, which stands behind what people said, at first one for so many of these.
EACH, LEAST, CRONS = 4, 100, 2
#: How often more are asked when these are of fewer sessions, and at least and at most how many
#: times more: as many as should do, and half of it again.
ROUNDS, LEAST_MORE, MOST_MORE, SPARE = 3, 2, 8, 1.5
#: Messages said since the index was fed that are looked at by a search.
NEWEST = 2_000
#: Characters of a message that are looked at.
LONGEST = 1 << 20
_TOOLS = (Category.TOOL, Category.CRON_TOOL)


@dataclass(frozen=True, slots=True)
class Indexed:
    """Hits by session. ``query`` is the one that ran: with other words where ``corrected`` says
    so."""

    gathering: Gathering
    query: Query
    corrected: tuple[tuple[str, str], ...]


def gather(
    db: Database, index: Index, through: int, query: Query, order: Order, limit: int
) -> Indexed | None:
    """What the index finds and the home confirms; ``None`` when the index cannot answer.

    ``through`` is the last message the index knows: later ones are looked at one by one.
    """
    filters = query.filters
    sessions = fulltext.sessions_of(db, filters.title, filters.workspace)
    categories = (Category.SAID, Category.CRON, *_let_in(filters))
    places: dict[int, Place] = {}
    newest: list[Place] | None = None
    count, rounds = max(LEAST, EACH * limit), 1
    while True:
        answer = index.search(query, categories, count, order, sessions=sessions, apart=True)
        if answer is None:
            return None
        hits = _fewer(answer.hits, count // CRONS if rounds == 1 else count)
        fresh = [hit.id for hit in hits if hit.id not in places]
        places.update((place.id, place) for place in fulltext.places(db, fresh, filters))
        asked = replace(answer.query, filters=filters)
        newest = _newest(db, asked, through) if newest is None else newest
        found = _gathered(hits, places, newest, order, Gathering(filters, limit))
        most = max(Counter(hit.category for hit in answer.hits).values(), default=0)
        is_all = most < count and len(hits) == len(answer.hits)
        found.is_whole = is_all
        if rounds == ROUNDS or is_all or found.sessions >= limit:
            break
        more = int(SPARE * limit / max(found.sessions, 1))
        count, rounds = count * min(max(more, LEAST_MORE), MOST_MORE), rounds + 1
    # The index counts all of them, the gathering only those that were looked at.
    found.left_out[Verdict.TOOL_OUTPUT] = _left_out(answer, _TOOLS, categories)
    found.left_out[Verdict.HIDDEN_SOURCE] = _left_out(answer, (Category.HIDDEN,), categories)
    # Filters leave out some as well: whoever feeds the index looks which of them are gone.
    index.missing.update(hit.id for hit in hits if hit.id not in places)
    return Indexed(found, asked, answer.corrected)


def _let_in(filters: Filters) -> list[Category]:
    """Categories that are left out unless a filter lets them in."""
    tools = filters.with_tool_output or "tool" in filters.roles
    hidden = filters.with_hidden or bool(filters.sources)
    return [*(_TOOLS if tools else ()), *((Category.HIDDEN,) if hidden else ())]


def _fewer(hits: Sequence[Candidate], crons: int) -> list[Candidate]:
    """``hits`` with no more than ``crons`` of cron jobs, the best."""
    found = []
    for hit in hits:
        if hit.category is Category.CRON:
            crons -= 1
            if crons < 0:
                continue
        found.append(hit)
    return found


def _gathered(
    hits: Sequence[Candidate],
    places: Mapping[int, Place],
    newest: Sequence[Place],
    order: Order,
    gathering: Gathering,
) -> Gathering:
    """Everything in ``order``; what the index does not know yet is newer than all it knows."""
    known = [places[hit.id] for hit in hits if hit.id in places]
    if order is Order.OLDEST:
        gathering.add(known)
        gathering.add(reversed(newest))
    else:
        gathering.add(newest)
        gathering.add(known)
    return gathering


def _left_out(answer: Candidates, of: Sequence[Category], asked: Sequence[Category]) -> int:
    return sum(answer.counts[each] for each in of if each not in asked)


def _newest(db: Database, query: Query, through: int) -> list[Place]:
    """Messages behind the end of the index that answer, the newest first."""
    sql = "SELECT id FROM messages WHERE id > ? ORDER BY id DESC LIMIT ?"
    ids = [int(row[0]) for row in db.rows(sql, (through, NEWEST))]
    texts = fulltext.texts(db, ids, LONGEST)
    found = [key for key in ids if matches(query, texts.get(key, ""))]
    return fulltext.places(db, found, query.filters)
