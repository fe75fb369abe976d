"""Taking back the newest decision, or every part of a bulk step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.model import Receipt


def take_back(opened: Opened, taken: list[Receipt]) -> Receipt:
    """Undo the newest step; ``taken`` gets the receipt of each part, the last is returned."""
    from core.desk.history import undo_each

    taken.extend(undo_each(opened))
    return taken[-1]


def paths_of(taken: Sequence[Receipt]) -> frozenset[str]:
    """What stands in the home again, or does not: every path that was put back."""
    return frozenset(path for each in taken if each.ok for path in each.changed)


def said_of(taken: Sequence[Receipt], receipt: Receipt) -> str:
    """One sentence on what was taken back, and on what stopped it."""
    count = sum(each.ok for each in taken)
    if not count or len(taken) < 2:
        return receipt.message
    said = f"{count:,} decisions of one step taken back"
    return said if receipt.ok else f"{said}, then: {receipt.message} {receipt.next}"
