"""The lists of the memory mode: both files entry by entry, or the agent's copies of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.content import Content

from console.render import ink
from console.render.copies import CopyItem, copy_lines, copy_row
from console.render.line import Line
from console.render.memory import MemoryItem, StoreInfo, memory_lines, memory_row
from console.render.planned import left_lines
from console.screens.browser import Browser
from console.screens.memory_rows import copy_items, entry_items, store_info

if TYPE_CHECKING:
    from core.desk.memories import Copy, Store
    from core.desk.opening import Opened
    from core.model import Change, Finding


@dataclass(frozen=True, slots=True)
class Left:
    """What the last change left to know, and the row it is shown on (``None``: not known yet).

    ``gone`` is the row of what was forgotten, empty for other changes.
    """

    title: str
    findings: tuple[Finding, ...]
    gone: str
    at: str | None


class MemoryLists(Browser):
    """Both files, one after the other; or the agent's copies of them."""

    TITLES = ("Memory", "Entry")

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, MemoryItem] = {}
        self._copies: dict[str, CopyItem] = {}
        self._stores: dict[str, StoreInfo] = {}
        self._comparing = False
        self._at: str | None = None
        #: Where the cursor goes once the list is read again.
        self._follow: str | None = None
        self._left: Left | None = None
        #: Rows that came with the last reading, and files that an undo put back since.
        self._came: frozenset[str] = frozenset()
        self._returning: frozenset[str] = frozenset()
        self._compared: tuple[CopyItem, str, Change | None] | None = None

    def paint_row(self, item: MemoryItem | CopyItem, width: int) -> Sequence[Content]:
        return copy_row(item, width) if isinstance(item, CopyItem) else memory_row(item, width)

    # -- reading ---------------------------------------------------------------------------

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[tuple[Store, ...], tuple[Copy, ...]]:
            from core.desk.memories import copies, stores

            return stores(opened), copies(opened)

        self.start_job("list", work, self._listed, self.job_failed)

    def _listed(self, read: tuple[tuple[Store, ...], tuple[Copy, ...]]) -> None:
        stores, copies = read
        before = self._items.keys()
        self._items = {item.key: item for store in stores for item in entry_items(store)}
        self._copies = {item.key: item for item in copy_items(copies, self.signoff.now())}
        self._stores = {store.path: store_info(store, copies) for store in stores}
        self._compared = None
        self._came = frozenset(self._items.keys() - before) if before else frozenset()
        self._go_back_to(self._returning)
        self._returning = frozenset()
        self._fill()

    def brought_back(self, paths: frozenset[str]) -> None:
        """The cursor goes to the entry that an undo put back."""
        self._returning |= paths
        # The watcher may have been quicker than the reading that follows.
        if self._go_back_to(paths):
            self._fill()

    def _go_back_to(self, paths: frozenset[str]) -> bool:
        came = [
            key for key, item in self._items.items() if key in self._came and item.path in paths
        ]
        if came:
            self._follow = came[0]
        return bool(came)

    def _fill(self) -> None:
        """List the entries, or the copies; the cursor stays, or goes where the last change was."""
        self._comparing = self._comparing and bool(self._copies)
        if self._comparing:
            self.rows.set_items(list(self._copies.values()))
            title = f"The agent's copies ({len(self._copies)})"
        else:
            self.rows.set_items(list(self._items.values()))
            entries = sum(info.count for info in self._stores.values())
            title = f"Memory ({entries} {'entry' if entries == 1 else 'entries'})"
            if self._follow is not None and self.rows.move_to(self._follow):
                self._follow = None
            if self._left is not None and self._left.at is None:
                self._left = replace(self._left, at=self.rows.cursor_key)
        self.rows.border_title = Content(title)
        self.detail.border_title = Content("Difference" if self._comparing else "Entry")
        self.draw(keep=True)
        self.refresh_bindings()

    def draw(self, *, keep: bool) -> None:
        key = self.rows.cursor_key
        if key is None:
            return
        if self._comparing and key in self._copies:
            self._draw_copy(self._copies[key], keep)
        elif (item := self._items.get(key)) is not None:
            lines = memory_lines(item, self._stores[item.path], self.detail_width)
            self.detail.set_lines((*self._draw_left(key), *lines), keep=keep)

    def _draw_left(self, key: str) -> Sequence[Line]:
        left = self._left
        # What was forgotten may be back by now: then nothing of it "remains".
        if left is None or left.at != key or left.gone in self._items:
            return ()
        rule = Line(Content.styled("─" * self.detail_width, ink.LABEL))
        return (*left_lines(left.title, left.findings, self.detail_width), rule)

    def _draw_copy(self, item: CopyItem, keep: bool) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[CopyItem, str, Change | None]:
            return (item, *_difference(opened, item))

        if self._compared is not None and self._compared[0] == item:
            self._drawn(self._compared, keep)
        else:
            self.start_job(
                "detail", work, lambda made: self._drawn(made, False), self._not_compared
            )

    def _drawn(self, compared: tuple[CopyItem, str, Change | None], keep: bool) -> None:
        self._compared = compared
        if self._comparing:
            lines = copy_lines(
                *compared, self.detail_width, split=self.signoff.ui.split, folded=self._folded
            )
            self.detail.set_lines(lines, keep=keep)

    def _not_compared(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if isinstance(problem, SignoffError):
            self.flash(problem.message, ink.DANGER)
        else:
            self.job_failed(problem)

    # -- copies ----------------------------------------------------------------------------

    def action_compare(self) -> None:
        self._comparing = not self._comparing
        here, self._at = self._at, self.rows.cursor_key
        self._fill()
        if here is not None and self.rows.move_to(here):
            return
        self.rows.action_first()

    def action_close(self) -> None:
        if self._comparing and not self.has_class("-inside"):
            self.action_compare()
        else:
            super().action_close()


def _difference(opened: Opened, item: CopyItem) -> tuple[str, Change | None]:
    """The path of the file a copy was made of, and what changed since, if anything did."""
    from core.desk.memories import compare
    from core.model import Change, Node, NodeKind

    found = compare(opened, item.file, item.target)
    if found.copy.same:
        return found.path, None
    then, now = (
        None if data is None else Node(NodeKind.FILE, data) for data in (found.then, found.now)
    )
    return found.path, Change(found.path, then, now)
