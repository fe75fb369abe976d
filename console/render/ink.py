"""The styles of the console by what they mean; every one is written in theme variables.

Colour never carries a meaning alone: a sign or a word always stands beside it.
"""

from __future__ import annotations

from textual.content import Content

from core import text
from core.model import Severity

TITLE = "bold"
LABEL = "$text-muted"
ACCENT = "$text-accent"
GOOD = "$text-success"
WARNING = "$text-warning"
DANGER = "bold $text-error"
ADDED = "$text-success on $success-muted"
REMOVED = "$text-error on $error-muted"
WORD = "bold underline"
LOST = "bold strike"
HIDDEN = "reverse"

SEVERITY = {
    Severity.INFO: ("·", LABEL),
    Severity.WARNING: ("!", WARNING),
    Severity.DANGER: ("‼", DANGER),
}

#: What a finding is about, in the text it stands in.
FOUND = {
    Severity.INFO: "underline $text-accent",
    Severity.WARNING: "reverse $text-warning",
    Severity.DANGER: "bold reverse $text-error",
}


def line(value: str, style: str = "") -> Content:
    """One line of any text, made safe."""
    return Content.styled(text.safe(value), style) if style else Content(text.safe(value))


def block(value: str, style: str = "") -> Content:
    """Several lines of any text, made safe."""
    shown = text.safe(value, lines=True)
    return Content.styled(shown, style) if style else Content(shown)


def cut(value: str, cells: int, style: str = "") -> Content:
    """One line of any text, made safe and cut to ``cells``."""
    shown = text.one_line(value, max(1, cells))
    return Content.styled(shown, style) if style else Content(shown)
