"""Looking for a better order of a selection, or for what to leave out or remove so that it fits.

Only what fails for want of room or order is worth it: a broken record lands in no order. First
what costs little and disturbs little, then a bounded search; how far it looked is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Protocol

from core.desk.decide import Item
from core.homes.hermes.memory import entries as memory
from core.homes.hermes.status import Status, status_of
from core.model import Budget, Change, Node, NodeKind, Outcome, Receipt
from core.overlay import Overlay
from core.view import Source, View

#: Plans made for one search at most; about two seconds.
PLANS = 1500
#: Selections up to this long are tried in every order.
EVERY_ORDER = 5
#: Sets of this many at most are tried for leaving out.
LEFT_OUT = 2

#: Refusals that another order can lift; others stay whatever comes first.
_BY_ORDER = frozenset({"skill_exists", "would_empty_store", "guard_retarget"})
_MOVABLE = frozenset({Status.STALE, Status.AMBIGUOUS, Status.OVER_BUDGET})


class PlayedRow(Protocol):
    """One proposal at its turn."""

    @property
    def file(self) -> str:
        """Its record."""

    @property
    def receipt(self) -> Receipt:
        """What approving it at its turn would say."""

    @property
    def budget(self) -> Budget | None:
        """The store it is about, before and after it, if it is a memory record."""


class Stage(Protocol):
    """Where an order is played, without writing anything."""

    @property
    def source(self) -> Source:
        """The home before anything is played."""

    def play(
        self, items: Sequence[Item], source: Source | None = None
    ) -> tuple[Sequence[PlayedRow], Source]:
        """Approve ``items`` in this order on ``source``: a row each, and the home afterwards."""


@dataclass(frozen=True, slots=True)
class Removal:
    """An entry that is there and in the way: its store, its number from 1, its text."""

    target: str
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class Improvement:
    """What would let more of a selection land. Suggestions only, each played to its end.

    ``order``: all names in an order in which ``lands`` of them land, ``None`` if no order was
    found that lands more. ``leave_out``: the smallest set found without which all others land
    (in ``order`` if there is one). ``remove``: existing entries without which all land.
    ``orders``: how many orders were tried, ``complete`` whether those were all.
    """

    order: tuple[str, ...] | None
    lands: int
    leave_out: tuple[str, ...]
    remove: tuple[Removal, ...]
    orders: int
    complete: bool


def improve(stage: Stage, items: Sequence[Item], rows: Sequence[PlayedRow]) -> Improvement | None:
    """What would do better than ``items`` in their order, of which ``rows`` came.

    ``None`` when nothing fails for want of room or order.
    """
    search = _Search(stage, items, rows)
    if not search.wanting:
        return None
    search.orders()
    best = search.best
    lacking = search.lacking(best)
    leave_out = search.smallest_set(lacking) if lacking else ()
    remove = search.room(lacking) if lacking else ()
    changed = best != tuple(range(len(items)))
    if not (changed or lacking):
        return None
    return Improvement(
        tuple(items[place].name for place in best) if changed else None,
        search.landing[best],
        tuple(items[place].name for place in leave_out),
        remove,
        len(search.landing),
        search.complete,
    )


class _Search:
    """Orders are tuples of places in the selection; each is played once at most."""

    def __init__(self, stage: Stage, items: Sequence[Item], rows: Sequence[PlayedRow]) -> None:
        self._stage, self._items = stage, items
        self._plans = PLANS
        given = tuple(range(len(items)))
        self._rows = {given: tuple(rows)}
        self.landing = {given: _count(rows)}
        self.best = given
        self.complete = False
        #: Places that fail and might land otherwise.
        self.wanting = [place for place, row in enumerate(rows) if _is_movable(row.receipt)]

    def orders(self) -> None:
        """Try orders, the least disturbing first, until all that can land does."""
        for number, order in enumerate(self._candidates()):
            landed = self._try(order)
            if landed is None:
                return
            if landed > self.landing[self.best]:
                self.best = order
            # Neither first nor last, nor for want of room: then its place is gone for good.
            if not self._failing(self.best) or (number and not self.lacking(self.best)):
                return

    def lacking(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """The places that fail in ``order`` for want of room."""
        return tuple(
            place
            for place, row in zip(order, self._rows[order], strict=True)
            if _lacks_room(row.receipt)
        )

    def smallest_set(self, lacking: tuple[int, ...]) -> tuple[int, ...]:
        """The fewest places without which there is room for all the others."""
        lost = len(self.best) - self.landing[self.best] - len(lacking)
        for count in range(1, min(LEFT_OUT, len(lacking) - 1) + 1):
            for out in combinations(self._heavy(), count):
                order = tuple(place for place in self.best if place not in out)
                landed = self._try(order)
                if landed is None:
                    return lacking
                if landed == len(order) - lost:
                    return out
        return lacking

    def room(self, lacking: tuple[int, ...]) -> tuple[Removal, ...]:
        """Existing entries without which there is room for all, few and small; none if unknown."""
        over: dict[str, int] = {}
        for place in lacking:
            budget = self._row(self.best, place).budget
            if budget is None:
                return ()
            over.setdefault(budget.target, budget.before - budget.limit)
            over[budget.target] += max(1, budget.after - budget.before)
        found: list[Removal] = []
        source: Source = self._stage.source
        for target, much in over.items():
            chosen = self._chosen(target, much)
            if not chosen:
                return ()
            found += chosen
            source = Overlay(source, [_without(source, target, chosen)])
        rows, _ = self._stage.play([self._items[place] for place in self.best], source)
        return tuple(found) if _count(rows) == self.landing[self.best] + len(lacking) else ()

    def _candidates(self) -> Iterator[tuple[int, ...]]:
        given = self.best
        late = [place for place in given if place not in self.wanting]
        yield (*late, *self.wanting)
        yield (*self.wanting, *late)
        shrinking = tuple(sorted(given, key=self._growth))
        yield shrinking
        for _ in range(3):
            # What failed once more goes behind what made its place or its room.
            failing = self._failing(self.best)
            yield (*(place for place in self.best if place not in failing), *failing)
        if len(given) <= EVERY_ORDER:
            yield from permutations(given)
            self.complete = True
            return
        for place in self.wanting:
            for spot in range(len(given)):
                rest = [other for other in self.best if other != place]
                yield (*rest[:spot], place, *rest[spot:])

    def _try(self, order: tuple[int, ...]) -> int | None:
        """How many land in ``order``; ``None`` once enough was tried."""
        if order not in self.landing:
            self._plans -= len(order)
            if self._plans < 0:
                return None
            rows, _ = self._stage.play([self._items[place] for place in order])
            self._rows[order] = tuple(rows)
            self.landing[order] = _count(rows)
        return self.landing[order]

    def _failing(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """The places that fail in ``order`` and might land otherwise."""
        return tuple(
            place
            for place, row in zip(order, self._rows[order], strict=True)
            if _is_movable(row.receipt)
        )

    def _row(self, order: tuple[int, ...], place: int) -> PlayedRow:
        return self._rows[order][order.index(place)]

    def _growth(self, place: int) -> int:
        """How much a place adds to its store, as far as that is known."""
        budget = self._rows[tuple(range(len(self._items)))][place].budget
        return budget.after - budget.before if budget else 0

    def _heavy(self) -> list[int]:
        """The places that take room, those that take most first."""
        heavy = [place for place in self.best if self._growth(place) > 0]
        return sorted(heavy, key=self._growth, reverse=True)

    def _chosen(self, target: str, over: int) -> list[Removal]:
        """Entries of ``target`` that free at least ``over`` and that no proposal is about."""
        file = memory.decode(View(self._stage.source).read(memory.path_of(target)))
        if isinstance(file, memory.UnreadableFile):
            return []
        touched = {
            text
            for row in self._rows[self.best]
            for pair in row.receipt.entries
            for text in (pair.before, pair.after)
        }
        free = [
            Removal(target, number, text)
            for number, text in enumerate(file.unique, 1)
            if text not in touched
        ]
        free.sort(key=lambda each: len(each.text))
        for each in free:
            if _freed(each) >= over:
                return [each]
        chosen: list[Removal] = []
        for each in reversed(free):
            chosen.append(each)
            over -= _freed(each)
            if over <= 0:
                return chosen
        return []


def _count(rows: Sequence[PlayedRow]) -> int:
    return sum(row.receipt.ok for row in rows)


def _is_movable(receipt: Receipt) -> bool:
    if receipt.ok:
        return False
    category = receipt.category
    return category in _BY_ORDER or status_of(Outcome(category, "")) in _MOVABLE


def _lacks_room(receipt: Receipt) -> bool:
    return status_of(Outcome(receipt.category, "")) is Status.OVER_BUDGET


def _freed(entry: Removal) -> int:
    return len(entry.text) + len(memory.DELIMITER)


def _without(source: Source, target: str, chosen: Sequence[Removal]) -> Change:
    path = memory.path_of(target)
    reading = View(source).read(path)
    file = memory.decode(reading)
    kept: Mapping[str, None] = {}
    if not isinstance(file, memory.UnreadableFile):
        gone = {each.text for each in chosen}
        kept = dict.fromkeys(text for text in file.unique if text not in gone)
    after = memory.serialise(kept).encode("utf-8", "surrogatepass")
    before = Node(NodeKind.FILE, reading.data or b"", reading.mode)
    return Change(path, before, Node(NodeKind.FILE, after, reading.mode))
