"""One pass of the curator foreseen skill by skill, and made as one step that can be taken back.

hermes-agent 0.19.0, ``apply_automatic_transitions``: its own dry run names nothing and predicts
nothing. What signoff leaves where it is although the agent would move it is said with each skill:
what a job reaches by a path or through a bundle, what shares its name with another folder, and
everything while the jobs, the manifest or the hub's lock file cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from core.homes.hermes.config import Config
from core.homes.hermes.curator.acting import blocked, listed, locks, put
from core.homes.hermes.curator.archive import archive_folder, archived_row, cache, place
from core.homes.hermes.curator.inventory import Inventory, Skill, Terms, read_inventory
from core.homes.hermes.curator.origins import suppress
from core.homes.hermes.curator.settings import Settings
from core.homes.hermes.curator.state import after_run, read_state
from core.homes.hermes.curator.transitions import (
    ACTIVE,
    ARCHIVED,
    STALE,
    Decision,
    Limits,
    Rule,
    decide,
)
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.replay import LOCKS
from core.homes.hermes.skills.tree import SKILLS
from core.model import AnyChange, Finding, Move, NodeKind, Outcome, Severity
from core.view import View, join, parent

#: Newer agents hold this file while they run; it holds the number of their process.
CLAIM = join(LOCKS, "curator-run")


@dataclass(frozen=True, slots=True)
class Transition:
    """One skill's change of state. ``before`` may be any text; ``moved`` is from and to.

    ``references`` are jobs and bundles that still name a skill which is archived.
    """

    name: str
    folder: str
    before: str
    to: str
    rule: str
    why: str
    moved: tuple[str, str] | None = None
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A candidate that stays as it is. ``seeded``: its clock is started."""

    name: str
    folder: str
    rule: str
    why: str
    seeded: bool = False


