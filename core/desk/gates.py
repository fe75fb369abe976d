"""The agent's own write gates, switched through a plan like everything else."""

from __future__ import annotations

from collections.abc import Sequence

from core.commit import commit
from core.desk.opening import Opened
from core.homes.hermes.gate import plan_gate
from core.model import Receipt
from core.plan import bind
from core.view import View

SUBSYSTEMS = ("memory", "skills")


def set_gate(opened: Opened, on: bool, subsystems: Sequence[str] = SUBSYSTEMS) -> Receipt:
    """Switch ``write_approval`` of the named subsystems in the home's config.

    Raises :class:`StateError` when the journal cannot be used.
    """
    opened.check_state()
    view = View(opened.source)
    judging = opened.judging()
    outcome = plan_gate(view, on, subsystems, environ=opened.environ, managed=judging.managed)
    plan = bind(view, "gate", "on" if on else "off", outcome)
    return commit(plan, opened.ground(), opened.journal, now=opened.clock())
