"""A plan: an outcome bound to what it was based on, shown and committed as one."""

from __future__ import annotations

from dataclasses import dataclass

from core.model import AnyChange, Change, Outcome
from core.view import Fact, View, seal


@dataclass(frozen=True, slots=True)
class Plan:
    """An outcome bound to the bytes it was computed from: shown, then committed as it is, or not.

    ``seal`` is a hash over ``facts``; ``changes`` hold everything that is written, the pending
    record's removal last. ``verb`` and ``subject`` name the decision in the journal; ``record``
    is the pending file it decides, ``undoes`` the journal entry it takes back.
    """

    verb: str
    subject: str
    outcome: Outcome
    facts: tuple[Fact, ...]
    seal: str
    changes: tuple[AnyChange, ...]
    record: str | None = None
    undoes: int | None = None


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
