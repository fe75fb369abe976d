"""Knowledge: what agents learnt about projects, what took its place, and a person's hand on it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from console.keymap import keyed
from console.render.knowledge import LAYERS
from console.render.knowledge_pages import merge_lines, project_lines
from console.screens import knowledge_reading as reading
from console.screens.confirm import Confirm
from console.screens.knowledge_acting import KnowledgeActing
from console.screens.knowledge_keeping import AREAS
from console.screens.knowledge_reading import Place
from console.screens.knowledge_rows import merge_item
from console.screens.note import NoteScreen
from console.screens.room import bindings_of
from console.screens.sheet import Sheet

if TYPE_CHECKING:
    from textual.binding import Binding

    from console.render.knowledge_pages import ProjectPage
    from core.desk.knowledge import Answer
    from core.homes.rag.merge import Merge
    from core.model import Receipt
    from core.plan import Plan

_DECIDING = frozenset({"retire", "archive", "reactivate", "supersede"})
_ON_ITEM = (*_DECIDING, "copy", "step")
_ON_STORE = ("learn", "merge", "search", "filter", "layer", "open", "about")
_UNREAD = "The notes are not read yet"


class KnowledgeScreen(KnowledgeActing):
    """Projects first; enter goes into one. The store is another home: it has an undo of its own."""

    MODE = "knowledge"
    AREAS = AREAS
    BINDINGS: ClassVar = bindings_of("knowledge")
    LEFT_OUT = frozenset({"retire", "supersede", "reactivate", "merge"})

    # -- what works ------------------------------------------------------------------------

    def worded(self, binding: Binding) -> Binding:
        # A whole project is merged: the footer says so where one is the row.
        merges = binding.action == "merge"
        return replace(binding, show=not self._place.project) if merges else binding

    def why_not(self, action: str) -> str | None:
        if action not in (*_ON_ITEM, *_ON_STORE):
            return None
        seen = self._seen
        if seen is None:
            return _UNREAD
        if action == "learn":
            return seen.limits.learning or None
        if not self._projects:
            return "No notes of projects are kept yet"
        if action in ("search", "open", "about"):
            return None if self.rows.cursor_key or self._place.project else _UNREAD
        if action == "merge":
            return seen.limits.deciding or self._why_not_merge()
        if not self._place.project:
            return keyed("This is for the notes of a project: {knowledge.open} goes into one")
        if action == "layer" and self._place.answer is not None:
            return keyed("The answer is of all layers: {knowledge.close} goes back to the notes")
        return self._why_not_on_item(action) if action in _ON_ITEM else None

    def _why_not_merge(self) -> str | None:
        project = self._projects.get(self.project)
        if project is None or not project.staged:
            return f"No note of {self.name_of(self.project)} is staged for the wiki"
        return None

    def _why_not_on_item(self, action: str) -> str | None:
        item, seen = self.item, self._seen
        if item is None or seen is None:
            return "There is no note here"
        if action == "copy":
            return None
        if not item.is_note:
            return "It was taken in from a file: change that, then take it in anew"
        if action == "step":
            if (chain := self._chains.get(item.key)) is None:
                return "What came before and after it is still being read"
            return None if len(chain) > 1 else f"Nothing came before or after {item.short}"
        if seen.limits.deciding:
            return seen.limits.deciding
        if action in ("retire", "archive") and not item.live:
            back = keyed("{knowledge.reactivate} makes it active again")
            return f"{item.short} is {item.status} already: {back}"
        if action == "reactivate" and item.live:
            return f"{item.short} is {item.status}: it counts"
        return None

    # -- asking ----------------------------------------------------------------------------

    def action_search(self) -> None:
        shelf, project = self._shelf, self.project
        if shelf is None or not project:
            return

        def answered(query: str | None) -> None:
            if query is not None and query.strip():
                work = partial(reading.ask, shelf, query.strip(), project)
                self.start_job("search", work, partial(self._answered, project), self.not_read)

        ask = NoteScreen(f"Ask {self.name_of(project)}", "asks", "words, or a question")
        self.app.push_screen(ask, answered)

    def _answered(self, project: str, answer: Answer) -> None:
        self.flash(f"Answered {answer.note}" if answer.note else "")
        self.go(Place(project, self._place.layer, answer))

    def action_about(self) -> None:
        shelf, seen, item = self._shelf, self._seen, self._projects.get(self.project)
        if shelf is None or seen is None or item is None:
            return

        def show(page: ProjectPage) -> None:
            self.app.push_screen(Sheet("The project", partial(project_lines, item, page)))

        work = partial(reading.page_of, shelf, seen, item.key)
        self.start_job("sheet", work, show, self.not_read)

    # -- along layers and chains, and out ----------------------------------------------------------

    def action_layer(self) -> None:
        layers = list(LAYERS)
        here = layers.index(self._place.layer)
        self.go(Place(self._place.project, layers[(here + 1) % len(layers)]))

    def action_step(self, step: int) -> None:
        if (item := self.item) is None:
            return
        chain = self._chains.get(item.key, ())
        here = next((at for at, each in enumerate(chain) if each.id == item.id), 0)
        if not 0 <= here + step < len(chain):
            word = "took its place" if step > 0 else "came before it"
            self.flash(f"No note {word}")
            return
        key = chain[here + step].key
        if self.rows.move_to(key):
            return
        self._follow = key
        if self._place.answer is not None:
            self.go(Place(item.project))
        else:
            self.end_filter()
            self.reload()

    def action_copy(self) -> None:
        if (item := self.item) is not None:
            self.app.copy_to_clipboard(item.text)
            self.flash("Sent to the terminal's clipboard, as it is stored")

    def action_history(self) -> None:
        self.signoff.show_decided_on_notes()

    # -- merging ---------------------------------------------------------------------------

    def action_merge(self) -> None:
        shelf, project = self._shelf, self.project
        if shelf is None or not project:
            return

        def work() -> tuple[Merge, Plan]:
            from core.desk.knowledge_board import typed
            from core.desk.knowledge_work import plan_merge

            return plan_merge(shelf, typed(shelf, project))

        self.start_job("sheet", work, self._show_merge, self.not_read)

    def _show_merge(self, planned: tuple[Merge, Plan]) -> None:
        found, plan = planned
        draw = partial(merge_lines, merge_item(found, plan))
        if not plan.changes:
            self.app.push_screen(Sheet("Nothing to merge", draw))
            return

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._merge(found, plan)

        title = f"Merge notes of {plan.subject} into its wiki"
        self.app.push_screen(Confirm(title, "merges them", draw), answered)

    def _merge(self, found: Merge, plan: Plan) -> None:
        shelf, warned = self._shelf, list[str]()
        if shelf is None:
            return

        def task() -> Receipt:
            from core.desk.knowledge_work import carry_out_merge

            receipt, warning = carry_out_merge(shelf, found, plan)
            warned.append(warning)
            return receipt

        self.signoff.write(task, partial(self._merged, warned), f"merge {plan.subject}")

    def _merged(self, warned: list[str], _key: str, receipt: Receipt) -> None:
        self._learnt = self._successor = ""
        self.say_of(receipt, "".join(warned))
        self.signoff.tell(AREAS)
