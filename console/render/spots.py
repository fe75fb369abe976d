"""Where findings stand in a text: what to mark when it is drawn."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from textual.content import Content

from console.render import ink
from core import text
from core.model import Finding, Severity

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Spot:
    """Code points ``start`` to ``end`` (exclusive) of a text, and how much they matter."""

    start: int
    end: int
    severity: Severity


#: Spots by the text they stand in: a path of the home, or a field of a proposal.
Spots = Mapping[str, tuple[Spot, ...]]


def spots_of(findings: Iterable[Finding]) -> dict[str, tuple[Spot, ...]]:
    """The places of ``findings``, in the texts as the agent reads them (LF line ends)."""
    found: dict[str, list[Spot]] = {}
    for each in findings:
        for start, end in each.spans:
            found.setdefault(place_of(each), []).append(Spot(start, end, each.severity))
    # The worst comes last: where two meet, it is the one that is seen.
    return {
        place: tuple(sorted(spots, key=lambda spot: _RANK[spot.severity]))
        for place, spots in found.items()
    }


def place_of(found: Finding) -> str:
    """The text a finding stands in: its ``at`` without the offset."""
    place, colon, offset = (found.at or "").rpartition(":")
    return place if colon and offset.isdigit() else found.at or ""


def as_stored(stored: str, spots: Sequence[Spot]) -> Sequence[Spot]:
    """``spots`` of a text with LF line ends as spots of the same text as it is stored."""
    pairs = [match.start() - count for count, match in enumerate(re.finditer("\r\n", stored))]
    if not pairs or not spots:
        return spots
    return [
        Spot(
            spot.start + bisect_left(pairs, spot.start),
            spot.end + bisect_left(pairs, spot.end),
            spot.severity,
        )
        for spot in spots
    ]


def on_lines(value: str, spots: Iterable[Spot]) -> dict[int, list[Spot]]:
    """``line -> spots of that line``, lines counted from 1 and ended by ``\\n``."""
    spots = list(spots)
    if not spots:
        return {}
    lines = value.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines[:-1]), initial=0))
    found: dict[int, list[Spot]] = {}
    for spot in spots:
        first = bisect_right(starts, spot.start) - 1
        last = bisect_left(starts, spot.end) - 1
        for line in range(max(first, 0), last + 1):
            start = max(spot.start - starts[line], 0)
            end = min(spot.end - starts[line], len(lines[line]))
            if start < end:
                found.setdefault(line + 1, []).append(Spot(start, end, spot.severity))
    return found


def worst(spots: Iterable[Spot]) -> str:
    """The sign of the worst of ``spots``, one cell; a blank if there are none."""
    found = max((spot.severity for spot in spots), key=_RANK.__getitem__, default=None)
    return " " if found is None else ink.SEVERITY[found][0]


def marked(value: str, spots: Iterable[Spot], *, lines: bool = False) -> Content:
    """``value`` made safe, hidden characters and spots marked; ``lines`` keeps its line ends."""
    spots = list(spots)
    spans = [(spot.start, spot.end) for spot in spots]
    shown, moved = text.safe_spans(value, spans, lines=lines)
    content = Content(shown)
    for start, end in _hidden(value, lines):
        content = content.stylize(ink.HIDDEN, start, end)
    for spot, (start, end) in zip(spots, moved, strict=True):
        content = content.stylize(ink.FOUND[spot.severity], start, end)
    return content


def _hidden(value: str, lines: bool) -> Iterator[tuple[int, int]]:
    """Where tokens stand in the drawn text for what the raw text hides."""
    if not text.marks(value):
        return
    at = 0
    for piece in text.pieces(value, lines=lines):
        if piece.mark is not None:
            yield at, at + len(piece.shown)
        at += len(piece.shown)


def drawn(content: Content) -> tuple[tuple[int, int], ...]:
    """Where the marks stand in one drawn line, in order; neighbours and overlaps are one."""
    found: list[tuple[int, int]] = []
    for span in sorted(span for span in content.spans if span.style in _STYLES):
        if found and span.start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], span.end))
        else:
            found.append((span.start, span.end))
    return tuple(found)


_STYLES = frozenset(ink.FOUND.values())
