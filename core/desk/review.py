"""The queue, labelled: how every proposal would land on the home as it is now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.desk import kinds
from core.desk.decisions import SeenBefore, recall
from core.desk.opening import Opened
from core.errors import StateError, UnreadableError
from core.homes.hermes.origin import Provenance
from core.homes.hermes.pending import Proposal, Queue, Unreadable, find, ids_of
from core.homes.hermes.proposals import Judging, pin_key
from core.homes.hermes.status import Status, asks, status_of
from core.journal import Step
from core.model import Finding
from core.plan import Plan
from core.steps import resolve
from core.view import Fact, Snapshot, Source, View, holds, sha256


@dataclass(frozen=True, slots=True)
class Label:
    """How one proposal stands. ``question`` is the finding that wants an answer, if any.

    ``claims`` name what it touches; ``facts`` are the reads it depends on. ``seen_before`` is the
    refusal the same text met earlier, ``snoozed_until`` the time (UTC) it sleeps until.
    """

    proposal: Proposal
    status: Status
    category: str
    message: str
    question: Finding | None
    findings: tuple[Finding, ...]
    claims: frozenset[str]
    facts: tuple[Fact, ...]
    seen_before: SeenBefore | None = None
    snoozed_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """One proposal with the plan that approving it would commit.

    ``name`` is what to call it on the command line; ``seal`` names this very plan, judged this
    way; ``trouble`` says why nothing could be pinned, ``""`` if it could. ``seen_before`` is the
    refusal the same text met earlier, ``origin`` the conversation it came from.
    """

    proposal: Proposal
    plan: Plan
    status: Status
    steps: tuple[Step, ...]
    name: str
    seal: str
    trouble: str = ""
    seen_before: SeenBefore | None = None
    origin: Provenance | None = None


class Board:
    """The labelled queue of one home. A refresh labels only the rows whose reads changed."""

    def __init__(self, opened: Opened) -> None:
        self._opened = opened
        self._labels: dict[str, Label] = {}
        self.queue = Queue((), ())

    def read(self) -> Queue:
        """Read the queue again: cheap, no proposal is judged."""
        known = {proposal.file: proposal for proposal in self.queue.proposals}
        self.queue = self._opened.queue(known=known)
        return self.queue

    def labels(self) -> Iterator[Label]:
        """The label of every proposal of the queue as last read, oldest first, one by one.

        What was judged is kept when the caller stops half way.
        """
        snapshot = Snapshot(self._opened.source)
        judging = self._opened.judging()
        proposals, known = self.queue.proposals, self._labels
        self._labels = {p.file: known[p.file] for p in proposals if p.file in known}
        remembered = recall(self._opened, proposals)
        for proposal in proposals:
            label = self._labels.get(proposal.file)
            if label is None or not _still(label, proposal, snapshot):
                label = label_one(snapshot, proposal, judging)
            self._labels[proposal.file] = label
            before, until = remembered.before(proposal), remembered.until(proposal)
            if before or until:
                label = replace(label, seen_before=before, snoozed_until=until)
            yield label


def label_one(source: Source, proposal: Proposal, judging: Judging) -> Label:
    """Judge one proposal on ``source``."""
    plan = judging.approval(View(source), proposal)
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


def rival_counts(labels: Sequence[Label]) -> dict[str, int]:
    """``file -> how many rivals it has``: :func:`rivals` without naming them, for long queues."""
    holders: dict[str, set[int]] = {}
    for place, label in enumerate(labels):
        for claim in label.claims:
            holders.setdefault(claim, set()).add(place)
    counts = {}
    for label in labels:
        first, *more = [holders[claim] for claim in label.claims] or [{0}]
        counts[label.proposal.file] = len(first.union(*more) if more else first) - 1
    return counts


def names(queue: Queue) -> dict[str, str]:
    """``file -> what to call it``: its id, with the subsystem where both have that id."""
    entries: tuple[Proposal | Unreadable, ...] = (*queue.proposals, *queue.unreadable)
    times = Counter(entry.id for entry in entries)
    return {
        entry.file: entry.id if times[entry.id] == 1 else f"{entry.subsystem}/{entry.id}"
        for entry in entries
    }


def show(opened: Opened, token: str, *, as_agent: bool = False) -> Shown:
    """One proposal exactly as it would land; what it hits is pinned from this first sight on.

    Raises :class:`NotFoundError`, :class:`UsageError`, and for a record that cannot be read
    :class:`UnreadableError`.
    """
    queue = opened.queue(ids=ids_of([token]))
    proposal = readable(find(queue, token))
    judging = opened.judging(as_agent=as_agent)
    trouble = ""
    if not as_agent:
        try:
            pin(opened, (proposal,), judging.pins)
        except StateError as problem:
            trouble = problem.message
        judging = opened.judging()
    view = View(Snapshot(opened.source))
    plan = judging.approval(view, proposal)
    steps = resolve(plan.changes, view.quiet().current, opened.ground().rows)
    return Shown(
        proposal,
        plan,
        status_of(plan.outcome),
        steps,
        names(queue)[proposal.file],
        seal_of(view, plan, proposal, judging),
        trouble,
        recall(opened, (proposal,)).before(proposal),
        kinds.trace(opened.found.kind, opened.found.home, proposal),
    )


def seal_of(view: View, plan: Plan, proposal: Proposal, judging: Judging) -> str:
    """The seal a person quotes: the plan's own, and how it was judged.

    The same reads judged otherwise (with guards or as the agent, by other rules, against other
    pins) make another plan.
    """
    quiet = view.quiet()
    how = (
        plan.seal,
        plan.outcome.category,
        str(judging.rules_of(quiet, judging.config(quiet), proposal)),
        judging.as_agent,
        sorted(judging.guards_off),
        sorted(judging.pins.get(pin_key(proposal), {}).items()),
    )
    return sha256(repr(how).encode())


def pin(
    opened: Opened, proposals: Sequence[Proposal], pins: Mapping[str, Mapping[int, str]]
) -> None:
    """Remember what destructive memory operations hit at first sight."""
    home, now = str(opened.found.home), opened.clock()
    for record, found in first_sight(opened, proposals, pins).items():
        opened.journal.pin(home, record, found, now)


def first_sight(
    opened: Opened, proposals: Sequence[Proposal], pins: Mapping[str, Mapping[int, str]]
) -> dict[str, dict[int, str]]:
    """What :func:`pin` would remember of proposals that are not in ``pins`` yet."""
    judging = opened.judging()
    view = View(Snapshot(opened.source))
    fresh = [proposal for proposal in proposals if pin_key(proposal) not in pins]
    found = {pin_key(proposal): judging.targets(view, proposal) for proposal in fresh}
    return {record: entries for record, entries in found.items() if entries}


def readable(item: Proposal | Unreadable) -> Proposal:
    """``item`` if it can be judged. Raises :class:`UnreadableError`."""
    if isinstance(item, Unreadable):
        raise UnreadableError(f"{item.file} is no proposal: {item.reason}", item.hint)
    return item


def _still(label: Label, proposal: Proposal, snapshot: Snapshot) -> bool:
    if label.proposal.sha256 != proposal.sha256:
        return False
    view = View(snapshot)
    return all(holds(fact, view) for fact in label.facts)
