"""The line over a list that says which of its rows are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class FilterLine(Input):
    """Hidden until somebody filters. Escape leaves it whatever keys a person chose."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "leave", show=False)]

    @dataclass
    class Ended(Message):
        """The filter is to be taken off."""

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, id="filter")

    def action_leave(self) -> None:
        """Tell the screen."""
        self.post_message(self.Ended())
