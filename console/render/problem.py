"""A bug, said so that a person can go on and report it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from console.keymap import keyed
from console.render import ink
from console.render.line import Line, wrapped


def problem_lines(problem: Exception, log: str, width: int) -> Sequence[Line]:
    """What happened, what it means for the home, and where the details are."""
    go_on = keyed("esc closes this, the console goes on; {app.reload} reads the home again.")
    return [
        Line(piece)
        for content in (
            ink.line("Something went wrong inside signoff.", ink.TITLE),
            Content(""),
            ink.line(f"{type(problem).__name__}: {problem}"),
            Content(""),
            ink.line(f"Nothing half done was left. Where it happened stands in {log}."),
            Content(""),
            ink.line(go_on, ink.LABEL),
        )
        for piece in wrapped(content, width)
    ]
