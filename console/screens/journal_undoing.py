"""Taking decisions back in the Journal: one, a bulk step, or one with the later ones in its way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.render import ink
from console.render.journal import JournalItem
from console.screens.browser import Browser
from console.screens.taking_back import ask_back

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.journal import Entry
    from core.model import Receipt


class JournalUndoing(Browser):
    """Undo of what the cursor is on, in the home or (``_of_notes``) in its note store."""

    _of_notes: bool
    _items: dict[str, JournalItem]
    #: All that was read, newest first.
    _entries: Sequence[JournalItem]

    def action_undo_this(self) -> None:
        item = self._items.get(self.rows.cursor_key or "")
        if item is None:
            return
        if item.bulk is None:
            self._take_back([item.number], None, item.key)
            return
        bulk = item.bulk.number
        parts = [each for each in self._entries if each.bulk and each.bulk.number == bulk]
        standing = [part.number for part in parts if part.undone_by is None]
        self._take_back(standing, bulk, item.key)

    def takes_back(self) -> bool:
        if self._of_notes:
            self._take_back([], None, "undo")
        return self._of_notes

    def _take_back(self, numbers: Sequence[int], bulk: int | None, key: str) -> None:
        """Take back what stands of ``bulk``, else the entries ``numbers``, else the newest."""
        opened, of_notes = self.signoff.opened, self._of_notes
        taken: list[Receipt] = []
        if opened is None:
            return

        def task() -> Receipt:
            # As they come: one that raises leaves what was taken back before it.
            taken.extend(_undone(opened, of_notes, numbers, bulk))
            return taken[-1]

        self.signoff.write(task, partial(self._taken_back, numbers, bulk, taken), key)

    def _taken_back(
        self,
        numbers: Sequence[int],
        bulk: int | None,
        taken: list[Receipt],
        _key: str,
        receipt: Receipt,
    ) -> None:
        said, done = receipt.message, sum(each.ok for each in taken)
        if bulk is not None and done:
            count = "1 decision" if done == 1 else f"{done:,} decisions"
            said = f"{count} of bulk step {bulk} taken back"
            said += "" if receipt.ok else f", then: {receipt.message} {receipt.next}"
        self.flash(said, ink.GOOD if receipt.ok else ink.DANGER)
        self.signoff.tell(frozenset({"queue", "memory", "skills", "knowledge"}))
        if receipt.category == "moved_on":
            self._offer_together(numbers[done:])

    def _offer_together(self, numbers: Sequence[int]) -> None:
        """Ask whether the later decisions in the way shall go back first."""
        opened, of_notes = self.signoff.opened, self._of_notes
        if opened is None:
            return

        def work() -> tuple[Entry, ...]:
            from core.desk.history import together

            decided = decided_on(opened, of_notes)
            return tuple(decided.journal.entry(each) for each in together(decided, numbers))

        def offer(entries: tuple[Entry, ...]) -> None:
            if len(entries) > len(numbers):
                title = "Later decisions changed the same files"
                all_numbers = [entry.id for entry in entries]
                agreed = partial(self._take_back, all_numbers, None, "undo")
                ask_back(self, title, entries, agreed)

        self.start_job("sheet", work, offer, self.job_failed)


def decided_on(opened: Opened, of_notes: bool) -> Opened:
    """What was decided on: the home, or the note store that goes with it."""
    if not of_notes:
        return opened
    from core.desk.knowledge_board import beside

    return beside(opened)


def _undone(
    opened: Opened, of_notes: bool, numbers: Sequence[int], bulk: int | None
) -> Iterator[Receipt]:
    if of_notes:
        from core.desk.knowledge_board import beside
        from core.desk.knowledge_work import undo

        return undo(beside(opened), numbers, bulk=bulk)
    from core.desk.history import undo_bulk, undo_each

    return undo_each(opened, numbers) if bulk is None else undo_bulk(opened, bulk)
