"""Deciding what waits: one row, or those marked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render import ink
from console.render.queue import QueueItem
from console.screens.aftermath import Aftermath, could_land
from console.screens.batch import NO_RIVALS, Batch
from console.screens.bulk import Bulk
from console.screens.note import NoteScreen
from console.screens.room import Room
from console.widgets.rows import RowList

if TYPE_CHECKING:
    from core.desk.decide import Request
    from core.desk.opening import Opened
    from core.desk.review import Label, Shown
    from core.model import Receipt

#: What can land, as far as is known.
_LANDING = ("ready", "attention", "noop", "")


class DecidingRoom(Room):
    """A queue of rows that wait for a person's decision. A row is its record, never a place."""

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, QueueItem] = {}
        self._labels: dict[str, Label] = {}
        self._decided_at: dict[str, float] = {}
        self._left: frozenset[str] = frozenset()
        self._done: frozenset[str] = frozenset()
        self._shown: Shown | None = None
        self._asked = ""
        self._aftermath: Aftermath | None = None
        #: Rows that stay on screen although the filter leaves them out: they were just changed.
        self._held: set[str] = set()

    @property
    def queue(self) -> RowList[QueueItem]:
        """The list on screen."""
        return self.query_one("#queue", RowList)

    @property
    def _opened(self) -> Opened:
        opened = self.signoff.opened
        assert opened is not None
        return opened

    def rest(self) -> None:
        """Compute the preview once the cursor has rested a moment."""

    def show_queue(self, *, news: bool = True) -> None:
        """Draw the rows as they stand now; ``news``: those that were not there are new."""

    def show_question(self) -> None:
        """Bring what a row asks on screen, if it is not."""

    def _item(self) -> QueueItem | None:
        return self._items.get(self.queue.cursor_key or "")

    def _meant(self) -> list[QueueItem]:
        """The rows a decision takes: those marked, else the one at the cursor."""
        keys = self.queue.marked or tuple(filter(None, [self.queue.cursor_key]))
        return [item for key in keys if (item := self._items.get(key)) and not item.is_settled]

    def _named(self) -> str:
        """What a decision would take, in words."""
        if count := len(self.queue.marked):
            return f"{count:,} marked"
        item = self._item()
        return f"{item.action} → {item.target} ({item.id})" if item is not None else "nothing"

    # -- why not ---------------------------------------------------------------------------

    def why_not(self, action: str) -> str | None:
        if action == "approve":
            return self._why_not_approve()
        if action == "reject":
            return self._why_not_reject()
        return None

    def _why_not_approve(self) -> str | None:
        item = self._item()
        if self.queue.marked:
            return None
        if item is None or item.is_settled:
            return why_not_now(item)
        if item.status not in _LANDING:
            ways = "remove it by hand" if item.by_hand else ", ".join(self.ways_out(item))
            return f"It would not land ({item.status.replace('_', ' ')}): {ways}"
        return None

    def ways_out(self, item: QueueItem) -> list[str]:
        """What can be done with a row that would not land, each with its key."""
        return [keyed("{review.reject} refuses it")]

    def _why_not_reject(self) -> str | None:
        item = self._item()
        if self.queue.marked:
            return None
        if item is not None and item.by_hand and not item.is_settled:
            return f"It could not be brought back: remove {item.key} by hand"
        return why_not_now(item)

    # -- one row, or those marked ----------------------------------------------------------

    def action_approve(self) -> None:
        if self._asks_first():
            sentence = keyed("It asks first: read the warning; {review.approve} again applies it")
            self.flash(sentence, ink.WARNING)
            self.show_question()
        else:
            self._decide("approve", "")

    def _asks_first(self) -> bool:
        """Whether the row at the cursor has a question that this very preview has not asked yet."""
        item = self._item()
        if self.queue.marked or item is None or item.status != "attention":
            return False
        seal = self._seal(item)
        asked, self._asked = self._asked, seal or ""
        return seal is not None and asked != seal

    def action_reject(self) -> None:
        self._decide("reject", "")

    def action_note(self, verb: str) -> None:
        def decided(note: str | None) -> None:
            if note is not None:
                self._decide(verb, note)

        word = "approve" if verb == "approve" else "refuse"
        question = f"{word.capitalize()} {self._named()}"
        self.app.push_screen(NoteScreen(question, f"{word}s"), decided)

    def _decide(self, verb: str, note: str) -> None:
        from core.desk.decide import Request

        several = len(self.queue.marked) > 1
        items = self._meant()
        asking = [item for item in items if item.status == "attention"]
        if verb == "approve" and not several and asking and self._seal(asking[0]) is None:
            self.flash("Its preview is still being read: look, then press again", ink.WARNING)
            return
        skipped = asking if verb == "approve" and several else []
        taken = [item for item in items if item not in skipped]
        # Several are approved as they were shown, never by name: a name would answer any question.
        judged = self._labels.keys() if verb == "approve" and several else self._items.keys()
        unjudged = [item for item in taken if item.key not in judged]
        for item in unjudged:
            self._failed(item, _unjudged(item))
            taken.remove(item)
        self.queue.clear_marks()
        labels = [self._labels[item.key] for item in taken if item.key in self._labels]
        if verb == "approve":
            labels = [meant_to_land(label) for label in labels]
        if several and len(labels) == len(taken) > 0:
            request = Request((), note, rows=tuple(labels))
        else:
            seal = self._seal(taken[0]) if verb == "approve" and len(taken) == 1 else None
            request = Request(tuple(item.token for item in taken), note, seal=seal)
        rivals = self._rivals_of(taken) if verb == "approve" else NO_RIVALS
        batch = Batch(verb, len(taken), len(skipped), rivals, len(unjudged))
        if taken:
            self.decide_each(batch, taken, partial(begin, self._opened, verb, request))
        else:
            self.show_queue()
            self.flash(*batch.sentence())

    def _failed(self, item: QueueItem, why: str) -> None:
        """The row says why it could not be decided, whatever a filter leaves out."""
        self._items[item.key] = replace(item, fate="failed", note=why)
        self._held.add(item.key)

    def _seal(self, item: QueueItem) -> str | None:
        if self._shown is None or self._shown.proposal.file != item.key:
            return None
        return self._shown.seal

    # -- a bulk step -----------------------------------------------------------------------

    def decide_each(
        self,
        batch: Batch,
        items: Sequence[QueueItem],
        start: Callable[[], Iterator[Receipt]],
        known: Iterable[str] | None = None,
    ) -> None:
        """Decide ``items`` one after the other as one step; ``known``: the rows seen before it."""
        from core.desk.decide import waiting

        known = frozenset(self._items if known is None else known)
        bulk = Bulk(start, len(items), known, partial(waiting, self._opened))
        could = could_land(self._items)
        for item in items:
            self._items[item.key] = replace(item, fate="working", note="")
            self.signoff.write(bulk.step, partial(self._decided, batch, bulk, could), item.key)
        self.show_queue()

    def _decided(
        self, batch: Batch, bulk: Bulk, could: frozenset[str], key: str, receipt: Receipt
    ) -> None:
        item = self._items.get(key)
        if item is not None and receipt.subject == key:
            receipt = replace(receipt, subject=item.id)
        if receipt.ok:
            self._items.pop(key, None)
            self._decided_at[key] = time.monotonic()
        elif item is not None:
            self._failed(item, receipt.message)
        if batch.add(key, receipt):
            self._left, self._done = batch.left, batch.done
            self._aftermath = Aftermath(batch, bulk.newcomers, could, time.monotonic())
            self.flash(*batch.sentence(bulk.newcomers, len(self.waiting_rivals())))
        self.show_queue()
        self.rest()

    def say_lost(self, begun: float) -> None:
        """Every row is judged as it was read at ``begun``: say who would not land any more."""
        after = self._aftermath
        if after is None or begun < after.at:
            return
        self._aftermath = None
        lost = after.lost(self._items)
        if not lost:
            return
        self.signoff.remark(f"{lost[:1].upper()}{lost[1:]}.")
        rivals = len(self.waiting_rivals())
        if self.said in ("", after.batch.sentence(after.newcomers, rivals)[0]):
            self.flash(*after.batch.sentence(after.newcomers, rivals, lost))

    # -- rivals ----------------------------------------------------------------------------

    def _rivals_of(self, items: Sequence[QueueItem]) -> dict[str, frozenset[str]]:
        """``key -> rows that want the same entry, file or skill``."""
        holders: dict[str, set[str]] = {}
        for key, label in self._labels.items():
            for claim in label.claims:
                holders.setdefault(claim, set()).add(key)
        mine = {item.key: self._labels.get(item.key) for item in items}
        return {
            key: frozenset().union(*(holders[claim] for claim in label.claims)) - {key}
            for key, label in mine.items()
            if label is not None
        }

    def waiting_rivals(self) -> list[QueueItem]:
        """Who wants what was decided last; nobody any more once that was taken back."""
        if not self._done.isdisjoint(self._items):
            return []
        found = (self._items.get(key) for key in self._left)
        waiting = {item.key for item in found if item is not None and not item.is_settled}
        return [item for key, item in self._items.items() if key in waiting] if waiting else []


def _unjudged(item: QueueItem) -> str:
    return item.summary if item.broken else "It is still being judged; try again"


def why_not_now(item: QueueItem | None) -> str | None:
    """Why there is nothing to decide in ``item``, the row at the cursor."""
    if item is None:
        return "The queue is empty"
    return f"{item.id} is {item.fate}" if item.is_settled else None


def why_not_change(item: QueueItem | None) -> str | None:
    """Why ``item`` can be neither put off nor edited."""
    reason = why_not_now(item)
    if reason is None and item is not None and item.broken:
        way = "remove it by hand" if item.by_hand else "only refused"
        return f"It cannot be read, {way}"
    return reason


def meant_to_land(label: Label) -> Label:
    """A marked row as the person means it: what fails alone may land once others made room.

    The forecast shows in this order whether it will. A record rewritten since, or a new question,
    still keeps it back.
    """
    return label if label.status in _LANDING else replace(label, category="ok")


def begin(opened: Opened, verb: str, request: Request) -> Iterator[Receipt]:
    from core.desk.decide import approvals, rejections

    return (approvals if verb == "approve" else rejections)(opened, request)
