"""The table of skills and one skill's page: what stands in the home, read at one moment."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from core.desk.opening import Opened
from core.desk.skills import terms_of
from core.errors import NotFoundError, StateError, UsageError
from core.homes.hermes.curator import health
from core.homes.hermes.curator.archive import Reference, references
from core.homes.hermes.curator.borrowed import Borrowed, read_borrowed
from core.homes.hermes.curator.curate import predict
from core.homes.hermes.curator.heads import Head, read_head
from core.homes.hermes.curator.history import (
    LedgerLine,
    Run,
    mentions,
    read_ledger,
    read_runs,
)
from core.homes.hermes.curator.inventory import (
    Inventory,
    Skill,
    Terms,
    is_candidate,
    read_inventory,
)
from core.homes.hermes.curator.lint import lint
from core.homes.hermes.curator.moments import ACTIVITY, counter, last_activity, moment
from core.homes.hermes.curator.offered import Surroundings, needs, not_offered
from core.homes.hermes.curator.origins import suppressed
from core.homes.hermes.curator.packages import Package, archived_at, leftovers, read_packages
from core.homes.hermes.curator.restore import place_for, plan_restore
from core.homes.hermes.curator.settings import Offering, Settings, read_offering
from core.homes.hermes.curator.snapshots import Snapshot, list_snapshots
from core.homes.hermes.curator.state import CuratorState, Due, due, read_state
from core.homes.hermes.curator.transitions import Forecast, forecast
from core.homes.hermes.pending import read_queue
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.rules import SKILL_FILE
from core.model import Finding, NodeKind, Severity
from core.sightings import Sightings
from core.view import Snapshot as OneMoment
from core.view import View, name, parent


@dataclass(frozen=True, slots=True)
class Row:
    """One live skill. ``next`` says in words what the next run does with it, and why.

    ``becomes`` is the state that run gives it, ``""`` for none. ``forecast`` is empty for a skill
    that never moves; ``uses`` is ``None`` for a counter that is no number. ``last_activity`` comes
    with the field it stands in.
    """

    skill: Skill
    description: str
    uses: int | None
    last_activity: tuple[datetime, str] | None
    forecast: Forecast
    next: str
    not_offered_because: str
    findings: tuple[Finding, ...]
    becomes: str = ""


@dataclass(frozen=True, slots=True)
class Archived:
    """One package of the archive. ``to`` is where it would go, ``ok`` whether it could now.

    ``original_path`` is where it lay, as far as a journal remembers; ``note`` is the sentence.
    """

    package: Package
    archived_at: datetime | None
    original_path: str | None
    to: str
    ok: bool
    category: str
    note: str
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Board:
    """All of it at one moment; ``findings`` are about the home, not about one skill.

    ``blocked`` says why nothing may be written: the usage rows cannot be read.
    ``borrowed`` are skills of plugins and projects: to look at only.
    """

    now: datetime
    rules: Rules
    settings: Settings
    state: CuratorState
    due: Due
    rows: tuple[Row, ...]
    archived: tuple[Archived, ...]
    snapshots: tuple[Snapshot, ...]
    borrowed: tuple[Borrowed, ...]
    findings: tuple[Finding, ...]
    blocked: str = ""


@dataclass(frozen=True, slots=True)
class PackageFile:
    """One thing in a package. ``path`` is inside it, ``size`` in bytes (0 for folders)."""

    path: str
    kind: NodeKind
    mode: int
    size: int


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a skill: when, who says so, what."""

    at: datetime | None
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Page:
    """One skill in full. ``row`` is ``None`` for one that is only archived, ``copies`` those.

    ``text`` is its SKILL.md as it stands; ``dates`` are the three its row keeps, by field;
    ``proposals`` are the ids of records that would change it.
    """

    name: str
    row: Row | None
    copies: tuple[Archived, ...]
    folder: str
    text: str
    files: tuple[PackageFile, ...]
    dates: Mapping[str, datetime]
    counts: Mapping[str, Any]
    references: tuple[Reference, ...]
    events: tuple[Event, ...]
    proposals: tuple[str, ...]
    findings: tuple[Finding, ...]


def board(opened: Opened) -> Board:
    """Every skill in the order the agent meets them, the archive, the curator's own state."""
    view = View(OneMoment(opened.source))
    terms = terms_of(opened, view)
    inventory, state = read_inventory(view, terms.config, terms.rules), read_state(view)
    offering, around = _offering(opened, view), surroundings(opened)
    packages = read_packages(view)
    return Board(
        now=terms.now,
        rules=terms.rules,
        settings=terms.settings,
        state=state,
        due=due(state, terms.settings, terms.now),
        rows=_rows(view, inventory, terms, offering, around),
        archived=_archived(opened, view, packages, inventory, terms),
        snapshots=list_snapshots(view),
        borrowed=_borrowed(opened, view, terms.rules),
        findings=tuple(
            health.of_home(inventory, packages, leftovers(view), state, suppressed(view))
        ),
        blocked=inventory.rows.problem,
    )


