"""The homes that can be opened: every profile, and what else was found; enter opens one."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from console.jobs import Jobs
from console.places import short
from console.render.homes import HomeItem, home_line
from console.screens.host import Host

if TYPE_CHECKING:
    from core.desk.elsewhere import Place, Waiting

#: Cells of a name at most, and of the dialog's border, padding and scroll bar.
NAME, FRAME = 32, 10
#: The dialog's width where the terminal has it.
WIDE = 100


class HomesScreen(Jobs, ModalScreen["Place | None"]):
    """The home to open; ``None`` when the person thought better of it.

    What waits is counted off the event loop, one home after the other.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        ("escape,q,ctrl+o", "cancel", "cancel"),
        ("j", "move(1)", "down"),
        ("k", "move(-1)", "up"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._places: tuple[Place, ...] = ()
        self._items: list[HomeItem] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content("Open another home")
            box.border_subtitle = Content("enter opens it, esc leaves all as it is")
            yield OptionList(markup=False)

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    def on_mount(self) -> None:
        opened = cast("Host", self.app).opened
        if opened is None:
            return

        def work() -> tuple[Place, ...]:
            from core.desk.elsewhere import places

            return places(opened)

        self.start_job("list", work, self._found, self._failed)

    def on_resize(self, event: Resize) -> None:
        self.query_one(Vertical).styles.width = min(WIDE, event.size.width - 2)
        self._draw()

    def _found(self, places: tuple[Place, ...]) -> None:
        self._places = places
        self._items = [HomeItem(_name(p), short(str(p.path)), p.current) for p in places]
        here = next((n for n, place in enumerate(places) if place.current), 0)
        self._draw()
        self._list.highlighted = here
        self._count(0)

    def _count(self, number: int) -> None:
        if number == len(self._places):
            return
        host = cast("Host", self.app)
        place, now = self._places[number], host.now()
        state = host.opened.state if host.opened else None

        def work() -> Waiting:
            from core.desk.elsewhere import waiting_in

            return waiting_in(place, now, state)

        self.start_job("list", work, partial(self._counted, number), self._failed)

    def _counted(self, number: int, found: Waiting) -> None:
        self._items[number] = replace(
            self._items[number],
            waiting=found.waiting,
            why="; ".join(found.trouble),
            counted=True,
        )
        self._draw()
        self._count(number + 1)

    def _draw(self) -> None:
        if not self._items:
            return
        width = min(WIDE, self.app.size.width - 2) - FRAME
        names = min(NAME, max(len(item.name) for item in self._items))
        if self._list.option_count != len(self._items):
            self._list.add_options(Option(home_line(item, names, width)) for item in self._items)
            return
        for number, item in enumerate(self._items):
            self._list.replace_option_prompt_at_index(number, home_line(item, names, width))

    def _failed(self, problem: Exception) -> None:
        cast("Host", self.app).show_problem(problem)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        message.stop()
        self.dismiss(self._places[message.option_index])

    def action_move(self, step: int) -> None:
        if step > 0:
            self._list.action_cursor_down()
        else:
            self._list.action_cursor_up()

    def action_cancel(self) -> None:
        self.dismiss(None)


def _name(place: Place) -> str:
    return place.profile if place.kind == "hermes" else f"{place.kind} {place.profile}"
