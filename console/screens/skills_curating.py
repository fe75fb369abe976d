"""The curator's own keys: a run foreseen and made, pause and resume, adopt, back to a snapshot."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.places import short
from console.render import ink
from console.render.planned import planned_lines
from console.render.skills_plans import CurateItem, curate_lines, rollback_lines
from console.screens import editor
from console.screens.choose import Choose
from console.screens.confirm import Confirm
from console.screens.skills_restoring import SkillRestoring

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.skill_table import Row
    from core.desk.skills import Planned
    from core.homes.hermes.curator.curate import Prediction
    from core.homes.hermes.curator.rollback import Difference
    from core.homes.hermes.curator.snapshots import Snapshot
    from core.model import Receipt

_KEPT = "Your text is kept: {skills.edit} opens it again"


class SkillCurating(SkillRestoring):
    """What is done to all skills at once, and a text in the person's own editor."""

    def __init__(self) -> None:
        super().__init__()
        #: Texts that could not be written, by folder: the editor opens them again.
        self._drafts: dict[str, str] = {}

    # -- curate ----------------------------------------------------------------------------

    def action_curate(self) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> Planned:
            from core.desk.skills import curate

            return curate(opened)

        self.start_job("sheet", work, self._ask_curate, self.not_planned)

    def _ask_curate(self, planned: Planned) -> None:
        outcome, found = planned.plan.outcome, planned.prediction
        if not outcome.lands or found is None:
            self.flash(f"✗ {outcome.message}", ink.DANGER)
            return
        items = curate_items(found)

        draw = partial(curate_lines, outcome, items, found.checked)
        sheet = Confirm("A run of the curator now", "makes this run", draw)
        self.app.push_screen(sheet, partial(self.carry_if, planned))

    def action_pause(self) -> None:
        paused = self._board is not None and self._board.state.paused

        def planner(opened: Opened) -> Planned:
            from core.desk.skills import pause

            return pause(opened, not paused)

        self.carry(planner, "curator")

    def action_adopt(self) -> None:
        chosen = self.chosen()
        folders = [row.skill.folder for row in chosen if row.skill.provenance == "user"]

        def planner(opened: Opened) -> Planned:
            from core.desk.skills import adopt

            return adopt(opened, folders)

        if folders:
            self.carry(planner, folders[0])

    def action_adopt_all(self) -> None:
        """Shown first: the next run may archive what is old already."""
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> Planned:
            from core.desk.skills import adopt_all

            return adopt_all(opened)

        def ask(planned: Planned) -> None:
            self.confirm("Adopt all unmanaged skills", "adopts them", planned)

        self.start_job("sheet", work, ask, self.not_planned)

    # -- rollback --------------------------------------------------------------------------

    def action_rollback(self) -> None:
        snapshots = () if self._board is None else self._board.snapshots

        def chosen(number: int | None) -> None:
            if number is not None:
                self._look_back(snapshots[number].id)

        self.app.push_screen(
            Choose("Put all skills back as of", [_snapshot(each) for each in snapshots]), chosen
        )

    def _look_back(self, snapshot: str) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> Planned:
            from core.desk.skills import rollback

            return rollback(opened, snapshot)

        self.start_job("sheet", work, partial(self._ask_how_much, snapshot), self.not_planned)

    def _ask_how_much(self, snapshot: str, planned: Planned) -> None:
        found = planned.difference
        folders = () if found is None else _lost(found)
        if not folders:
            self._ask_rollback(planned)
            return

        def chosen(number: int | None) -> None:
            if number == 0:
                self._ask_rollback(planned)
            elif number is not None:
                self._look_at_one(snapshot, folders[number - 1][0])

        ways = [f"only {folder}, {word}" for folder, word in folders]
        title = f"What comes back of {snapshot}"
        self.app.push_screen(Choose(title, ["all skills, with their counts", *ways]), chosen)

    def _look_at_one(self, snapshot: str, folder: str) -> None:
        opened = self.signoff.opened
        if opened is None:
            return

        def work() -> Planned:
            from core.desk.skills import single

            return single(opened, snapshot, f"skills/{folder}")

        def ask(planned: Planned) -> None:
            self.confirm(f"{folder} as of {snapshot}", "puts it back", planned)

        self.start_job("sheet", work, ask, self.not_planned)

    def _ask_rollback(self, planned: Planned) -> None:
        outcome, found = planned.plan.outcome, planned.difference
        if not outcome.lands or not planned.plan.changes or found is None:
            style = ink.LABEL if outcome.lands else ink.DANGER
            self.flash(f"{'=' if outcome.lands else '✗'} {outcome.message}", style)
            return

        draw = partial(rollback_lines, outcome, _changed(found))
        sheet = Confirm(f"Back to {planned.plan.subject}", "puts it all back", draw)
        self.app.push_screen(sheet, partial(self.carry_if, planned))

    # -- edit ------------------------------------------------------------------------------

    def action_edit(self) -> None:
        from core.desk.skill_looks import stored_text
        from core.errors import SignoffError

        row, opened = self.row, self.signoff.opened
        if row is None or opened is None:
            return
        folder = row.skill.folder
        draft = self._drafts.get(folder)
        try:
            before = stored_text(opened, folder)
            shown = before if draft is None else draft
            if before.endswith("\n") and not shown.endswith("\n"):
                # What an editor puts there is meant: the stored text ends so.
                shown += "\n"
            typed = editor.edit_text(self.app, shown)
        except SignoffError as problem:
            self.flash(f"{problem.message}. {problem.hint}", ink.DANGER)
            return
        typed = draft if typed is None else typed
        if typed is None or typed == before:
            self._drafts.pop(folder, None)
            self.flash("The text is the same; nothing was done", ink.LABEL)
            return
        self._drafts[folder] = typed
        self._try(opened, row, before, typed)

    def _try(self, opened: Opened, row: Row, before: str, typed: str) -> None:
        folder = row.skill.folder

        def work() -> tuple[Planned, bool]:
            from core.desk.skill_looks import stored_text
            from core.desk.skills import edit

            planned = edit(opened, folder, typed)
            return planned, stored_text(opened, folder) == before

        done = partial(self._ask_edit, row, typed)
        self.start_job("sheet", work, done, self.not_planned)

    def _ask_edit(self, row: Row, typed: str, found: tuple[Planned, bool]) -> None:
        planned, same = found
        outcome, folder = planned.plan.outcome, row.skill.folder
        if not same or not outcome.lands:
            why = outcome.message if same else f"{folder} changed while you edited it."
            self.flash(f"✗ {why} {keyed(_KEPT)}", ink.DANGER)
            return

        def written(receipt: Receipt) -> None:
            if receipt.ok and self._drafts.get(folder) == typed:
                del self._drafts[folder]

        def answered(agreed: bool | None) -> None:
            if agreed:
                self.carry(lambda _: planned, folder, written)
            else:
                self.flash(f"Nothing was written. {keyed(_KEPT)}", ink.LABEL)

        draw = partial(planned_lines, outcome)
        self.app.push_screen(Confirm(f"Edit {row.skill.name}", "writes it", draw), answered)


