"""The forecast: several proposals approved in order, each on what the ones before it leave behind.

Nothing is written. What is foreseen is exactly what :func:`core.desk.decide.approvals` would do on
the same home at the same time: the same plans, laid over each other in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.desk.decide import Item, Request, asleep, files_of, held_back, items_of, plan_item
from core.desk.decisions import Remembered, recall
from core.desk.opening import Opened
from core.desk.receipts import after_approval
from core.desk.review import first_sight
from core.desk.rivals import Rivals, rivals_of
from core.desk.search import Improvement, improve
from core.homes.hermes.pending import Proposal
from core.homes.hermes.proposals import Judging
from core.journal import Step
from core.model import Budget, Change, Move, NodeKind, Receipt
from core.overlay import Overlay
from core.plan import Plan
from core.steps import RowFormat, resolve
from core.view import Snapshot, Source, View


@dataclass(frozen=True, slots=True)
class Row:
    """One proposal at its turn. ``receipt`` is what approving it would answer, without an entry.

    ``budget`` is its store before and after (also after a refusal for want of room: what it would
    need), ``None`` where no store was judged.
    """

    file: str
    receipt: Receipt
    budget: Budget | None


@dataclass(frozen=True, slots=True)
class Curve:
    """A store's size: at the start, then after each row, in code points with delimiters."""

    limit: int
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Forecast:
    """``rows`` in order; ``first_failure`` is the place of the first that would not land.

    ``curve``: by target, of every store that is touched. ``better`` says what would let more land:
    another order, a set to leave out, entries to remove; ``None`` when nothing fails for want of
    room or order. ``after``: the home as it would be.
    """

    rows: tuple[Row, ...]
    first_failure: int | None
    curve: Mapping[str, Curve]
    better: Improvement | None
    after: Source


def forecast(opened: Opened, request: Request, *, search: bool = True) -> Forecast:
    """What approving as ``request`` says would do, and what would do better.

    Raises :class:`NotFoundError` and :class:`UsageError` as an approval does.
    """
    queue = opened.queue()
    items = items_of(queue, request)
    stage = _Stage.of(opened, request, items, rivals_of(opened, queue, files_of(items)))
    rows, after = stage.play(items)
    failing = [place for place, row in enumerate(rows) if not row.receipt.ok]
    better = improve(stage, items, rows) if search and failing else None
    return Forecast(rows, failing[0] if failing else None, curves(rows), better, after)


def curves(rows: Sequence[Row]) -> dict[str, Curve]:
    """The budget curve of every store that ``rows`` touch."""
    found: dict[str, Curve] = {}
    for row in rows:
        if row.budget is not None and row.budget.target not in found:
            target = row.budget.target
            sizes = tuple(_sizes(rows, target, row.budget.before))
            found[target] = Curve(row.budget.limit, sizes)
    return found


def _sizes(rows: Sequence[Row], target: str, size: int) -> Iterator[int]:
    yield size
    for row in rows:
        if row.receipt.ok and row.budget is not None and row.budget.target == target:
            size = row.budget.after
        yield size


@dataclass(frozen=True, slots=True)
class _Stage:
    """Where orders are played: the home as it stands, judged as the approval would judge."""

    source: Source
    judging: Judging
    rows: RowFormat
    request: Request
    remembered: Remembered
    rivals: Rivals

    @classmethod
    def of(cls, opened: Opened, request: Request, items: Sequence[Item], rivals: Rivals) -> _Stage:
        proposals = [item.entry for item in items if isinstance(item.entry, Proposal)]
        judging = opened.judging(as_agent=request.as_agent)
        if not request.as_agent:
            # An approval pins what it is asked to decide before it decides the first.
            pins = {**judging.pins, **first_sight(opened, proposals, judging.pins)}
            judging = replace(judging, pins=pins)
        return cls(
            Snapshot(opened.source),
            judging,
            opened.ground().rows,
            request,
            recall(opened, proposals),
            rivals,
        )

    def play(
        self, items: Sequence[Item], source: Source | None = None
    ) -> tuple[tuple[Row, ...], Source]:
        """The rows of ``items`` in that order on ``source``, and what they leave behind."""
        source = source or self.source
        rows: list[Row] = []
        for item in items:
            row, steps = self._turn(item, source)
            rows.append(row)
            if steps:
                source = laid(source, steps)
        return tuple(rows), source

    def _turn(self, item: Item, source: Source) -> tuple[Row, Sequence[Step]]:
        file = item.entry.file if item.entry is not None else ""
        if refusal := asleep(item, self.request, self.remembered):
            return Row(file, after_approval(refusal), None), ()
        view = View(source)
        plan = plan_item(view, item, self.judging)
        if isinstance(plan, Receipt):
            return Row(file, after_approval(plan), None), ()
        budget = plan.outcome.budget
        if refusal := held_back(view, plan, item, self.judging, self.request):
            return Row(file, after_approval(refusal), budget), ()
        steps = resolve(plan.changes, view.quiet().current, self.rows)
        receipt = after_approval(_expected(plan, steps), self.rivals.left(plan.outcome.claims))
        return Row(file, receipt, budget), steps


def laid(source: Source, steps: Sequence[Step]) -> Snapshot:
    """``source`` with ``steps`` made. What was found out about it and still holds is kept.

    A plan that only rewrites files leaves the config, the listing of skills and the other store
    as they were: finding those out again for each of hundreds of plans is what takes the time.
    """
    base = source.base if isinstance(source, Snapshot) else source
    below = base if isinstance(base, Overlay) else source
    after = Snapshot(Overlay(below, [step.change for step in steps]))
    if isinstance(source, Snapshot) and all(_rewrites(source, step.change) for step in steps):
        changed = {step.change.path for step in steps}
        after.answers = {
            key: answer for key, answer in source.answers.items() if _holds(key, changed)
        }
    return after


#: What :meth:`View.shared` knows that does not depend on the text of skills and usage rows.
_LASTING = ("config", "skill-index", "folder", "inside", "memory-file", "memory-scan")


def _rewrites(source: Source, change: Change | Move) -> bool:
    """Whether ``change`` leaves every folder, name and link as it is, but for pending records."""
    if isinstance(change, Move) or change.before is None:
        return False
    if change.before.kind is not NodeKind.FILE:
        return False
    if change.after is None:
        return change.cache or change.path.startswith("pending/")
    here = source.node(change.path, data=False)
    return here is not None and here.kind is NodeKind.FILE


def _holds(key: str, changed: Collection[str]) -> bool:
    kind, _, about = key.partition("\0")
    return kind.startswith(_LASTING) and about.partition("\0")[0] not in changed


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
