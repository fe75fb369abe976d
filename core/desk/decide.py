"""Deciding: approve and refuse. Each proposal is planned on the home as it is at its turn.

What a forecast shares with it (what is meant, what holds a plan back) is public here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.commit import commit
from core.desk.decisions import Remembered, recall, tags_of
from core.desk.opening import Opened
from core.desk.outside import note_outside
from core.desk.receipts import after_approval, after_rejection, command
from core.desk.review import Label, label_one, names, pin, seal_of
from core.desk.rivals import NO_RIVALS, Rivals, rivals_of
from core.errors import NotFoundError, SignoffError, UsageError
from core.homes.hermes.pending import SUBSYSTEMS, Proposal, Queue, Unreadable, find
from core.homes.hermes.proposals import Judging, plan_rejection
from core.homes.hermes.status import asks
from core.journal import NO_TAGS
from core.model import Finding, NodeKind, Receipt
from core.plan import Plan
from core.view import View, sha256


@dataclass(frozen=True, slots=True)
class Request:
    """What to decide: the words of the person, or everything pending now (``tokens`` is None).

    ``rows`` are labels as they were shown, in place of words: one that is not so any more is left
    alone, and so is what came since.
    """

    tokens: tuple[str, ...] | None
    note: str = ""
    as_agent: bool = False
    seal: str | None = None
    rows: tuple[Label, ...] = ()


class NeedsTerminalError(SignoffError):
    """The person's settings keep decisions for a terminal."""

    title = "Needs a terminal"
    code = "needs_terminal"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to decide, under the name it has in the answer; no entry: nothing is called so.

    ``shown`` is how it stood when the person decided, if that was a row. ``broken`` says why it is
    not known whether there is an entry: a folder of the queue cannot be read.
    """

    name: str
    entry: Proposal | Unreadable | None
    shown: Label | None = None
    broken: str = ""


@dataclass(frozen=True, slots=True)
class _Run:
    """One call: its bulk step, who sleeps, and the rivals by the claims they share."""

    opened: Opened
    request: Request
    bulk: int | None
    remembered: Remembered
    rivals: Rivals


def approvals(opened: Opened, request: Request) -> Iterator[Receipt]:
    """Approve in the order asked (oldest first for all); a failure does not stop the rest.

    Several are one bulk step. With all, rows with an open question and those that sleep are
    skipped and said so. Raises, before anything is decided, :class:`NotFoundError` when there is
    nothing to act on at all, :class:`UsageError` for words that make no sense together,
    :class:`StateError` when the journal cannot be used.
    """
    queue = opened.queue()
    items = items_of(queue, request)
    run = _begin(opened, request, items, rivals_of(opened, queue, files_of(items)))
    if not request.as_agent:
        proposals = [item.entry for item in items if isinstance(item.entry, Proposal)]
        pin(opened, proposals, opened.pins())
    return (_approve(run, item) for item in items)


def rejections(opened: Opened, request: Request) -> Iterator[Receipt]:
    """Refuse records, readable or not: each is removed, and can be brought back by undo.

    Raises as :func:`approvals`.
    """
    items = items_of(opened.queue(), request, readable_only=False)
    run = _begin(opened, request, items, NO_RIVALS)
    return (_reject(run, item) for item in items)


def waiting(opened: Opened) -> frozenset[str]:
    """The records that wait now, by file, readable or not."""
    queue = opened.queue()
    readable = frozenset(entry.file for entry in queue.proposals)
    return readable | frozenset(entry.file for entry in queue.unreadable)


def check_terminal(opened: Opened, interactive: bool) -> None:
    """Raise :class:`NeedsTerminalError` without a terminal when the settings ask for one."""
    if opened.settings.decide_needs_terminal and not interactive:
        raise NeedsTerminalError(
            "Deciding needs a terminal here (decide_needs_terminal is set)",
            "Run it by hand in a terminal",
        )


def items_of(queue: Queue, request: Request, *, readable_only: bool = True) -> list[Item]:
    """What is meant, in order. Raises :class:`NotFoundError` and :class:`UsageError`."""
    named = names(queue)
    if request.rows:
        rows = {label.proposal.file: label for label in request.rows}
        return [
            Item(named.get(file, label.proposal.id), label.proposal, label)
            for file, label in rows.items()
        ]
    if request.tokens is None:
        if request.seal is not None:
            raise UsageError("--seal goes with exactly one id", "Name the id it was shown for")
        entries: list[Proposal | Unreadable] = list(queue.proposals)
        if not readable_only:
            entries += queue.unreadable
        if not entries and not queue.broken:
            raise NotFoundError("Nothing waits for this decision", "See `signoff pending`")
        known = [Item(named[entry.file], entry) for entry in entries]
        return [*known, *_unknown(queue)]
    if not request.tokens:
        raise NotFoundError("Nothing was named to decide", "See `signoff pending`")
    found = [_find(queue, token) for token in dict.fromkeys(request.tokens)]
    items = {
        entry.file if entry else token: (
            Item(named[entry.file], entry)
            if entry
            else Item(token, None, broken=_may_hide(queue, token))
        )
        for token, entry in found
    }
    if not any(item.entry or item.broken for item in items.values()):
        find(queue, request.tokens[0])
    if request.seal is not None and len(items) != 1:
        raise UsageError("--seal goes with exactly one id", "Name the id it was shown for")
    return list(items.values())


def files_of(items: Sequence[Item]) -> frozenset[str]:
    """The records that are decided."""
    return frozenset(item.entry.file for item in items if item.entry is not None)


def plan_item(view: View, item: Item, judging: Judging) -> Plan | Receipt:
    """The plan of approving ``item`` on what ``view`` shows, or why it can have none."""
    if isinstance(item.entry, Proposal):
        return replace(judging.approval(view, item.entry), subject=item.name)
    if item.entry is None:
        return _absent(item)
    return Receipt(
        item.name,
        False,
        "unreadable_target",
        f"It cannot be read ({item.entry.reason}); {item.entry.way_out}",
        next="" if item.entry.by_hand else f"`{command('reject', item.name)}`.",
    )


def held_back(
    view: View, plan: Plan, item: Item, judging: Judging, request: Request
) -> Receipt | None:
    """Why ``plan`` is not committed although it could be judged."""
    proposal = item.entry
    if not isinstance(proposal, Proposal):
        return None
    if request.seal is not None and seal_of(view, plan, proposal, judging) != request.seal:
        return Receipt(plan.subject, False, "moved", "What was shown has changed; look at it again")
    outcome, shown = plan.outcome, item.shown
    if not outcome.lands:
        return Receipt(plan.subject, False, outcome.category, outcome.message)
    if shown is not None and shown.category != outcome.category:
        return Receipt(plan.subject, False, "moved", "It stood otherwise when it was shown")
    question = asks(outcome.findings)
    asked = shown.question if shown is not None else None
    unanswered = request.tokens is None or (shown is not None and not _same(question, asked))
    if question and unanswered and not request.as_agent:
        message = f"Skipped, it wants an answer: {question.message}"
        return Receipt(plan.subject, False, question.code, message)
    return None


def asleep(item: Item, request: Request, remembered: Remembered) -> Receipt | None:
    """Why everything does not mean ``item``: it sleeps. Naming it wakes no one, and decides it."""
    if request.tokens is not None or not isinstance(item.entry, Proposal):
        return None
    until = remembered.until(item.entry)
    if until is None:
        return None
    when = until.isoformat(timespec="minutes")
    return Receipt(item.name, False, "snoozed", f"Skipped, it is snoozed until {when}")


def _begin(opened: Opened, request: Request, items: Sequence[Item], rivals: Rivals) -> _Run:
    opened.check_state()
    note_outside(opened)
    several = sum(item.entry is not None or not item.broken for item in items) > 1
    home = str(opened.found.home)
    bulk = opened.journal.new_bulk(home, opened.clock()) if several else None
    proposals = [item.entry for item in items if isinstance(item.entry, Proposal)]
    return _Run(opened, request, bulk, recall(opened, proposals), rivals)


def _unknown(queue: Queue) -> list[Item]:
    """One item for each folder of the queue that cannot be read: what waits there is not known."""
    return [
        Item(folder, None, broken=f"{folder} cannot be read: {reason}")
        for folder, reason in queue.broken
    ]


def _may_hide(queue: Queue, token: str) -> str:
    """Why it is not known whether ``token`` waits, ``""`` if it is."""
    for item in _unknown(queue):
        other = next(each for each in SUBSYSTEMS if item.name != f"pending/{each}")
        if not token.startswith(f"{other}/"):
            return item.broken
    return ""


def _absent(item: Item) -> Receipt:
    if item.broken:
        return Receipt(item.name, False, "unreadable_target", item.broken)
    return Receipt(item.name, False, "gone", f"Nothing pending is called {item.name}")


def _find(queue: Queue, token: str) -> tuple[str, Proposal | Unreadable | None]:
    try:
        return token, find(queue, token)
    except NotFoundError:
        return token, None


def _approve(run: _Run, item: Item) -> Receipt:
    opened, request = run.opened, run.request
    refusal = asleep(item, request, run.remembered) or _lost(opened, item)
    if refusal:
        return after_approval(refusal)
    judging = opened.judging(as_agent=request.as_agent)
    view = View(opened.source)
    plan = plan_item(view, item, judging)
    if isinstance(plan, Receipt):
        return after_approval(plan)
    refusal = held_back(view, plan, item, judging, request)
    receipt = refusal or _commit(run, plan, item)
    return after_approval(receipt, run.rivals.left(plan.outcome.claims))


def _reject(run: _Run, item: Item) -> Receipt:
    entry = item.entry
    if entry is None:
        return after_rejection(_absent(item))
    refusal = asleep(item, run.request, run.remembered) or _lost(run.opened, item)
    if not refusal and item.shown is not None:
        refusal = _otherwise(run.opened, item, item.shown)
    if refusal:
        return after_rejection(refusal)
    plan = replace(plan_rejection(View(run.opened.source), entry), subject=item.name)
    return after_rejection(_commit(run, plan, item))


def _lost(opened: Opened, item: Item) -> Receipt | None:
    """Why the record read with the queue is not the one on disk any more."""
    proposal = item.entry
    if not isinstance(proposal, Proposal):
        return None
    node = View(opened.source).node(proposal.file)
    if node is None:
        return Receipt(item.name, False, "gone", "The proposal is gone: it was decided elsewhere")
    if node.kind is not NodeKind.FILE or sha256(node.data) != proposal.sha256:
        message = "The proposal was rewritten meanwhile; look at it"
        return Receipt(item.name, False, "moved", message)
    return None


def _otherwise(opened: Opened, item: Item, shown: Label) -> Receipt | None:
    """Why a row is not refused: it would end otherwise than it was shown to."""
    now = label_one(opened.source, shown.proposal, opened.judging())
    if now.category == shown.category:
        return None
    message = f"It stood otherwise when it was shown ({shown.category}, now {now.category})"
    return Receipt(item.name, False, "moved", message)


def _same(question: Finding | None, asked: Finding | None) -> bool:
    return (question and question.code) == (asked and asked.code)


def _commit(run: _Run, plan: Plan, item: Item) -> Receipt:
    opened, entry = run.opened, item.entry
    tags = tags_of(entry, run.bulk) if entry is not None else NO_TAGS
    now, note = opened.clock(), run.request.note
    return commit(plan, opened.ground(), opened.journal, now=now, note=note, tags=tags)
