"""The titles of a list's columns, as wide as its rows."""

from __future__ import annotations

from collections.abc import Callable

from textual.content import Content
from textual.widget import Widget


class Heads(Widget):
    """One line that is drawn anew in every width. ``drawn`` makes it of safe ``Content``."""

    DEFAULT_CSS = """
    Heads {
        height: 1;
        padding: 0 1 0 2;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._drawn: Callable[[int], Content] = lambda _: Content("")

    def say(self, drawn: Callable[[int], Content]) -> None:
        """Show what ``drawn`` makes of a width in cells."""
        self._drawn = drawn
        self.refresh()

    def render(self) -> Content:
        return self._drawn(max(1, self.content_size.width))
