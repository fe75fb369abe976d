"""What a key does to a note: its status changes by a plan, and nothing is ever deleted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from console import undoing
from console.render import ink
from console.render.knowledge import KnowledgeItem
from console.screens.choose import Choose
from console.screens.knowledge_learning import LearnScreen, Typed
from console.screens.knowledge_reading import Place
from console.screens.knowledge_shelf import KnowledgeShelf
from console.screens.note import NoteScreen

if TYPE_CHECKING:
    from core.desk.knowledge import Shelf
    from core.homes.rag.learning import Learnt
    from core.homes.rag.nodes import Node
    from core.model import Receipt
    from core.plan import Plan

AREAS = frozenset({"knowledge"})
_WRITE_NOW = "a new note, written now"
_NOTHING = "Nothing decided on these notes is left to take back"
_NOT_UNDONE = (
    "#{} was learnt last, and a learnt note is never deleted: d retires it. u once more takes back"
    " the decision before it"
)


class KnowledgeActing(KnowledgeShelf):
    """Retire, replace, archive and reactivate one note; learn another; undo."""

    def __init__(self) -> None:
        super().__init__()
        #: The id of a note learnt since the last decision: nothing takes that back.
        self._learnt = ""

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
                self._learn(Typed("", item.kind, item.project), item)
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
        self._learnt = ""
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
            self.flash(f"✓ {message}. u takes it back, i says more", ink.GOOD)

    # -- learning --------------------------------------------------------------------------

    def action_learn(self) -> None:
        here = self._seen.here if self._seen is not None else ""
        self._learn(Typed("", "", self.project or here))

    def _learn(self, given: Typed, old: KnowledgeItem | None = None) -> None:
        title = f"Takes the place of {old.short}" if old is not None else "Keep a note"

        def answered(typed: Typed | None) -> None:
            if typed is not None:
                self._keep(typed, old)

        self.app.push_screen(LearnScreen(title, given, fixed=old is not None), answered)

    def _keep(self, typed: Typed, old: KnowledgeItem | None) -> None:
        shelf = self._shelf
        if shelf is None:
            return
        kept: list[_Kept] = []

        def task() -> Receipt:
            kept.append(_keep(shelf, typed, old.id if old is not None else ""))
            return kept[0].receipt

        self.signoff.write(task, partial(self._kept, kept), f"learn {typed.text}")

    def _kept(self, kept: list[_Kept], _key: str, receipt: Receipt) -> None:
        if not kept:
            self.flash(f"✗ {receipt.message}", ink.DANGER)
            return
        (found,) = kept
        self._learnt = found.id if found.new and receipt.journal is None else ""
        self._follow = found.key
        if found.secrets:
            seems = f"It seems to hold a secret ({found.secrets}): d retires it"
            self.flash(f"! {receipt.message}. {seems}", ink.WARNING)
        elif found.new:
            self.flash(f"✓ {receipt.message}", ink.GOOD)
        else:
            self.flash(f"= {receipt.message}", ink.LABEL)
        if self._place != Place(found.project):
            self.go(Place(found.project))
        self.signoff.tell(AREAS)

    # -- taking back -----------------------------------------------------------------------

    def takes_back(self) -> bool:
        shelf = self._shelf
        if shelf is None:
            self.flash("The notes are not read yet", ink.LABEL)
        elif self._learnt:
            self.flash(_NOT_UNDONE.format(self._learnt[:8]), ink.WARNING)
            self._learnt = ""
        else:
            taken: list[Receipt] = []
            task = partial(_take_back, shelf, taken)
            self.signoff.write(task, partial(self._undone, taken), "undo")
        return True

    def _undone(self, taken: list[Receipt], _key: str, receipt: Receipt) -> None:
        self.flash(undoing.said_of(taken, receipt), ink.GOOD if receipt.ok else ink.DANGER)
        self.signoff.tell(AREAS)


def _superseded(item: KnowledgeItem, by: str, shelf: Shelf) -> Plan:
    from core.desk.knowledge import supersede

    return supersede(shelf, item.project, item.id, by)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A learnt note. ``new``: it was not there before; ``secrets``: kinds it seems to hold."""

    receipt: Receipt
    id: str
    key: str
    project: str
    new: bool
    secrets: str


def _keep(shelf: Shelf, typed: Typed, old: str) -> _Kept:
    from core.desk.knowledge import learn, secrets
    from core.homes.rag.learning import KIND
    from core.homes.rag.nodes import Layer, collection_of, slug
    from core.model import Receipt

    kind = typed.kind or KIND
    learnt, marked = learn(shelf, typed.text, typed.project, kind=kind, supersedes=old)
    journal = marked.journal if marked is not None else None
    return _Kept(
        receipt=Receipt(learnt.id[:8], True, "ok", _said(learnt), journal=journal),
        id=learnt.id,
        key=f"{collection_of(typed.project, Layer.MEMORY)}/{learnt.id}",
        project=slug(typed.project),
        new=learnt.was is None,
        secrets=", ".join(secrets(typed.text)),
    )


def _said(learnt: Learnt) -> str:
    """What learning a note did, in one line."""
    short = f"#{learnt.id[:8]}"
    if learnt.was is not None:
        back = "" if learnt.was == "active" else "; b makes it active again"
        return f"{short} was there already ({learnt.was}): nothing changed{back}"
    parts = [f"{short} is kept in {learnt.project}"]
    if learnt.replaced:
        parts.append(f"it takes the place of #{learnt.replaced[:8]}")
    if learnt.unmatched:
        parts.append(f"the old note stays ({learnt.unmatched})")
    if learnt.archived:
        parts.append(f"{len(learnt.archived):,} of the oldest archived")
    if learnt.due:
        parts.append("a merge is due, m shows it")
    return ", ".join(parts)


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
