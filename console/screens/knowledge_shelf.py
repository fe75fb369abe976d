"""The note store on screen: opened, watched and read once it is seen, each row in full."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from console.keymap import keyed
from console.render import ink
from console.render.knowledge import KnowledgeItem
from console.render.knowledge_pages import ProjectPage, node_lines, project_lines
from console.screens import knowledge_reading as reading
from console.screens.knowledge_lists import KnowledgeLists
from console.screens.knowledge_reading import Place, Read
from console.screens.knowledge_rows import project_item

if TYPE_CHECKING:
    from console.live import Live
    from core.desk.knowledge import Shelf


_OLDER = (
    f"That note is not among the newest {reading.LIMIT:,}, which are listed:"
    " {knowledge.search} asks all"
)


@dataclass
class StoreChanged(Message):
    """The store changed; only the last one in the queue counts."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StoreChanged)


class KnowledgeShelf(KnowledgeLists):
    """Nothing of the store is read, nor watched, before the mode is on screen."""

    def __init__(self) -> None:
        super().__init__()
        self._shelf: Shelf | None = None
        self._live: Live | None = None
        self._stop = threading.Event()
        self._listed_at: Place | None = None
        self._pages: dict[str, ProjectPage] = {}
        self._chains: dict[str, Sequence[KnowledgeItem]] = {}

    # -- reading ---------------------------------------------------------------------------

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return
        stop = self._stop if self.signoff.watches else None
        work = partial(reading.read, opened, self._shelf, self._live, stop, self._place)
        self.start_job("list", work, self._listed, self._not_listed)

    def _listed(self, read: Read) -> None:
        if self._live is None and read.live is not None:
            run = partial(read.live.run, lambda: self.post_message(StoreChanged()))
            self.run_worker(run, group="watch", thread=True, exit_on_error=False)
        self._shelf, self._seen, self._live = read.shelf, read.seen, read.live
        self._pages, self._chains = {}, {}
        self._projects = {each.name: project_item(each) for each in read.seen.projects}
        if read.place == self._place:
            self._items = {item.key: item for item in read.items}
            self._total = read.total
        # What a place holds when it is gone to is no news.
        self.show_rows(news=read.place == self._listed_at)
        if self._follow and read.place == self._place and self._follow not in self._items:
            # The cursor would jump there whenever it is listed some day.
            self._follow = ""
            self.flash(keyed(_OLDER), ink.WARNING)
        self._listed_at = read.place
        self.draw(keep=True)

    def _not_listed(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if not isinstance(problem, SignoffError):
            self.job_failed(problem)
            return
        self._seen, self._projects, self._items = None, {}, {}
        self.go(Place(), read=False)
        self.rows.set_items(())
        self.show_empty(True, self.rows, self.detail)
        self.say(f"{problem.message}. {problem.hint}.\n\n" + keyed("{app.reload} reads it again."))

    def on_store_changed(self, message: StoreChanged) -> None:
        message.stop()
        if self._live is not None:
            self.home_changed(self._live.take())

    def on_unmount(self) -> None:
        self._stop.set()

    # -- one row in full -------------------------------------------------------------------

    def draw(self, *, keep: bool) -> None:
        key, shelf, seen = self.rows.cursor_key, self._shelf, self._seen
        if key is None or shelf is None or seen is None:
            return
        if not self._place.project:
            page = self._pages.get(key)
            lines = project_lines(self._projects[key], page, self.detail_width)
            self.detail.set_lines(lines, keep=keep)
            if page is None:
                work = partial(reading.page_of, shelf, seen, key)
                self.start_job("detail", work, partial(self._paged, key), self.not_read)
            return
        item, chain = self._items[key], self._chains.get(key)
        lines = node_lines(item, chain or (), self.detail_width, why_not=seen.limits.deciding)
        self.detail.set_lines(lines, keep=keep)
        if chain is None and item.is_note:
            chained = partial(reading.chain_of, shelf, item)
            self.start_job("detail", chained, partial(self._chained, key), self.not_read)

    def _paged(self, key: str, page: ProjectPage) -> None:
        self._pages[key] = page
        if not self._place.project and self.rows.cursor_key == key:
            self.draw(keep=True)

    def _chained(self, key: str, chain: Sequence[KnowledgeItem]) -> None:
        self._chains[key] = chain
        if self._place.project and self.rows.cursor_key == key:
            self.draw(keep=True)
            self.refresh_bindings()

    def not_read(self, problem: Exception) -> None:
        """Something could not be read or planned: said, and the list stays."""
        from core.errors import SignoffError

        if isinstance(problem, SignoffError):
            self.flash(f"✗ {problem.message}. {problem.hint}", ink.DANGER)
        else:
            self.job_failed(problem)
