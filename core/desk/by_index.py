"""The index's answer to a search, checked against the home and brought up to its newest message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice

from core.conversations import Filters, Order
from core.homes.hermes.sessions import fulltext
from core.homes.hermes.sessions.opening import Database
from core.recall.gather import CRON, Gathering, Place, Verdict, judge
from core.recall.index import Candidate, Candidates, Category, Index
from core.recall.query import Query, matches

#: Candidates of a category asked for one session that is to be shown, since several are of the
#: same one, and the least; how many times fewer of cron jobs.
EACH, LEAST, FEWER = 8, 100, 4
#: How often more are asked when these are of fewer sessions, and at least and at most how many
#: times more: as many as should do, and half of it again.
ROUNDS, LEAST_MORE, MOST_MORE, SPARE = 3, 2, 8, 1.5
#: Candidates looked at one by one; of those behind, only the first of each session.
LOOKED = 50
#: The most messages said since the index was fed that a search looks at one by one.
NEWEST = 2_000
#: Characters of a message that are looked at.
LONGEST = 1 << 20
_TOOLS = (Category.TOOL, Category.CRON_TOOL)
_CRONS = (Category.CRON, Category.CRON_TOOL)


@dataclass(frozen=True, slots=True)
class Indexed:
    """Hits by session. ``query`` is the one that ran: with other words where ``corrected`` says
    so."""

    gathering: Gathering
    query: Query
    corrected: tuple[tuple[str, str], ...]


def gather(
    db: Database,
    index: Index,
    through: int,
    query: Query,
    order: Order,
    limit: int,
    sessions: frozenset[str] | None = None,
) -> Indexed | None:
    """What the index finds and the home confirms; ``None`` when the index cannot answer.

    ``through`` is the last message the index knows: later ones are looked at one by one, and where
    they are too many the index does not answer.
    ``sessions`` narrows to those that may hold a hit.
    """
    filters = query.filters
    categories = (Category.SAID, Category.CRON, *_let_in(filters))
    looked = _Looked(db, filters)
    later = _later(db, through)
    if len(later) > NEWEST:
        return None
    newest = _newest(db, query, later)
    # What was said just now is spelled as it is asked, even where the index knows no such word.
    is_said = bool(newest)
    count, rounds, people = max(LEAST, EACH * limit), 1, 0
    while True:
        # Cron jobs stand behind people: of theirs fewer will mostly do.
        limits = {each: count // FEWER if each in _CRONS else count for each in categories}
        answer = index.search(
            query, categories, limits, order, sessions=sessions, respell=not is_said
        )
        if answer is None:
            return None
        asked = replace(answer.query, filters=filters)
        if answer.corrected and not newest:
            newest = _newest(db, asked, later)
        found = _gathered(answer.hits, looked, newest, order, Gathering(filters, limit))
        full = {each for each, its in _by_category(answer.hits).items() if its == limits[each]}
        found.is_whole = not full and not found.unseen
        if rounds == ROUNDS or _are_enough(found, full, people):
            break
        people = len(found.people)
        more = int(SPARE * limit / max(people, 1))
        count, rounds = count * min(max(more, LEAST_MORE), MOST_MORE), rounds + 1
    # The index counts all that it knows, the gathering only those that were looked at.
    said = Counter(judge(filters, place) for place in newest)
    for verdict, of in ((Verdict.TOOL_OUTPUT, _TOOLS), (Verdict.HIDDEN_SOURCE, (Category.HIDDEN,))):
        found.left_out[verdict] = _left_out(answer, of, categories) + said[verdict]
    index.missing.update(looked.gone)
    return Indexed(found, asked, answer.corrected)


class _Looked:
    """The candidates that were looked for in the home, each once."""

    def __init__(self, db: Database, filters: Filters) -> None:
        self._db = db
        self._filters = filters
        self.ids: set[int] = set()
        self.places: dict[int, Place] = {}
        #: The session of each group of which a message was found that no filter leaves out; and
        #: which of these groups are of cron jobs.
        self.sessions: dict[int, str] = {}
        self.crons: set[int] = set()

    @property
    def gone(self) -> set[int]:
        """What was not there. Filters leave out some as well: whoever feeds the index looks which
        of them are gone."""
        return self.ids - self.places.keys()

    def look(self, hits: Iterable[Candidate]) -> None:
        """Look for these."""
        groups = {hit.id: hit.group for hit in hits if hit.id not in self.ids}
        if not groups:
            return
        self.ids.update(groups)
        for place in fulltext.places(self._db, list(groups), self._filters):
            self.places[place.id] = place
            if judge(self._filters, place) is Verdict.HIT:
                group = groups[place.id]
                self.sessions[group] = place.session_id
                if place.origin.source == CRON:
                    self.crons.add(group)


def _by_category(hits: Iterable[Candidate]) -> Counter[Category]:
    return Counter(hit.category for hit in hits)


def _are_enough(found: Gathering, full: Set[Category], people: int) -> bool:
    """Whether asking for more, which only ``full`` categories have, would hardly change what is
    shown: what people said stands first, so cron jobs fill it only where ``people``, the sessions
    of people found with fewer candidates, did not become more."""
    if not full or len(found.people) >= found.limit:
        return True
    is_done = full <= set(_CRONS) or len(found.people) == people
    return is_done and found.sessions >= found.limit


def _let_in(filters: Filters) -> list[Category]:
    """Categories that are left out unless a filter lets them in."""
    tools = filters.with_tool_output or "tool" in filters.roles
    hidden = filters.with_hidden or bool(filters.sources)
    return [*(_TOOLS if tools else ()), *((Category.HIDDEN,) if hidden else ())]


def _gathered(
    hits: Sequence[Candidate],
    looked: _Looked,
    newest: Sequence[Place],
    order: Order,
    gathering: Gathering,
) -> Gathering:
    """Everything in ``order``; what the index does not know yet is newer than all it knows.

    A row of the home costs ten times what a candidate costs, and of most sessions the first will
    do: the others are only counted, and so are sessions behind the last that is shown. Hidden
    messages may be of cron jobs, which nobody knows before: then all are looked at.
    """
    shown = sorted(hits, key=lambda hit: hit.category in _CRONS)
    firsts: dict[int, Candidate] = {}
    for hit in shown:
        firsts.setdefault(hit.group, hit)
    looked.look([*shown[:LOOKED], *islice(firsts.values(), gathering.limit)])
    if len(looked.sessions) < gathering.limit:
        looked.look(hit for hit in shown if hit.group not in looked.sessions)
    elif len(looked.sessions) - len(looked.crons) < gathering.limit:
        looked.look(
            hit for hit in shown if hit.category not in _CRONS and hit.group not in looked.sessions
        )
    if looked.crons & {hit.group for hit in hits if hit.category is Category.HIDDEN}:
        looked.look(hits)
    known = [looked.places[hit.id] for hit in hits if hit.id in looked.places]
    for places in (known, reversed(newest)) if order is Order.OLDEST else (newest, known):
        gathering.add(places)
    others = Counter([hit.group for hit in hits if hit.id not in looked.ids])
    for group, count in others.items():
        gathering.count(looked.sessions.get(group), count)
    return gathering


def _left_out(answer: Candidates, of: Sequence[Category], asked: Sequence[Category]) -> int:
    return sum(answer.counts[each] for each in of if each not in asked)


def _later(db: Database, through: int) -> list[int]:
    """Messages behind the end of the index, the newest first; at most one more than can be
    looked at."""
    sql = "SELECT id FROM messages WHERE id > ? ORDER BY id DESC LIMIT ?"
    return [int(row[0]) for row in db.rows(sql, (through, NEWEST + 1))]


def _newest(db: Database, query: Query, ids: Sequence[int]) -> list[Place]:
    """Those of ``ids`` that answer, in their order."""
    texts = fulltext.texts(db, ids, LONGEST)
    found = [key for key in ids if matches(query, texts.get(key, ""))]
    return fulltext.places(db, found, query.filters)
