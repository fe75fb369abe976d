"""One drawn line of a text pane, and wrapping to a width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from textual.content import Content


@dataclass(frozen=True, slots=True)
class Line:
    """One line of safe ``content``.

    ``style`` is one of ``added removed heading dim warning error``, or a style in theme variables;
    it fills the line to the edge. ``anchor`` names a line to jump to, once in its text. ``spots``
    are the characters of it that findings are about.
    """

    content: Content
    style: str = ""
    anchor: str | None = None
    spots: tuple[tuple[int, int], ...] = ()


def anchored(lines: Iterable[Line]) -> tuple[Line, ...]:
    """The lines with every anchor made unique, in order."""
    seen: Counter[str] = Counter()
    made: list[Line] = []
    for line in lines:
        if line.anchor is not None:
            seen[line.anchor] += 1
            line = replace(line, anchor=f"{line.anchor} {seen[line.anchor]}")
        made.append(line)
    return tuple(made)


def wrapped(
    content: Content, width: int, *, first: str = "", rest: str | None = None
) -> Iterator[Content]:
    """``content`` in lines of at most ``width`` cells, each with a prefix of plain cells."""
    rest = " " * len(first) if rest is None else rest
    room = max(2, width - len(first))
    for number, piece in enumerate(content.wrap(room)):
        yield Content(first if number == 0 else rest) + piece.rstrip_end(room)