def curate_items(found: Prediction) -> tuple[CurateItem, ...]:
    """A run as it is shown: who changes, then who is held back and why; the others are counted."""
    changed = [
        CurateItem(
            each.name,
            each.before,
            each.to,
            each.why,
            "" if each.moved is None else f"{each.moved[0]} → {each.moved[1]}",
            each.references,
        )
        for each in found.transitions
    ]
    held = [
        CurateItem(each.name, "", "", each.why, "", ())
        for each in found.skipped
        if each.rule not in ("kept", "never_used_grace")
    ]
    return (*changed, *held)


def _snapshot(each: Snapshot) -> str:
    skills = "? skills" if each.skills < 0 else f"{each.skills:,} skills"
    size = f"{max(1, each.size // 1024):,} KiB" if each.size >= 0 else "? KiB"
    return f"{each.id}  {skills}  {size}  {short(each.reason)}"


def _lost(found: Difference) -> list[tuple[str, str]]:
    """The live skills a snapshot holds and the home does not, or not so; and which of the two."""
    return [
        (folder, word)
        for folders, word in ((found.added, "which is gone"), (found.changed, "which changed"))
        for folder in folders
        if not folder.startswith(".")
    ]


def _changed(found: Difference) -> list[tuple[str, tuple[str, ...]]]:
    return [
        ("Come back", found.added),
        ("Go (the safety copy keeps them)", found.removed),
        ("Get their older content", found.changed),
        ("Lose their pin", found.pins),
        ("Their counts go back", found.counts),
        ("Jobs that get their skills back", found.jobs),
    ]
