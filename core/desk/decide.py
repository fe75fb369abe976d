"""Deciding: approve, refuse, foresee. Each proposal is planned on the home as it is at its turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.commit import commit
from core.desk.opening import Opened
from core.desk.review import pin
from core.errors import NotFoundError, UsageError
from core.homes.hermes.pending import Proposal, Queue, Unreadable, find, read_queue
from core.homes.hermes.proposals import plan_approval, plan_rejection
from core.homes.hermes.status import asks
from core.journal import Step
from core.model import Receipt
from core.plan import Plan
from core.steps import resolve
from core.view import Overlay, Source, View


@dataclass(frozen=True, slots=True)
class Request:
    """What to decide: the words of the person, or everything pending now (``tokens`` is None)."""

    tokens: tuple[str, ...] | None
    note: str = ""
    as_agent: bool = False
    seal: str | None = None


def approve(opened: Opened, request: Request) -> tuple[Receipt, ...]:
    """Approve in the order asked (oldest first for all); a failure does not stop the rest.

    With all, rows with an open question are skipped and said so. Raises :class:`NotFoundError`
    when there is nothing to act on at all, :class:`StateError` when the journal cannot be used.
    """
    items = _items(opened, request)
    proposals = [item for item in items if isinstance(item, Proposal)]
    if not request.as_agent:
        pin(opened, proposals, opened.judging().pins)
    return tuple(_approve(opened, item, request) for item in items)


def reject(opened: Opened, request: Request) -> tuple[Receipt, ...]:
    """Refuse records, readable or not: each is removed, and can be brought back by undo."""
    receipts = []
    for item in _items(opened, request):
        if isinstance(item, Missing):
            receipts.append(item.receipt)
            continue
        plan = plan_rejection(View(opened.source), item)
        receipts.append(_commit(opened, plan, request.note))
    return tuple(receipts)


def foresee(opened: Opened, request: Request) -> tuple[Receipt, ...]:
    """What :func:`approve` would do, in order, each on what the ones before it leave behind."""
    source: Source = opened.source
    rows = opened.ground().rows
    judging = opened.judging(as_agent=request.as_agent)
    receipts = []
    for item in _items(opened, request):
        if not isinstance(item, Proposal):
            receipts.append(_no_proposal(item))
            continue
        plan = plan_approval(View(source), item, judging)
        if refusal := _held_back(plan, request):
            receipts.append(refusal)
            continue
        steps = resolve(plan.changes, View(source).current, rows)
        source = Overlay(source, [step.change for step in steps])
        receipts.append(_expected(plan, steps))
    return tuple(receipts)


def check_terminal(opened: Opened, interactive: bool) -> None:
    """Refuse to decide without a terminal when the person's settings ask for one."""
    if opened.settings.decide_needs_terminal and not interactive:
        raise UsageError(
            "Deciding needs a terminal here (decide_needs_terminal is set)",
            "Run it by hand in a terminal",
        )


@dataclass(frozen=True, slots=True)
class Missing:
    """An id among several that names nothing."""

    receipt: Receipt


Item = Proposal | Unreadable | Missing


def _items(opened: Opened, request: Request) -> list[Item]:
    queue = read_queue(opened.source)
    if request.tokens is None:
        if not queue.proposals:
            raise NotFoundError("The queue is empty", "Nothing waits for a decision")
        return list(queue.proposals)
    if request.seal is not None and len(request.tokens) != 1:
        raise UsageError("--seal goes with exactly one id", "Name the id the seal was shown for")
    items = [_find(queue, token) for token in dict.fromkeys(request.tokens)]
    if len(items) == 1 and isinstance(items[0], Missing):
        find(queue, request.tokens[0])
    return items


def _find(queue: Queue, token: str) -> Item:
    try:
        return find(queue, token)
    except NotFoundError as problem:
        return Missing(Receipt(token, False, "gone", problem.message))


def _approve(opened: Opened, item: Item, request: Request) -> Receipt:
    if not isinstance(item, Proposal):
        return _no_proposal(item)
    judging = opened.judging(as_agent=request.as_agent)
    plan = plan_approval(View(opened.source), item, judging)
    if refusal := _held_back(plan, request):
        return refusal
    return _commit(opened, plan, request.note)


def _held_back(plan: Plan, request: Request) -> Receipt | None:
    """Why ``plan`` is not committed although it could be judged."""
    if request.seal is not None and plan.seal != request.seal:
        return Receipt(plan.subject, False, "moved", "What was shown has changed; look at it again")
    if not plan.outcome.lands:
        return Receipt(plan.subject, False, plan.outcome.category, plan.outcome.message)
    question = asks(plan.outcome.findings)
    if question and request.tokens is None and not request.as_agent:
        message = f"Skipped, it wants an answer: {question.message}"
        return Receipt(plan.subject, False, question.code, message)
    return None


def _no_proposal(item: Unreadable | Missing) -> Receipt:
    if isinstance(item, Missing):
        return item.receipt
    return Receipt(item.id, False, "invalid", f"It cannot be read: {item.reason}")


def _commit(opened: Opened, plan: Plan, note: str) -> Receipt:
    return commit(plan, opened.ground(), opened.journal, now=opened.clock(), note=note)


def _expected(plan: Plan, steps: Sequence[Step]) -> Receipt:
    outcome = plan.outcome
    receipt = Receipt(plan.subject, True, outcome.category, outcome.message)
    return replace(
        receipt, changed=tuple(step.change.path for step in steps), entries=outcome.entries
    )
