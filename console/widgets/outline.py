"""Which messages of a conversation are shown, in which order, and what stands between them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from core import outline
from core.conversations import Mark, Visibility


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown of a conversation. ``roles``: only these, ``None`` for all.

    ``copies`` are messages a compaction carried on, stored once more.
    """

    roles: frozenset[str] | None = None
    undone: bool = True
    copies: bool = True

    def numbers(self, marks: outline.Outline) -> Sequence[int]:
        """Which of the messages are shown."""
        if self == Shown():
            return range(len(marks))
        seen = [each for each in Visibility if self.undone or each is not Visibility.UNDONE]
        return marks.select(roles=self.roles, visibilities=seen, copies=self.copies)

    def with_message(self, mark: Mark) -> Shown:
        """The same, and whatever else it takes to show ``mark``; undone ones bring copies along."""
        roles = self.roles if self.roles is None or mark.role in self.roles else None
        more = mark.visibility is Visibility.UNDONE or mark.copy_of != 0
        return Shown(roles, self.undone or more, self.copies or more)


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
        self.marks = outline.Outline.of(marks)
        self.shown = shown or Shown()
        self.dividers = dividers or {}
        self._places = self.shown.numbers(self.marks)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, place: int) -> Mark:
        return self.marks[self._places[place]]

    def mark(self, message_id: int) -> Mark | None:
        """A message of the conversation, shown or not; ``None`` if there is none."""
        number = self.marks.number(message_id)
        return None if number is None else self.marks[number]

    def slice(self, start: int, end: int) -> list[Mark]:
        """The messages at places ``start`` to ``end`` (exclusive), as far as there are any."""
        return [self.marks[number] for number in self._places[max(0, start) : max(0, end)]]

    def place(self, message_id: int) -> int | None:
        """Where a message is shown; ``None`` if it is not."""
        number = self.marks.number(message_id)
        if number is None:
            return None
        place = bisect_left(self._places, number)
        return place if place < len(self) and self._places[place] == number else None

    def nearest(self, message_id: int) -> int:
        """The place of a message, else of the next that is shown, else of the last; 0 if none."""
        number = self.marks.number(message_id)
        if number is None:
            number = self.marks.after(message_id)
        return max(0, min(bisect_left(self._places, number), len(self) - 1))

    def number(self, place: int) -> int:
        """Which message of the conversation stands at ``place``, from 1, hidden ones counted."""
        return self._places[place] + 1

    def places(self, ids: Collection[int]) -> list[int]:
        """The places of those messages that are shown, in order.

        It takes a walk over all that are shown, however many ``ids`` there are.
        """
        wanted = frozenset(ids)
        if not wanted:
            return []
        shown = map(self.marks.ids.__getitem__, self._places)
        return [place for place, id_ in enumerate(shown) if id_ in wanted]

    def at_time(self, at: float) -> int:
        """The first place whose message is as late as ``at``; clocks may go back. Else the last."""
        place = self.marks.as_late(at, self._places)
        return max(0, len(self) - 1) if place is None else place

    def above(self, place: int) -> tuple[str, ...]:
        """The words of the dividers above a message, none for most."""
        mark, number = self[place], self._places[place]
        first = self._places[place - 1] + 1 if place else 0
        said = []
        if not self.shown.undone and (undone := self.marks.seen(Visibility.UNDONE, first, number)):
            said.append(f"{undone:,} undone message{'' if undone == 1 else 's'} not shown")
        if not self.shown.copies and (copies := self.marks.copies(first, number)):
            said.append(f"{copies:,} cop{'y' if copies == 1 else 'ies'} not shown")
        below = mark.visibility is Visibility.SUMMARISED
        if place and below != (self[place - 1].visibility is Visibility.SUMMARISED):
            said.append(_COMPACTED_BELOW if below else _COMPACTED_ABOVE)
        if words := self.dividers.get(mark.id, ""):
            said.append(words)
        return tuple(said)


_COMPACTED_ABOVE = "compacted: above, the agent has only a summary"
_COMPACTED_BELOW = "compacted: below, the agent has only a summary"
