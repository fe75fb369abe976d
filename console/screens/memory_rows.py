"""What the memory screen lists, made from what the desk read."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from console.ages import age
from console.render.copies import CopyItem
from console.render.memory import MemoryItem, StoreInfo

if TYPE_CHECKING:
    from core.desk.memories import Copy, Store


def key_of(path: str, entry: str) -> str:
    """The key of an entry's row: its text, so that the cursor stays on it wherever it moves."""
    return f"{path}#{entry}"


def entry_items(store: Store) -> list[MemoryItem]:
    """A row for each entry, or one for a store that has none to show."""
    if not store.entries:
        word = store.reason or ("no file yet" if store.state == "absent" else "empty")
        return [MemoryItem(key_of(store.path, ""), store.path, 0, word, 0, ())]
    return [
        MemoryItem(key_of(store.path, e.text), store.path, e.index, e.text, e.size, e.findings)
        for e in store.entries
    ]


def copy_items(copies: tuple[Copy, ...], now: datetime) -> list[CopyItem]:
    """A row for each copy the agent made."""
    return [CopyItem(c.file, c.file, c.target, _ago(c, now), c.size, c.same) for c in copies]


def store_info(store: Store, copies: tuple[Copy, ...]) -> StoreInfo:
    """What stands over every entry of a store."""
    return StoreInfo(
        path=store.path,
        link=store.link,
        used=store.used,
        limit=store.limit,
        count=len(store.entries),
        problem=store.reason,
        drift=store.drift.message if store.drift else "",
        target=store.target,
        tokens=store.tokens,
        enabled=store.enabled,
        copies=sum(copy.target == store.target for copy in copies),
    )


def _ago(copy: Copy, now: datetime) -> str:
    length = age(None if copy.at is None else float(copy.at), now)
    return f"{length} ago" if length else ""