def page(opened: Opened, token: str) -> Page:
    """The skill ``token`` names, live or archived.

    Raises :class:`NotFoundError`, :class:`UsageError` for a name that means several.
    """
    view = View(OneMoment(opened.source))
    terms = terms_of(opened, view)
    inventory = read_inventory(view, terms.config, terms.rules)
    offering, around = _offering(opened, view), surroundings(opened)
    live = inventory.named(token)
    if len(live) > 1:
        folders = ", ".join(skill.folder for skill in live)
        raise UsageError(f"{token} means several skills", f"Name one by its folder: {folders}")
    path = token.removeprefix("skills/").removeprefix(".archive/").strip("/")
    known = {token, path, *((live[0].name, live[0].named) if live else ())}
    packages = read_packages(view)
    kept = [each for each in packages if known & {each.folder, each.name, each.base}]
    if not live and not kept:
        raise NotFoundError(f"There is no skill {token}", "List them with `signoff skills`")
    skill = live[0] if live else None
    folder = skill.folder if skill else kept[0].path
    called = skill.name if skill else kept[0].name
    head = read_head(view, folder)
    names = tuple(dict.fromkeys([called, name(folder), *(each.base for each in kept)]))
    row = inventory.rows.row(called) or {}
    rows = _rows(view, inventory, terms, offering, around, only=skill) if skill else ()
    files = _files(view, folder)
    inside = {each.path for each in files}
    dates = {each: at for each in ACTIVITY if (at := moment(row.get(each))) is not None}
    return Page(
        name=called,
        row=rows[0] if rows else None,
        copies=_archived(opened, view, kept, inventory, terms),
        folder=folder,
        text=head.text,
        files=files,
        dates=dates,
        counts={each: row.get(each) for each in ("use_count", "view_count", "patch_count")},
        references=references(view, skill, inventory) if skill else (),
        events=_events(view, names),
        proposals=_proposals(opened, names),
        findings=tuple(lint(skill, head, inside)) if skill else (),
    )


def runs(opened: Opened) -> tuple[Run, ...]:
    """Every run of the agent's curator that left a report, the newest first."""
    return read_runs(View(opened.source))


def ledger(opened: Opened) -> tuple[LedgerLine, ...]:
    """What a newer agent wrote down of each mutation, the newest first."""
    return read_ledger(View(opened.source))


def surroundings(opened: Opened) -> Surroundings:
    """This machine, as skills ask about it."""
    environ = opened.environ
    there = {
        "docker": os.path.exists("/.dockerenv"),
        "s6": os.path.isdir("/run/s6"),
        "kanban": bool(environ.get("HERMES_KANBAN_TASK") or environ.get("HERMES_KANBAN_BOARD")),
    }
    return Surroundings(
        sys.platform,
        frozenset(word for word, is_there in there.items() if is_there),
        environ,
        lambda command: shutil.which(command, path=environ.get("PATH")) is not None,
    )


def originals(opened: Opened, view: View) -> dict[str, str]:
    """Where each folder of the archive lay: by our journal, else by a newer agent's ledger."""
    home, found = opened.found.home, dict[str, str]()
    for line in reversed(read_ledger(view)):
        if line.action == "archive":
            old = _package_of(line.before, home)
            new = _package_of(line.after, home)
            if old and new:
                found[new] = old
    try:
        decided = Sightings(opened.state).decided_since(str(home), 0)
    except StateError:
        return found
    for entry in decided:
        for step in entry.steps:
            if step.to is not None:
                found.pop(step.path, None)
                found[step.to] = step.path
    return found


