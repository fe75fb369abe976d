"""Promoting a proposed skill of a vak home under another name than it asks for."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.screens.batch import NO_RIVALS, Batch
from console.screens.deciding import why_not_change
from console.screens.host import is_vak
from console.screens.note import NoteScreen
from console.screens.revising import RevisingRoom

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.desk.opening import Opened
    from core.model import Receipt


class PromotingRoom(RevisingRoom):
    """One row at a time: a name belongs to one skill."""

    def why_not(self, action: str) -> str | None:
        if action != "promote_as":
            return super().why_not(action)
        if not is_vak(self.signoff.opened):
            return "Only skills that a vak agent proposes can be promoted under another name"
        if self.queue.marked:
            return keyed("A name belongs to one skill: {review.close} takes the marks off")
        item = self._item()
        if item is not None and item.subsystem != "skills":
            return "It is a note: only a skill has a name"
        return why_not_change(item)

    def action_promote_as(self) -> None:
        item = self._item()
        if item is None:
            return

        opened = self._opened

        def read(name: str) -> str:
            from core.desk.promotion import promote_as
            from core.errors import UsageError

            found = promote_as(opened, item.token, name.strip(), dry_run=True)
            if not found.ok:
                raise UsageError(found.message.rstrip("."), found.next)
            return name.strip()

        def named(name: str | None) -> None:
            if name is not None:
                batch = Batch("approve", 1, 0, NO_RIVALS, 0)
                self.decide_each(batch, [item], partial(_promote, opened, item.token, name))

        question = f"Promote {item.target} as"
        ask = NoteScreen(question, "promotes it", "a name: a-z, 0-9, -", read)
        self.app.push_screen(ask, named)


def _promote(opened: Opened, token: str, name: str) -> Iterator[Receipt]:
    from core.desk.promotion import promote_as

    yield promote_as(opened, token, name)
