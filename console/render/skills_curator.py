"""The curator's own state: what it does next, and by which thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from console.render import ink


@dataclass(frozen=True, slots=True)
class CuratorItem:
    """The curator of a home in words. ``blocked``: why nothing may be written.

    ``next_run`` says when, or why none comes; ``changes`` counts the skills that it changes.
    """

    next_run: str
    last_run: str
    limits: str
    blocked: str
    paused: bool
    stopped: bool
    changes: int


def curator_lines(item: CuratorItem) -> Content:
    """Its two lines; what keeps it from running, and what blocks every write, stand out."""
    sign, style = ("✗ off: ", ink.WARNING) if item.stopped else ("‖ ", ink.WARNING)
    if not (item.stopped or item.paused):
        sign, style = "", ""
    runs = Content.assemble(
        ("Curator  ", ink.TITLE),
        (sign, style),
        ink.line(item.next_run, style),
        (_changes(item), ink.WARNING if item.changes else ink.LABEL),
        ink.line(f"; {item.last_run}", ink.LABEL),
    )
    if item.blocked:
        said = f"‼ Nothing is written: the usage rows cannot be read ({item.blocked})"
        return Content("\n").join([runs, ink.line(said, ink.DANGER)])
    return Content("\n").join([runs, ink.line(item.limits, ink.LABEL)])


def _changes(item: CuratorItem) -> str:
    """What the next run changes; nothing is said where none comes, or it is not known."""
    if item.stopped or item.paused or item.blocked:
        return ""
    many = {0: "nothing", 1: "1 skill"}.get(item.changes, f"{item.changes:,} skills")
    return f", changes {many}"
