"""Which messages of a conversation are shown, in which order, and what stands between them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from core.conversations import Mark, Visibility


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a conversation. ``roles``: only these, ``None`` for all.

    ``copies`` are messages a compaction carried on, stored once more.
    """

    roles: frozenset[str] | None = None
    undone: bool = True
    copies: bool = True

    def admits(self, mark: Mark) -> bool:
        """Whether a message is shown."""
        if (mark.visibility is Visibility.UNDONE and not self.undone) or (
            mark.copy_of and not self.copies
        ):
            return False
        return self.roles is None or mark.role in self.roles


class Outline:
    """The messages of a conversation; a *place* counts those that are shown, from 0.

    ``dividers`` are words for a line above a message (a branch, the next part of a chain).
    """

    def __init__(
        self,
        marks: Sequence[Mark] = (),
        shown: Shown | None = None,
        dividers: Mapping[int, str] | None = None,
    ) -> None:
        self.marks = marks
        self.shown = shown or Shown()
        self.dividers = dividers or {}
        self.ids = array("q", [mark.id for mark in marks])
        self._numbers = dict(zip(self.ids, range(len(marks)), strict=True))
        self._places: Sequence[int] = range(len(marks))
        if self.shown != Shown():
            admits = self.shown.admits
            self._places = array("L", [n for n, mark in enumerate(marks) if admits(mark)])
        undone = Visibility.UNDONE
        self._undone = self._copies = _NONE
        if not self.shown.undone:
            self._undone = _counts(mark.visibility is undone for mark in marks)
        if not self.shown.copies:
            self._copies = _counts(
                bool(mark.copy_of) and mark.visibility is not undone for mark in marks
            )

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, place: int) -> Mark:
        return self.marks[self._places[place]]

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._numbers

    def slice(self, start: int, end: int) -> list[Mark]:
        """The messages at places ``start`` to ``end`` (exclusive), as far as there are any."""
        return [self.marks[number] for number in self._places[max(0, start) : max(0, end)]]

    def place(self, message_id: int) -> int | None:
        """Where a message is shown; ``None`` if it is not."""
        number = self._numbers.get(message_id)
        if number is None:
            return None
        place = bisect_left(self._places, number)
        return place if place < len(self) and self._places[place] == number else None

    def nearest(self, message_id: int) -> int:
        """The place of a message, else of the next that is shown, else of the last; 0 if none."""
        number = self._numbers.get(message_id)
        if number is None:
            number = bisect_left(self.ids, message_id)
        return max(0, min(bisect_left(self._places, number), len(self) - 1))

    def changed(self, marks: Sequence[Mark]) -> tuple[list[int], list[int]]:
        """The ids among ``marks`` that are new here, and those whose visibility is another."""
        known, ids = self.marks, [mark.id for mark in marks[: len(self.marks)]]
        if array("q", ids) == self.ids:
            other = [
                new.id
                for old, new in zip(known, marks, strict=False)
                if old.visibility is not new.visibility
            ]
            return [mark.id for mark in marks[len(known) :]], other
        fresh, other = [], []
        for mark in marks:
            number = self._numbers.get(mark.id)
            if number is None:
                fresh.append(mark.id)
            elif known[number].visibility is not mark.visibility:
                other.append(mark.id)
        return fresh, other

    def number(self, place: int) -> int:
        """Which message of the conversation stands at ``place``, from 1, hidden ones counted."""
        return self._places[place] + 1

    def places(self, ids: Iterable[int]) -> list[int]:
        """The places of those messages that are shown, in order."""
        found = (self.place(each) for each in ids)
        return sorted({place for place in found if place is not None})

    def at_time(self, at: float) -> int:
        """The first place whose message is as late as ``at``; clocks may go back. Else the last."""
        for place in range(len(self)):
            said = self[place].at
            if said is not None and said >= at:
                return place
        return max(0, len(self) - 1)

    def above(self, place: int) -> tuple[str, ...]:
        """The words of the dividers above a message, none for most."""
        mark, number = self[place], self._places[place]
        first = self._places[place - 1] + 1 if place else 0
        said = []
        if self._undone and (undone := self._undone[number] - self._undone[first]):
            said.append(f"{undone:,} undone message{'' if undone == 1 else 's'} not shown")
        if self._copies and (copies := self._copies[number] - self._copies[first]):
            said.append(f"{copies:,} cop{'y' if copies == 1 else 'ies'} not shown")
        below = mark.visibility is Visibility.SUMMARISED
        if place and below != (self[place - 1].visibility is Visibility.SUMMARISED):
            said.append(_COMPACTED_BELOW if below else _COMPACTED_ABOVE)
        if words := self.dividers.get(mark.id, ""):
            said.append(words)
        return tuple(said)


def _counts(flags: Iterable[bool]) -> array[int]:
    """How many of the flags before each number are true."""
    return array("L", accumulate(flags, initial=0))


_NONE: array[int] = array("L")
_COMPACTED_ABOVE = "compacted: above, the agent has only a summary"
_COMPACTED_BELOW = "compacted: below, the agent has only a summary"
