"""Where a view stands in items of many rows whose heights are known only near the view.

The cursor and its row on the screen are the anchor: whatever grows or shrinks around it when texts
arrive, the line being read stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Spot(NamedTuple):
    """A line of a part of an item, each counted from 0."""

    place: int
    part: int
    line: int


FIRST = Spot(0, 0, 0)


class Paging:
    """The cursor ``spot`` and the ``row`` of a view of ``height`` rows in which it stands.

    ``parts`` says how many parts (at least 1) the item at a place has, ``lines`` how many lines
    (at least 1) one of them. Both are asked only for what is walked over.
    """

    def __init__(
        self, parts: Callable[[int], int], lines: Callable[[int, int], int], *, height: int = 1
    ) -> None:
        self._parts = parts
        self._lines = lines
        self.count = 0
        self.height = height
        self.spot = FIRST
        self.row = 0

    # -- walking ---------------------------------------------------------------------------

    def walk(self, spot: Spot, by: int) -> tuple[Spot, int]:
        """The line ``by`` lines below ``spot`` (above, if negative) and how far it got."""
        return self._down(spot, by) if by > 0 else self._up(spot, -by)

    def _down(self, spot: Spot, by: int) -> tuple[Spot, int]:
        (place, part, line), went = spot, 0
        while True:
            left = self._lines(place, part) - 1 - line
            if by - went <= left:
                return Spot(place, part, line + by - went), by
            if part + 1 < self._parts(place):
                part += 1
            elif place + 1 < self.count:
                place, part = place + 1, 0
            else:
                return Spot(place, part, line + left), went + left
            went += left + 1
            line = 0

    def _up(self, spot: Spot, by: int) -> tuple[Spot, int]:
        (place, part, line), went = spot, 0
        while True:
            if by - went <= line:
                return Spot(place, part, line - (by - went)), -by
            if part:
                part -= 1
            elif place:
                place -= 1
                part = self._parts(place) - 1
            else:
                return FIRST, -(went + line)
            went += line + 1
            line = self._lines(place, part) - 1

    def end_of(self, place: int) -> Spot:
        """The last line of an item."""
        part = self._parts(place) - 1
        return Spot(place, part, self._lines(place, part) - 1)

    @property
    def top(self) -> Spot:
        """The first line in view."""
        return self.walk(self.spot, -self.row)[0]

    def frame(self) -> list[Spot]:
        """The lines in view, from the top."""
        if not self.count:
            return []
        spots = [self.top]
        for _ in range(self.height - 1):
            spot, went = self._down(spots[-1], 1)
            if not went:
                break
            spots.append(spot)
        return spots

    def distance(self, spot: Spot, limit: int) -> int | None:
        """Lines from the top of the view down to ``spot``; ``None`` if more than ``limit``."""
        at = self.top
        for row in range(limit + 1):
            if at == spot:
                return row
            at, went = self._down(at, 1)
            if not went:
                return None
        return None

    # -- moving ----------------------------------------------------------------------------

    def put(self, spot: Spot, row: int) -> None:
        """Put the cursor on ``spot`` in this row of the view, as near as there are lines."""
        if not self.count:
            self.spot, self.row = FIRST, 0
            return
        place = max(0, min(spot.place, self.count - 1))
        part = max(0, min(spot.part, self._parts(place) - 1))
        line = max(0, min(spot.line, self._lines(place, part) - 1))
        self.spot = Spot(place, part, line)
        self.row = max(0, min(row, self.height - 1))
        below = self._down(self.spot, self.height - 1 - self.row)[1]
        self.row = self.height - 1 - below
        self.row = -self._up(self.spot, self.row)[1]

    def settle(self) -> None:
        """Make what is known now fit: after heights, the view or the items changed."""
        self.put(self.spot, self.row)

    def move(self, by: int) -> None:
        """Move the cursor some lines; the view follows by the least move."""
        if self.count:
            spot, went = self.walk(self.spot, by)
            self.put(spot, self.row + went)

    def leap(self, by: int) -> None:
        """Move the cursor some lines and the view with it."""
        if self.count:
            self.put(self.walk(self.spot, by)[0], self.row)

    def scroll(self, by: int) -> None:
        """Move the view some lines; the cursor stays on its line while that is in view."""
        if not self.count:
            return
        height = self.height
        if by > 0:
            last = self.walk(self.spot, height - 1 - self.row)[0]
            by = self._down(last, by)[1]
        else:
            by = -min(-by, -self._up(self.top, -by)[1])
        row = self.row - by
        held = max(0, min(row, height - 1))
        self.put(self.walk(self.spot, held - row)[0], held)

    def go(self, spot: Spot, *, centre: bool = False) -> None:
        """Put the cursor on ``spot``: in the middle, or where the view moves least."""
        if not self.count:
            return
        if centre:
            self.put(spot, self.height // 2)
            return
        row = self.distance(spot, self.height - 1)
        if row is None:
            row = 0 if spot < self.spot else self.height - 1
        self.put(spot, row)
