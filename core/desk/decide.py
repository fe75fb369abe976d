"""Deciding: approve, refuse, foresee. Each proposal is planned on the home as it is at its turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.commit import commit
from core.desk.opening import Opened
from core.desk.review import names, pin, seal_of
from core.errors import NotFoundError, SignoffError, UsageError
from core.homes.hermes.pending import Proposal, Queue, Unreadable, find, ids_of, read_queue
from core.homes.hermes.proposals import Judging, plan_approval, plan_rejection
from core.homes.hermes.status import asks
from core.journal import Step
from core.model import Move, NodeKind, Receipt
from core.overlay import Overlay
from core.plan import Plan
from core.steps import resolve
from core.view import Snapshot, Source, View, sha256


@dataclass(frozen=True, slots=True)
class Request:
    """What to decide: the words of the person, or everything pending now (``tokens`` is None)."""

    tokens: tuple[str, ...] | None
    note: str = ""
    as_agent: bool = False
    seal: str | None = None


class NeedsTerminalError(SignoffError):
    """The person's settings keep decisions for a terminal."""

    title = "Needs a terminal"
    code = "needs_terminal"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to decide, under the name it has in the answer; no entry: nothing is called so."""

    name: str
    entry: Proposal | Unreadable | None


def approve(opened: Opened, request: Request) -> tuple[Receipt, ...]:
    """All of :func:`approvals`."""
    return tuple(approvals(opened, request))


def approvals(opened: Opened, request: Request) -> Iterator[Receipt]:
    """Approve in the order asked (oldest first for all); a failure does not stop the rest.

    With all, rows with an open question are skipped and said so. Raises, before anything is
    decided, :class:`NotFoundError` when there is nothing to act on at all, :class:`UsageError` for
    words that make no sense together, :class:`StateError` when the journal cannot be used.
    """
    items = _items(opened, request)
    opened.check_state()
    if not request.as_agent:
        proposals = [item.entry for item in items if isinstance(item.entry, Proposal)]
        pin(opened, proposals, opened.pins())
    return (_approve(opened, item, request) for item in items)


def reject(opened: Opened, request: Request) -> tuple[Receipt, ...]:
    """All of :func:`rejections`."""
    return tuple(rejections(opened, request))


def rejections(opened: Opened, request: Request) -> Iterator[Receipt]:
    """Refuse records, readable or not: each is removed, and can be brought back by undo.

    Raises as :func:`approvals`.
    """
    items = _items(opened, request, readable_only=False)
    opened.check_state()
    return (_reject(opened, item, request) for item in items)


def foresee(opened: Opened, request: Request) -> Iterator[Receipt]:
    """What :func:`approve` would do, in order, each on what the ones before it leave behind."""
    items = _items(opened, request)
    return _foresee(opened, items, request)


def check_terminal(opened: Opened, interactive: bool) -> None:
    """Raise :class:`NeedsTerminalError` without a terminal when the settings ask for one."""
    if opened.settings.decide_needs_terminal and not interactive:
        raise NeedsTerminalError(
            "Deciding needs a terminal here (decide_needs_terminal is set)",
            "Run it by hand in a terminal",
        )


def _items(opened: Opened, request: Request, *, readable_only: bool = True) -> list[Item]:
    tokens = request.tokens
    queue = read_queue(opened.source, ids=None if tokens is None else ids_of(tokens))
    named = names(queue)
    if request.tokens is None:
        if request.seal is not None:
            raise UsageError("--seal goes with exactly one id", "Name the id it was shown for")
        entries: list[Proposal | Unreadable] = list(queue.proposals)
        if not readable_only:
            entries += queue.unreadable
        if not entries:
            raise NotFoundError("Nothing waits for this decision", "See `signoff pending`")
        return [Item(named[entry.file], entry) for entry in entries]
    found = [_find(queue, token) for token in dict.fromkeys(request.tokens)]
    items = {
        entry.file if entry else token: Item(named[entry.file] if entry else token, entry)
        for token, entry in found
    }
    if not any(item.entry for item in items.values()):
        find(queue, request.tokens[0])
    if request.seal is not None and len(items) != 1:
        raise UsageError("--seal goes with exactly one id", "Name the id it was shown for")
    return list(items.values())


def _find(queue: Queue, token: str) -> tuple[str, Proposal | Unreadable | None]:
    try:
        return token, find(queue, token)
    except NotFoundError:
        return token, None


def _approve(opened: Opened, item: Item, request: Request) -> Receipt:
    entry = item.entry
    if not isinstance(entry, Proposal):
        return _no_proposal(item)
    if refusal := _lost(opened, item.name, entry):
        return refusal
    judging = opened.judging(as_agent=request.as_agent)
    view = View(opened.source)
    plan = _plan(view, item.name, entry, judging)
    refusal = _held_back(view, plan, entry, judging, request)
    return refusal or _commit(opened, plan, request)


def _reject(opened: Opened, item: Item, request: Request) -> Receipt:
    entry = item.entry
    if entry is None:
        return _no_proposal(item)
    if isinstance(entry, Proposal) and (refusal := _lost(opened, item.name, entry)):
        return refusal
    plan = replace(plan_rejection(View(opened.source), entry), subject=item.name)
    return _commit(opened, plan, request)


def _foresee(opened: Opened, items: Sequence[Item], request: Request) -> Iterator[Receipt]:
    source: Source = Snapshot(opened.source)
    rows = opened.ground().rows
    judging = opened.judging(as_agent=request.as_agent)
    for item in items:
        if not isinstance(item.entry, Proposal):
            yield _no_proposal(item)
            continue
        view = View(source)
        plan = _plan(view, item.name, item.entry, judging)
        if refusal := _held_back(view, plan, item.entry, judging, request):
            yield refusal
            continue
        steps = resolve(plan.changes, view.quiet().current, rows)
        source = Overlay(source, [step.change for step in steps])
        yield _expected(plan, steps)


def _lost(opened: Opened, name: str, proposal: Proposal) -> Receipt | None:
    """Why the record read with the queue is not the one on disk any more."""
    node = View(opened.source).node(proposal.file)
    if node is None:
        return Receipt(name, False, "gone", "The proposal is gone: it was decided elsewhere")
    if node.kind is not NodeKind.FILE or sha256(node.data) != proposal.sha256:
        return Receipt(name, False, "moved", "The proposal was rewritten meanwhile; look at it")
    return None


def _plan(view: View, name: str, proposal: Proposal, judging: Judging) -> Plan:
    return replace(plan_approval(view, proposal, judging), subject=name)


def _held_back(
    view: View, plan: Plan, proposal: Proposal, judging: Judging, request: Request
) -> Receipt | None:
    """Why ``plan`` is not committed although it could be judged."""
    if request.seal is not None and seal_of(view, plan, proposal, judging) != request.seal:
        return Receipt(plan.subject, False, "moved", "What was shown has changed; look at it again")
    if not plan.outcome.lands:
        return Receipt(plan.subject, False, plan.outcome.category, plan.outcome.message)
    question = asks(plan.outcome.findings)
    if question and request.tokens is None and not request.as_agent:
        message = f"Skipped, it wants an answer: {question.message}"
        return Receipt(plan.subject, False, question.code, message)
    return None


def _no_proposal(item: Item) -> Receipt:
    if isinstance(item.entry, Unreadable):
        message = f"It cannot be read ({item.entry.reason}), only refused"
        return Receipt(item.name, False, "unreadable_target", message)
    return Receipt(item.name, False, "gone", f"Nothing pending is called {item.name}")


def _commit(opened: Opened, plan: Plan, request: Request) -> Receipt:
    return commit(plan, opened.ground(), opened.journal, now=opened.clock(), note=request.note)


def _expected(plan: Plan, steps: Sequence[Step]) -> Receipt:
    outcome = plan.outcome
    changed: list[str] = []
    for step in steps:
        changed.append(step.change.path)
        if isinstance(step.change, Move):
            changed.append(step.change.to)
    return Receipt(
        plan.subject,
        True,
        outcome.category,
        outcome.message,
        changed=tuple(changed),
        entries=outcome.entries,
    )
