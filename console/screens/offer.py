"""What could be done, and the ways to do it: looked through, then one is chosen or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from console.render import ink
from console.render.line import Line
from console.widgets.lines import LineView

#: Lines above the ways that are in view at most, and the dialog's width where there is room.
IN_VIEW, WIDE = 18, 100


@dataclass(frozen=True, slots=True)
class Way:
    """One way on. ``why_not`` says why it cannot be taken now."""

    label: str
    why_not: str = ""


class Offer(ModalScreen[int | None]):
    """Shows what ``draw`` makes of a width in cells, and ``ways``; the place of the chosen one.

    ``None`` when the person thought better of it.
    """

    BINDINGS: ClassVar = [
        ("escape,q", "cancel", "cancel"),
        ("j", "move(1)", "down"),
        ("k", "move(-1)", "up"),
        *((str(number), f"take({number})", "take") for number in range(1, 10)),
    ]

    def __init__(
        self, title: str, draw: Callable[[int], Sequence[Line]], ways: Sequence[Way]
    ) -> None:
        super().__init__()
        self._title = ink.line(title)
        self._draw = draw
        self._ways = ways

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = self._title
            box.border_subtitle = Content("a number or enter does it, tab reads, esc leaves all")
            yield LineView(id="sheet")
            yield OptionList(
                *(
                    Option(_label(number, way), disabled=bool(way.why_not))
                    for number, way in enumerate(self._ways, 1)
                ),
                id="ways",
                markup=False,
            )
            why = Static(Content(""), id="why", markup=False)
            why.display = False
            yield why

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()

    def on_resize(self, event: Resize) -> None:
        self.query_one(Vertical).styles.width = min(WIDE, event.size.width - 2)

    def on_line_view_width_changed(self, message: LineView.WidthChanged) -> None:
        message.stop()
        lines = self._draw(message.width)
        message.view.set_lines(lines, keep=True)
        reasons = sum(1 + len(way.why_not) // message.width for way in self._ways if way.why_not)
        room = self.size.height - len(self._ways) - reasons - 7
        message.view.styles.height = max(1, min(len(lines), IN_VIEW, room))

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.dismiss(message.option_index)

    def action_take(self, number: int) -> None:
        if number > len(self._ways):
            return
        if why_not := self._ways[number - 1].why_not:
            line = self.query_one("#why", Static)
            line.update(ink.line(f"✗ {number} cannot be done: {why_not}", ink.WARNING))
            line.display = True
        else:
            self.dismiss(number - 1)

    def action_move(self, step: int) -> None:
        ways = self.query_one(OptionList)
        if step > 0:
            ways.action_cursor_down()
        else:
            ways.action_cursor_up()

    def action_cancel(self) -> None:
        self.dismiss(None)


def _label(number: int, way: Way) -> Content:
    if way.why_not:
        label = ink.line(f"{number:>2}  {way.label}", ink.LABEL)
        return Content("\n").join([label, ink.line(f"    ✗ {way.why_not}", ink.LABEL)])
    return Content.assemble((f"{number:>2}  ", ink.ACCENT), ink.line(way.label))
