"""How often whose proposals are approved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.render import ink
from console.render.line import Line, wrapped
from console.render.queue import origin_word

_BAR = 10
#: Cells of a row without its name: bar, share, counts.
_FIGURES = 2 + _BAR + 5 + 31


@dataclass(frozen=True, slots=True)
class OriginRate:
    """One origin. ``rate``: the approved share, between 0 and 1."""

    origin: str
    approved: int
    refused: int
    rate: float


def acceptance_lines(rates: Sequence[OriginRate], width: int) -> tuple[Line, ...]:
    """A row for each origin with its share and counts, in ``width`` cells."""
    return tuple(_lines(rates, width))


def _lines(rates: Sequence[OriginRate], width: int) -> Iterator[Line]:
    if not rates:
        yield from _flow(ink.line("Nothing was approved or refused here yet."), width)
        return
    room = max(6, min(24, width - _FIGURES))
    for each in rates:
        full = round(each.rate * _BAR)
        row = ink.cut(origin_word(each.origin), room, ink.TITLE)
        row = row.pad_right(max(0, room - row.cell_length))
        bar = Content.styled("█" * full + "░" * (_BAR - full), ink.ACCENT)
        counts = f"  {each.approved:,} approved, {each.refused:,} refused"
        figures = Content.assemble("  ", bar, f" {each.rate:>4.0%}", (counts, ink.LABEL))
        yield from _flow(row + figures, width)
    yield Line(Content(""))
    yield from _flow(ink.line("Decisions that were taken back do not count.", ink.LABEL), width)


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
