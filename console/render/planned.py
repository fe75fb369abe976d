"""A change by a person's own hand before it is made, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.preview import budget_bar, entry_lines, file_lines, finding_lines
from core.model import Change, Finding, Outcome


def planned_lines(outcome: Outcome, width: int) -> tuple[Line, ...]:
    """What would change, with everything it says about itself; nothing is folded away."""
    return anchored(_planned(outcome, width))


def _planned(outcome: Outcome, width: int) -> Iterator[Line]:
    yield from _flow(ink.block(outcome.message), width)
    for found in outcome.findings:
        yield from finding_lines(found, width)
    if outcome.budget is not None:
        yield from _flow(budget_bar(outcome.budget), width)
    if outcome.entries:
        yield from entry_lines(outcome.entries, width, split=False, folded=True)
    else:
        files = [change for change in outcome.changes if isinstance(change, Change)]
        yield from file_lines(files, width, split=False, folded=True)


def left_lines(title: str, findings: Sequence[Finding], width: int) -> tuple[Line, ...]:
    """What a change that was made leaves to know, under ``title``."""
    lines = [*_flow(ink.line(title, ink.TITLE), width)]
    for found in findings:
        lines += finding_lines(found, width)
    return anchored([*lines, Line(Content(""))])


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
