"""The skills of a home and their curator: the table, one skill's page, and every command as a plan.

Reading gives frozen records; each command gives a :class:`Planned` to look at, and
:func:`carry_out` commits it as it was shown, or nothing of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.commit import commit
from core.desk.opening import Opened
from core.desk.receipts import SEEN_NEXT_SESSION
from core.homes.hermes.curator.archive import plan_archive
from core.homes.hermes.curator.curate import Prediction, plan_curate, predict
from core.homes.hermes.curator.editing import plan_edit
from core.homes.hermes.curator.inventory import Terms, read_inventory
from core.homes.hermes.curator.packages import read_packages
from core.homes.hermes.curator.pinning import plan_adopt, plan_adopt_all, plan_pin
from core.homes.hermes.curator.pruning import Idle, prune_list
from core.homes.hermes.curator.restore import plan_restore
from core.homes.hermes.curator.rollback import Difference, plan_rollback
from core.homes.hermes.curator.settings import Settings, read_settings
from core.homes.hermes.curator.single import plan_single
from core.homes.hermes.curator.state import plan_pause
from core.homes.hermes.curator.swap import Compared as Compared
from core.homes.hermes.curator.swap import compare as compared
from core.homes.hermes.curator.swap import plan_swap
from core.homes.hermes.curator.transitions import Limits
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.rules import SKILL_FILE
from core.homes.hermes.skills.tree import SKILLS
from core.journal import NO_TAGS, Tags
from core.model import Move, Outcome, Receipt, RowEdit
from core.plan import Plan, bind
from core.view import Snapshot, View

RowChanges = Mapping[str, Mapping[str, tuple[Any, Any]]]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with what it comes to: folders moved, and row by row each field before and after.

    ``prediction`` belongs to ``curate``, ``difference`` to ``rollback``.
    """

    plan: Plan
    moved: Mapping[str, str] = field(default_factory=dict)
    rows: RowChanges = field(default_factory=dict)
    prediction: Prediction | None = None
    difference: Difference | None = None


def pin(opened: Opened, name: str) -> Planned:
    """Pin the skill ``name``: a head's name, a folder's, or a path."""
    return _plan(opened, "pin", name, lambda view, terms: plan_pin(view, terms, name, True))


def unpin(opened: Opened, name: str) -> Planned:
    """Take the pin of a skill away."""
    return _plan(opened, "unpin", name, lambda view, terms: plan_pin(view, terms, name, False))


def archive(opened: Opened, name: str) -> Planned:
    """Move a skill to the archive; the findings name what still refers to it."""
    return _plan(opened, "archive", name, lambda view, terms: plan_archive(view, terms, name))


def restore(opened: Opened, token: str, to: str | None = None, *, pin: bool = False) -> Planned:
    """Put a package of the archive back: a folder that is listed, or a name (its newest copy).

    ``to`` is a folder below ``skills/``; ``pin`` pins it in the same step.
    """
    return _plan(
        opened,
        "restore",
        token,
        lambda view, terms: plan_restore(view, terms, token, to, pin=pin),
    )


def swap(opened: Opened, token: str) -> Planned:
    """Archive the live skill in the way of ``token``, and put the archived copy in its place."""
    return _plan(opened, "swap", token, lambda view, terms: plan_swap(view, terms, token))


def compare(opened: Opened, token: str) -> Compared | None:
    """An archived package beside the live skill in its way; ``None`` if nothing is."""
    view = View(Snapshot(opened.source))
    return compared(view, terms_of(opened, view), token)


def edit(opened: Opened, name: str, text: str, path: str = SKILL_FILE) -> Planned:
    """Put ``text`` into a file of a skill, by a person's own hand."""
    return _plan(opened, "edit", name, lambda view, terms: plan_edit(view, terms, name, text, path))


def adopt(opened: Opened, names: Sequence[str]) -> Planned:
    """Let the curator manage skills it did not make: all of them, or none."""
    subject = names[0] if len(names) == 1 else f"{len(names):,} skills"
    return _plan(opened, "adopt", subject, lambda view, terms: plan_adopt(view, terms, names))


def adopt_all(opened: Opened) -> Planned:
    """Let the curator manage every skill that it could and does not yet."""
    return _plan(opened, "adopt", "all unmanaged skills", plan_adopt_all)


def pause(opened: Opened, paused: bool = True) -> Planned:
    """Hold the agent's own runs back, or let them go on."""
    verb = "pause" if paused else "resume"
    return _plan(opened, verb, "curator", lambda view, _: plan_pause(view, paused))


def curate(opened: Opened, *, as_agent: bool = False, limits: Limits | None = None) -> Planned:
    """One run of the curator: what it would do, ready to be carried out.

    ``as_agent`` leaves out what signoff holds back. With other ``limits`` than those in force it
    is only to look at: "what if"; carrying it out is up to the caller.
    """
    view = View(Snapshot(opened.source))
    terms = _with_limits(terms_of(opened, view), limits)
    outcome = plan_curate(view, terms, as_agent=as_agent)
    found = predict(view, terms, as_agent=as_agent)
    if outcome.lands and not found.transitions and not any(each.seeded for each in found.skipped):
        # Only the time of the run would be written.
        said = f"{outcome.message.removesuffix('.')}; nothing is written."
        outcome = replace(outcome, message=said, changes=())
    return replace(_bound(view, "curate", "skills", outcome), prediction=found)


