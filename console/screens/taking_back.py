"""Asked before decisions are taken back that the key alone does not name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.render import journal
from console.screens.confirm import Confirm
from console.screens.journal_rows import journal_items
from console.screens.room import Room

if TYPE_CHECKING:
    from core.journal import Entry


def ask_back(room: Room, title: str, entries: Sequence[Entry], agreed: Callable[[], None]) -> None:
    """Show ``entries`` and, if the person says so, call ``agreed``; once ``room`` is in front."""
    items = journal_items(entries, entries, room.signoff.now())
    verb = "takes it back" if len(items) == 1 else f"takes these {len(items):,} back, in this order"
    draw = partial(journal.parts_lines, items)

    def answered(said: bool | None) -> None:
        if said:
            agreed()
        else:
            room.flash("Nothing was taken back")

    room.when_in_front(lambda: room.app.push_screen(Confirm(title, verb, draw), answered))
