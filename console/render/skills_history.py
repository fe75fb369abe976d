"""The curator in full: its settings and where each comes from, its state, its runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content

from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.preview import finding_lines
from console.render.skills_curator import CuratorItem, curator_lines
from core.model import Finding

#: Cells of a setting's name.
_NAME = 20


@dataclass(frozen=True, slots=True)
class RunItem:
    """One run: when, what it counted, what it says of single skills, its model's own words.

    ``report`` is where its REPORT.md lies.
    """

    at: str
    counts: str
    named: tuple[str, ...]
    summary: str
    problem: str
    report: str = ""


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """The curator of a home. ``settings`` are name, value and source; ``said`` is its last word.

    ``findings`` are about the home, not about one skill.
    """

    curator: CuratorItem
    settings: tuple[tuple[str, str, str], ...]
    said: str
    count: str
    problem: str
    findings: tuple[Finding, ...]
    runs: tuple[RunItem, ...]


def history_lines(item: HistoryItem, width: int) -> tuple[Line, ...]:
    """All of it in ``width`` cells."""
    return anchored(_lines(item, width))


def _lines(item: HistoryItem, width: int) -> Iterator[Line]:
    yield from _flow(curator_lines(item.curator), width)
    if item.problem:
        yield from _flow(ink.line(f"‼ {item.problem}", ink.DANGER), width)
    if item.said:
        yield from _flow(ink.line(f"Run {item.count} said: {item.said}", ink.LABEL), width)
    yield from _title("Settings", width)
    for name, value, source in item.settings:
        said = Content.assemble(
            (f"{name:<{_NAME}} ", ink.LABEL), ink.line(value), ink.line(f"  {source}", ink.LABEL)
        )
        yield from _flow(said, width)
    if item.findings:
        yield from _title("What to know about this home", width)
        for found in item.findings:
            yield from finding_lines(found, width)
    yield from _title("Runs that left a report", width)
    if not item.runs:
        yield from _flow(ink.line("None.", ink.LABEL), width)
    for run in item.runs:
        head = Content.assemble(
            ink.line(run.at, ink.TITLE), "  ", ink.line(run.counts or "nothing changed")
        )
        yield from _flow(head, width)
        if run.problem:
            yield from _flow(ink.line(f"! {run.problem}", ink.WARNING), width, "  ")
        for each in run.named:
            yield from _flow(ink.line(each), width, "  ")
        if run.summary:
            yield from _flow(ink.block(run.summary, ink.LABEL), width, "  ")
        place = run.report or "It left no REPORT.md."
        yield from _flow(ink.line(place, ink.LABEL), width, "  ")


def _title(title: str, width: int) -> Iterator[Line]:
    yield Line(Content(""))
    for number, piece in enumerate(wrapped(ink.line(title, ink.TITLE), width)):
        yield Line(piece, anchor=title if number == 0 else None)


def _flow(content: Content, width: int, first: str = "") -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width, first=first))