def _rows(
    view: View,
    inventory: Inventory,
    terms: Terms,
    offering: Offering,
    around: Surroundings,
    only: Skill | None = None,
) -> tuple[Row, ...]:
    pass_ = predict(view, terms)
    # By folder: a run looks at one skill of a name, and says nothing of its twins.
    says = {line.folder: f"{line.to}: {line.why}" for line in pass_.transitions}
    says |= {line.folder: line.why for line in pass_.skipped}
    becomes = {line.folder: line.to for line in pass_.transitions}
    held = {line.folder for line in pass_.skipped if line.rule in ("held", "cron", "pinned")}
    skills = inventory.skills if only is None else (only,)
    taken = {line.name: line.folder for line in pass_.transitions}
    taken |= {line.name: line.folder for line in pass_.skipped}
    for skill in skills:
        if skill.twins and skill.folder not in says and skill.name in taken:
            first = taken[skill.name]
            says[skill.folder] = f"a run takes {first} for that name, and never looks here"
            held.add(skill.folder)
    return tuple(
        _row(
            view,
            skill,
            terms,
            offering,
            around,
            says.get(skill.folder, ""),
            becomes.get(skill.folder, ""),
            skill.folder in held,
        )
        for skill in skills
    )


def _row(
    view: View,
    skill: Skill,
    terms: Terms,
    offering: Offering,
    around: Surroundings,
    says: str,
    becomes: str,
    held: bool,
) -> Row:
    head = read_head(view, skill.folder)
    row = skill.row or {}
    candidate = is_candidate(skill, terms)
    ages = candidate and not held and skill.row is not None and not skill.jobs
    return Row(
        skill=skill,
        description=_described(head),
        uses=counter(row.get("use_count")),
        last_activity=last_activity(row),
        forecast=forecast(row, terms.now, terms.settings.limits) if ages else Forecast(),
        next=says if candidate else _never(skill, terms),
        not_offered_because=not_offered(skill.name, head, offering, around),
        findings=(
            *health.of_skill(skill, head, offering, terms),
            *needs(skill.folder, skill.name, head, offering, around),
        ),
        becomes=becomes,
    )


def _described(head: Head) -> str:
    said = head.fields.get("description")
    return "" if said is None else str(said)


def _never(skill: Skill, terms: Terms) -> str:
    """Why the curator never looks at a skill."""
    if skill.protected:
        return "a built-in that the agent never archives"
    return {
        "external": "it lies in an external folder",
        "hub": "the hub installed it",
        "bundled": "bundled, and curator.prune_builtins is off",
    }.get(skill.provenance, "the curator does not manage it")


def _archived(
    opened: Opened,
    view: View,
    packages: Sequence[Package],
    inventory: Inventory,
    terms: Terms,
) -> tuple[Archived, ...]:
    before = originals(opened, view) if packages else {}
    found = []
    for package in packages:
        outcome = plan_restore(View(view.source), terms, package.path)
        found.append(
            Archived(
                package=package,
                archived_at=archived_at(package, packages, inventory.rows.rows),
                original_path=before.get(package.path),
                to=place_for(package),
                ok=outcome.lands,
                category=outcome.category,
                note=_note(outcome.message, outcome.findings),
                findings=outcome.findings,
            )
        )
    return tuple(found)


def _note(message: str, findings: Sequence[Finding]) -> str:
    warned = [each.message for each in findings if each.severity is not Severity.INFO]
    return " ".join([message, *warned])


def _offering(opened: Opened, view: View) -> Offering:
    judging = opened.judging()
    return read_offering(view, judging.environ, judging.managed)


def _borrowed(opened: Opened, view: View, rules: Rules) -> tuple[Borrowed, ...]:
    judging = opened.judging()
    return read_borrowed(view, rules, judging.environ, judging.managed)


def _files(view: View, folder: str) -> tuple[PackageFile, ...]:
    start = len(folder) + 1
    return tuple(
        PackageFile(path[start:], node.kind, node.mode, len(node.data))
        for path, node in view.quiet().tree(folder)
        if path != folder
    )


def _events(view: View, names: Sequence[str]) -> tuple[Event, ...]:
    found = [
        Event(run.started_at, f"run {run.id}", said)
        for run in read_runs(view)
        if (said := mentions(run, names))
    ]
    found += [
        Event(line.at, f"ledger {line.id}", f"{line.action} by {line.actor}")
        for line in read_ledger(view)
        if line.skill in names
    ]
    return tuple(sorted(found, key=lambda event: event.at.timestamp() if event.at else 0.0))[::-1]


def _proposals(opened: Opened, names: Sequence[str]) -> tuple[str, ...]:
    queue = read_queue(opened.source)
    return tuple(
        proposal.id
        for proposal in queue.proposals
        if proposal.subsystem == "skills" and proposal.target.rpartition("/")[2] in names
    )


def _package_of(paths: Sequence[str], home: Path) -> str:
    """The package that a ledger's paths lie in, as a path of the home."""
    for path in paths:
        if name(path) == SKILL_FILE and path.startswith(f"{home}/"):
            return parent(path[len(str(home)) + 1 :])
    return ""
