"""The bars of every screen: the home on top, what to mend under it, the last event below."""

from __future__ import annotations

from textual.content import Content
from textual.widgets import Static


class HomeBar(Static):
    """Home, kind, profile, rules, gates and counts: always there, never guessed."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)


class Notice(Static):
    """What a person should mend before deciding; takes no room while there is nothing."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)

    def say(self, content: Content) -> None:
        """Show sentences, or nothing."""
        self.update(content)
        self.display = bool(content)


class FlashLine(Static):
    """One line about the person's own last action; it stays until the next."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)
