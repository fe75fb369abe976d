"""Several skills decided as one bulk step, each planned on the home as it is at its turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.desk.opening import Opened
from core.desk.skills import Planned, carry_out
from core.journal import Tags
from core.model import Receipt


@dataclass(frozen=True, slots=True)
class Step:
    """One decision of several: what was shown of it, and how to plan it again."""

    shown: Planned
    again: Callable[[Opened], Planned]


def in_one_step(opened: Opened, steps: Sequence[Step], note: str = "") -> Iterator[Receipt]:
    """Carry out ``steps`` in order; one that would not come to what was shown is left alone.

    A failure does not stop the rest. Raises :class:`StateError` when the journal cannot be used.
    """
    opened.check_state()
    bulk = opened.journal.new_bulk(str(opened.found.home), opened.clock())
    return (_one(opened, step, note, Tags(bulk=bulk)) for step in steps)


def _one(opened: Opened, step: Step, note: str, tags: Tags) -> Receipt:
    fresh = step.again(opened)
    if not _same(step.shown, fresh):
        subject = step.shown.plan.subject
        message = f"{subject} changed since it was shown; nothing was written"
        return Receipt(subject, False, "moved", message)
    return carry_out(opened, fresh, note, tags)


def _same(shown: Planned, fresh: Planned) -> bool:
    """Whether both come to the same, and nothing new is to be said of it.

    The name in the archive may be another by then. A step before may have done a part of it: the
    row of a twin is changed, and what was said of that twin is over.
    """
    before, after = shown.plan.outcome, fresh.plan.outcome
    said = {each.message for each in before.findings}
    return (
        before.category == after.category
        and set(shown.moved) == set(fresh.moved)
        and shown.rows.keys() >= fresh.rows.keys()
        and said.issuperset(each.message for each in after.findings)
    )
