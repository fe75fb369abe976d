"""Memory: what the agent carries into every prompt, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from console.render.memory import MemoryItem, StoreInfo, memory_lines, memory_row
from console.screens.browser import Browser
from console.screens.room import bindings_of

if TYPE_CHECKING:
    from core.desk.memories import Store


class MemoryScreen(Browser):
    """Both files, one after the other."""

    MODE = "memory"
    AREAS = frozenset({"memory"})
    BINDINGS: ClassVar = bindings_of("memory")
    TITLES = ("Memory", "Entry")

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, MemoryItem] = {}
        self._stores: dict[str, StoreInfo] = {}

    def paint_row(self, item: MemoryItem, width: int) -> Sequence[Content]:
        return memory_row(item, width)

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[Store, ...]:
            from core.desk.memories import stores

            return stores(opened)

        self.start_job("list", work, self._listed, self.job_failed)

    def _listed(self, stores: tuple[Store, ...]) -> None:
        items = [item for store in stores for item in _items(store)]
        self._items = {item.key: item for item in items}
        self._stores = {store.path: _info(store) for store in stores}
        self.rows.set_items(items)
        entries = sum(info.count for info in self._stores.values())
        self.rows.border_title = Content(f"Memory ({entries} entries)")
        self.draw(keep=True)

    def draw(self, *, keep: bool) -> None:
        item = self._items.get(self.rows.cursor_key or "")
        if item is not None:
            lines = memory_lines(item, self._stores[item.path], self.detail_width)
            self.detail.set_lines(lines, keep=keep)

    def why_not(self, action: str) -> str | None:
        if action == "copy" and self._chosen() is None:
            return "There is no entry to copy"
        return None

    def action_copy(self) -> None:
        if (item := self._chosen()) is not None:
            self.app.copy_to_clipboard(item.text)
            self.flash("Sent to the terminal's clipboard, as it is stored")

    def _chosen(self) -> MemoryItem | None:
        item = self._items.get(self.rows.cursor_key or "")
        return item if item is not None and item.index else None


def _items(store: Store) -> list[MemoryItem]:
    if not store.entries:
        word = store.reason or ("no file yet" if store.state == "absent" else "empty")
        return [MemoryItem(f"{store.path}#0", store.path, 0, word, 0, ())]
    return [
        MemoryItem(f"{store.path}#{e.index}", store.path, e.index, e.text, e.size, e.findings)
        for e in store.entries
    ]


def _info(store: Store) -> StoreInfo:
    return StoreInfo(
        path=store.path,
        link=store.link,
        used=store.used,
        limit=store.limit,
        count=len(store.entries),
        problem=store.reason,
        drift=store.drift.message if store.drift else "",
    )
