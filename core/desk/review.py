"""The queue, labelled: how every proposal would land on the home as it is now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.desk.opening import Opened
from core.errors import UnreadableError
from core.homes.hermes.pending import Proposal, Queue, Unreadable, find, read_queue
from core.homes.hermes.proposals import Judging, pin_key, plan_approval, targets
from core.homes.hermes.status import Status, asks, status_of
from core.journal import Step
from core.model import Finding
from core.plan import Plan
from core.steps import resolve
from core.view import Fact, Snapshot, Source, View, holds


@dataclass(frozen=True, slots=True)
class Label:
    """How one proposal stands. ``question`` is the finding that wants an answer, if any.

    ``claims`` name what it touches; ``facts`` are the reads it depends on.
    """

    proposal: Proposal
    status: Status
    category: str
    message: str
    question: Finding | None
    findings: tuple[Finding, ...]
    claims: frozenset[str]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """One proposal with the plan that approving it would commit."""

    proposal: Proposal
    plan: Plan
    status: Status
    steps: tuple[Step, ...]


class Board:
    """The labelled queue of one home. A refresh labels only the rows whose reads changed."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._labels: dict[str, Label] = {}
        self.queue = Queue((), ())

    def read(self) -> Queue:
        """Read the queue again: cheap, no proposal is judged."""
        self.queue = read_queue(self._opened.source)
        return self.queue

    def labels(self) -> Iterator[Label]:
        """The label of every proposal of the queue as last read, oldest first, one by one."""
        snapshot = Snapshot(self._opened.source)
        judging = self._opened.judging()
        known, self._labels = self._labels, {}
        for proposal in self.queue.proposals:
            label = known.get(proposal.file)
            if label is None or not _still(label, proposal, snapshot):
                label = label_one(snapshot, proposal, judging)
            self._labels[proposal.file] = label
            yield label


def label_one(source: Source, proposal: Proposal, judging: Judging) -> Label:
    """Judge one proposal on ``source``."""
    plan = plan_approval(View(source), proposal, judging)
    outcome = plan.outcome
    return Label(
        proposal,
        status_of(outcome),
        outcome.category,
        outcome.message,
        asks(outcome.findings) if outcome.lands else None,
        outcome.findings,
        outcome.claims,
        plan.facts,
    )


def rivals(labels: Sequence[Label]) -> dict[str, tuple[Proposal, ...]]:
    """``file -> proposals that touch the same entry, file or skill``, oldest first."""
    holders: dict[str, list[int]] = {}
    for place, label in enumerate(labels):
        for claim in label.claims:
            holders.setdefault(claim, []).append(place)
    found: dict[str, tuple[Proposal, ...]] = {}
    for place, label in enumerate(labels):
        others = {other for claim in label.claims for other in holders[claim]} - {place}
        found[label.proposal.file] = tuple(labels[other].proposal for other in sorted(others))
    return found


def show(opened: Opened, token: str, *, as_agent: bool = False) -> Shown:
    """One proposal exactly as it would land; what it hits is pinned from this first sight on.

    Raises :class:`NotFoundError`, :class:`UsageError`, and for a record that cannot be read
    :class:`UnreadableError`.
    """
    proposal = readable(find(read_queue(opened.source), token))
    judging = opened.judging(as_agent=as_agent)
    if not as_agent:
        pin(opened, (proposal,), judging.pins)
        judging = opened.judging()
    view = View(Snapshot(opened.source))
    plan = plan_approval(view, proposal, judging)
    steps = resolve(plan.changes, view.quiet().current, opened.ground().rows)
    return Shown(proposal, plan, status_of(plan.outcome), steps)


def pin(
    opened: Opened, proposals: Sequence[Proposal], pins: Mapping[str, Mapping[int, str]]
) -> None:
    """Remember what destructive memory operations hit at first sight."""
    judging = opened.judging()
    view = View(Snapshot(opened.source))
    for proposal in proposals:
        if pin_key(proposal) in pins:
            continue
        if found := targets(view, proposal, judging):
            home = str(opened.found.home)
            opened.journal.pin(home, pin_key(proposal), found, judging.now)


def readable(item: Proposal | Unreadable) -> Proposal:
    """``item`` if it can be judged. Raises :class:`UnreadableError`."""
    if isinstance(item, Unreadable):
        raise UnreadableError(
            f"{item.file} is no proposal: {item.reason}",
            f"It can only be refused: `signoff reject {item.id}`",
        )
    return item


def _still(label: Label, proposal: Proposal, snapshot: Snapshot) -> bool:
    if label.proposal.sha256 != proposal.sha256:
        return False
    view = View(snapshot)
    return all(holds(fact, view) for fact in label.facts)
