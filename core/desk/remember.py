"""A person's own hand on the memory: each function makes a plan to look at, then carry it out.

``which`` names an entry: a number counts as ``memories.stores`` shows it; a text is the whole entry
or a part that only one has. Callers that showed an entry pass its text: a number may mean another
one by now.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.commit import commit
from core.desk.memories import TARGETS
from core.desk.opening import Opened
from core.desk.receipts import SEEN_NEXT_SESSION
from core.homes.hermes.config import Config
from core.homes.hermes.memory import editing
from core.homes.hermes.memory.entries import path_of
from core.homes.hermes.rules import Rules
from core.model import Outcome, Receipt
from core.plan import Plan, bind
from core.view import View, name

#: What a plan says that did not find the text in its file.
_ELSEWHERE = ("no_match", "empty", "unreadable_target")


def forget(opened: Opened, which: int | str, target: str | None = None) -> Plan:
    """Take an entry out. Without ``target`` a number is MEMORY.md's, a text is sought in both."""
    if target is not None or isinstance(which, int):
        return _plan(
            opened,
            "forget",
            target or TARGETS[0],
            lambda view, store, config, rules: editing.forget(view, store, which, config, rules),
        )
    plans = [forget(opened, which, each) for each in TARGETS]
    exact = [plan for plan in plans if _whole(plan, which)]
    if len(exact) == 1:
        return exact[0]
    holding = [plan for plan in plans if plan.outcome.category not in _ELSEWHERE]
    if len(holding) == 1:
        return holding[0]
    view, said = View(opened.source), " ".join(plan.outcome.message for plan in plans)
    if holding:
        said = f"Both files have it, name one with --target. {said}"
        return bind(view, "forget", "memory", Outcome("ambiguous", said))
    refused = [plan for plan in plans if plan.outcome.category != "no_match"]
    return refused[0] if refused else bind(view, "forget", "memory", Outcome("no_match", said))


def edit(opened: Opened, target: str, which: int | str, text: str) -> Plan:
    """Put ``text`` in place of an entry."""
    return _plan(
        opened,
        "edit",
        target,
        lambda view, store, config, rules: editing.edit(view, store, which, text, config, rules),
    )


def move(opened: Opened, target: str, which: int | str, to: int) -> Plan:
    """Make an entry number ``to``."""
    return _plan(
        opened,
        "move",
        target,
        lambda view, store, config, rules: editing.move(view, store, which, to, config, rules),
    )


def add(opened: Opened, target: str, text: str) -> Plan:
    """Put ``text`` behind the last entry."""
    return _plan(
        opened,
        "remember",
        target,
        lambda view, store, config, rules: editing.add(view, store, text, config, rules),
    )


def normalise(opened: Opened, target: str) -> Plan:
    """Take out what trips the agent's drift guard."""
    return _plan(opened, "normalise", target, editing.normalise)


def carry_out(opened: Opened, plan: Plan, note: str = "") -> Receipt:
    """Commit a plan of this module as it was shown, or nothing of it.

    A plan that changes nothing leaves no line in the journal. Raises :class:`StateError` when the
    journal cannot be used.
    """
    outcome = plan.outcome
    if outcome.lands and not plan.changes:
        return Receipt(plan.subject, True, outcome.category, outcome.message)
    opened.check_state()
    receipt = commit(plan, opened.ground(), opened.journal, now=opened.clock(), note=note)
    return replace(receipt, next=SEEN_NEXT_SESSION) if receipt.ok else receipt


def _plan(
    opened: Opened,
    verb: str,
    target: str,
    work: Callable[[View, str, Config, Rules], Outcome],
) -> Plan:
    view, judging = View(opened.source), opened.judging()
    config = judging.config(view)
    rules = judging.rules_of(view, config, None)
    return bind(view, verb, name(path_of(target)), work(view, target, config, rules))


def _whole(plan: Plan, text: str) -> bool:
    """Whether ``text`` is all of the entry that goes."""
    return any(pair.before == text.strip() for pair in plan.outcome.entries)
