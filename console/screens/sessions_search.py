"""Searching the past as one types: hits by session beside the conversation each stands in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual.content import Content
from textual.timer import Timer

from console.render import ink
from console.render.sessions import Facets, HitItem, hit_row
from console.render.sessions_found import nothing_found, remarks
from console.screens.sessions_index import FeedingRoom
from console.screens.sessions_read import ReadingRoom, Target
from console.widgets.rows import RowList, RowState
from console.widgets.searchbar import SearchBar
from console.widgets.transcript import Transcript
from core.conversations import Engine, Order

if TYPE_CHECKING:
    from console.screens.sessions_past import Results

#: Seconds typing rests before a search starts, and a search runs before it says so.
TYPING, SLOW = 0.12, 0.3
#: Seconds of a search that need no rest: the next one starts with the key.
QUICK = 0.06
#: Sessions a search shows at first, how many times as many at the end of the list.
HITS, MORE = 50, 4
#: What is said while one types.
TYPED = "tab completes source: role: after: before: title: in:, enter goes to the hits"
_ORDERS = (Order.RANKED, Order.NEWEST, Order.OLDEST)


class SearchingRoom(ReadingRoom, FeedingRoom):
    """A list of hits in place of the list of conversations while something is looked for."""

    def __init__(self) -> None:
        super().__init__()
        self._facets = Facets()
        self._order = Order.RANKED
        self._line = ""
        self._results: Results | None = None
        self._hit_limit = HITS
        self._seek = 0
        self._typing: Timer | None = None
        self._slow: Timer | None = None
        self._searching = False
        self._begun, self._cost = 0.0, SLOW
        self._onward = 0
        self._names: dict[str, str] = {}

    def hit_list(self) -> RowList[HitItem]:
        """The list of hits, before it is shown."""
        hits: RowList[HitItem] = RowList(_paint, height=3, marks=False, id="hits", classes="pane")
        hits.border_title = Content("Hits")
        hits.display = False
        return hits

    @property
    def bar(self) -> SearchBar:
        """The line a search is typed in."""
        return self.query_one(SearchBar)

    @property
    def hits(self) -> RowList[HitItem]:
        """The sessions that were found."""
        return self.query_one("#hits", RowList)

    # -- typing ----------------------------------------------------------------------------

    def action_search(self) -> None:
        self.remove_class("-inside")
        self.bar.begin()
        self.flash(TYPED)

    def on_search_bar_changed(self, message: SearchBar.Changed) -> None:
        message.stop()
        if self._typing is not None:
            self._typing.stop()
        self._seek += 1
        if self._cost < QUICK:
            self.search(message.text)
        else:
            self._typing = self.set_timer(TYPING, partial(self.search, message.text))

    def on_search_bar_submitted(self, message: SearchBar.Submitted) -> None:
        message.stop()
        if self.said == TYPED:
            self.flash("")
        if self._typing is not None:
            self._typing.stop()
        if message.text.strip() != self._line:
            self.search(message.text)
        if message.text.strip():
            # Before the answer is there: the keys that come next are meant for the hits.
            self.show_hits(True)
            self.set_focus(self.hits)
        else:
            self.end_search()

    def search(self, line: str, *, keep: bool = False) -> None:
        """Look for ``line``; nothing at all ends the search. ``keep``: as many hits as now."""
        opened, self._line = self.signoff.opened, line.strip()
        self._seek += 1
        if not self._line:
            self.show_hits(False)
            return
        if opened is None:
            return
        self._hit_limit = self._hit_limit if keep else HITS
        seek, facets, order, limit = self._seek, self._facets, self._order, self._hit_limit
        wanted = self._line

        def work() -> Results:
            from console.screens.sessions_past import search_page

            return search_page(
                opened, wanted, facets, order, limit, cancelled=lambda: seek != self._seek
            )

        self._searching, self._begun = True, time.monotonic()
        if self._slow is None:
            self._slow = self.set_timer(SLOW, self._still_searching)
        self.start_job("search", work, partial(self._found, seek), partial(self._lost, seek))

    def _still_searching(self) -> None:
        self._slow = None
        if self._searching:
            for rows in (self.hits, self.query_one("#sessions", RowList)):
                rows.border_title = Content("Searching…")

    def _answered(self) -> None:
        self._searching = False
        if self._slow is not None:
            self._slow.stop()
            self._slow = None

    def _lost(self, seek: int, problem: Exception) -> None:
        from core.errors import SignoffError

        if seek != self._seek:
            return
        self._answered()
        if not isinstance(problem, SignoffError):
            self.job_failed(problem)
            return
        self.trouble(problem)
        if self.seeks and self._results is not None and self._results.text != self._line:
            self._drop_hits()
        self.show_counts()

    def _drop_hits(self) -> None:
        """Hits of what was asked before are no answer to what stands in the bar."""
        self._results = self._query = None
        self.hits.set_items(())
        self.hits.border_title = Content("Hits")
        self.hits.border_subtitle = Content("")
        self.close_conversation()
        self.say(f"{self._trouble}\n\nThe search runs again by itself once it can be read.")
        self.refresh_bindings()

    def _found(self, seek: int, results: Results) -> None:
        if seek != self._seek:
            return
        self._answered()
        self.trouble_over()
        self._cost = time.monotonic() - self._begun
        before, self._results = self._results, results
        fresh = before is None or before.text != results.text
        if fresh or before is None or results.query != before.query:
            self._query = results.query
        self.show_hits(True)
        self._show_items(results, news=not fresh)
        self._name_hits(results)
        if fresh and results.items:
            self.hits.move_to(results.items[0].key)
        self._title_hits()
        self.show_counts()
        if not results.items:
            self.close_conversation()
            self.say(nothing_found(results.found, results.text, self._facets))
        elif fresh or self._read is None or self._read.query is not self._query:
            self.rest()
        self.refresh_bindings()

    def _show_items(self, results: Results, *, news: bool) -> None:
        names = self._names
        items = [
            item if item.hit.title else replace(item, name=names.get(item.key, ""))
            for item in results.items
        ]
        self.hits.set_items(items, news=news)

    def _name_hits(self, results: Results) -> None:
        """Look up, once hits are on screen, what to call those without a title."""
        opened, names = self.signoff.opened, self._names
        unknown = [i.key for i in results.items if not i.hit.title and i.key not in names]
        if opened is None or not unknown:
            return

        def work() -> dict[str, str]:
            from core.desk.past import names_of

            return names_of(opened, unknown)

        def named(found: dict[str, str]) -> None:
            self._names |= found
            if self._results is results:
                self._show_items(results, news=False)

        self.start_job("names", work, named, self._not_read)

    def _title_hits(self) -> None:
        results = self._results
        if results is None:
            return
        found = results.found
        total = len(results.items) if found is None else found.total_sessions
        count = f"{total:,}"
        if found is not None and not found.is_whole:
            # The index counts what was taken back as well, until it is looked at.
            count = f"~{count}" if found.engine is Engine.INDEX else f"{count}+"
        title = f"{count} session{'' if count == '1' else 's'} for “{results.text}”"
        room = max(8, self.width_of(".list") - 4)
        self.hits.border_title = ink.cut(title, room)
        words = [] if found is None else remarks(found, self._order)
        if unseen := self.hits.unseen:
            words.append(f"{unseen:,} new")
        if self._fed:
            words.append(self._fed)
        self.hits.border_subtitle = ink.cut("  ".join(words), room)

    # -- the list of hits ------------------------------------------------------------------

    @property
    def seeks(self) -> bool:
        """Whether hits are on screen, not the list."""
        return bool(self.hits.display)

    def show_hits(self, on: bool) -> None:
        """Hits in place of the list, or the list again where it was left."""
        if on == self.seeks:
            return
        hits, rows = self.hits, self.query_one("#sessions", RowList)
        had = hits.has_focus or rows.has_focus
        hits.display, rows.display = on, not on
        if not on:
            self._results = self._query = None
            self._hit = (0, 0)
            self.say("")
            self.rest()
        if had:
            (hits if on else rows).focus()
        self.show_counts()
        self.refresh_bindings()

    def end_search(self) -> None:
        """Back to the list, the cursor where it was."""
        if self._typing is not None:
            self._typing.stop()
        self.bar.end()
        self.search("")
        self.query_one("#sessions", RowList).focus()
        self.flash("")

    def rest(self) -> None:
        """Open the conversation of the row at the cursor once it has rested a moment."""

    def grow_hits(self) -> None:
        """Ask for more hits at the end of the list."""
        results, place = self._results, self.hits.cursor_index
        if results is None or results.found is None or place is None or self._searching:
            return
        shown = len(results.items)
        there = results.found.total_sessions if results.found.is_whole else shown + 1
        if place >= shown - 5 and shown == self._hit_limit < there:
            self._hit_limit *= MORE
            self.search(self._line, keep=True)

    # -- from hit to hit -------------------------------------------------------------------

    def action_hit(self, step: int) -> None:
        if self.has_class("-narrow") and not self.has_class("-inside"):
            # The hit it stands at was not seen yet.
            self.go_inside()
        else:
            self.transcript.action_hit(step)

    def go_inside(self) -> None:
        """The keys to the conversation."""
        self.add_class("-inside")
        self.transcript.focus()
        self.call_after_refresh(self.frame_again)

    def on_transcript_hits_ended(self, message: Transcript.HitsEnded) -> None:
        message.stop()
        self.next_hits(message.step)

    def next_hits(self, step: int) -> None:
        """On to the hits of the next session, or back to the last of the one before."""
        items, place = self.hits.items, self.hits.cursor_index
        parts = self._read.parts if self._read is not None else ()
        if self.seeks and place is not None:
            place += step
            # The parts of a chain are one conversation: their hits were all gone through.
            while 0 <= place < len(items) and items[place].key in parts:
                place += step
            if 0 <= place < len(items):
                self._onward = step
                self.hits.move_to(items[place].key)
                return
        said = f"No further hit {'below' if step > 0 else 'above'}"
        if len(self._line.split()) > 1:
            said += "; › marks single words in other messages too"
        self.flash(said)

    def target_of(self, item: HitItem) -> Target:
        """Where a hit is, or coming up from below the last of its session."""
        land, self._onward = (-1 if self._onward < 0 else 1), 0
        return Target(item.hit.session_id, item.hit.message_id or None, land)


def _paint(item: HitItem, state: RowState) -> Sequence[Content]:
    return hit_row(item, state.width)
