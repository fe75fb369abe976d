"""Journal: what was decided on this home, by others, or on the note store; and taking it back."""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.content import Content
from textual.events import ScreenResume

from console.keymap import keyed
from console.places import short
from console.render import ink
from console.render.acceptance import OriginRate, acceptance_lines
from console.render.journal import (
    JournalDetail,
    JournalItem,
    bulk_lines,
    journal_lines,
    journal_row,
)
from console.screens.journal_rows import by_steps, journal_items
from console.screens.journal_undoing import JournalUndoing, decided_on
from console.screens.note import NoteScreen
from console.screens.room import bindings_of
from console.screens.sheet import Sheet

if TYPE_CHECKING:
    from core.journal import Entry
    from core.model import Receipt

#: Cells of a title: what a person looks for may be long.
TITLE = 60
#: Entries read at a time: more than anyone pages through. A search reads all.
LIMIT = 2000
_NOT_UNDONE = {
    "open": "Entry {} did not end: the next decision settles it",
    "torn": "Entry {} is torn: look at its files, then {{journal.put_away}} puts it away",
    "failed": "Entry {} changed nothing",
    "dropped": "Entry {} changed nothing",
    "put away": "Entry {} was torn and put away: what is left of it is mended by hand",
    "outside": "Another writer made this change: signoff cannot undo it",
}


