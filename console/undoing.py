"""Taking back the newest: a decision, every part of a bulk step, or that something was put off."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.snoozing import Nap
    from core.journal import Entry
    from core.model import Receipt


def take_back(
    opened: Opened, taken: list[Receipt], naps: list[Nap], since: datetime, older: list[Entry]
) -> Receipt:
    """Undo the newest step; ``taken`` gets the receipt of each part, the last is returned.

    ``naps`` is what was put off last: while nothing was decided since, it is the newest, and is
    emptied. A step from before ``since``, or made at another terminal, is not what a person means
    by a key for the last thing they did: it is put into ``older``, and nothing is taken back.
    """
    from core.desk.history import newest
    from core.desk.snoozing import is_newest
    from core.journal import actor
    from core.model import Receipt

    if is_newest(opened, naps):
        return _wake(opened, naps)
    found = newest(opened)
    if datetime.fromisoformat(found[0].at) < since or dict(found[0].actor) != actor():
        older.extend(found)
        return Receipt("undo", False, "asks", "Nothing was taken back yet: it is of another time")
    return take_these(opened, taken, [entry.id for entry in found])


def take_these(opened: Opened, taken: list[Receipt], numbers: Sequence[int]) -> Receipt:
    """Undo these entries, as :func:`take_back` does."""
    from core.desk.history import undo_each

    taken.extend(undo_each(opened, numbers))
    return taken[-1]


def _wake(opened: Opened, naps: list[Nap]) -> Receipt:
    from core.desk.snoozing import put_back
    from core.model import Receipt

    slept, count = any(nap.before for nap in naps), len(naps)
    first = naps[0].token.rpartition("/")[2]
    while naps:
        put_back(opened, naps[-1])
        naps.pop()
    named, verb = (first, "is") if count == 1 else (f"{count:,} records", "are")
    said = f"{named} {verb} put off as before" if slept else f"{named} {verb} awake again"
    return Receipt(first, True, "ok", said)


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
