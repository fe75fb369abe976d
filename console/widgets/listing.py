"""What a list holds and where its reader is, by key: cursor, marks, an open range, what is new.

Nothing is ever marked that the reader did not mark, whatever arrives while a range is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar


class Item(Protocol):
    """What a list holds: frozen data that compares by value, under a key unique in its list."""

    @property
    def key(self) -> str: ...


ItemT = TypeVar("ItemT", bound=Item)


class Listing(Generic[ItemT]):
    """Items with a cursor and marks. Places count from 0; ``cursor`` is 0 in an empty list."""

    def __init__(self) -> None:
        self.items: Sequence[ItemT] = ()
        self.cursor = 0
        self.unseen: set[str] = set()
        self._filled = False
        self._places: dict[str, int] | None = None
        self._marks: dict[str, int] = {}
        self._range: int | None = None

    @property
    def item(self) -> ItemT | None:
        """The item at the cursor."""
        return self.items[self.cursor] if self.items else None

    @property
    def key(self) -> str | None:
        """The key of the item at the cursor."""
        return None if (item := self.item) is None else item.key

    def place(self, key: str) -> int | None:
        """Where ``key`` is; of two items under one key, which a list should not have, the first."""
        return self._index().get(key)

    def move(self, place: int) -> None:
        """Put the cursor on ``place``, or on the nearest there is."""
        self.cursor = max(0, min(place, len(self.items) - 1))

    def replace(self, items: Sequence[ItemT], held: int, *, news: bool = True) -> int:
        """Put ``items`` in the list, and tell where the item at ``held`` went.

        Cursor and marks stay on their keys. An item that is gone gives its place to the next one
        that stayed, else to the previous. The first call reads no item, a later one every key.
        What was not there is unseen, if it is ``news``.
        """
        old, old_cursor = self.items, self.cursor
        known = self._index()
        self.items = items
        if not self._filled:
            self._filled, self._places = True, None
            return 0
        places = self._places = _places(items)

        def now(place: int) -> int:
            for way in (range(place, len(old)), range(place - 1, -1, -1)):
                for near in way:
                    if (at := places.get(old[near].key)) is not None:
                        return at
            return max(0, min(place, len(items) - 1))

        swept = self._swept_keys(old)
        in_range = self._range is not None and old[old_cursor].key in places
        self.cursor = now(old_cursor)
        self._marks = {key: places[key] for key in self._marks | swept if key in places}
        self._range = self.cursor if in_range else None
        arrived = places.keys() - known.keys() if news else set()
        self.unseen = (self.unseen | arrived) & places.keys()
        return now(held)

    # --- marks

    @property
    def in_range(self) -> bool:
        """Whether a range is open."""
        return self._range is not None

    @property
    def swept(self) -> range:
        """Places between the start of the open range and the cursor, both included."""
        if self._range is None:
            return range(0)
        return range(min(self._range, self.cursor), max(self._range, self.cursor) + 1)

    @property
    def marked(self) -> tuple[str, ...]:
        """The marked keys in list order."""
        both = self._marks | self._swept_keys(self.items)
        return tuple(sorted(both, key=both.__getitem__))

    @property
    def count(self) -> int:
        """How many are marked."""
        swept = self.swept
        return len(swept) + sum(place not in swept for place in self._marks.values())

    def is_marked(self, place: int, key: str) -> bool:
        """Whether the item ``key`` at ``place`` is marked."""
        return key in self._marks or place in self.swept

    def open_range(self) -> None:
        """Mark every place from here to where the cursor goes."""
        self._range = self.cursor if self.items else None

    def keep_range(self) -> bool:
        """Close the range, its places stay marked; whether one was open."""
        self._marks |= self._swept_keys(self.items)
        was_open, self._range = self.in_range, None
        return was_open

    def drop_range(self) -> None:
        """Close the range without its marks; those made before stay."""
        self._range = None

    def mark(self, key: str, on: bool) -> bool:
        """Mark ``key`` or take its mark off; whether that changed anything."""
        self.keep_range()
        place = self.place(key)
        if place is None or (key in self._marks) == on:
            return False
        if on:
            self._marks[key] = place
        else:
            del self._marks[key]
        return True

    def clear(self) -> None:
        """Take every mark off, an open range included."""
        self._marks, self._range = {}, None

    def invert(self) -> None:
        """Mark what is not marked, and the other way round."""
        self.keep_range()
        marks = self._marks
        self._marks = {key: place for key, place in self._index().items() if key not in marks}

    def _swept_keys(self, items: Sequence[ItemT]) -> dict[str, int]:
        return {items[place].key: place for place in self.swept}

    def _index(self) -> dict[str, int]:
        if self._places is None:
            self._places = _places(self.items)
        return self._places


def _places(items: Sequence[Item]) -> dict[str, int]:
    places: dict[str, int] = {}
    for place, item in enumerate(items):
        places.setdefault(item.key, place)
    return places