def limits(opened: Opened, stale: int | None, archive: int | None) -> Limits:
    """The thresholds in force, one or both in another place: for a look at what they would do."""
    found = terms_of(opened, View(opened.source)).settings.limits
    return Limits(
        found.stale_after_days if stale is None else stale,
        found.archive_after_days if archive is None else archive,
    )


def rollback(opened: Opened, snapshot: str | None) -> Planned:
    """Put the skills back as of a snapshot, the newest for ``None``.

    Raises :class:`NotFoundError` for one that is not there.
    """
    view = View(Snapshot(opened.source))
    outcome, difference = plan_rollback(view, terms_of(opened, view), snapshot)
    return replace(_bound(view, "rollback", snapshot or "newest", outcome), difference=difference)


def single(opened: Opened, snapshot: str | None, name: str) -> Planned:
    """Put one skill back as a snapshot holds it: by a head's name then, a folder's, or a path.

    Raises :class:`NotFoundError` for a snapshot that is not there.
    """
    return _plan(
        opened, "restore", name, lambda view, terms: plan_single(view, terms, snapshot, name)
    )


def prune(opened: Opened, days: int) -> tuple[Idle, ...]:
    """The agent's own list of what nobody touched for ``days`` whole days."""
    view = View(Snapshot(opened.source))
    return prune_list(view, terms_of(opened, view), days)


def carry_out(
    opened: Opened, planned: Planned | Plan, note: str = "", tags: Tags = NO_TAGS
) -> Receipt:
    """Commit a plan of this module as it was shown, or nothing of it.

    ``tags`` name the bulk step it is a part of. A plan that changes nothing leaves no line in the
    journal. Raises :class:`StateError` when the journal cannot be used.
    """
    plan = planned.plan if isinstance(planned, Planned) else planned
    outcome = plan.outcome
    if not outcome.lands or not plan.changes:
        said = (plan.subject, outcome.lands, outcome.category, outcome.message)
        return Receipt(*said, findings=outcome.findings)
    opened.check_state()
    receipt = commit(
        plan, opened.ground(), opened.journal, now=opened.clock(), note=note, tags=tags
    )
    receipt = replace(receipt, findings=outcome.findings)
    return replace(receipt, next=SEEN_NEXT_SESSION) if receipt.ok else receipt


def terms_of(opened: Opened, view: View) -> Terms:
    """What judges the skills of the home now; its config is recorded as read."""
    judging = opened.judging()
    config = judging.config(view)
    rules = judging.rules_of(view, config, None)
    return Terms(config, _settings(opened, view), rules, opened.clock())


def _settings(opened: Opened, view: View) -> Settings:
    judging = opened.judging()
    return read_settings(view, judging.config(view), judging.environ, judging.managed)


def _with_limits(terms: Terms, limits: Limits | None) -> Terms:
    return (
        terms if limits is None else replace(terms, settings=replace(terms.settings, limits=limits))
    )


def _plan(
    opened: Opened, verb: str, subject: str, work: Callable[[View, Terms], Outcome]
) -> Planned:
    view = View(Snapshot(opened.source))
    terms = terms_of(opened, view)
    outcome = work(view, terms)
    return _bound(view, verb, _called(view.quiet(), terms, subject), outcome)


def _called(view: View, terms: Terms, token: str) -> str:
    """A path of the home as people know what lies there: its name where no other has it."""
    if not token.startswith(SKILLS + "/"):
        return token
    skills = read_inventory(view, terms.config, terms.rules).skills
    packages = read_packages(view)
    names = [skill.name for skill in skills] + [package.name for package in packages]
    for skill in skills:
        if skill.folder == token and names.count(skill.name) == 1:
            return skill.name
    for package in packages:
        if package.path == token:
            return package.folder
    return token


def _bound(view: View, verb: str, subject: str, outcome: Outcome) -> Planned:
    plan = bind(view, verb, subject, outcome)
    moved = {change.path: change.to for change in plan.changes if isinstance(change, Move)}
    return Planned(plan, moved, row_changes(view, plan))


def row_changes(view: View, plan: Plan) -> RowChanges:
    """Row by row, each field a plan changes: before and after (``None``: not there)."""
    edits = [change for change in plan.changes if isinstance(change, RowEdit)]
    if not edits:
        return {}
    data = view.quiet().read(usage.PATH).data
    written = usage.apply(data, edits)
    if written is None:
        return {}
    before, after = json.loads(data or b"{}"), json.loads(written)
    found: dict[str, dict[str, tuple[Any, Any]]] = {}
    for key in dict.fromkeys(edit.key for edit in edits):
        old, new = before.get(key), after.get(key)
        old = old if isinstance(old, dict) else {}
        new = new if isinstance(new, dict) else {}
        fields = {
            name: (old.get(name), new.get(name))
            for name in {**old, **new}
            if old.get(name) != new.get(name) or (name in new) != (name in old)
        }
        if fields:
            found[key] = fields
    return found