@dataclass(frozen=True, slots=True)
class Prediction:
    """What one pass does, in its order, by name; ``checked`` counts all candidates."""

    transitions: tuple[Transition, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    checked: int = 0


_WHY = {
    Rule.PINNED: "pinned",
    Rule.CRON: "a scheduled job uses it",
    Rule.FIRST_SIGHT: "no row yet: its clock starts with this run",
    Rule.REANCHOR: "bundled and never used: its clock starts with this run",
    Rule.ODD_COUNTER: "its use count is no number (the agent's own run would stop here)",
    Rule.GRACE: "never used, and {since}: safe until it is {stale} days old",
    Rule.GRACE_BACK: "never used, and {since}: not {stale} days old",
    Rule.ARCHIVED: "{since}; archived after {archive} days",
    Rule.STALE: "{since}; stale after {stale} days",
    Rule.USED_AGAIN: "{since}; not {stale} days old",
    Rule.GONE: "its row says archived although its folder is live: no run touches it",
    Rule.KEPT: "{since}",
}


def predict(view: View, terms: Terms, *, as_agent: bool = False) -> Prediction:
    """What a run at ``terms.now`` does; with ``as_agent`` what the agent's own run would."""
    key = _key(terms, as_agent)
    return view.shared(f"prediction {key}", lambda quiet: _predict(quiet, terms, as_agent))


def plan_curate(view: View, terms: Terms, *, as_agent: bool = False) -> Outcome:
    """A manual run: every transition of :func:`predict`, and the state as a run leaves it.

    A manual run goes past pause and interval. Refused while ``curator.enabled`` is off, and where
    rows or state cannot be read. Newer agents' claim is taken for as long as it lasts.
    """
    inventory = read_inventory(view, terms.config, terms.rules)
    state = read_state(view)
    if not terms.settings.enabled:
        return Outcome("invalid", "curator.enabled is off in config.yaml: the curator never runs.")
    if refusal := blocked(inventory):
        return refusal
    if state.problem:
        return Outcome("unreadable_target", f"{state.problem}; put it right or move it away.")
    # The plan holds while the same would come of it.
    view.ask("curator-pass", _key(terms, as_agent), _foretold, "What such a run does")
    found = predict(view, terms, as_agent=as_agent)
    by_folder = {skill.folder: skill for skill in inventory.skills}
    by_name = {skill.name: skill for skill in inventory.candidates(terms)}
    moves: list[AnyChange] = []
    edits: list[AnyChange] = []
    for line in found.transitions:
        skill = by_folder[line.folder]
        if line.moved:
            moves.append(Move(*line.moved))
            edits += archived_row(skill, inventory, terms)
        else:
            values = {"state": line.to} | ({"archived_at": None} if line.to == ACTIVE else {})
            edits += put(inventory, skill.name, values, terms.now)
    for kept in found.skipped:
        if kept.seeded:
            edits += _seed(by_name[kept.name], inventory, terms)
    archived = [by_folder[line.folder] for line in found.transitions if line.moved]
    bundled = [skill.name for skill in archived if skill.provenance == "bundled"]
    summary = summarised(found)
    changes: list[AnyChange] = [
        *(archive_folder(view) if moves else ()),
        *moves,
        *suppress(view, bundled),
        *(cache(view) if moves else ()),
        *edits,
        after_run(view, state, terms.now, f"auto: {summary}; llm: skipped (signoff)"),
    ]
    claims = frozenset(f"skill:{by_folder[line.folder].named}" for line in found.transitions)
    return Outcome(
        "ok",
        f"A run of the curator: {summary}.",
        tuple(changes),
        tuple(_findings(inventory, terms)),
        claims=claims,
        locks=locks(view, [skill.folder for skill in archived]),
        exclusive=(CLAIM,) if view.kind(LOCKS) is NodeKind.DIR else (),
    )


def summarised(found: Prediction) -> str:
    """The counts as the agent writes them into its state."""
    counts = {
        "marked stale": sum(line.to == STALE for line in found.transitions),
        "archived": sum(line.to == ARCHIVED for line in found.transitions),
        "reactivated": sum(line.to == ACTIVE for line in found.transitions),
    }
    return ", ".join(f"{n} {word}" for word, n in counts.items() if n) or "no changes"


def why(decision: Decision, limits: Limits, now: datetime) -> str:
    """A decision in words: the date it goes by, which one, the threshold it met."""
    at, field = decision.anchor, decision.anchor_from
    if at is None or field == "now":
        since = "none of its dates can be read, so it never ages"
    else:
        days = (now - at).days
        word = "made" if field == "created_at" else field.removeprefix("last_").removesuffix("_at")
        ago = f"{days} day{'' if days == 1 else 's'} ago" if days >= 0 else "in the future"
        since = f"{'last ' if word != 'made' else ''}{word} {at.date().isoformat()}, {ago}"
    return _WHY[decision.rule].format(
        since=since, stale=limits.stale_after_days, archive=limits.archive_after_days
    )


def _predict(view: View, terms: Terms, as_agent: bool) -> Prediction:
    inventory = read_inventory(view, terms.config, terms.rules)
    if inventory.rows.problem:
        return Prediction()
    limits, now = terms.settings.limits, terms.now
    transitions: list[Transition] = []
    skipped: list[Skipped] = []
    taken: set[str] = set()
    gone: set[str] = set()
    candidates = inventory.candidates(terms)
    for skill in candidates:
        decision = decide(
            skill.row,
            now,
            limits,
            cron=skill.exact,
            reanchor=terms.rules is Rules.NEWEST and skill.provenance == "bundled",
        )
        held = "" if as_agent else _held(skill, decision, inventory)
        said = held or why(decision, limits, now)
        if decision.rule is Rule.CRON and skill.jobs:
            said = f"the scheduled job {listed(job.shown for job in skill.jobs)} uses it"
        if held or decision.to is None:
            seeds = decision.rule in (Rule.FIRST_SIGHT, Rule.REANCHOR)
            rule = "held" if held else str(decision.rule)
            seeded = seeds and not skill.row_is_odd
            skipped.append(Skipped(skill.name, skill.folder, rule, said, seeded))
            continue
        moved = None
        if decision.to == ARCHIVED:
            target = _moves_to(view, skill, terms, taken, gone)
            if not target:
                said = "its folder cannot be moved"
                skipped.append(Skipped(skill.name, skill.folder, "cannot_move", said))
                continue
            moved = (skill.folder, target)
            taken.add(target)
            gone.add(skill.folder)
        rule = str(decision.rule)
        names = (*(job.shown for job in skill.jobs), *skill.bundles) if moved else ()
        transitions.append(
            Transition(skill.name, skill.folder, skill.state, decision.to, rule, said, moved, names)
        )
    return Prediction(tuple(transitions), tuple(skipped), len(candidates))


def _held(skill: Skill, decision: Decision, inventory: Inventory) -> str:
    """Why signoff leaves a skill where it is although the agent would change it."""
    if decision.to is None:
        return ""
    if decision.to == ARCHIVED and skill.jobs:
        jobs = listed(job.shown for job in skill.jobs)
        return f"the scheduled job {jobs} reaches it; the agent's own run would archive it"
    if skill.twins:
        return f"{listed(skill.twins)} has the same name, and only one row for both"
    problem = inventory.origins.problem or inventory.references.problem
    if problem and decision.to == ARCHIVED:
        return f"{problem}: nothing is archived until it can be"
    return ""


def _moves_to(
    view: View, skill: Skill, terms: Terms, taken: Container[str], gone: Container[str]
) -> str:
    """The place in the archive; none for a skill inside one that went, or for the root itself."""
    above = skill.folder
    while above and above not in gone:
        above = parent(above)
    return "" if above or skill.folder == SKILLS else place(view, skill, terms, taken)


def _seed(skill: Skill, inventory: Inventory, terms: Terms) -> tuple[AnyChange, ...]:
    """A clock started: a row as the agent begins one, or the newest rules' mark on an old one."""
    now = terms.now.isoformat()
    if skill.row is None:
        return put(inventory, skill.name, {"state": ACTIVE}, terms.now)
    marks = {"created_at": now, "first_seen_at": now}
    return put(inventory, skill.name, marks, terms.now)


def _findings(inventory: Inventory, terms: Terms) -> Iterator[Finding]:
    for problem in (inventory.origins.problem, inventory.references.problem):
        if problem:
            message = f"{problem}: nothing is archived until it can be."
            yield Finding("holds_everything", Severity.WARNING, message)
    limits = terms.settings.limits
    if min(limits.stale_after_days, limits.archive_after_days) < 1:
        message = "A threshold is below one day: skills are archived as soon as they are looked at."
        yield Finding("threshold_too_low", Severity.DANGER, message, "config.yaml")
    if terms.settings.consolidate:
        message = "The agent's own run would also let a model merge skills; this one does not."
        yield Finding("no_consolidation", Severity.INFO, message)


def _key(terms: Terms, as_agent: bool) -> str:
    settings, config = terms.settings, terms.config
    return json.dumps(
        [
            [list(config.external_dirs), config.create_dir, str(terms.rules)],
            [settings.limits.stale_after_days, settings.limits.archive_after_days],
            settings.prune_builtins,
            terms.now.isoformat(),
            as_agent,
        ]
    )


def _foretold(view: View, key: str) -> str:
    (external, create_dir, rules), (stale, archive), prune, now, as_agent = json.loads(key)
    terms = Terms(
        Config(external_dirs=tuple(external), create_dir=create_dir),
        Settings(True, 0, Limits(stale, archive), False, prune, True, 1, {}),
        Rules(rules),
        datetime.fromisoformat(now),
    )
    found = _predict(view, terms, as_agent)
    # What stays as it is may be used meanwhile: only what is written counts.
    seeded = [kept.folder for kept in found.skipped if kept.seeded]
    return json.dumps([[asdict(line) for line in found.transitions], seeded], sort_keys=True)
