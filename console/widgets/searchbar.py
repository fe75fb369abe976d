"""The line a search is typed in, with what the word at the cursor may become below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from core import text as safely
from core.recall.completion import complete, completions

#: Offers shown at a time, and the characters of each.
OFFERED, OFFER = 6, 32


class QueryInput(Input):
    """An input that gives tab and the arrows down to the bar around it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "bar('complete')", "complete", show=False),
        Binding("down", "bar('submit')", "results", show=False),
    ]

    @dataclass
    class Wish(Message):
        """A key that the bar answers: ``complete`` or ``submit``."""

        name: str

    def action_bar(self, name: str) -> None:
        """Tell the bar."""
        self.post_message(self.Wish(name))


class SearchBar(Widget):
    """A query as it is typed. ``known`` are values to offer: ``{"source": ["cli"]}``."""

    DEFAULT_CSS = """
    SearchBar {
        height: auto;
        display: none;
        background: $surface;
        & #query { border: none; height: 1; padding: 0 1; background: $surface; }
        & #offers { height: 1; padding: 0 1; color: $text-muted; display: none; }
    }
    """

    @dataclass
    class Changed(Message):
        """The text is another."""

        text: str

    @dataclass
    class Submitted(Message):
        """Enter, or the arrow down: on to the results."""

        text: str

    def __init__(self, *, placeholder: str = "", id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._placeholder = placeholder
        self.known: Mapping[str, Sequence[str]] = {}
        self._cycle: tuple[str, int, tuple[str, ...], int, str] | None = None

    def compose(self) -> ComposeResult:
        yield QueryInput(placeholder=self._placeholder, id="query")
        yield Static(Content(""), id="offers", markup=False)

    @property
    def input(self) -> QueryInput:
        """The line itself."""
        return self.query_one(QueryInput)

    @property
    def text(self) -> str:
        """What is typed."""
        return self.input.value

    def begin(self) -> None:
        """Show the line and type in it."""
        self.display = True
        # At once: what is typed next is meant for it.
        self.screen.set_focus(self.input)

    def put(self, text: str, *, tell: bool = True) -> None:
        """Another text, the cursor at its end; ``tell`` sends :class:`Changed`."""
        text = _clean(text)
        with self.prevent(Input.Changed):
            self.input.value = text
        self.input.cursor_position = len(text)
        self._cycle = None
        self._offer()
        if tell:
            self.post_message(self.Changed(text))

    def end(self) -> None:
        """Forget the text and hide the line."""
        self.put("", tell=False)
        self.display = False

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        if (text := _clean(message.value)) != message.value:
            self.put(text)
            return
        self._cycle = None
        self._offer()
        self.post_message(self.Changed(text))

    def on_input_submitted(self, message: Input.Submitted) -> None:
        message.stop()
        self.post_message(self.Submitted(message.value))

    def on_query_input_wish(self, message: QueryInput.Wish) -> None:
        message.stop()
        if message.name == "submit" or not self._complete():
            self.post_message(self.Submitted(self.text))

    # -- completion ------------------------------------------------------------------------

    def _complete(self) -> bool:
        """Put the next offer in; tab again takes the one after it. False if there is none."""
        line = self.input
        if self._cycle is not None and self._cycle[4] == line.value:
            before, cursor, offers, number, _ = self._cycle
            number = (number + 1) % len(offers)
        else:
            before, cursor, number = line.value, line.cursor_position, 0
            offers = completions(before, cursor, self.known)
        if not offers:
            return False
        after, place = complete(before, cursor, offers[number])
        with self.prevent(Input.Changed):
            line.value = after
        line.cursor_position = place
        self._cycle = (before, cursor, offers, number, after) if len(offers) > 1 else None
        self._offer()
        self.post_message(self.Changed(after))
        return True

    def _offer(self) -> None:
        line = self.query_one("#offers", Static)
        offers = completions(self.input.value, self.input.cursor_position, self.known)
        words = "  ".join(safely.one_line(offer, OFFER) for offer in offers[:OFFERED])
        line.update(Content(f"tab  {words}"))
        line.display = bool(offers)


def _clean(text: str) -> str:
    """``text`` without what may not be drawn: an input draws all it holds, no query needs it."""
    cut = ((text[piece.start : piece.end], piece.shown) for piece in safely.pieces(text))
    return "".join(raw for raw, shown in cut if raw == shown)
