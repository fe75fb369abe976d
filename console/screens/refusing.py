"""Refusing several at once after a look: the dead, and the rivals of what was approved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.render import ink
from console.render.hints import with_keys
from console.render.line import Line, wrapped
from console.render.queue import QueueItem
from console.screens.batch import Batch
from console.screens.confirm import Confirm
from console.screens.deciding import DecidingRoom, begin

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.review import Label
    from core.model import Receipt

#: What can no longer apply, by the words of the queue: ``core.desk.triage.DEAD``.
_DEAD = ("stale", "noop", "invalid")


class RefusingRoom(DecidingRoom):
    """What is refused is what was looked at, row by row, whatever came meanwhile."""

    def why_not(self, action: str) -> str | None:
        if action == "refuse_dead" and not any(map(_is_dead, self.queue.items)):
            return "Nothing on screen is known to be past applying"
        if action == "refuse_rivals" and not self.waiting_rivals():
            return "No rival waits of what was approved last"
        return super().why_not(action)

    def action_refuse_dead(self) -> None:
        from core.desk.triage import dead

        rows = [self._labels[item.key] for item in self.queue.items if item.key in self._labels]
        self._review(dead(rows), "can no longer apply", _as_shown)

    def action_refuse_rivals(self) -> None:
        rows = [self._labels[item.key] for item in self.waiting_rivals()]
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
            self.decide_each(batch, [item for _, item in taken], start, known)

        lines = partial(_listed, rows)
        count = f"{len(rows):,}"
        title = f"Refuse {count} that {why}?"
        self.app.push_screen(Confirm(title, f"refuses {count}", lines), decided)

    def _as_now(self, rows: Sequence[Label]) -> Sequence[Label]:
        """The same records judged now: how they end is not why they are refused."""
        from core.desk.review import label_one

        judging = self._opened.judging()
        return [label_one(self._opened.source, row.proposal, judging) for row in rows]


def _is_dead(item: QueueItem) -> bool:
    return item.status in _DEAD and not item.is_settled


def _refuse(opened: Opened, rows: Callable[[], Sequence[Label]]) -> Iterator[Receipt]:
    from core.desk.decide import Request

    return begin(opened, "reject", Request((), rows=tuple(rows())))


def _as_shown(rows: Sequence[Label]) -> Sequence[Label]:
    return rows


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
