"""The part of a text that is shown for a hit (vak spec 5.5): code points of the text as it is."""

from __future__ import annotations

from collections.abc import Sequence

from core.homes.vak.recall.words import normalise
from core.homes.vak.whitespace import trim

BEFORE, LENGTH = 60, 240
_CUT = "…"


def snippet(text: str, terms: Sequence[str]) -> str:
    """At most :data:`LENGTH` characters around the first term, with marks where text is cut."""
    start = max(0, first(text, terms) - BEFORE)
    end = min(start + LENGTH, len(text))
    head, tail = _CUT if start > 0 else "", _CUT if end < len(text) else ""
    return head + trim(text[start:end]) + tail


def first(text: str, terms: Sequence[str]) -> int:
    """Where the first term begins in ``text``, 0 when none is in it.

    Lower case may be longer than what it came from: places are counted in the text itself.
    """
    lowered = normalise(text)
    places = [place for place in map(lowered.find, terms) if place >= 0]
    if not places:
        return 0
    wanted = min(places)
    if len(lowered) == len(text):
        return wanted
    passed = 0
    for place, char in enumerate(text):
        passed += len(char.lower())
        if passed > wanted:
            return place
    return len(text)
