"""Skills: what the agent taught itself, what becomes of it and why, and a person's hand on it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from console.keymap import keyed
from console.render.skills_history import HistoryItem, history_lines
from console.screens.room import bindings_of
from console.screens.sheet import Sheet
from console.screens.skills_acting import AREAS
from console.screens.skills_curating import SkillCurating
from console.screens.skills_history import history_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import Binding

#: Cells of the curator's sheet where there is room.
WIDE = 100
_LOOKING = frozenset({"open", "raw", "copy"})
#: What nobody does in the archive: the footer leaves it out there, a press says why.
_OF_THE_LIVE = frozenset({"pin", "archive"})


class SkillsScreen(SkillCurating):
    """The table beside the package. The cursor acts on a folder, never on a place in the list."""

    MODE = "skills"
    AREAS = AREAS
    BINDINGS: ClassVar = bindings_of("skills")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if self._archived and action in _OF_THE_LIVE:
            return False
        return super().check_action(action, parameters)

    def worded(self, binding: Binding) -> Binding:
        if binding.action == "pin":
            return replace(binding, description="pin" if self.pins() else "unpin")
        if binding.action == "other_side":
            return replace(binding, description="skills", show=self._archived)
        return binding

    def why_not(self, action: str) -> str | None:
        why: dict[str, Callable[[], str | None]] = {
            "pin": partial(self.why_not_skill, "pin"),
            "archive": partial(self.why_not_skill, "archive"),
            "restore": self.why_not_restore,
            "curate": self._why_not_curate,
            "adopt": self._why_not_adopt,
            "adopt_all": self._why_not_adopt_all,
            "rollback": self._why_not_rollback,
            "edit": self._why_not_edit,
            "review": self._why_not_review,
            "next_due": self._why_not_next,
        }
        if action == "copy" and self.asking:
            return "The archive key is being answered: press y again once it asks"
        if self._board is None and action in (*why, *_LOOKING, "pause", "history"):
            return "The home is not read yet"
        if action in _LOOKING and self.rows.cursor_key is None:
            return "There is nothing here to look at"
        return why[action]() if action in why else None

    def _why_not_curate(self) -> str | None:
        board = self._board
        if board is None or not board.settings.enabled:
            return "curator.enabled is off in config.yaml: the curator never runs"
        if board.blocked:
            return f"The usage rows cannot be read ({board.blocked}): nothing is written"
        return board.state.problem or None

    def _why_not_adopt(self) -> str | None:
        rows = self.chosen()
        if not rows:
            return "There is no skill to adopt here"
        if self._board is not None and self._board.blocked:
            return f"The usage rows cannot be read ({self._board.blocked}): nothing is written"
        if any(row.skill.provenance == "user" for row in rows):
            return None
        return "Only a skill that the curator does not manage yet can be adopted"

    def _why_not_adopt_all(self) -> str | None:
        board = self._board
        if board is not None and board.blocked:
            return f"The usage rows cannot be read ({board.blocked}): nothing is written"
        if board is not None and any(row.skill.provenance == "user" for row in board.rows):
            return None
        return "The curator manages every skill that it could"

    def _why_not_rollback(self) -> str | None:
        has = self._board is not None and self._board.snapshots
        return None if has else "There is no snapshot of the skills"

    def _why_not_edit(self) -> str | None:
        if self._archived:
            return keyed("It is in the archive: {skills.restore} brings it back, then edit it")
        row = self.row
        if self.borrowed is not None:
            return f"It belongs to a {self.borrowed.origin}: it is read-only here"
        if row is None:
            return "There is no skill to edit"
        if row.skill.provenance == "external":
            return f"{row.skill.name} lies in an external folder: it is read-only here"
        return None

    def _why_not_review(self) -> str | None:
        if self.row is None or not self.waiting(self.row):
            return "No proposal waits that would change it"
        return None

    def _why_not_next(self) -> str | None:
        return "No run touches what is in the archive" if self._archived else None

    # -- elsewhere -------------------------------------------------------------------------

    def action_review(self) -> None:
        if self.row is not None and (waiting := self.waiting(self.row)):
            self.signoff.show_proposal(waiting[0].file)

    def action_copy(self) -> None:
        detail = self._details.get(self.rows.cursor_key or "")
        if detail is None:
            self.flash("Its package is still being read")
            return
        self.app.copy_to_clipboard(detail.text)
        self.flash("Its SKILL.md was sent to the terminal's clipboard")

    def action_history(self) -> None:
        opened, board = self.signoff.opened, self._board
        if opened is None or board is None:
            return

        def show(found: HistoryItem) -> None:
            draw = partial(history_lines, found)
            self.app.push_screen(Sheet("The curator", draw, wide=WIDE))

        self.start_job("sheet", partial(history_of, opened, board), show, self.job_failed)
