"""Keeping a note of one's own in the store: learnt as an agent's are, and never deleted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render import ink
from console.render.knowledge import KnowledgeItem
from console.screens.knowledge_learning import LearnScreen, Typed
from console.screens.knowledge_reading import Place
from console.screens.knowledge_shelf import KnowledgeShelf

if TYPE_CHECKING:
    from core.desk.knowledge import Shelf
    from core.homes.rag.learning import Learnt
    from core.model import Receipt

AREAS = frozenset({"knowledge"})


class KnowledgeKeeping(KnowledgeShelf):
    """Learn a note, perhaps in the place of one that is there."""

    def __init__(self) -> None:
        super().__init__()
        #: The id of a note learnt since the last decision: nothing takes that back.
        self._learnt = ""
        #: The id of a note learnt with the newest decision, which alone can be taken back.
        self._successor = ""

    def action_learn(self) -> None:
        here = self._seen.here if self._seen is not None else ""
        self.learn(Typed("", "", self.project or here))

    def learn(self, given: Typed, old: KnowledgeItem | None = None) -> None:
        """Ask for a note, and keep it; ``old`` is the one whose place it takes."""
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
        self._successor = found.id if found.new and receipt.journal is not None else ""
        self._follow = found.key
        if found.secrets:
            seems = f"It seems to hold a secret ({found.secrets}): "
            seems += keyed("{knowledge.retire} retires it")
            self.flash(f"! {receipt.message}. {seems}", ink.WARNING)
        elif found.new:
            self.flash(f"✓ {receipt.message}", ink.GOOD)
        else:
            self.flash(f"= {receipt.message}", ink.LABEL)
        if self._place != Place(found.project):
            self.go(Place(found.project))
        self.signoff.tell(AREAS)


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
        back = keyed("; {knowledge.reactivate} makes it active again")
        back = "" if learnt.was == "active" else back
        return f"{short} was there already ({learnt.was}): nothing changed{back}"
    parts = [f"{short} is kept in {learnt.project}"]
    if learnt.replaced:
        parts.append(f"it takes the place of #{learnt.replaced[:8]}")
    if learnt.unmatched:
        parts.append(f"the old note stays ({learnt.unmatched})")
    if learnt.archived:
        parts.append(f"{len(learnt.archived):,} of the oldest archived")
    if learnt.due:
        parts.append(keyed("a merge is due, {knowledge.merge} shows it"))
    return ", ".join(parts)
