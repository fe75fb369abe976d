"""The curator's own state: what it does next, and by which thresholds."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from console.render import ink


@dataclass(frozen=True, slots=True)
class CuratorItem:
    """The curator of a home in words. ``blocked``: why nothing may be written.

    ``changes`` counts the skills that the next run changes.
    """

    runs: str
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
    runs = Content.assemble(("Curator  ", ink.TITLE), (sign, style), ink.line(item.runs, style))
    if item.blocked:
        said = f"‼ Nothing is written while the usage rows cannot be read: {item.blocked}"
        return Content("\n").join([runs, ink.line(said, ink.DANGER)])
    many = {0: "nothing changes", 1: "1 skill changes"}.get(
        item.changes, f"{item.changes:,} skills change"
    )
    after = Content.assemble(
        ink.line(item.limits, ink.LABEL),
        ("; next run: ", ink.LABEL),
        ink.line(many, ink.WARNING if item.changes else ink.LABEL),
    )
    return Content("\n").join([runs, after])
