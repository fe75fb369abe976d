"""What every mode shares: bars, jobs, live changes, and keys that say why they cannot act."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import ClassVar, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Resize, ScreenResume
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from console.actions import actions_of
from console.jobs import Jobs
from console.render import ink
from console.render.hints import with_keys
from console.screens.host import Host
from console.widgets.bars import FlashLine, HomeBar, KeyBar, Notice

T = TypeVar("T")

#: Jobs whose result takes the screen: a sheet, the editor, another mode.
TAKING = frozenset({"sheet", "origin"})
#: Below this the screen says so instead of drawing what cannot be read.
SMALLEST = Size(40, 10)


def bindings_of(where: str) -> list[BindingType]:
    """Textual bindings of the registry's actions."""
    return [
        Binding(
            a.keys,
            a.name,
            a.label,
            show=a.footer,
            key_display=a.shown_key,
            tooltip=a.help,
            id=a.id,
        )
        for a in actions_of(where)
    ]


#: Cells of the longest row of keys.
FOOTER = 78


class Room(Jobs, Screen[None]):
    """A mode. Subclasses name it, compose their panes and load their data."""

    MODE: ClassVar[str]
    #: What the footer leaves out while it cannot be done, others are greyed; a press says why.
    LEFT_OUT: ClassVar[frozenset[str]] = frozenset()
    AREAS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self._stale = True
        #: What is said of the person's last key.
        self.said = ""
        self._text_title: Content | str | None = None
        self._waiting: list[Callable[[], object]] = []

    # -- for subclasses --------------------------------------------------------------------

    def panes(self) -> Iterable[Widget]:
        """The panes, left to right."""
        return ()

    def reload(self) -> None:
        """Read the data again; called when the home is open, when it changed, on F5."""

    def clear_gone(self) -> None:
        """Let rows leave that were decided elsewhere; called on F5."""

    def brought_back(self, paths: frozenset[str]) -> None:
        """The person's own undo put these paths back as they were."""

    def queue_read(self) -> None:
        """The queue was read again; it is the app's ``reading``."""

    def takes_back(self) -> bool:
        """Undo what was decided in a place of its own; false where the home's newest is meant."""
        return False

    def why_not(self, action: str) -> str | None:
        """Why ``action`` cannot run right now, in one sentence; ``None`` if it can."""
        return None

    # -- shared ----------------------------------------------------------------------------

    @property
    def signoff(self) -> Host:
        """The app, as screens see it."""
        return cast("Host", self.app)

    def compose(self) -> ComposeResult:
        yield HomeBar()
        yield Notice()
        yield Widget(*self.panes(), classes="panes")
        yield FlashLine()
        yield KeyBar()
        yield Static(
            Content(f"signoff needs {SMALLEST.width} columns and {SMALLEST.height} lines"),
            id="tiny",
            markup=False,
        )

    def on_resize(self, event: Resize) -> None:
        size = event.size
        tiny = size.width < SMALLEST.width or size.height < SMALLEST.height
        self.set_class(tiny, "-tiny")
        self.set_class(size.width < FOOTER, "-slim")
        self.show_header()

    def on_screen_resume(self, _event: ScreenResume) -> None:
        while self._waiting and self.is_active:
            self._waiting.pop(0)()
        self.show_header()
        self.refresh_if_stale()

    def home_changed(self, areas: frozenset[str]) -> None:
        """Something in the home changed; read again now, or when the screen is seen next."""
        if areas & self.AREAS:
            self._stale = True
        if self.is_current:
            self.refresh_if_stale()

    def refresh_if_stale(self) -> None:
        """Load once the home is open, and again after every change."""
        # Before its panes are there it shows nothing: it is asked again when it appears.
        if self._stale and self.is_mounted and self.signoff.opened is not None:
            self._stale = False
            self.reload()

    def show_header(self) -> None:
        """Draw the header again, and under it what to mend."""
        if self.is_mounted:
            self.query_one(HomeBar).say(self.signoff.header_for(self.MODE, self.size.width - 2))
            self.query_one(Notice).say(self.signoff.notice())

    def width_of(self, pane: str) -> int:
        """Cells of a pane; one that is not laid out has the whole screen once it is shown."""
        return self.query_one(pane).size.width or self.size.width

    def show_empty(self, empty: bool, rows: Widget, text: Widget) -> None:
        """An empty list gives its room and the keys to the text that says why it is empty."""
        if empty == self.has_class("-empty"):
            return
        self.set_class(empty, "-empty")
        if empty:
            self._text_title = text.border_title
        text.border_title = rows.border_title if empty else self._text_title
        if self.is_current and not self.has_class("-inside"):
            (text if empty else rows).focus()

    def flash(self, message: str, style: str = "") -> None:
        """Say what became of the person's last key, until they press another: see :meth:`takes`."""
        self.said = message
        self.query_one(FlashLine).say(ink.line(with_keys(message), style))

    def takes(self, action: str) -> bool:
        """A key asks for ``action``, here or in a widget: whether it may run.

        The person moved on, so what was said of the key before is over.
        """
        if self.said:
            self.flash("")
        return True

    def on_mouse_down(self) -> None:
        """A click moves on as a key does."""
        if self.said:
            self.flash("")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what cannot run now; before the panes are there, everything."""
        if not self.is_mounted:
            return None
        name = str(parameters[0]) if action == "note" and parameters else action
        return True if self.why_not(name) is None else False if name in self.LEFT_OUT else None

    def worded(self, binding: Binding) -> Binding:
        """``binding`` as the footer names it for the row under the cursor."""
        return binding

    def refresh_bindings(self) -> None:
        found = self._bindings.key_to_bindings
        for key, bindings in found.items():
            found[key] = [self.worded(binding) for binding in bindings]
        super().refresh_bindings()

    # -- jobs ------------------------------------------------------------------------------

    @property
    def waits(self) -> bool:
        """Whether something is to be shown here once the person is back."""
        return bool(self._waiting)

    def when_in_front(self, show: Callable[[], object]) -> None:
        """Run ``show`` now, or as soon as no other mode and no sheet is before this one.

        A question that comes up elsewhere would be answered by keys meant for other things.
        """
        if self.is_active:
            show()
        else:
            self._waiting.append(show)
            self.signoff.show_headers()

    def start_job(
        self,
        group: str,
        work: Callable[[], T],
        done: Callable[[T], None],
        failed: Callable[[Exception], None],
        *,
        every: bool = False,
    ) -> None:
        """As :meth:`Jobs.start_job`; what takes the screen waits until this mode is in front."""

        def taking(value: T) -> None:
            self.when_in_front(partial(done, value))

        super().start_job(group, work, taking if group in TAKING else done, failed, every=every)

    def job_failed(self, problem: Exception) -> None:
        """A job ended in an error that nobody foresaw."""
        self.when_in_front(partial(self.signoff.show_problem, problem))
