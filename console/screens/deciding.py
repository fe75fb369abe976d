"""Deciding what waits: one row, those marked, the dead, the rivals of what was approved."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render import ink
from console.render.hints import with_keys
from console.render.line import Line, wrapped
from console.render.queue import QueueItem
from console.screens.aftermath import Aftermath, could_land
from console.screens.batch import NO_RIVALS, Batch
from console.screens.bulk import Bulk
from console.screens.confirm import Confirm
from console.screens.note import NoteScreen
from console.screens.room import Room
from console.widgets.rows import RowList

if TYPE_CHECKING:
    from datetime import datetime

    from core.desk.decide import Request
    from core.desk.opening import Opened
    from core.desk.review import Label, Shown
    from core.desk.snoozing import Nap
    from core.model import Receipt

#: What can land, as far as is known.
_LANDING = ("ready", "attention", "noop", "")
#: What can no longer apply, by the words of the queue: ``core.desk.triage.DEAD``.
_DEAD = ("stale", "noop", "invalid")


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
        if action == "snooze":
            return self._why_not_wait()
        if action == "refuse_dead" and not any(map(_is_dead, self.queue.items)):
            return "Nothing on screen is known to be past applying"
        if action == "refuse_rivals" and not self._waiting_rivals():
            return "No rival waits of what was approved last"
        return None

    def _why_not_approve(self) -> str | None:
        item = self._item()
        if self.queue.marked:
            return None
        if item is None or item.is_settled:
            return why_not_now(item)
        if item.status not in _LANDING:
            way = "remove it by hand" if item.by_hand else keyed("{review.reject} refuses it")
            return f"It would not land ({item.status.replace('_', ' ')}): {way}"
        return None

    def _why_not_reject(self) -> str | None:
        item = self._item()
        if self.queue.marked:
            return None
        if item is not None and item.by_hand and not item.is_settled:
            return f"It could not be brought back: remove {item.key} by hand"
        return why_not_now(item)

    def _why_not_wait(self) -> str | None:
        return None if self.queue.marked else why_not_change(self._item())

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
            self._items[item.key] = replace(item, fate="failed", note=_unjudged(item))
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
            self._take(batch, taken, partial(_begin, self._opened, verb, request))
        else:
            self.show_queue()
            self.flash(*batch.sentence())

    def _seal(self, item: QueueItem) -> str | None:
        if self._shown is None or self._shown.proposal.file != item.key:
            return None
        return self._shown.seal

    # -- a bulk step -----------------------------------------------------------------------

    def _take(
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
            self._items[key] = replace(item, fate="failed", note=receipt.message)
        if batch.add(key, receipt):
            self._left, self._done = batch.left, batch.done
            self._aftermath = Aftermath(batch, bulk.newcomers, could, time.monotonic())
            self.flash(*batch.sentence(bulk.newcomers, len(self._waiting_rivals())))
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
        rivals = len(self._waiting_rivals())
        if self.said in ("", after.batch.sentence(after.newcomers, rivals)[0]):
            self.flash(*after.batch.sentence(after.newcomers, rivals, lost))

    # -- the dead, and the rivals ----------------------------------------------------------

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

    def _waiting_rivals(self) -> list[QueueItem]:
        """Who wants what was decided last; nobody any more once that was taken back."""
        if not self._done.isdisjoint(self._items):
            return []
        found = (self._items.get(key) for key in self._left)
        waiting = {item.key for item in found if item is not None and not item.is_settled}
        return [item for key, item in self._items.items() if key in waiting] if waiting else []

    def action_refuse_dead(self) -> None:
        from core.desk.triage import dead

        rows = [self._labels[item.key] for item in self.queue.items if item.key in self._labels]
        self._review(dead(rows), "can no longer apply", _as_shown)

    def action_refuse_rivals(self) -> None:
        rows = [self._labels[item.key] for item in self._waiting_rivals()]
        self._review(rows, "want what was just approved", self._as_now)

    def _review(
        self,
        rows: Sequence[Label],
        why: str,
        fresh: Callable[[Sequence[Label]], Sequence[Label]],
    ) -> None:
        """Let a person look at ``rows``, and refuse these very rows if they agree."""
        known = frozenset(self._items)

        def decided(agreed: bool | None) -> None:
            if not agreed:
                return
            found = [(row, self._items.get(row.proposal.file)) for row in rows]
            taken = [(row, item) for row, item in found if item and not item.is_settled]
            if not taken:
                self.flash("All of them were decided meanwhile")
                return
            labels = [row for row, _ in taken]
            batch = Batch("reject", len(taken), 0)
            start = partial(_refuse, self._opened, partial(fresh, labels))
            self._take(batch, [item for _, item in taken], start, known)

        lines = partial(_listed, rows)
        count = f"{len(rows):,}"
        title = f"Refuse {count} that {why}?"
        self.app.push_screen(Confirm(title, f"refuses {count}", lines), decided)

    def _as_now(self, rows: Sequence[Label]) -> Sequence[Label]:
        """The same records judged now: how they end is not why they are refused."""
        from core.desk.review import label_one

        judging = self._opened.judging()
        return [label_one(self._opened.source, row.proposal, judging) for row in rows]

    # -- later -----------------------------------------------------------------------------

    def action_snooze(self) -> None:
        items = [item for item in self._meant() if not item.broken]

        def asked(words: str | None) -> None:
            if words is None or not items:
                return
            from core.desk.decisions import time_until
            from core.errors import UsageError

            try:
                now = self.signoff.now()
                until = None if words.strip() == "now" else time_until(words, now)
            except UsageError as problem:
                self.flash(f"{problem.message}. {problem.hint}", ink.WARNING)
                return
            self.queue.clear_marks()
            self.signoff.naps = []
            task = partial(_snooze, self._opened, items, until, self.signoff.naps)
            self.signoff.write(task, self._snoozed, items[0].key)

        question = f"Put off {self._named()} until"
        self.app.push_screen(NoteScreen(question, "puts it off", "7d, 12h, a date, or now"), asked)

    def _snoozed(self, key: str, receipt: Receipt) -> None:
        self.flash(receipt.message, ink.GOOD if receipt.ok else ink.DANGER)
        self.signoff.tell(frozenset({"queue"}))


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


def _is_dead(item: QueueItem) -> bool:
    return item.status in _DEAD and not item.is_settled


def _begin(opened: Opened, verb: str, request: Request) -> Iterator[Receipt]:
    from core.desk.decide import approvals, rejections

    return (approvals if verb == "approve" else rejections)(opened, request)


def _refuse(opened: Opened, rows: Callable[[], Sequence[Label]]) -> Iterator[Receipt]:
    from core.desk.decide import Request

    return _begin(opened, "reject", Request((), rows=tuple(rows())))


def _as_shown(rows: Sequence[Label]) -> Sequence[Label]:
    return rows


def _snooze(
    opened: Opened, items: Sequence[QueueItem], until: datetime | None, naps: list[Nap]
) -> Receipt:
    """Put ``items`` off as one step, which ``naps`` remembers as far as it came."""
    from core.desk.snoozing import put_off
    from core.model import Receipt

    # As they come: one that raises leaves those before it to be taken back.
    naps.extend(put_off(opened, item.token, until) for item in items)
    one = len(items) == 1
    named = items[0].id if one else f"{len(items):,} records"
    if until is None:
        said = f"{named} {'is' if one else 'are'} awake again"
    else:
        when = until.isoformat(sep=" ", timespec="minutes").removesuffix("+00:00")
        said = f"{named} {'sleeps' if one else 'sleep'} until {when} UTC; "
        said += keyed(f"{{app.undo}} wakes {'it' if one else 'them'}, ")
        said += keyed("{review.filter}is:snoozed lists what sleeps")
    return Receipt(items[0].id, True, "ok", said)


def _listed(rows: Sequence[Label], width: int) -> list[Line]:
    return [
        Line(piece)
        for row in rows
        for piece in wrapped(
            ink.line(
                f"{row.proposal.id}  {row.proposal.action} → {row.proposal.target}: ", ink.TITLE
            )
            + ink.line(f"{str(row.status).replace('_', ' ')} · {with_keys(row.message)}"),
            width,
            rest="  ",
        )
    ]
