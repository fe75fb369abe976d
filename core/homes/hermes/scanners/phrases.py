"""Words in a row and words near each other, found in time in step with the length of the text.

A chain is written as text: a blank is any whitespace, ``…`` is its gap, the rest is a regular
expression over lower-case letters. ``"ignore … (all|any)"`` with a gap of words finds *ignore*,
up to that many words, then *all* or *any*. Each piece is looked for on its own and the nearest
piece before decides, so nothing is tried twice: a gap that holds from afar holds from nearby.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

_SPACES = re.compile(r"\s++")
_OTHERS = re.compile(r"[^\w\s]")
# The four letters beyond ASCII that Python's IGNORECASE takes for an ASCII one.
_FOLD = str.maketrans(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ\u0130\u0131\u017f\u212a", "abcdefghijklmnopqrstuvwxyziisk"
)


def fold(text: str) -> str:
    """``text`` with ASCII letters lowered, as many characters as before.

    Matching lower-case expressions on it is matching with ``re.IGNORECASE`` on ``text``.
    """
    return text.lower() if text.isascii() else text.translate(_FOLD)


@dataclass(frozen=True, slots=True)
class Words:
    """A gap of whole words and whitespace: at most ``limit`` words, ``None`` for any number."""

    limit: int | None = None

    def holds(self, text: Text, start: int, lead: int, word: int) -> bool:
        """Whether only such words stand from ``start``, where one begins, up to ``word``."""
        if bisect_left(text.others, start) != bisect_left(text.others, word):
            return False
        if self.limit is None:
            return True
        return bisect_left(text.spaces, word) - bisect_left(text.spaces, start) <= self.limit

    def within(self, spaces: int) -> bool:
        """Whether it holds inside one run of whitespace between two pieces: no word at all."""
        return spaces > 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """A gap of any characters but ``stop``: at most ``limit``, ``None`` for any number."""

    limit: int | None = None
    stop: str = ""

    def holds(self, text: Text, start: int, lead: int, word: int) -> bool:
        """Whether it reaches from ``start`` to ``lead``, where the next piece may begin."""
        if self.limit is not None and lead - start > self.limit:
            return False
        return not self.stop or text.folded.find(self.stop, start, lead) < 0

    def within(self, spaces: int) -> bool:
        """Both pieces need whitespace of their own: one run must be shared out."""
        return spaces > 1


class Text:
    """A folded text and where its words end, worked out once and only if a gap asks."""

    def __init__(self, folded: str) -> None:
        self.folded = folded

    @cached_property
    def spaces(self) -> list[int]:
        """Where each run of whitespace starts."""
        return [found.start() for found in _SPACES.finditer(self.folded)]

    @cached_property
    def others(self) -> list[int]:
        """Every character that is neither of a word nor whitespace."""
        return [found.start() for found in _OTHERS.finditer(self.folded)]


@dataclass(frozen=True, slots=True)
class _Place:
    """A piece found, and all before it: ``end`` without, ``ready`` with the whitespace after."""

    start: int
    end: int
    ready: int


Gap = Words | Stretch


def find(chain: str, gap: Gap, text: Text) -> tuple[int, int] | None:
    """The first place of ``chain`` in ``text`` as start and end, ``None`` if it has none."""
    first, *rest = pieces_of(chain)
    places = _begin(first, text)
    for piece in rest:
        places = _follow(list(places), gap, piece, text)
    found = next(places, None)
    return (found.start, found.end) if found else None


@cache
def pieces_of(chain: str) -> tuple[re.Pattern[str], ...]:
    """The expressions of a chain's pieces, compiled when first asked for."""
    return tuple(re.compile(_expression(piece)) for piece in chain.split("…"))


def _expression(piece: str) -> str:
    # A run of whitespace is taken whole: what follows a blank never starts with one.
    body = piece.strip(" ").replace(" ", r"\s++")
    lead = r"(?<!\s)\s++(?P<word>)" if piece.startswith(" ") else "(?P<word>)"
    trail = r"(?=\s++(?P<ready>))" if piece.endswith(" ") else "(?P<ready>)"
    return f"{lead}(?:{body}){trail}"


def _begin(piece: re.Pattern[str], text: Text) -> Iterator[_Place]:
    for found in piece.finditer(text.folded):
        yield _Place(found.start(), found.end(), found.start("ready"))


def _follow(before: list[_Place], gap: Gap, piece: re.Pattern[str], text: Text) -> Iterator[_Place]:
    ready = [place.ready for place in before]
    for found in piece.finditer(text.folded) if before else ():
        lead, word = found.start(), found.start("word")
        at = bisect_right(ready, lead)
        start = None
        # Only whitespace between the two: that run belongs to both.
        if at < len(before) and before[at].end == lead and gap.within(word - lead):
            start = before[at].start
        elif at and gap.holds(text, ready[at - 1], lead, word):
            start = before[at - 1].start
        if start is not None:
            yield _Place(start, found.end(), found.start("ready"))
