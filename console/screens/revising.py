"""Changing a proposal before it is decided: its text in an editor, or its form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render import ink
from console.render.queue import QueueItem
from console.screens.batch import short
from console.screens.choose import Choose
from console.screens.deciding import why_not_change
from console.screens.editor import edit_text, editor
from console.screens.snoozing import SnoozingRoom

if TYPE_CHECKING:
    from core.desk.editing import Sheet, Trial
    from core.homes.hermes.editing.parts import Part
    from core.model import Receipt

#: What another text of the proposal may mend, and how a preview recommends another form of it.
_MENDED = ("over_budget", "refused", "invalid")
_CONVERTS = re.compile(r"\bedit \S+ --[a-z]")
_CONVERSIONS = {
    "splice": "Change only the fragment it names, and keep the rest of the entry",
    "clean": "Take out the invisible characters the agent refuses",
    "existing": "Make it an edit of the skill that exists",
    "move": "Put its text under the field the agent reads",
}


class RevisingRoom(SnoozingRoom):
    """An edit is written into the record at once and judged anew; undo brings the old one back."""

    def why_not(self, action: str) -> str | None:
        if action in ("edit", "convert"):
            return why_not_change(self._item())
        return super().why_not(action)

    def ways_out(self, item: QueueItem) -> list[str]:
        ways = super().ways_out(item)
        if item.status in _MENDED and not item.broken:
            ways.insert(0, keyed("{review.edit} edits it"))
        if any(map(_CONVERTS.search, self._said_of(item))):
            ways.insert(0, keyed("{review.convert} changes its form"))
        return ways

    def _said_of(self, item: QueueItem) -> list[str]:
        """What its preview says, once it is there."""
        shown = self._shown
        if shown is None or shown.proposal.file != item.key:
            return []
        outcome = shown.plan.outcome
        return [outcome.message, *(found.message for found in outcome.findings)]

    def action_edit(self) -> None:
        from core.errors import SignoffError

        try:
            editor()
        except SignoffError as problem:
            self._not_done(problem)
        else:
            self._open_sheet(self._choose_part)

    def action_convert(self) -> None:
        self._open_sheet(self._choose_form)

    def _open_sheet(self, done: Callable[[QueueItem, Sheet], None]) -> None:
        item = self._item()
        if item is None:
            return
        opened = self._opened

        def work() -> Sheet:
            from core.desk.editing import edit_parts

            return edit_parts(opened, item.token)

        self.start_job("sheet", work, partial(done, item), self._not_done)

    def _not_done(self, problem: Exception) -> None:
        from core.errors import SignoffError

        if isinstance(problem, SignoffError):
            self.flash(f"{problem.message}. {problem.hint}", ink.DANGER)
        else:
            self.job_failed(problem)

    # -- the text --------------------------------------------------------------------------

    def _choose_part(self, item: QueueItem, sheet: Sheet) -> None:
        parts = sheet.parts
        if not parts:
            self.flash("There is no text to edit in it", ink.WARNING)
        elif len(parts) == 1:
            self._type(item, sheet, parts[0])
        else:

            def chosen(place: int | None) -> None:
                if place is not None:
                    self._type(item, sheet, parts[place])

            choices = [f"{part.label} · {part.text}" if part.text else part.label for part in parts]
            self.app.push_screen(Choose(f"Edit {item.id}", choices), chosen)

    def _type(self, item: QueueItem, sheet: Sheet, part: Part) -> None:
        from core.errors import SignoffError

        try:
            text = edit_text(self.app, part.text, ".md" if part.multiline else ".txt")
        except SignoffError as problem:
            self._not_done(problem)
            return
        if text is None:
            self.flash("The text is as it was; nothing was changed")
            return
        opened, seen = self._opened, sheet.proposal.sha256

        def trial() -> Trial:
            from core.desk.editing import try_edit

            return try_edit(opened, item.token, {part.key: text}, seen)

        self._write(item, trial)

    # -- the form --------------------------------------------------------------------------

    def _choose_form(self, item: QueueItem, sheet: Sheet) -> None:
        forms = [(kind, _CONVERSIONS[kind]) for kind in sheet.offers]
        forms += [(f"drop:{n}", f"Drop operation {n}: {said}") for n, said in _operations(sheet)]
        if not forms:
            self.flash("It has no other form")
            return
        opened = self._opened

        def chosen(place: int | None) -> None:
            if place is None:
                return

            def trial() -> Trial:
                from core.desk.editing import try_convert

                return try_convert(opened, item.token, forms[place][0])

            self._write(item, trial)

        choices = [sentence for _, sentence in forms]
        self.app.push_screen(Choose(f"Change the form of {item.id}", choices), chosen)

    # -- writing ---------------------------------------------------------------------------

    def _write(self, item: QueueItem, trial: Callable[[], Trial]) -> None:
        opened = self._opened

        def task() -> Receipt:
            from core.desk.editing import write

            return write(opened, trial())

        self.signoff.write(task, partial(self._written, item.id), item.key)

    def _written(self, name: str, key: str, receipt: Receipt) -> None:
        if not receipt.ok:
            self.flash(f"✗ {receipt.message} ({short(name)})", ink.DANGER)
        elif receipt.journal is None:
            self.flash(receipt.message)
        else:
            self._held.add(key)
            said = keyed("Edited and written, not decided yet; {app.undo} brings the original back")
            self.flash(f"✎ {said} ({short(name)})", ink.GOOD)


def _operations(sheet: Sheet) -> list[tuple[int, str]]:
    """Number and words of each operation of a batch that has several."""
    payload = sheet.proposal.payload
    operations = payload.get("operations")
    if payload.get("action") != "batch" or not isinstance(operations, list) or len(operations) < 2:
        return []
    return [(number, _said(each)) for number, each in enumerate(operations, 1)]


def _said(operation: object) -> str:
    if not isinstance(operation, Mapping):
        return str(operation)
    texts = (operation.get(field) for field in ("old_text", "content", "new_text"))
    return " → ".join([str(operation.get("action")), *(str(text) for text in texts if text)])
