"""Binding an outcome to what it was based on: from here on it is shown and committed as one."""

from __future__ import annotations

from core.model import AnyChange, Change, Outcome, Plan
from core.view import View, seal


def bind(
    view: View,
    verb: str,
    subject: str,
    outcome: Outcome,
    *,
    record: str | None = None,
    undoes: int | None = None,
) -> Plan:
    """The plan of ``outcome``, sealed on everything ``view`` has read.

    ``record`` is the pending file it decides: read here, so that the seal covers its bytes, and
    removed last. A refused outcome has no changes at all.
    """
    changes: tuple[AnyChange, ...] = outcome.changes if outcome.lands else ()
    if record is not None:
        node = view.node(record)
        if outcome.lands and node is not None:
            changes = (*changes, Change(record, node, None))
    facts = view.facts
    return Plan(verb, subject, outcome, facts, seal(facts), changes, record, undoes)
