"""What the journal screen lists, made from the entries the desk read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from console.ages import span
from console.render.journal import BulkStep, JournalItem, standing

if TYPE_CHECKING:
    from core.journal import Entry

_OUTSIDE = "outside"


def journal_items(
    entries: Iterable[Entry], known: Iterable[Entry], now: datetime
) -> tuple[JournalItem, ...]:
    """A row for each of ``entries``, what did not end first. ``known``: all that was read.

    How much of a bulk step stands is counted among those.
    """
    parts: Counter[int] = Counter()
    standing: Counter[int] = Counter()
    for entry in known:
        # Rows of a step that did not land are no decisions.
        if (bulk := entry.tags.bulk) is not None and entry.ok:
            parts[bulk] += 1
            standing[bulk] += entry.undone_by is None
    steps = {bulk: BulkStep(bulk, count, standing[bulk]) for bulk, count in parts.items()}
    items = [_item(entry, now, steps) for entry in entries]
    return tuple(sorted(items, key=lambda item: item.state not in ("open", "torn")))


def by_steps(items: Sequence[JournalItem], opened: Collection[int]) -> tuple[JournalItem, ...]:
    """``items`` with each bulk step as one row where its first part stands.

    Below the row of a step of ``opened`` its parts are listed. A step of which only one part is
    there stays as it is.
    """
    steps: dict[int, list[JournalItem]] = {}
    for item in items:
        if item.bulk is not None:
            steps.setdefault(item.bulk.number, []).append(item)
    return tuple(_by_steps(items, steps, opened))


def _by_steps(
    items: Sequence[JournalItem], steps: dict[int, list[JournalItem]], opened: Collection[int]
) -> Iterator[JournalItem]:
    for item in items:
        parts = steps.get(item.bulk.number, []) if item.bulk is not None else []
        if item.bulk is None or len(parts) < 2:
            yield item
        elif item is parts[0]:
            step = replace(item.bulk, opened=item.bulk.number in opened)
            yield _whole(step, parts)
            yield from (replace(part, bulk=step) for part in parts if step.opened)


def _whole(step: BulkStep, parts: Sequence[JournalItem]) -> JournalItem:
    verbs = list(dict.fromkeys(part.verb for part in parts))
    verb = verbs[0] if len(verbs) == 1 else "decide"
    return replace(
        parts[0],
        key=f"bulk {step.number}",
        verb=verb,
        subject=f"{len(parts):,} at once",
        state="done" if step.standing else "undone",
        message=standing(step),
        note=parts[0].note if len({part.note for part in parts}) == 1 else "",
        undone_by=None,
        bulk=step,
        whole=tuple(parts),
    )


def _item(entry: Entry, now: datetime, steps: dict[int, BulkStep]) -> JournalItem:
    seconds = (now - datetime.fromisoformat(entry.at)).total_seconds()
    age = "just now" if 0 <= seconds < 60 else f"{span(seconds)} ago" if seconds > 0 else ""
    step = steps.get(entry.tags.bulk) if entry.tags.bulk is not None and entry.ok else None
    return JournalItem(
        key=str(entry.id),
        number=entry.id,
        verb=entry.verb,
        subject=entry.subject,
        state=_state(entry),
        age=age or entry.at[:10],
        message=entry.message,
        note=entry.note,
        undone_by=entry.undone_by,
        bulk=step,
    )


def _state(entry: Entry) -> str:
    if entry.undone_by is not None:
        return "undone"
    if entry.verb == _OUTSIDE:
        return _OUTSIDE
    if entry.category == "torn" and entry.state == "dropped":
        return "put away"
    return str(entry.state)
