"""The filter over a queue: which of its rows are on screen."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render.queue import QueueItem
from console.screens.filtered import Filtered
from console.screens.promoting import PromotingRoom
from console.widgets.rows import RowList

if TYPE_CHECKING:
    from console.screens.filtering import Wanted
    from core.desk.triage import Filter


class NarrowingRoom(PromotingRoom, Filtered):
    """Rows that sleep, or that a line of words leaves out, are not on screen."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted: Wanted | None = None
        self._sleeping: set[str] = set()

    @property
    def rows(self) -> RowList[QueueItem]:
        return self.queue

    def narrow(self, line: str) -> None:
        from console.screens.filtering import parse

        items = self._items.values()
        targets = dict.fromkeys(item.target for item in items if not item.broken)
        self._wanted = parse(line, targets, dict.fromkeys(item.origin for item in items))
        self._held.clear()
        self.show_queue(news=False)
        self.rest()

    def _visible(self) -> list[QueueItem]:
        """The rows that are meant to be seen; one that is not judged yet only without a filter."""
        from core.desk.triage import ALL, select

        wanted, labels = self._wanted, self._labels
        asleep = self._sleeping
        if wanted is None or wanted.rows == ALL:
            meant: Container[str] = self._items
        else:
            here = [labels[key] for key in self._items if key in labels]
            found = select(here, wanted.rows, self.signoff.now())
            broken = (key for key, item in self._items.items() if item.broken)
            meant = {
                *(label.proposal.file for label in found),
                *(key for key in broken if _fits(self._items[key], wanted.rows)),
                *self._held,
            }
        only = wanted is not None and wanted.asleep
        items = self._items.items()
        return [item for key, item in items if key in meant and (key in asleep) == only]

    def _why_none(self) -> str:
        """Why no row is on screen although some wait, in a few words; ``""`` if one is."""
        if self.queue.items or not self._items:
            return ""
        if self._is_whole():
            return keyed("all are snoozed: {review.filter}is:snoozed shows them")
        return keyed("the filter hides all: {review.close} takes it off")

    def hidden(self) -> int:
        """How many rows the filter leaves out, beside those that sleep."""
        if self._wanted is None or self._is_whole():
            return 0
        asleep = len(self._sleeping & self._items.keys())
        every = asleep if self._wanted.asleep else len(self._items) - asleep
        return every - len(self.queue.items)

    def _is_whole(self) -> bool:
        from console.screens.filtering import EVERYTHING

        return self._wanted in (None, EVERYTHING)


def _fits(item: QueueItem, rows: Filter) -> bool:
    """Whether a record that is no proposal, and has no label, is meant."""
    said = f"{item.id}\n{item.summary}".casefold()
    return (
        rows.status in (None, "unreadable")
        and rows.subsystem in (None, item.subsystem)
        and rows.target is None
        and rows.origin is None
        and rows.older_than is None
        and rows.text.casefold() in said
    )
