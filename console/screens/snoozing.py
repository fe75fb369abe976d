"""Putting off what waits until later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render import ink
from console.render.queue import QueueItem
from console.screens.deciding import why_not_change
from console.screens.note import NoteScreen
from console.screens.refusing import RefusingRoom

if TYPE_CHECKING:
    from datetime import datetime

    from core.desk.opening import Opened
    from core.desk.snoozing import Nap
    from core.model import Receipt


class SnoozingRoom(RefusingRoom):
    """One row, or those marked, sleep until a date and come back by themselves."""

    def why_not(self, action: str) -> str | None:
        if action == "snooze":
            return None if self.queue.marked else why_not_change(self._item())
        return super().why_not(action)

    def action_snooze(self) -> None:
        items = [item for item in self._meant() if not item.broken]
        opened, now = self._opened, self.signoff.now()
        naps: list[Nap] = []

        def read(words: str) -> Callable[[], Receipt]:
            from core.desk.decisions import time_until

            until = None if words.strip() == "now" else time_until(words, now)
            return partial(_snooze, opened, items, until, naps)

        def asked(task: Callable[[], Receipt] | None) -> None:
            if task is None or not items:
                return
            self.queue.clear_marks()
            self.signoff.naps = naps
            self.signoff.write(task, self._snoozed, items[0].key)

        question = f"Put off {self._named()} until"
        example = "7d, 12h, a date, or now"
        ask = NoteScreen(question, "puts it off", example, read, at_once=True)
        self.app.push_screen(ask, asked)

    def _snoozed(self, key: str, receipt: Receipt) -> None:
        self.flash(receipt.message, ink.GOOD if receipt.ok else ink.DANGER)
        self.signoff.tell(frozenset({"queue"}))


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
