"""Where a query stands in many lines, and which of the places is the current one."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple


class Hit(NamedTuple):
    """Characters ``start`` to ``end`` (exclusive) of line ``line``, all from 0."""

    line: int
    start: int
    end: int


class Hits:
    """Places of ``query``, found whatever its case, one after the other without overlap."""

    def __init__(self) -> None:
        self.query = ""
        self._found = array("Q")
        self._line_starts = array("Q")
        self._at = 0

    def search(self, query: str, lines: Sequence[str], from_line: int) -> None:
        """Look for ``query`` within lines; the first hit from ``from_line`` on becomes current."""
        self.query = query
        self._found, self._line_starts, self._at = array("Q"), array("Q"), 0
        if not query or not lines or "\n" in query:
            return
        text = _folded("\n".join(lines))
        self._line_starts.extend(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
        self._found.extend(hit.start() for hit in re.finditer(re.escape(_folded(query)), text))
        here = self._line_starts[min(max(from_line, 0), len(lines) - 1)]
        self._at = bisect_left(self._found, here) % max(1, self.total)

    def again(self, lines: Sequence[str], from_line: int) -> None:
        """The same query in other lines; the same hit by number if there are as many."""
        at, total = self._at, self.total
        self.search(self.query, lines, from_line)
        if self.total == total:
            self._at = at

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self._found)

    @property
    def number(self) -> int:
        """The current one, from 1; 0 if there is none."""
        return self._at + 1 if self._found else 0

    @property
    def current(self) -> Hit | None:
        """The current one."""
        return self._hit(self._found[self._at]) if self._found else None

    def step(self, by: int) -> None:
        """Make the next hit (1) or the previous (-1) current, round at the end."""
        self._at = (self._at + by) % max(1, self.total)

    def within(self, line: int, begin: int, end: int) -> Iterator[tuple[Hit, bool]]:
        """Hits that touch characters ``begin`` to ``end`` of a line; whether each is current."""
        if not self._found:
            return
        origin = self._line_starts[line]
        first = bisect_left(self._found, max(0, origin + begin - len(self.query) + 1))
        for index in range(first, bisect_left(self._found, origin + end)):
            hit = self._hit(self._found[index])
            if hit.line == line:
                yield hit, index == self._at

    def _hit(self, offset: int) -> Hit:
        line = bisect_right(self._line_starts, offset) - 1
        start = offset - self._line_starts[line]
        return Hit(line, start, start + len(self.query))


def _folded(text: str) -> str:
    """Lower case, one character for one: ``İ`` alone would become two."""
    return text.replace("İ", "i").lower()
