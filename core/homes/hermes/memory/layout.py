"""A memory file cut at its entries, so that one can change and every other byte stays.

What stands between two entries is kept as it was found: the line ends, and also the stray blank
lines the agent stumbles over. Only :meth:`Layout.tidied` takes those out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise

from core.homes.hermes.memory.entries import DELIMITER, normalise_line_ends

#: The agent's delimiter as it may stand on disk: read with universal newlines.
_DELIMITER = re.compile("(?:\r\n|\r|\n)§(?:\r\n|\r|\n)")
_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Stray:
    """White space or an empty entry where only a § line should be.

    ``line`` counts from 1; ``after`` is the number of the entry before it, 0 at the top.
    """

    line: int
    after: int
    message: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The pieces of a file's text (byte order mark left out), in the order they are joined.

    ``bodies`` are the entries with their own line ends, duplicates too; ``gaps`` what stands
    between them; ``head`` and ``tail`` the white space around all. ``newline`` is how lines end
    that are written anew.
    """

    head: str
    bodies: tuple[str, ...]
    gaps: tuple[str, ...]
    tail: str
    newline: str

    @property
    def text(self) -> str:
        """The file's text again."""
        parts = [self.head]
        for gap, body in zip(("", *self.gaps), self.bodies, strict=False):
            parts += [gap, body]
        return "".join([*parts, self.tail])

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries with LF line ends, duplicates kept."""
        return tuple(normalise_line_ends(body) for body in self.bodies)

    @property
    def unique(self) -> tuple[str, ...]:
        """The entries as the agent loads them: later duplicates dropped."""
        return tuple(dict.fromkeys(self.entries))

    def places(self, entry: str) -> tuple[int, ...]:
        """Where ``entry`` stands among the bodies; more than once for a duplicate."""
        return tuple(place for place, text in enumerate(self.entries) if text == entry)

    def without(self, places: Collection[int]) -> Layout:
        """The layout without these bodies, each gone with the gap before it (the first: after)."""
        if len(set(places)) == len(self.bodies):
            return replace(self, head="", bodies=(), gaps=(), tail="")
        bodies, gaps = list(self.bodies), list(self.gaps)
        for place in sorted(set(places), reverse=True):
            del bodies[place]
            del gaps[max(place - 1, 0)]
        return replace(self, bodies=tuple(bodies), gaps=tuple(gaps))

    def with_entry(self, place: int, entry: str) -> Layout:
        """The layout with ``entry`` in place of one body."""
        bodies = list(self.bodies)
        bodies[place] = self._body(entry)
        return replace(self, bodies=tuple(bodies))

    def appended(self, entry: str) -> Layout:
        """The layout with ``entry`` last."""
        body = self._body(entry)
        if not self.bodies:
            return replace(self, head="", bodies=(body,), tail="")
        gaps = (*self.gaps, self._body(DELIMITER))
        return replace(self, bodies=(*self.bodies, body), gaps=gaps)

    def moved(self, entry: str, to: int) -> Layout:
        """The layout with ``entry`` (no duplicates of it left) as number ``to`` from 0."""
        whole = self.without(self.places(entry)[1:])
        (place,) = whole.places(entry)
        bodies = list(whole.bodies)
        body = bodies.pop(place)
        texts = [normalise_line_ends(text) for text in bodies]
        order = list(dict.fromkeys(texts))
        bodies.insert(texts.index(order[to]) if to < len(order) else len(bodies), body)
        return replace(whole, bodies=tuple(bodies))

    def strays(self) -> tuple[Stray, ...]:
        """Everything between and around the entries that is not the plain delimiter.

        White space alone at either end of the file is none: the agent does not mind it.
        """
        found: list[Stray] = []
        line = 1
        gaps = (self.head, *self.gaps, self.tail) if self.bodies else (self.head,)
        for number, gap in enumerate(gaps):
            plain = normalise_line_ends(gap)
            at_edge = number in (0, len(self.bodies))
            if "§" in plain if at_edge else plain != DELIMITER:
                message = _stray(plain, number, len(self.bodies))
                first = plain.split("\n").index("§") if at_edge else _first(plain)
                found.append(Stray(line + first, number, message))
            line += plain.count("\n")
            if number < len(self.bodies):
                line += self.entries[number].count("\n")
        return tuple(found)

    def tidied(self) -> Layout:
        """The layout with plain delimiters only and no duplicates; entries and their bytes stay."""
        seen: set[str] = set()
        again = []
        for place, entry in enumerate(self.entries):
            if entry in seen:
                again.append(place)
            seen.add(entry)
        whole = self.without(again)
        plain = whole._body(DELIMITER)
        gaps = tuple(gap if normalise_line_ends(gap) == DELIMITER else plain for gap in whole.gaps)
        head = "" if "§" in whole.head else whole.head
        tail = "" if "§" in whole.tail else whole.tail
        return replace(whole, head=head, gaps=gaps, tail=tail)

    def _body(self, entry: str) -> str:
        return entry.replace("\n", self.newline)


def cut(text: str) -> Layout:
    """Cut a file's text (any line ends, no byte order mark) at its entries."""
    ends = set(_LINE_END.findall(text))
    newline = ends.pop() if len(ends) == 1 else "\n"
    marks = [*_DELIMITER.finditer(text)]
    starts = [0, *(mark.end() for mark in marks)]
    stops = [*(mark.start() for mark in marks), len(text)]
    spans = [_inner(text, start, stop) for start, stop in zip(starts, stops, strict=True)]
    spans = [(start, stop) for start, stop in spans if start < stop]
    if not spans:
        return Layout(text, (), (), "", newline)
    return Layout(
        text[: spans[0][0]],
        tuple(text[start:stop] for start, stop in spans),
        tuple(text[a[1] : b[0]] for a, b in pairwise(spans)),
        text[spans[-1][1] :],
        newline,
    )


def _inner(text: str, start: int, stop: int) -> tuple[int, int]:
    piece = text[start:stop]
    lead = len(piece) - len(piece.lstrip())
    return start + lead, start + max(lead, len(piece.rstrip()))


def _stray(plain: str, number: int, count: int) -> str:
    where = _where(number, count)
    if plain.count("§") > 1 or number in (0, count):
        return f"an empty entry {where}"
    blank = any(not line.strip() for line in plain.split("\n")[1:-1])
    return f"{'a blank line' if blank else 'spaces'} beside the § {where}"


def _first(plain: str) -> int:
    """The line of a stray gap, from 0, that is the first not to be the one § line."""
    marked = False
    for number, line in enumerate(plain.split("\n")[:-1]):
        if (number == 0 and line) or (number and (line != "§" or marked)):
            return number
        marked = marked or line == "§"
    return plain.count("\n")


def _where(number: int, count: int) -> str:
    if number == 0:
        return "before the first entry"
    return f"between entries {number} and {number + 1}" if number < count else "after the last"
