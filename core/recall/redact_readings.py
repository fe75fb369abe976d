"""Readings of one text in which a secret may stand: as it is, and without what wraps it.

A key behind ``\\n`` in cut JSON, behind ``%20`` of an address or in a terminal's colours is no less
a key. Every reading gives places in the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from core.secrets_in_text import Secret

_ANSI = re.compile(
    r"(?:\x1b\[|\x9b|\u241b\[|(?<!\\)\\{1,16}(?:u001b|x1b|033|e)\[)[0-?]{0,40}[ -/]{0,4}[@-~]",
    re.IGNORECASE,
)
_ESCAPE = re.compile(
    r"(?<!\\)\\{1,16}(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|0[0-7]{2}|(?P<line>[nr])|[tbfv0ae])"
    r"|%[0-9A-Fa-f]{2}"
)

Finder = Callable[[str], Iterable[Secret]]


def in_every_reading(text: str, find: Finder) -> Iterator[Secret]:
    """What ``find`` finds in ``text``, in it with escapes blanked, and with colours taken out."""
    yield from find(text)
    coloured = _ANSI.sub(_blank, text)
    blanked = _ESCAPE.sub(_blank, coloured)
    if blanked != text:
        yield from find(blanked)
    if coloured != text:
        yield from _without_colours(text, find)


def _without_colours(text: str, find: Finder) -> Iterator[Secret]:
    places: list[int] = []
    end = 0
    for found in _ANSI.finditer(text):
        places += range(end, found.start())
        end = found.end()
    places += range(end, len(text))
    for each in find("".join(text[place] for place in places)):
        yield Secret(places[each.start], places[each.end - 1] + 1, each.kind)


def _blank(found: re.Match[str]) -> str:
    line = "line" in found.re.groupindex and found["line"]
    return ("\n" if line else " ") * len(found[0])
