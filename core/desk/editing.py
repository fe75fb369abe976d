"""Editing a proposal before it is decided: tried out first, then written as it was shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from core.commit import commit
from core.desk import kinds
from core.desk.opening import Opened
from core.desk.review import Shown, names, readable, seal_of
from core.homes.base import Kind
from core.homes.hermes.editing.conversion import convert as converted
from core.homes.hermes.editing.conversion import offers
from core.homes.hermes.editing.drafts import Draft, rewriting
from core.homes.hermes.editing.parts import Part
from core.homes.hermes.pending import Proposal, find
from core.homes.hermes.proposals import Judging, pin_key
from core.homes.hermes.status import status_of
from core.model import Change, Receipt
from core.overlay import Overlay
from core.plan import Plan, bind
from core.steps import resolve
from core.view import Snapshot, View


@dataclass(frozen=True, slots=True)
class Sheet:
    """What can be edited in one proposal. ``offers``: conversions that would change something.

    ``name`` is what to call it on the command line; ``proposal`` holds the bytes that were read.
    """

    proposal: Proposal
    name: str
    parts: tuple[Part, ...]
    offers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trial:
    """An edit that is not written yet. ``plan`` is what :func:`write` commits.

    ``shown`` is the edited proposal as it would land, ``None`` when there is nothing to write;
    ``pins`` hold its operations to the entries the unedited ones were held to.
    """

    plan: Plan
    shown: Shown | None = None
    pins: Mapping[int, str] | None = None


def edit_parts(opened: Opened, token: str) -> Sheet:
    """What a person can edit in one proposal.

    Raises :class:`NotFoundError`, :class:`UsageError`, :class:`UnreadableError`.
    """
    queue = opened.queue()
    proposal = readable(find(queue, token))
    view, judging = View(Snapshot(opened.source)), opened.judging()
    found: tuple[str, ...] = ()
    if opened.found.kind is Kind.HERMES:
        config = judging.config(view)
        found = offers(view, proposal, config, judging.rules_of(view, config, proposal))
    return Sheet(proposal, names(queue)[proposal.file], judging.parts(proposal), found)


def try_edit(
    opened: Opened, token: str, changes: Mapping[str, str], seen: str | None = None
) -> Trial:
    """The edit of some parts, by key, and how the result would land. Nothing is written.

    ``seen``: the SHA-256 of the record the texts were taken from; another one is ``moved``.
    Raises as :func:`edit_parts`.
    """
    queue = opened.queue()
    proposal = readable(find(queue, token))
    if seen is not None:
        proposal = replace(proposal, sha256=seen)
    view = View(opened.source)
    draft = opened.judging().edited(proposal, changes)
    return _trial(opened, view, proposal, draft, names(queue)[proposal.file])


def try_convert(opened: Opened, token: str, kind: str) -> Trial:
    """A conversion (``drop:N``, ``existing``, ``splice``, ``clean``, ``move``), not written yet.

    Raises as :func:`edit_parts`.
    """
    if opened.found.kind is not Kind.HERMES:
        raise kinds.OtherKindError(
            f"A proposal of a {opened.found.kind} home has one form only", "Edit its text instead"
        )
    queue = opened.queue()
    proposal = readable(find(queue, token))
    view, judging = View(opened.source), opened.judging()
    config = judging.config(view)
    rules = judging.rules_of(view, config, proposal)
    draft = converted(view, proposal, config, rules, kind)
    return _trial(opened, view, proposal, draft, names(queue)[proposal.file])


def write(opened: Opened, trial: Trial, note: str = "") -> Receipt:
    """Write what was tried, exactly; undo brings the original back.

    ``noop`` writes nothing and is no failure. Raises :class:`StateError` when the journal cannot
    be used: then nothing was changed.
    """
    plan = trial.plan
    if trial.shown is None:
        return Receipt(
            plan.subject, plan.outcome.lands, plan.outcome.category, plan.outcome.message
        )
    opened.check_state()
    if trial.pins:
        home = str(opened.found.home)
        opened.journal.pin(home, pin_key(trial.shown.proposal), trial.pins, opened.clock())
    return commit(plan, opened.ground(), opened.journal, now=opened.clock(), note=note)


def edit(opened: Opened, token: str, changes: Mapping[str, str], note: str = "") -> Receipt:
    """:func:`try_edit`, written."""
    return write(opened, try_edit(opened, token, changes), note)


def convert(opened: Opened, token: str, kind: str, note: str = "") -> Receipt:
    """:func:`try_convert`, written."""
    return write(opened, try_convert(opened, token, kind), note)


def _trial(opened: Opened, view: View, proposal: Proposal, draft: Draft, name: str) -> Trial:
    plan = bind(view, "edit", name, rewriting(view, proposal, draft))
    changes = [change for change in plan.changes if isinstance(change, Change)]
    if not changes:
        return Trial(plan)
    after = Snapshot(Overlay(opened.source, changes))
    queue = opened.queue(source=after)
    rewritten = next(p for p in queue.proposals if p.file == proposal.file)
    judging = opened.judging()
    pins = _pins(View(after), proposal, rewritten, draft, judging)
    judging = replace(judging, pins={**judging.pins, pin_key(rewritten): pins})
    look = View(after)
    approval = judging.approval(look, rewritten)
    shown = Shown(
        rewritten,
        approval,
        status_of(approval.outcome),
        resolve(approval.changes, look.quiet().current, opened.ground().rows),
        name,
        seal_of(look, approval, rewritten, judging),
    )
    return Trial(plan, shown, pins)


def _pins(
    view: View, before: Proposal, after: Proposal, draft: Draft, judging: Judging
) -> dict[int, str]:
    """What holds the edited operations: the pins of the original where they aim as before.

    Without this an edit would let a proposal loose that hits another entry by now.
    """
    fresh = judging.targets(view, after)
    held = judging.pins.get(pin_key(before), {})
    kept = {
        draft.kept[index]: text
        for index, text in held.items()
        if index in draft.kept and text != draft.unmade
    }
    # A text edited twice into the same bytes is held to what it was held to first.
    return {**fresh, **kept, **judging.pins.get(pin_key(after), {})}
