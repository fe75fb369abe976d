"""What a key does to a note: its status changes by a plan, and nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from console import undoing
from console.keymap import back_again, keyed
from console.render import ink
from console.render.knowledge import KnowledgeItem
from console.screens.choose import Choose
from console.screens.knowledge_keeping import AREAS, KnowledgeKeeping
from console.screens.knowledge_learning import Typed
from console.screens.note import NoteScreen

if TYPE_CHECKING:
    from core.desk.knowledge import Shelf
    from core.homes.rag.nodes import Node
    from core.model import Receipt
    from core.plan import Plan

_WRITE_NOW = "a new note, written now"
_NOTHING = "Nothing decided on these notes is left to take back"
_NOT_UNDONE = (
    "#{} was learnt last, and a learnt note is never deleted: {{knowledge.retire}} retires it."
    " {{app.undo}} once more takes back the decision before it"
)
_STAYS = "; #{} stays, a learnt note is never deleted: {{knowledge.retire}} retires it"


class KnowledgeActing(KnowledgeKeeping):
    """Retire, replace, archive and reactivate one note; undo."""

    # -- statuses --------------------------------------------------------------------------

    def action_retire(self) -> None:
        if (item := self.item) is None:
            return

        def answered(reason: str | None) -> None:
            def plan(shelf: Shelf) -> Plan:
                from core.desk.knowledge import retire

                return retire(shelf, item.project, item.id, reason or "")

            if reason is not None:
                self._decide(item, plan)

        self.app.push_screen(NoteScreen(f"Retire {item.short}", "retires it"), answered)

    def action_archive(self) -> None:
        if (item := self.item) is None:
            return

        def plan(shelf: Shelf) -> Plan:
            from core.desk.knowledge import archive

            return archive(shelf, item.project, item.id)

        self._decide(item, plan)

    def action_reactivate(self) -> None:
        if (item := self.item) is None:
            return

        def plan(shelf: Shelf) -> Plan:
            from core.desk.knowledge import reactivate

            return reactivate(shelf, item.project, item.id)

        self._decide(item, plan)

    def action_supersede(self) -> None:
        item, shelf = self.item, self._shelf
        if item is None or shelf is None:
            return

        def work() -> Sequence[Node]:
            from core.desk.knowledge_board import live_notes

            return live_notes(shelf, item.project, item.id)

        self.start_job("sheet", work, partial(self._choose_successor, item), self.not_read)

    def _choose_successor(self, item: KnowledgeItem, notes: Sequence[Node]) -> None:
        seen = self._seen
        learns = [] if seen is None or seen.limits.learning else [_WRITE_NOW]
        choices = [*learns, *(f"#{note.id[:8]}  {note.document}" for note in notes)]
        if not choices:
            self.flash("No other note is live: none can take its place", ink.WARNING)
            return

        def chosen(place: int | None) -> None:
            if place is None:
                return
            if place < len(learns):
                self.learn(Typed("", item.kind, item.project), item)
                return
            self._decide(item, partial(_superseded, item, notes[place - len(learns)].id))

        self.app.push_screen(Choose(f"What takes the place of {item.short}?", choices), chosen)

    def _decide(self, item: KnowledgeItem, plan: Callable[[Shelf], Plan]) -> None:
        """Plan and carry out in the queue of decisions, in turn with all others."""
        shelf = self._shelf
        if shelf is None:
            return

        def task() -> Receipt:
            from core.desk.knowledge import carry_out

            return carry_out(shelf, plan(shelf))

        self.signoff.write(task, self._decided, item.key)

    def _decided(self, _key: str, receipt: Receipt) -> None:
        self._learnt = self._successor = ""
        self.say_of(receipt)
        self.signoff.tell(AREAS)

    def say_of(self, receipt: Receipt, more: str = "") -> None:
        """What became of a decision; ``more`` is a sentence on what it left to know."""
        message = receipt.message.rstrip(".")
        if not message.startswith(receipt.subject):
            message = f"{message[:1].upper()}{message[1:]}"
        if not receipt.ok:
            again = "; try again in a moment" if receipt.category == "locked" else ""
            self.flash(f"✗ {message}{again}", ink.DANGER)
        elif receipt.journal is None:
            self.flash(f"= {message}", ink.LABEL)
        elif more:
            self.flash(f"✓ {message}. {more}", ink.WARNING)
        else:
            self.flash(f"✓ {message}. {back_again()}", ink.GOOD)

    # -- taking back -----------------------------------------------------------------------

    def takes_back(self) -> bool:
        shelf = self._shelf
        if shelf is None:
            self.flash("The notes are not read yet", ink.LABEL)
        elif self._learnt:
            self.flash(keyed(_NOT_UNDONE.format(self._learnt[:8])), ink.WARNING)
            self._learnt = ""
        else:
            taken: list[Receipt] = []
            task = partial(_take_back, shelf, taken)
            done = partial(self._undone, taken, self._successor)
            self._successor = ""
            self.signoff.write(task, done, "undo")
        return True

    def _undone(self, taken: list[Receipt], stays: str, _key: str, receipt: Receipt) -> None:
        said = undoing.said_of(taken, receipt)
        if receipt.ok and stays:
            self.flash(said + keyed(_STAYS.format(stays[:8])), ink.WARNING)
        else:
            self.flash(said, ink.GOOD if receipt.ok else ink.DANGER)
        self.signoff.tell(AREAS)


def _superseded(item: KnowledgeItem, by: str, shelf: Shelf) -> Plan:
    from core.desk.knowledge import supersede

    return supersede(shelf, item.project, item.id, by)


def _take_back(shelf: Shelf, taken: list[Receipt]) -> Receipt:
    """Undo the newest step on this store; ``taken`` gets the receipt of each part."""
    from core.desk.knowledge_work import undo
    from core.errors import NotFoundError
    from core.model import Receipt

    try:
        taken.extend(undo(shelf))
    except NotFoundError:
        return Receipt("undo", False, "nothing", _NOTHING)
    return replace(taken[-1], next="")
