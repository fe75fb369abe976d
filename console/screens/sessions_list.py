"""The list of past conversations: read, counted, read again as they grow, and longer on demand."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from console.render.sessions import (
    Counts,
    HitItem,
    SessionItem,
    facet_lines,
    query_lines,
    session_row,
)
from console.render.sessions_found import became, left_out
from console.screens.sessions_keep import KeepingRoom
from console.screens.sessions_read import Target, sentence
from console.screens.sessions_search import MORE
from console.widgets.rows import RowList, RowState

if TYPE_CHECKING:
    from console.screens.sessions_past import Page

#: Seconds the cursor rests before its conversation is opened, and between two readings of a past
#: that changes all the time.
REST, PAUSE = 0.08, 1.0
#: Conversations listed at first, and how near the end of the list more are read.
LIMIT, NEAR = 500, 5


class ListingRoom(KeepingRoom):
    """The conversations of a home beside one of them."""

    def __init__(self) -> None:
        super().__init__()
        self._limit = LIMIT
        self._page: Page | None = None
        self._listed_by = self._facets
        self._resting: Timer | None = None
        self._soon: Timer | None = None
        self._read_at = float("-inf")
        #: Where the reader was in each conversation, and the mode a visitor came from.
        self._places: dict[str, int] = {}
        self._back = ""

    def session_list(self) -> RowList[SessionItem]:
        """The list, before it is shown."""
        rows: RowList[SessionItem] = RowList(_paint, marks=False, id="sessions", classes="pane")
        rows.border_title = Content("Sessions")
        return rows

    @property
    def rows(self) -> RowList[SessionItem]:
        """The list of conversations."""
        return self.query_one("#sessions", RowList)

    # -- reading ---------------------------------------------------------------------------

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
        if self.seeks or self._line:
            self.search(self._line, keep=True)

    def list_again(self) -> None:
        """Read the list."""
        opened, facets, limit = self.signoff.opened, self._facets, self._limit
        if opened is None:
            return
        sources = tuple(self._page.by_source) if self._page is not None else ()

        def work() -> Page:
            from console.screens.sessions_past import list_page

            return list_page(opened, facets, limit, sources)

        self.start_job("list", work, self._listed, self._not_listed)

    def _listed(self, page: Page) -> None:
        first, self._page = self._page is None, page
        was_trouble = self.trouble_over()
        self.bar.known = page.known
        # What a facet lets in is not new.
        self.rows.set_items(page.items, news=self._listed_by == self._facets)
        self._listed_by = self._facets
        empty = not page.items and not page.counts.left_out and not self._facets.source
        self.set_class(empty, "-empty")
        if not page.items and not self.seeks:
            self.close_conversation()
            self.say(_EMPTY if empty else _NONE)
        elif self._read is None and (self._target is None or was_trouble):
            self.rest()
        elif self._target is not None and self._target.leads and self._resting is None:
            self._stand()
        self._show_title()
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
            self.trouble(problem)
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
        # The lines themselves have no width before they are shown for the first time.
        room = max(8, self.width_of(".list") - 2)
        heads = facet_lines(counts, room, self._facets)
        lines = [heads] if heads else []
        if self.seeks and found is not None:
            # What it was taken for comes first, and whole: what is found is read by it.
            lines = [*query_lines(became(found), room), *lines]
        facets.update(Content("\n").join(lines))
        facets.display = bool(lines)

    def rest(self) -> None:
        self._rest_no_more()
        self._resting = self.set_timer(REST, self._look)

    def _rest_no_more(self) -> None:
        if self._resting is not None:
            self._resting.stop()
            self._resting = None

    # -- the row of what is shown ------------------------------------------------------------

    def enter(self, target: Target) -> None:
        self._rest_no_more()
        super().enter(replace(target, leads=True))

    def _arrive(self, target: Target) -> None:
        super()._arrive(target)
        if target.leads:
            self._stand()

    def _stand(self) -> None:
        """Put the cursor on the row of the conversation on screen, which is open already."""
        rows, key = self._row()
        if key is not None:
            with self.prevent(RowList.Highlighted):
                rows.move_to(key)

    def _row(self) -> tuple[RowList[SessionItem] | RowList[HitItem], str | None]:
        """The list on screen, and which of its rows stands for the conversation."""
        rows = self.hits if self.seeks else self.rows
        parts = self._read.parts if self._read is not None else ()
        if rows.cursor_key in parts:
            return rows, rows.cursor_key
        return rows, next((item.key for item in rows.items if item.key in parts), None)

    @property
    def is_listed(self) -> bool:
        return self._row()[1] is not None

    def _look(self) -> None:
        self._rest_no_more()
        if self._back:
            return
        self._remember()
        if self.seeks:
            self.grow_hits()
            hit = self.hits.cursor_item
            if hit is not None:
                self.go_to(self.target_of(hit))
            return
        self.grow()
        item = self.rows.cursor_item
        if item is not None:
            self.go_to(Target(item.key, self._places.get(item.key)))

    def once_there(self, act: Callable[[], None]) -> None:
        """Act on the conversation of the row at the cursor, which may not be open yet."""
        read, target = self._read, self._target
        if self._resting is not None:
            self._look()
            target = self._target
        if read is not None and target is not None and target.session_id in read.parts:
            act()
        else:
            self.after_arrival = act

    def _remember(self) -> None:
        """Where the reader was in the conversation that is left."""
        read, key = self._read, self.message_id
        if read is not None and key is not None and not self.seeks:
            self._places[read.asked] = key

    def grow(self) -> None:
        """List more at the end of the list."""
        page, place = self._page, self.rows.cursor_index
        if page is None or place is None or place < len(page.items) - NEAR:
            return
        if len(page.items) == self._limit < page.total:
            self._limit *= MORE
            self.list_again()


_EMPTY = "No conversation is kept here yet.\n\nThe agent's first one appears here by itself."
_NONE = "No conversation is listed: the line on the left says what is not shown, and its key."


def _paint(item: SessionItem, state: RowState) -> Sequence[Content]:
    return session_row(item, state.width)