class JournalScreen(JournalUndoing):
    """Open and torn entries first, then the newest; or those that a search finds."""

    MODE = "journal"
    AREAS = frozenset({"queue", "memory", "skills", "journal", "knowledge"})
    BINDINGS: ClassVar = bindings_of("journal")
    LEFT_OUT = frozenset({"put_away"})
    TITLES = ("Decisions", "What it changed")

    def __init__(self) -> None:
        super().__init__()
        self._items: dict[str, JournalItem] = {}
        self._entries: tuple[JournalItem, ...] = ()
        #: Bulk steps whose parts are listed.
        self._steps: set[int] = set()
        self._detail: JournalDetail | None = None
        self._query = ""
        #: Whether the decisions are those on the note store, and the mode a visitor came from.
        self._of_notes = False
        self._back = ""

    def paint_row(self, item: JournalItem, width: int) -> Sequence[Content]:
        return journal_row(item, width)

    def reload(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        query, of_notes = self._query, self._of_notes

        def work() -> tuple[JournalItem, ...]:
            from core.desk.decisions import search
            from core.desk.history import entries

            read = entries(decided_on(opened, of_notes), None if query else LIMIT)
            return journal_items(search(read, query) if query else read, read, opened.clock())

        self.start_job("list", work, partial(self._read_of, of_notes), self.job_failed)

    def _read_of(self, of_notes: bool, items: tuple[JournalItem, ...]) -> None:
        # The other journal may have been asked for meanwhile.
        if of_notes == self._of_notes:
            self._listed(items)

    def _listed(self, items: tuple[JournalItem, ...]) -> None:
        self._entries = items
        # What a search finds is shown as it is, never inside a step.
        rows = items if self._query else by_steps(items, self._steps)
        self._items = {item.key: item for item in rows}
        self.rows.set_items(rows)
        where = " on notes" if self._of_notes else ""
        title = f"Decisions{where} ({len(items):,})"
        if self._query:
            title = f"{len(items):,}{where} with “{self._query}”"
        self.rows.border_title = ink.cut(title, TITLE)
        self.show_empty(not items, self.rows, self.detail)
        if not items:
            nothing = "Nothing was decided here yet. Every decision appears here and can be undone."
            found = f"No decision has “{self._query}” in its words or paths. "
            found += keyed("{journal.close} shows all.")
            if self._of_notes:
                nothing = "Nothing was decided on the note store yet. "
                nothing += keyed("{journal.close} goes back.")
            self.say(found if self._query else nothing)
        self.draw(keep=True)
        self.refresh_bindings()

    def draw(self, *, keep: bool) -> None:
        key, opened = self.rows.cursor_key, self.signoff.opened
        if key is None or opened is None:
            return
        item = self._items[key]
        if item.whole:
            self.detail.set_lines(bulk_lines(item, self.detail_width), keep=keep)
            return
        number = item.number

        def work() -> JournalDetail:
            entry = opened.journal.entry(number)
            undone = opened.journal.entry(entry.undoes) if entry.undoes else entry
            return _detail(item, entry, (entry.record, undone.record))

        if self._detail is not None and self._detail.item == item:
            self._drawn(self._detail, keep)
            return
        self.start_job("detail", work, self._read, self.job_failed)

    def _read(self, detail: JournalDetail) -> None:
        # The cursor may be on a bulk step by now, which is drawn at once.
        if self.rows.cursor_key == detail.item.key:
            self._drawn(detail, False)

    def _drawn(self, detail: JournalDetail, keep: bool) -> None:
        self._detail = detail
        lines = journal_lines(
            detail, self.detail_width, split=self.signoff.ui.split, folded=self._folded
        )
        self.detail.set_lines(lines, keep=keep)

    def why_not(self, action: str) -> str | None:
        if action == "rates" and self._of_notes:
            return "Notes are learnt, not proposed: there is nothing to approve"
        item = self._items.get(self.rows.cursor_key or "")
        if item is None:
            if action not in ("undo_this", "put_away", "open", "fold", "split"):
                return None
            return "No decision is found" if self._query else "Nothing was decided here yet"
        if action == "put_away" and item.state != "torn":
            return f"Entry {item.number} is not torn: there is nothing to put away"
        if action != "undo_this":
            return None
        if item.undone_by is not None or (item.whole and item.state == "undone"):
            named = f"Bulk step {item.bulk.number}" if item.whole and item.bulk else ""
            return f"{named or f'Entry {item.number}'} is undone already"
        said = _NOT_UNDONE.get(item.state, "").format(item.number)
        return keyed(said) or None

    # -- of the home, or of notes ----------------------------------------------------------

    def on_screen_resume(self, _event: ScreenResume) -> None:
        if self.signoff.of_notes:
            self.signoff.of_notes = False
            self._show_of(notes=True, back="knowledge")

    def action_notes(self) -> None:
        self._show_of(notes=not self._of_notes)

    def _show_of(self, *, notes: bool, back: str = "") -> None:
        self._of_notes, self._back, self._query = notes, back, ""
        self.flash("")
        super().action_close()
        self.reload()

    # -- looking for -----------------------------------------------------------------------

    def action_search(self) -> None:
        ask = NoteScreen(
            "Search the decisions", "shows what has it", "a subject, note, message or path"
        )
        self.app.push_screen(ask, self._search)

    def _search(self, wanted: str | None) -> None:
        if wanted is not None:
            self._query = " ".join(wanted.split())
            self.reload()

    def action_open(self) -> None:
        item = self._items.get(self.rows.cursor_key or "")
        if item is None or item.bulk is None or not item.whole:
            super().action_open()
            return
        self._steps ^= {item.bulk.number}
        self._listed(self._entries)

    def action_close(self) -> None:
        item = self._items.get(self.rows.cursor_key or "")
        if item and item.bulk and item.bulk.opened and not self.has_class("-inside"):
            self._steps -= {item.bulk.number}
            self._listed(self._entries)
            self.rows.move_to(f"bulk {item.bulk.number}")
        elif self._query and not self.has_class("-inside"):
            self._search("")
        elif self._of_notes and not (self.has_class("-inside") or self._reads_text):
            back = self._back
            self._show_of(notes=False)
            if back:
                self.signoff.leave_for(back)
        else:
            super().action_close()

    @property
    def _reads_text(self) -> bool:
        return self.detail.has_focus and not self.has_class("-empty")

    def action_rates(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> tuple[OriginRate, ...]:
            from core.desk.decisions import acceptance

            return tuple(
                OriginRate(origin, each.approved, each.rejected, each.rate)
                for origin, each in acceptance(opened).items()
            )

        self.start_job("sheet", work, self._show_rates, self.job_failed)

    def _show_rates(self, rates: tuple[OriginRate, ...]) -> None:
        self.app.push_screen(Sheet("Approved, by origin", partial(acceptance_lines, rates)))

    # -- deciding --------------------------------------------------------------------------

    def action_put_away(self) -> None:
        item, opened = self._items.get(self.rows.cursor_key or ""), self.signoff.opened
        if item is None or opened is None:
            return

        of_notes = self._of_notes

        def task() -> Receipt:
            from core.desk.history import put_away
            from core.model import Receipt

            put_away(decided_on(opened, of_notes), item.number)
            return Receipt(item.key, True, "ok", f"Entry {item.number} is put away")

        self.signoff.write(task, self._put_away, item.key)

    def _put_away(self, _key: str, receipt: Receipt) -> None:
        self.flash(receipt.message, ink.GOOD if receipt.ok else ink.DANGER)
        self.signoff.tell(frozenset({"journal"}))


def _detail(item: JournalItem, entry: Entry, records: Container[str | None]) -> JournalDetail:
    from core.desk.receipts import after_entry

    user, parent = entry.actor.get("user", ""), entry.actor.get("parent", "")
    by = "noticed by" if item.state == "outside" else "by"
    who = f"{by} {user}, {entry.actor.get('terminal') or 'no terminal'}, from {parent}"
    kept = [step.change for step in entry.steps if not step.edits]
    # The proposal itself is no news beside what it changes; it was shown when it was decided.
    changed = [change for change in kept if change.path not in records]
    return JournalDetail(
        item=item,
        at=entry.at[:19].replace("T", " "),
        home=short(entry.home),
        profile=entry.profile,
        who=who,
        changed=tuple(path for path in entry.changed if entry.ok and path != entry.record),
        next=after_entry(entry),
        entries=entry.entries,
        changes=tuple(changed or kept),
    )
