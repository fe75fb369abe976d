"""A room whose list is narrowed by a line of words. Review, Skills and Knowledge are such."""

from __future__ import annotations

from typing import Any

from textual.widgets import Input

from console.render import ink
from console.screens.room import Room
from console.widgets.bars import KeyBar
from console.widgets.filterline import FilterLine
from console.widgets.rows import RowList

_HINT = "enter keeps the filter, esc takes it off"


class Filtered(Room):
    """Subclasses compose a :class:`FilterLine` and say what its words leave on screen."""

    @property
    def rows(self) -> RowList[Any]:
        """The list that is narrowed."""
        raise LookupError(f"{type(self).__name__} has no list")

    @property
    def filter(self) -> FilterLine:
        """The line."""
        return self.query_one(FilterLine)

    def narrow(self, line: str) -> None:
        """Show the rows that ``line`` means. Raises :class:`UsageError` if it means nothing."""
        raise LookupError(f"{type(self).__name__} narrows no list")

    def action_filter(self) -> None:
        # It stands over the list, which is not on screen where the text has all the room.
        self.remove_class("-inside")
        self.filter.display = True
        self.filter.focus()
        self.flash(_HINT)

    def end_filter(self) -> None:
        """All rows again."""
        self.filter.value = ""
        self._narrow("")
        self._keep_filter()

    def _keep_filter(self) -> None:
        self.flash("")
        self.filter.display = bool(self.filter.value.strip())
        self.rows.focus()

    def _narrow(self, line: str) -> bool:
        """A line that means nothing, yet, leaves all as it is."""
        from core.errors import UsageError

        try:
            self.narrow(line)
        except UsageError as problem:
            self.flash(f"{problem.message}. {problem.hint}", ink.WARNING)
            return False
        return True

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        if self._narrow(message.value) and self.filter.has_focus:
            self.flash(_HINT)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        if self._narrow(message.value):
            self._keep_filter()

    def on_filter_line_ended(self, message: FilterLine.Ended) -> None:
        message.stop()
        self.end_filter()

    def on_descendant_focus(self) -> None:
        self._keys_of_the_line()

    def on_descendant_blur(self) -> None:
        self._keys_of_the_line()

    def _keys_of_the_line(self) -> None:
        """While a line is typed its letters are no keys: the bar does not offer them."""
        self.query_one(KeyBar).set_class(self.filter.has_focus, "-typing")
