"""A choice of a few: by its number, or with the arrows and enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList

from console.render import ink


class Choose(ModalScreen[int | None]):
    """The place of the chosen one in ``choices``; ``None`` when the person thought better of it."""

    BINDINGS: ClassVar = [
        ("escape,q", "cancel", "cancel"),
        *((str(number), f"take({number})", "take") for number in range(1, 10)),
    ]

    def __init__(self, title: str, choices: Sequence[str]) -> None:
        super().__init__()
        self._title = ink.line(title)
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            box.border_subtitle = Content("a number or enter chooses, esc leaves all as it is")
            yield OptionList(
                *(
                    Content.assemble((f"{number:>2}  ", ink.ACCENT), ink.line(choice))
                    for number, choice in enumerate(self._choices, 1)
                ),
                markup=False,
            )

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.dismiss(message.option_index)

    def action_take(self, number: int) -> None:
        if number <= len(self._choices):
            self.dismiss(number - 1)

    def action_cancel(self) -> None:
        self.dismiss(None)
