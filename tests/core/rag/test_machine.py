"""A store and a plain model of it through any sequence of notes, decisions, undos and merges."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.desk import history, knowledge, knowledge_work
from core.homes.rag.nodes import Layer, collection_of
from core.model import Receipt
from core.plan import Plan
from tests.core.rag.shelves import learn, shelf_in, statuses

CAP = 4
MEMORY = collection_of("api", Layer.MEMORY)
TEXTS = st.sampled_from([f"note about the queue number {n}" for n in range(8)])
#: The status each decision leads to, and from which it does so.
DECISIONS: dict[str, Callable[..., Plan]] = {
    "retired": lambda shelf, name: knowledge.retire(shelf, "api", name, "why"),
    "archived": lambda shelf, name: knowledge.archive(shelf, "api", name),
    "active": lambda shelf, name: knowledge.reactivate(shelf, "api", name),
}


class Notes(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="signoff-notes-"))
        self.shelf = shelf_in(self.folder, HERMES_RAG_MEMORY_CAP=str(CAP))
        self.ids: dict[str, str] = {}
        #: ``text -> status``, in the order they came.
        self.model: dict[str, str] = {}
        self.past: list[dict[str, str]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @rule(text=TEXTS, kind=st.sampled_from(["queue:x", "learning"]))
    def learns(self, text: str, kind: str) -> None:
        found = learn(self.shelf, text, kind=kind)
        assert found.was == self.model.get(text)
        if found.was is None:
            self.ids[text] = found.id
            self.model[text] = "active"
            live = [each for each, status in self.model.items() if status == "active"]
            for old in live[: max(0, len(live) - CAP)]:
                self.model[old] = "archived"

    @precondition(lambda self: self.model)
    @rule(data=st.data(), to=st.sampled_from(sorted(DECISIONS)))
    def decides(self, data: st.DataObject, to: str) -> None:
        text = data.draw(st.sampled_from(sorted(self.model)))
        before = dict(self.model)
        receipt = knowledge.carry_out(self.shelf, DECISIONS[to](self.shelf, self.ids[text]))
        assert receipt.ok
        changes = (self.model[text] == "active") is not (to == "active")
        assert (receipt.journal is not None) is changes
        if changes:
            self.past.append(before)
            self.model[text] = to

    @precondition(lambda self: len(self.model) > 1)
    @rule(data=st.data())
    def supersedes(self, data: st.DataObject) -> None:
        old, new = data.draw(st.permutations(sorted(self.model)))[:2]
        before = dict(self.model)
        plan = knowledge.supersede(self.shelf, "api", self.ids[old], self.ids[new])
        receipt = knowledge.carry_out(self.shelf, plan)
        assert receipt.category in ("ok", "noop", "invalid")
        if receipt.category == "ok":
            self.past.append(before)
            self.model[old] = "superseded"

    @rule()
    def merges(self) -> None:
        before = dict(self.model)
        found, plan = knowledge_work.plan_merge(self.shelf, "api")
        receipt, _ = knowledge_work.carry_out_merge(self.shelf, found, plan)
        assert receipt.ok
        if receipt.journal is not None:
            self.past.append(before)
            for page in found.pages:
                self.model |= dict.fromkeys((node.document for node in page.notes), "archived")

    @precondition(lambda self: self.past)
    @rule()
    def undoes(self) -> None:
        receipt: Receipt = next(knowledge_work.undo(self.shelf))
        if receipt.ok:
            # What came since (notes, and the oldest that went for them) stays as it is.
            before = self.past.pop()
            entry = history.entry(self.shelf, receipt.journal or 0)
            named = {path.rpartition("/")[2] for path in entry.changed}
            for text, status in before.items():
                if self.ids[text] in named:
                    self.model[text] = status
        else:
            assert receipt.category == "moved_on", "a note was archived for a newer one since"
            self.past.clear()
            self.teardown()
            self.folder.mkdir()
            self.shelf = shelf_in(self.folder, HERMES_RAG_MEMORY_CAP=str(CAP))
            self.model.clear()

    @invariant()
    def no_note_is_ever_lost(self) -> None:
        assert statuses(self.shelf) == self.model

    @invariant()
    def only_what_is_live_is_found(self) -> None:
        found = knowledge.recall(self.shelf, "queue", "api", layer="memory").recalled.hits
        live = {text for text, status in self.model.items() if status == "active"}
        assert {hit.node.document for hit in found} <= live
        assert bool(found) is bool(live)


TestNotes = Notes.TestCase
TestNotes.settings = settings(max_examples=12, stateful_step_count=20)
