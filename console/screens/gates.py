"""Making the agent ask before it writes: its own gates, turned on by a plan that is looked at."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render import ink
from console.render.planned import planned_lines
from console.screens.confirm import Confirm
from console.screens.host import is_vak
from console.screens.room import Room

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.model import Receipt
    from core.plan import Plan

_NO_GATES = "vak has no such gates: it writes notes at once, and its skills wait here"


def turn_on(room: Room) -> None:
    """Show in ``room`` what turns the gates on, and do it if the person agrees."""
    opened = room.signoff.opened
    if opened is None:
        return
    if is_vak(opened):
        room.flash(_NO_GATES, ink.LABEL)
        return

    def work() -> Plan:
        from core.desk.gates import foresee_gate

        return foresee_gate(opened, on=True)

    room.start_job("sheet", work, partial(_ask, room, opened), room.job_failed)


def _ask(room: Room, opened: Opened, plan: Plan) -> None:
    outcome = plan.outcome
    if not plan.changes:
        room.flash(outcome.message, ink.LABEL if outcome.lands else ink.DANGER)
        return

    def task() -> Receipt:
        from core.desk.gates import carry_out

        return carry_out(opened, plan)

    def answered(agreed: bool | None) -> None:
        if agreed:
            room.signoff.write(task, partial(_said, room), "gate")

    lines = partial(planned_lines, outcome)
    room.app.push_screen(Confirm("The agent's write gates", "turns them on", lines), answered)


def _said(room: Room, _key: str, receipt: Receipt) -> None:
    back = keyed("{app.undo} takes it back")
    said = f"✓ {receipt.message}. {back}" if receipt.ok else f"✗ {receipt.message}"
    room.flash(said, ink.GOOD if receipt.ok else ink.DANGER)
    room.signoff.tell(frozenset({"queue"}))
