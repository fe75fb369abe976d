"""Sessions: past conversations as a list or as hits, beside the transcript of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize, ScreenResume
from textual.widget import Widget
from textual.widgets import Static

from console.keymap import keyed
from console.render.sessions import Facets, turned
from console.screens.choose import Choose
from console.screens.room import bindings_of
from console.screens.sessions_list import LIMIT, ListingRoom
from console.screens.sessions_read import Target
from console.widgets.rows import RowList
from console.widgets.searchbar import SearchBar
from core.conversations import Order
from core.recall.query import parse

_ORDERS = tuple(Order)
_NEEDS_MESSAGE = ("copy", "debug", "bookmark", "proposal")
_NEEDS_CONVERSATION = ("family", "export", "copy_menu", "roles")


class _ListPane(Vertical):
    """The list with what stands above it; ``resized`` is called in every new width."""

    def __init__(self, *children: Widget, classes: str, resized: Callable[[], None]) -> None:
        super().__init__(*children, classes=classes)
        self._resized = resized

    def on_resize(self) -> None:
        self._resized()


class SessionsScreen(ListingRoom):
    """Look for what was said, land on it, read around it, and keep it."""

    MODE = "sessions"
    AREAS = frozenset({"sessions"})
    BINDINGS: ClassVar = bindings_of("sessions")

    def panes(self) -> Iterable[Widget]:
        bar = SearchBar(placeholder="words, source:cli role:user after:7d in:project", id="search")
        facets = Static(Content(""), id="facets", markup=False)
        # Its own width, not the screen's, says how its lines are broken: one pane or two.
        rows = (bar, facets, self.session_list(), self.hit_list())
        yield _ListPane(*rows, classes="list", resized=self.show_counts)
        yield from self.pages()

    def on_mount(self) -> None:
        self.rows.focus()
        self.say("Reading the past…")

    def on_resize(self, _event: Resize) -> None:
        self.call_after_refresh(self.show_counts)
        self.call_after_refresh(self.frame_again)

    def on_row_list_unseen_changed(self, message: RowList.UnseenChanged) -> None:
        message.stop()
        self.show_counts()

    # -- from row to conversation ----------------------------------------------------------

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        message.stop()
        if message.rows.display and not self._back:
            self.after_arrival = None
            self.rest()
            self.refresh_bindings()

    def on_row_list_activated(self, message: RowList.Activated) -> None:
        message.stop()
        self.action_open()

    def action_open(self) -> None:
        self.go_inside()

    def lose_pages(self) -> None:
        super().lose_pages()
        (self.hits if self.seeks else self.rows).focus()

    def action_close(self) -> None:
        if back := self.end_visit():
            self.lose_pages()
            self.rest()
            self.signoff.leave_for(back)
        elif self.bar.input.has_focus:
            self.end_search()
        elif self.transcript.has_focus or self.has_class("-inside"):
            self.lose_pages()
        elif self.seeks or self.bar.display:
            self.end_search()

    def action_session(self, step: int) -> None:
        rows = self.hits if self.seeks else self.rows
        place = rows.cursor_index
        if place is None or not 0 <= place + step < len(rows.items):
            self.flash("No further session " + ("below" if step > 0 else "above"))
            return
        self.end_visit()
        rows.move_to(rows.items[place + step].key)

    # -- of the conversation at the cursor ---------------------------------------------------

    def action_copy(self) -> None:
        self.once_there(super().action_copy)

    def action_copy_menu(self) -> None:
        self.once_there(super().action_copy_menu)

    def action_export(self) -> None:
        self.once_there(super().action_export)

    def action_family(self) -> None:
        self.once_there(super().action_family)

    def action_bookmark(self) -> None:
        self.once_there(super().action_bookmark)

    def action_debug(self) -> None:
        self.once_there(super().action_debug)

    def action_proposal(self) -> None:
        self.once_there(super().action_proposal)

    # -- from elsewhere --------------------------------------------------------------------

    def on_screen_resume(self, _event: ScreenResume) -> None:
        asked, self.signoff.asked = self.signoff.asked, None
        if asked is not None:
            if self.seeks or self.bar.display:
                self.end_search()
            self._back = asked.mode
            self._query = parse(f'"{asked.words}"', now=self.signoff.now()) if asked.words else None
            self.enter(Target(asked.session_id, asked.message_id, land=1))

    def end_visit(self) -> str:
        """The mode a visitor came from, which is forgotten; ``""`` for nobody's visit."""
        back, self._back = self._back, ""
        if back:
            self._query = None
        return back

    # -- what is let in --------------------------------------------------------------------

    def why_not(self, action: str) -> str | None:
        if action in _NEEDS_MESSAGE:
            return self.no_message()
        if action in _NEEDS_CONVERSATION:
            return None if self._read is not None else "No conversation is open"
        if action == "open" and not (self.hits if self.seeks else self.rows).items:
            return "No conversation is listed"
        if action in ("save_view", "order", "tools") and not self.seeks:
            return keyed("Nothing is looked for: {sessions.search} searches")
        no_hits = self._read is None or not self._read.hits
        if action == "hit" and no_hits and not self.seeks:
            return keyed("Nothing is looked for: {sessions.search} searches")
        return None

    def _let(self, facets: Facets, said: str) -> None:
        self._facets = facets
        self._limit = LIMIT
        self.flash(said)
        self.list_again()
        if self.seeks:
            self.search(self._line)

    def action_let(self, what: str) -> None:
        names = {
            "cron": "cron runs",
            "hidden": "hidden conversations",
            "archived": "archived conversations",
        }
        facets = turned(self._facets, what)
        lead = "With" if getattr(facets, what) else "Without"
        self._let(facets, f"{lead} {names[what]}")

    def action_tools(self) -> None:
        facets = turned(self._facets, "tools")
        self._let(facets, f"{'With' if facets.tools else 'Without'} hits in tool output")

    def action_undone(self) -> None:
        self._undone = not self._undone
        self._facets = replace(self._facets, undone=self._undone)
        self.narrow()
        if self.seeks:
            self.search(self._line)

    def action_order(self) -> None:
        self._order = _ORDERS[(_ORDERS.index(self._order) + 1) % len(_ORDERS)]
        self.flash(f"Hits: {self._order} first")
        self.search(self._line)

    def action_sources(self) -> None:
        sources = dict(self._page.by_source) if self._page is not None else {}
        names = [f"{source or 'unknown'}  {count:,}" for source, count in sources.items()]

        def chosen(place: int | None) -> None:
            if place is None:
                return
            source = "" if place == 0 else list(sources)[place - 1]
            said = f"Only {source}" if source else "All sources"
            self._let(replace(self._facets, source=source), said)

        self.app.push_screen(Choose("Only one source", ["all sources", *names]), chosen)
