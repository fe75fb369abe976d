"""Journal: what was decided on this home, what it changed, and taking it back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content

from console.ages import span
from console.places import short
from console.render import ink
from console.render.journal import JournalDetail, JournalItem, journal_lines, journal_row
from console.screens.browser import Browser
from console.screens.room import bindings_of

if TYPE_CHECKING:
    from core.journal import Entry
    from core.model import Receipt

#: Entries read at a time: more than anyone pages through.
LIMIT = 2000
_NOT_UNDONE = {
    "open": "Entry {} did not end: the next decision settles it",
    "torn": "Entry {} is torn: `signoff doctor` says what to look at",
    "failed": "Entry {} changed nothing",
    "dropped": "Entry {} changed nothing",
}


class JournalScreen(Browser):
    """Open and torn entries first, then the newest."""

    MODE = "journal"
    AREAS = frozenset({"queue", "memory", "skills"})
    BINDINGS: ClassVar = bindings_of("journal")
    TITLES = ("Decisions", "What it changed")

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, JournalItem] = {}
        self._detail: JournalDetail | None = None

    def paint_row(self, item: JournalItem, width: int) -> Sequence[Content]:
        return journal_row(item, width)

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[Entry, ...]:
            from core.desk.history import entries

            return entries(opened, LIMIT)

        self.start_job("list", work, self._listed, self.job_failed)

    def _listed(self, entries: tuple[Entry, ...]) -> None:
        now = self.signoff.now()
        items = [_item(entry, now) for entry in entries]
        items.sort(key=lambda item: item.state not in ("open", "torn"))
        self._items = {item.key: item for item in items}
        self.rows.set_items(items)
        self.rows.border_title = Content(f"Decisions ({len(items):,})")
        self.show_empty(not items, self.rows, self.detail)
        if not items:
            self.say("Nothing was decided here yet. Every decision appears here and can be undone.")
        self.draw(keep=True)
        self.refresh_bindings()

    def draw(self, *, keep: bool) -> None:
        key, opened = self.rows.cursor_key, self.signoff.opened
        if key is None or opened is None:
            return
        item, number = self._items[key], int(key)

        def work() -> JournalDetail:
            return _detail(item, opened.journal.entry(number))

        if self._detail is not None and self._detail.item == item:
            self._drawn(self._detail, keep)
            return
        self.start_job("detail", work, lambda made: self._drawn(made, False), self.job_failed)

    def _drawn(self, detail: JournalDetail, keep: bool) -> None:
        self._detail = detail
        lines = journal_lines(
            detail, self.detail_width, split=self.signoff.ui.split, folded=self._folded
        )
        self.detail.set_lines(lines, keep=keep)

    def why_not(self, action: str) -> str | None:
        item = self._items.get(self.rows.cursor_key or "")
        if item is None and action in ("undo_this", "open", "fold", "split"):
            return "Nothing was decided here yet"
        if item is None or action != "undo_this":
            return None
        if item.undone_by is not None:
            return f"Entry {item.number} is undone already"
        return _NOT_UNDONE[item.state].format(item.number) if item.state in _NOT_UNDONE else None

    def action_fold(self) -> None:
        self._folded = not self._folded
        self.draw(keep=True)

    def action_split(self) -> None:
        self.signoff.toggle_split(self.detail_width)
        self.draw(keep=True)

    def action_undo_this(self) -> None:
        key, opened = self.rows.cursor_key, self.signoff.opened
        if key is None or opened is None:
            return

        def task() -> Receipt:
            from core.desk.history import undo

            return undo(opened, int(key))

        self.signoff.write(task, self._undone, key)

    def _undone(self, _key: str, receipt: Receipt) -> None:
        self.flash(receipt.message, ink.GOOD if receipt.ok else ink.DANGER)
        self.signoff.tell(frozenset({"queue", "memory", "skills"}))


def _item(entry: Entry, now: datetime) -> JournalItem:
    seconds = (now - datetime.fromisoformat(entry.at)).total_seconds()
    age = "just now" if 0 <= seconds < 60 else f"{span(seconds)} ago" if seconds > 0 else ""
    return JournalItem(
        key=str(entry.id),
        number=entry.id,
        verb=entry.verb,
        subject=entry.subject,
        state="undone" if entry.undone_by is not None else str(entry.state),
        age=age or entry.at[:10],
        message=entry.message,
        note=entry.note,
        undone_by=entry.undone_by,
    )


def _detail(item: JournalItem, entry: Entry) -> JournalDetail:
    user, parent = entry.actor.get("user", ""), entry.actor.get("parent", "")
    who = f"by {user}, {entry.actor.get('terminal') or 'no terminal'}, from {parent}"
    return JournalDetail(
        item=item,
        at=entry.at[:19].replace("T", " "),
        home=short(entry.home),
        profile=entry.profile,
        who=who,
        entries=entry.entries,
        changes=tuple(
            s.change for s in entry.steps if not s.edits and s.change.path != entry.record
        ),
    )
