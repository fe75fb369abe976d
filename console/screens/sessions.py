"""Sessions: past conversations as a list or as hits, beside the transcript of one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.events import Resize, ScreenResume
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from console.render import ink
from console.render.sessions import (
    Counts,
    Facets,
    HitItem,
    SessionItem,
    facet_lines,
    session_row,
    turned,
)
from console.screens.choose import Choose
from console.screens.room import bindings_of
from console.screens.sessions_keep import KeepingRoom
from console.screens.sessions_read import Target, sentence
from console.screens.sessions_search import MORE, left_out
from console.widgets.rows import RowList, RowState
from console.widgets.searchbar import SearchBar
from core.conversations import Order

if TYPE_CHECKING:
    from console.screens.sessions_past import Page

#: Seconds the cursor rests before its conversation is opened, and between two readings of a past
#: that changes all the time.
REST, PAUSE = 0.08, 1.0
#: Conversations listed at first, and how near the end of the list more are read.
LIMIT, NEAR = 500, 5
_ORDERS = tuple(Order)
_NEEDS_MESSAGE = ("copy", "debug", "bookmark", "proposal")
_NEEDS_CONVERSATION = ("family", "export", "copy_menu", "roles")


class SessionsScreen(KeepingRoom):
    """Look for what was said, land on it, read around it, and keep it."""

    MODE = "sessions"
    AREAS = frozenset({"sessions"})
    BINDINGS: ClassVar = bindings_of("sessions")

    def __init__(self) -> None:
        super().__init__()
        self._limit = LIMIT
        self._page: Page | None = None
        self._resting: Timer | None = None
        self._soon: Timer | None = None
        self._read_at = float("-inf")
        self._places: dict[str, int] = {}
        self._back = ""
        self._listed_by = self._facets

    def panes(self) -> Iterable[Widget]:
        bar = SearchBar(placeholder="words, source:cli role:user after:7d in:project", id="search")
        rows: RowList[SessionItem] = RowList(_paint, marks=False, id="sessions", classes="pane")
        rows.border_title = Content("Sessions")
        facets = Static(Content(""), id="facets", markup=False)
        yield Vertical(bar, facets, rows, self.hit_list(), classes="list")
        yield from self.pages()

    def on_mount(self) -> None:
        self.rows.focus()
        self.say("Reading the past…")

    @property
    def rows(self) -> RowList[SessionItem]:
        """The list of conversations."""
        return self.query_one("#sessions", RowList)

    # -- the list --------------------------------------------------------------------------

    def reload(self) -> None:
        wait = self._read_at + PAUSE - time.monotonic()
        if self._soon is None and wait > 0:
            self._soon = self.set_timer(wait, self._reload_now)
        elif self._soon is None:
            self._reload_now()

    def _reload_now(self) -> None:
        self._soon, self._read_at = None, time.monotonic()
        self.list_again()
        self.follow()
        self.read_kept()
        if self._page is not None:
            self.feed()
        if self.seeks:
            self.search(self._line, keep=True)

    def list_again(self) -> None:
        """Read the list."""
        opened, facets, limit = self.signoff.opened, self._facets, self._limit
        if opened is None:
            return

        def work() -> Page:
            from console.screens.sessions_past import list_page

            return list_page(opened, facets, limit)

        self.start_job("list", work, self._listed, self._not_listed)

    def _listed(self, page: Page) -> None:
        first, self._page = self._page is None, page
        self.bar.known = page.known
        # What a facet lets in is not new.
        self.rows.set_items(page.items, news=self._listed_by == self._facets)
        self._listed_by = self._facets
        empty = not page.items and not page.counts.left_out and not self._facets.source
        self.set_class(empty, "-empty")
        if not page.items and not self.seeks:
            self.close_conversation()
            self.say(_EMPTY if empty else _NONE)
        elif self._read is None and self._target is None:
            self.rest()
        self.show_counts()
        self.refresh_bindings()
        if first:
            # Keys and the first list come first.
            self.call_after_refresh(self.feed)

    def _not_listed(self, problem: Exception) -> None:
        from core.errors import SignoffError
        from core.homes.hermes.sessions.opening import NoDatabaseError

        if not isinstance(problem, SignoffError):
            self.job_failed(problem)
        elif self._page is not None and not isinstance(problem, NoDatabaseError):
            self.flash(sentence(problem), ink.WARNING)
        else:
            self._page = None
            self.rows.set_items(())
            self.close_conversation()
            self.set_class(True, "-empty")
            self.say(f"{sentence(problem)}\n\nIt appears here by itself once it can be read.")
        self.refresh_bindings()

    def show_counts(self) -> None:
        page = self._page
        if page is None:
            return
        shown = len(page.items)
        count = f"{shown:,}" if shown == page.total else f"{shown:,} of {page.total:,}"
        self.rows.border_title = Content(f"Sessions ({count})")
        words = [f"{self.rows.unseen:,} new"] if self.rows.unseen else []
        self.rows.border_subtitle = Content("  ".join(filter(None, [*words, self._fed])))
        self._title_hits()
        found = self._results.found if self._results is not None else None
        counts = page.counts
        if self.seeks:
            counts = Counts({}, tuple(left_out(found, self._facets)) if found is not None else ())
        facets = self.query_one("#facets", Static)
        lines = facet_lines(counts, max(8, facets.content_region.width or self.size.width // 3))
        facets.update(lines)
        facets.display = bool(lines)

    def on_resize(self, _event: Resize) -> None:
        self.call_after_refresh(self.show_counts)
        self.call_after_refresh(self._show_title)

    def on_row_list_unseen_changed(self, message: RowList.UnseenChanged) -> None:
        message.stop()
        self.show_counts()

    # -- from row to conversation ----------------------------------------------------------

    def on_row_list_highlighted(self, message: RowList.Highlighted) -> None:
        message.stop()
        if message.rows.display and not self._back:
            self.let_pass()
            self.rest()
            self.refresh_bindings()

    def rest(self) -> None:
        if self._resting is not None:
            self._resting.stop()
        self._resting = self.set_timer(REST, self._look)

    def _look(self) -> None:
        if self._back:
            return
        self._remember()
        if self.seeks:
            self.grow_hits()
            hit: HitItem | None = self.hits.cursor_item
            if hit is not None:
                self.go_to(self.target_of(hit))
            return
        self._grow()
        item = self.rows.cursor_item
        if item is not None:
            self.go_to(Target(item.key, self._places.get(item.key)))

    def _remember(self) -> None:
        """Where the reader was in the conversation that is left."""
        read, key = self._read, self.message_id
        if read is not None and key is not None and not self.seeks:
            self._places[read.asked] = key

    def _grow(self) -> None:
        """List more at the end of the list."""
        page, place = self._page, self.rows.cursor_index
        if page is None or place is None or place < len(page.items) - NEAR:
            return
        if len(page.items) == self._limit < page.total:
            self._limit *= MORE
            self.list_again()

    def on_row_list_activated(self, message: RowList.Activated) -> None:
        message.stop()
        self.action_open()

    def action_open(self) -> None:
        self.go_inside()

    def lose_pages(self) -> None:
        super().lose_pages()
        (self.hits if self.seeks else self.rows).focus()

    def action_close(self) -> None:
        if self._back:
            back, self._back = self._back, ""
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
            self.flash("No further session " + ("below" if step > 0 else "above"), passing=True)
            return
        self._back = ""
        rows.move_to(rows.items[place + step].key)

    # -- from elsewhere --------------------------------------------------------------------

    def on_screen_resume(self, _event: ScreenResume) -> None:
        asked, self.signoff.asked = self.signoff.asked, None
        if asked is not None:
            self._back = asked.mode
            if self.seeks or self.bar.display:
                self.end_search()
            self.enter(Target(asked.session_id, asked.message_id))

    # -- what is let in --------------------------------------------------------------------

    def why_not(self, action: str) -> str | None:
        if action in _NEEDS_MESSAGE:
            return self.no_message()
        if action in _NEEDS_CONVERSATION:
            return None if self._read is not None else "No conversation is open"
        if action == "open" and not (self.hits if self.seeks else self.rows).items:
            return "No conversation is listed"
        if action in ("save_view", "order", "tools") and not self.seeks:
            return "Nothing is looked for: / searches"
        if action == "hit" and not (self._read is not None and self._read.hits):
            return "Nothing is looked for: / searches" if not self.seeks else None
        return None

    def _let(self, facets: Facets, said: str) -> None:
        self._facets = facets
        self._limit = LIMIT
        self.flash(said, passing=True)
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
        self.flash(f"Hits: {self._order} first", passing=True)
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


_EMPTY = "No conversation is kept here yet.\n\nThe agent's first one appears here by itself."
_NONE = "No conversation is listed: the line on the left says what is not shown, and its key."


def _paint(item: SessionItem, state: RowState) -> Sequence[Content]:
    return session_row(item, state.width)
