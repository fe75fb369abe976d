"""The two bars of every screen: the home on top, the last thing that happened below."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class HomeBar(Static):
    """Home, kind, profile, rules, gates and counts: always there, never guessed."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)


class FlashLine(Static):
    """One line about the person's own last action; it stays until the next."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)
