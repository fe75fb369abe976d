"""Places in a text, the parts of it that are new, and the finding that gathers places of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from core.model import MAX_SPANS, Finding, Severity
from core.text import one_line

#: Different things listed by name in one finding, and the cells each may take.
MAX_LISTED = 4
QUOTED_CELLS = 48

_RANK = {severity: rank for rank, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Place:
    """Something found: code points ``start`` to ``end`` of the text that was searched.

    ``word`` is the thing itself, to tell whether the text before had it; ``says`` describes it for
    a person, safe to draw.
    """

    start: int
    end: int
    word: str
    says: str
    severity: Severity


Detector = Callable[[str], Iterable[Place]]


def added(before: str, after: str) -> list[tuple[int, int]]:
    """The spans of ``after`` made of lines that ``before`` does not have, neighbours joined.

    A line that a backslash continues belongs to the one below it.
    """
    known = set(before.split("\n")) if before else set()
    spans: list[tuple[int, int]] = []
    start, above = 0, ""
    for line in after.split("\n"):
        end = start + len(line)
        if line not in known and line:
            first = start - len(above) - 1 if above.endswith("\\") else start
            if spans and spans[-1][1] + 1 >= first:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((first, end))
        start, above = end + 1, line
    return spans


def new_places(
    detector: Detector, before: str, after: str, spans: Sequence[tuple[int, int]]
) -> list[Place]:
    """What ``detector`` finds in ``spans`` of ``after`` and not in ``before``."""
    found = [
        Place(start + place.start, start + place.end, place.word, place.says, place.severity)
        for start, end in spans
        for place in detector(after[start:end])
    ]
    if not found or not before:
        return found
    known = {place.word for place in detector(before)}
    return [place for place in found if place.word not in known]


def gathered(code: str, kind: tuple[str, str], places: Sequence[Place], path: str) -> Finding:
    """One finding for all ``places`` (at least one): the worst first, counted and listed.

    ``kind`` is its name for one and for many. It stands at the first place in the text.
    """
    worst = sorted(places, key=lambda place: -_RANK[place.severity])
    says = list(dict.fromkeys(place.says for place in worst))
    more = f" and {len(says) - MAX_LISTED} more" if len(says) > MAX_LISTED else ""
    count = f"1 {kind[0]}" if len(places) == 1 else f"{len(places):,} {kind[1]}"
    first = min(place.start for place in places)
    spans = sorted({(place.start, place.end) for place in worst[:MAX_SPANS]})
    return Finding(
        code,
        worst[0].severity,
        f"{count}: {', '.join(says[:MAX_LISTED])}{more}.",
        f"{path}:{first}",
        tuple(spans),
    )


def quoted(text: str) -> str:
    """``text`` on one line, cut, in quotes and safe to draw."""
    return f'"{one_line(text, QUOTED_CELLS)}"'


def has_any(text: str, parts: Iterable[str]) -> bool:
    """Whether one of ``parts`` stands in ``text``: a cheap look before an expression's."""
    return any(map(text.__contains__, parts))
