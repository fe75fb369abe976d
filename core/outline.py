"""The outline of a conversation: where each of its messages stands, without what it says.

A session may have a hundred thousand messages, and a key may ask something of all of them. So an
outline is three columns, not as many objects: 17 bytes a message.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, islice
from math import inf
from operator import eq, lt
from typing import overload

from core.conversations import Mark, Visibility

#: The sum of a role's code and a visibility's is the code of a message; 0 for any other role.
ROLES = {
    name: number
    for number, name in enumerate(
        ("user", "assistant", "tool", "system", "session_meta", "unreadable"), 1
    )
}
VISIBILITIES = {Visibility.LIVE: 0, Visibility.SUMMARISED: 32, Visibility.UNDONE: 64}
#: The time of a message that has none: earlier than any.
NO_TIME = -inf
_ROLE, _SEEN, _COPY = 31, 96, 128
_ROLE_OF = {number: name for name, number in ROLES.items()}
_SEEN_OF = {number: name for name, number in VISIBILITIES.items()}
#: What a code stands for, by code.
_MEANINGS = tuple(
    (_ROLE_OF.get(code & _ROLE, ""), _SEEN_OF.get(code & _SEEN, Visibility.LIVE))
    for code in range(256)
)
_SEEN_ALONE = bytes(code & _SEEN for code in range(256))
_COPIES_ALONE = bytes(
    bool(code & _COPY) and code & _SEEN != VISIBILITIES[Visibility.UNDONE] for code in range(256)
)


class Outline(Sequence[Mark]):
    """Every message of a conversation, in order. Equal to a tuple of the same marks.

    Its columns are ``ids``, ``times`` (:data:`NO_TIME` for none, else finite) and codes, which are
    sums of :data:`ROLES` and :data:`VISIBILITIES`. ``others`` names the roles that have no code
    and ``copies`` the earlier message of each copy, both by *number*: the place of a message in
    the outline, from 0.
    """

    __slots__ = ("_by_id", "_codes", "_copies", "_others", "ids", "times")

    def __init__(
        self,
        ids: array[int],
        codes: bytes,
        times: array[float],
        others: Mapping[int, str] | None = None,
        copies: Mapping[int, int] | None = None,
    ) -> None:
        self.ids = ids
        self.times = times
        self._codes = codes
        self._others = others or {}
        self._copies = copies or {}
        #: Ids as they ascend, and the number of each.
        self._by_id: tuple[Sequence[int], Sequence[int]] | None = None

    @classmethod
    def of(cls, marks: Iterable[Mark]) -> Outline:
        """``marks`` as an outline; one that is an outline already, as it is."""
        if isinstance(marks, Outline):
            return marks
        ids, codes, times = array("q"), bytearray(), array("d")
        others: dict[int, str] = {}
        copies: dict[int, int] = {}
        for number, (id_, role, at, visibility, copy_of) in enumerate(marks):
            code = ROLES.get(role, 0) + VISIBILITIES[visibility]
            if role not in ROLES:
                others[number] = role
            if copy_of:
                code += _COPY
                copies[number] = copy_of
            ids.append(id_)
            codes.append(code)
            times.append(NO_TIME if at is None else at)
        return cls(ids, bytes(codes), times, others, copies)

    @classmethod
    def joined(cls, parts: Iterable[Outline]) -> Outline:
        """The parts of a conversation as one, each after the one before it."""
        ids, codes, times = array("q"), bytearray(), array("d")
        others: dict[int, str] = {}
        copies: dict[int, int] = {}
        for part in parts:
            before = len(ids)
            ids += part.ids
            codes += part._codes
            times += part.times
            others |= {before + number: role for number, role in part._others.items()}
            copies |= {before + number: first for number, first in part._copies.items()}
        return cls(ids, bytes(codes), times, others, copies)

    def with_copies(self, copies: Mapping[int, int]) -> Outline:
        """The same, where the messages at some numbers are copies of those with some ids."""
        codes = bytearray(self._codes)
        for number in copies:
            codes[number] |= _COPY
        return Outline(self.ids, bytes(codes), self.times, self._others, copies)

    # -- a sequence --------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, number: int) -> Mark: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Mark, ...]: ...

    def __getitem__(self, number: int | slice) -> Mark | tuple[Mark, ...]:
        if isinstance(number, slice):
            return tuple([self[each] for each in range(*number.indices(len(self)))])
        role, visibility = _MEANINGS[self._codes[number]]
        at = self.times[number]
        if number < 0:
            number += len(self)
        return Mark(
            self.ids[number],
            role or self._others.get(number, ""),
            None if at == NO_TIME else at,
            visibility,
            self._copies.get(number, 0),
        )

    def __iter__(self) -> Iterator[Mark]:
        return map(self.__getitem__, range(len(self)))

    def __contains__(self, mark: object) -> bool:
        if not isinstance(mark, Mark):
            return False
        number = self.number(mark.id)
        return number is not None and self[number] == mark

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Outline):
            return (
                self.ids == other.ids
                and self._codes == other._codes
                and self.times == other.times
                and self._others == other._others
                and self._copies == other._copies
            )
        if isinstance(other, tuple | list):
            return len(self) == len(other) and all(map(eq, self, other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Outline({len(self)} messages)"

    # -- looking up --------------------------------------------------------------------------------

    def number(self, message_id: int) -> int | None:
        """Where the message with this id stands; ``None`` if it does not."""
        if self._by_id is None:
            ids, order = self.ids, range(len(self.ids))
            self._by_id = ids, order
            # The ids of a chain need not ascend where one part follows another.
            if not all(map(lt, ids, islice(ids, 1, None))):
                sorted_ = array("q", sorted(order, key=ids.__getitem__))
                self._by_id = array("q", map(ids.__getitem__, sorted_)), sorted_
        known, numbers = self._by_id
        at = bisect_right(known, message_id) - 1
        return numbers[at] if at >= 0 and known[at] == message_id else None

    def after(self, message_id: int) -> int:
        """The number of the first message whose id is as high, as far as ids ascend."""
        return bisect_left(self.ids, message_id)

    def as_late(self, at: float, numbers: Sequence[int] | None = None) -> int | None:
        """The first message as late as ``at``, in the order of the outline: clocks may go back.

        It is a place in ``numbers`` where only those are looked at, else a number.
        """
        times: Iterable[float] = self.times
        if numbers is not None:
            times = map(self.times.__getitem__, numbers)
        return next((place for place, said in enumerate(times) if said >= at), None)

    # -- some of them ------------------------------------------------------------------------------

    def select(
        self,
        *,
        roles: Iterable[str] | None = None,
        visibilities: Iterable[Visibility] = tuple(Visibility),
        copies: bool = True,
    ) -> Sequence[int]:
        """The numbers of the messages with one of these roles (``None`` for any) and one of these
        visibilities, without copies if so asked."""
        named = None if roles is None else frozenset(roles)
        seen = {VISIBILITIES[each] for each in visibilities}
        chosen = bytearray(
            code & _SEEN in seen
            and (copies or not code & _COPY)
            and (named is None or code & _ROLE == 0 or _MEANINGS[code][0] in named)
            for code in range(256)
        )
        kept = bytearray(self._codes.translate(chosen))
        if named is not None:
            for number, role in self._others.items():
                kept[number] &= role in named
        return array("q", compress(range(len(kept)), kept))

    def seen(self, visibility: Visibility, start: int = 0, end: int | None = None) -> int:
        """How many are of this visibility, from one number to another (exclusive)."""
        some = self._codes[start:end]
        return some.translate(_SEEN_ALONE).count(VISIBILITIES[visibility])

    def copies(self, start: int = 0, end: int | None = None) -> int:
        """How many are copies and not taken back, from one number to another (exclusive)."""
        return self._codes[start:end].translate(_COPIES_ALONE).count(1)

    def changes(self, now: Outline) -> tuple[list[int], list[int]]:
        """The ids in ``now`` that are new, and those whose visibility is another now."""
        size = len(self)
        if now.ids[:size] == self.ids:
            before, after = (each._codes[:size].translate(_SEEN_ALONE) for each in (self, now))
            other: list[int] = []
            if before != after:
                other = [id_ for id_, a, b in zip(self.ids, before, after, strict=True) if a != b]
            return now.ids[size:].tolist(), other
        fresh, other = [], []
        for id_, code in zip(now.ids, now._codes, strict=True):
            number = self.number(id_)
            if number is None:
                fresh.append(id_)
            elif (self._codes[number] ^ code) & _SEEN:
                other.append(id_)
        return fresh, other
