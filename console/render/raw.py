"""A record that is no proposal, as lines: why, what to do about it, and what stands in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.preview import stored_lines
from console.render.queue import SIGNS


@dataclass(frozen=True, slots=True)
class RawRecord:
    """``said`` is the row's sentence; ``heading`` says what ``text`` is, ``rest`` what it lacks."""

    file: str
    said: str
    heading: str
    text: str
    rest: str


def raw_lines(record: RawRecord, width: int, *, folded: bool = True) -> tuple[Line, ...]:
    """The record in ``width`` cells; ``folded`` leaves out the tail of a long text."""
    return anchored(_lines(record, width, folded))


def _lines(record: RawRecord, width: int, folded: bool) -> Iterator[Line]:
    yield from _flow(ink.line(record.file, ink.TITLE), width)
    yield Line(Content(""))
    sign, style = SIGNS["unreadable"]
    word = Content.styled(f"{sign} unreadable", style)
    yield from _flow(Content.assemble(word, "  ", ink.block(record.said)), width)
    if record.heading:
        yield Line(Content(""))
        yield Line(Content.styled(record.heading, ink.TITLE), anchor="raw")
    if record.text:
        yield from stored_lines(record.text, width, folded)
    if record.rest:
        yield from _flow(ink.line(f"  ⋯ {record.rest}", ink.LABEL), width)


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
