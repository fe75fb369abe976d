"""The agent's own write gates, switched through a plan like everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.commit import commit
from core.desk.opening import Opened
from core.homes.hermes.gate import plan_gate
from core.model import Receipt
from core.plan import Plan, bind
from core.view import View

SUBSYSTEMS = ("memory", "skills")


def foresee_gate(opened: Opened, on: bool, subsystems: Sequence[str] = SUBSYSTEMS) -> Plan:
    """The plan that switches ``write_approval`` of the named subsystems in the home's config."""
    view = View(opened.source)
    managed = opened.judging().managed
    outcome = plan_gate(view, on, subsystems, environ=opened.environ, managed=managed)
    return bind(view, "gate", "on" if on else "off", outcome)


def carry_out(opened: Opened, plan: Plan) -> Receipt:
    """Commit a plan of :func:`foresee_gate` as it was shown, or nothing of it.

    What a careful person should know is in the receipt's findings, and said in its message.
    Raises :class:`StateError` when the journal cannot be used.
    """
    opened.check_state()
    outcome = plan.outcome
    receipt = commit(plan, opened.ground(), opened.journal, now=opened.clock())
    more = [each.message for each in outcome.findings if each.message not in receipt.message]
    message = "; ".join([receipt.message, *more])
    return replace(receipt, message=message, findings=outcome.findings)


def set_gate(opened: Opened, on: bool, subsystems: Sequence[str] = SUBSYSTEMS) -> Receipt:
    """Switch the gates of the named subsystems at once. Raises as :func:`carry_out`."""
    opened.check_state()
    return carry_out(opened, foresee_gate(opened, on, subsystems))
