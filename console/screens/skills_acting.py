"""What a key does to skills: each decision a plan, shown first where something moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from console.keymap import back_again, keyed
from console.render import ink
from console.render.skills_plans import plan_lines, several_lines
from console.screens.bulk import Bulk
from console.screens.confirm import Confirm
from console.screens.skills_page import SkillPages

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.skill_steps import Step
    from core.desk.skill_table import Row
    from core.desk.skills import Planned
    from core.model import Receipt

Planner = Callable[["Opened"], "Planned"]
AREAS = frozenset({"skills", "curator"})
#: Why nobody pins or archives what others keep.
_OTHERS = {
    "external": "{} lies in an external folder: it is read-only here",
    "hub": "The hub installed {}: the curator never touches it",
}


class SkillActing(SkillPages):
    """Pin and archive, of one skill or of all that are marked."""

    #: Whether a question may be about to be asked: its y is not for this screen.
    asking = False

    # -- whom --------------------------------------------------------------------------------

    def chosen(self) -> list[Row]:
        """The marked skills, or the one at the cursor."""
        if self._archived:
            return []
        marked = [self._rows[key] for key in self.rows.marked if key in self._rows]
        return marked or ([] if self.row is None else [self.row])

    def why_not_skill(self, verb: str) -> str | None:
        """Why ``verb`` cannot be done to the chosen skills, as far as the table knows."""
        rows, board = self.chosen(), self._board
        if self._archived:
            return keyed(f"It is in the archive: {{skills.restore}} brings it back, then {verb} it")
        if self.borrowed is not None:
            return f"It belongs to a {self.borrowed.origin}: it is read-only here"
        if not rows or board is None:
            return f"There is no skill to {verb}"
        if board.blocked:
            return f"The usage rows cannot be read ({board.blocked}): nothing is written"
        if len(rows) > 1:
            return None
        skill = rows[0].skill
        if skill.provenance in _OTHERS:
            return _OTHERS[skill.provenance].format(skill.name)
        if skill.protected:
            return f"{skill.name} is a built-in that the agent never archives"
        if skill.provenance == "bundled" and not board.settings.prune_builtins:
            return f"{skill.name} is bundled, and curator.prune_builtins is off: it never ages"
        if verb == "archive" and skill.pinned:
            return f"{skill.name} is pinned: " + keyed("{skills.pin} takes the pin off")
        return None

    # -- pin -----------------------------------------------------------------------------------

    def pins(self) -> bool:
        """Whether the key pins the chosen skills: it unpins where all of them are pinned."""
        rows = self.chosen()
        return not rows or not all(row.skill.pinned for row in rows)

    def action_pin(self) -> None:
        rows, pinned = self.chosen(), self.pins()

        def planner(folder: str) -> Planner:
            from core.desk.skills import pin, unpin

            return lambda opened: (pin if pinned else unpin)(opened, folder)

        meant = [row for row in rows if row.skill.pinned is not pinned]
        plans = [planner(row.skill.folder) for row in meant]
        if len(plans) == 1:
            self.carry(plans[0], meant[0].skill.folder)
        elif plans:
            word = "pinned" if pinned else "unpinned"
            self._prepare(plans, lambda found: self._all(found, word))

    # -- archive -------------------------------------------------------------------------------

    def action_archive(self) -> None:
        rows = self.chosen()

        def planner(folder: str) -> Planner:
            from core.desk.skills import archive

            return lambda opened: archive(opened, folder)

        plans = [planner(row.skill.folder) for row in rows]
        self.asking = True
        self._prepare(plans, self._ask_archive)

    def _ask_archive(self, found: list[tuple[Planner, Planned]]) -> None:
        self.asking = False
        if len(found) == 1:
            planned = found[0][1]
            if planned.plan.outcome.lands and not _needs_a_look(planned):
                self.carry(lambda _: planned, planned.plan.subject)
                return
            self.confirm(f"Archive {planned.plan.subject}", "archives it", planned)
            return
        landing = [each for each in found if each[1].plan.outcome.lands]
        outcomes = [planned.plan.outcome for _, planned in found]
        if not landing:
            self.flash(f"✗ {outcomes[0].message}", ink.DANGER)
            return
        title = f"Archive {len(landing)} of {len(found)} skills as one step"

        def answered(agreed: bool | None) -> None:
            if agreed:
                self._all(landing, "archived")

        draw = partial(several_lines, outcomes)
        self.app.push_screen(Confirm(title, "archives them", draw), answered)

    def _prepare(
        self,
        plans: Sequence[Planner],
        done: Callable[[list[tuple[Planner, Planned]]], None],
    ) -> None:
        opened = self.signoff.opened
        if opened is None or not plans:
            return

        def work() -> list[tuple[Planner, Planned]]:
            return [(planner, planner(opened)) for planner in plans]

        self.start_job("sheet", work, done, self.not_planned)

    def not_planned(self, problem: Exception) -> None:
        """A plan could not even be made."""
        from core.errors import SignoffError

        self.asking = False
        if isinstance(problem, SignoffError):
            self.flash(f"✗ {problem.message}. {problem.hint}", ink.DANGER)
            # What the table shows may be gone.
            self.signoff.tell(AREAS)
        else:
            self.job_failed(problem)

    # -- carrying out --------------------------------------------------------------------------

    def confirm(self, title: str, verb: str, planned: Planned) -> None:
        """Show a plan; it is carried out as it was shown, or not at all."""
        outcome = planned.plan.outcome
        if not outcome.lands:
            self.flash(f"✗ {outcome.message}", ink.DANGER)
            return

        draw = partial(plan_lines, outcome)
        self.app.push_screen(Confirm(title, verb, draw), partial(self.carry_if, planned))

    def carry_if(self, planned: Planned, agreed: bool | None) -> None:
        """Carry out what was shown, if so agreed; a run over thousands of skills takes a while."""
        if agreed:
            self.flash("It is being written…", ink.LABEL)
            self.carry(lambda _: planned, planned.plan.subject)

    def carry(
        self, planner: Planner, key: str, done: Callable[[Receipt], None] | None = None
    ) -> None:
        """Plan and carry out in the queue of decisions, in turn with all others."""
        opened = self.signoff.opened
        if opened is None:
            return

        def task() -> Receipt:
            from core.desk.skills import carry_out

            return carry_out(opened, planner(opened))

        def carried(_key: str, receipt: Receipt) -> None:
            self._say_of(receipt)
            if done is not None:
                done(receipt)
            self.signoff.tell(AREAS)

        self.signoff.write(task, carried, key)

    def _say_of(self, receipt: Receipt) -> None:
        again = "; try again in a moment" if receipt.category == "locked" else ""
        if not receipt.ok:
            self.flash(f"✗ {receipt.message}{again}", ink.DANGER)
        elif receipt.journal is None:
            self.flash(f"= {receipt.message}", ink.LABEL)
        else:
            self.flash(f"✓ {receipt.message} {back_again()}", ink.GOOD)

    def _all(self, found: Sequence[tuple[Planner, Planned]], word: str) -> None:
        """Decide several as one bulk step, one a turn so that the screen keeps moving."""
        from core.desk.skill_steps import Step, in_one_step

        opened = self.signoff.opened
        if opened is None:
            return
        steps: list[Step] = [Step(planned, planner) for planner, planned in found]
        receipts: list[Receipt] = []

        def start() -> Iterator[Receipt]:
            return in_one_step(opened, steps)

        def decided(_key: str, receipt: Receipt) -> None:
            receipts.append(receipt)
            if len(receipts) == len(steps):
                self._say_of_all(receipts, word)
                self.rows.clear_marks()
                self.signoff.tell(AREAS)

        bulk = Bulk(start, len(steps), (), frozenset)
        for step in steps:
            self.signoff.write(bulk.step, decided, step.shown.plan.subject)

    def _say_of_all(self, receipts: Sequence[Receipt], word: str) -> None:
        done = sum(receipt.ok for receipt in receipts)
        failed = [receipt for receipt in receipts if not receipt.ok]
        parts = [keyed(f"✓ {done:,} {word}, {{app.undo}} takes them back as one")] if done else []
        if failed:
            parts.append(f"✗ {len(failed):,} not: {failed[0].message}")
        self.flash("; ".join(parts), ink.DANGER if failed else ink.GOOD)


def _needs_a_look(planned: Planned) -> bool:
    """Whether something refers to a skill, or its name is taken in the archive."""
    moved = planned.moved.items()
    taken = any(old.rpartition("/")[2] != new.rpartition("/")[2] for old, new in moved)
    return taken or bool(planned.plan.outcome.findings)
