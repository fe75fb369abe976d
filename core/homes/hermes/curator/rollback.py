"""All skills put back as a snapshot holds them, a copy of what stands there first.

hermes-agent 0.19.0, ``agent/curator_backup.py``. With backups switched off it takes no safety
copy and goes on (open there); and rolling back to its oldest snapshot once removed that one first
(field report D25). Here the copy is a part of the plan, and no snapshot is ever removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.errors import UnreadableError
from core.homes.hermes.curator.acting import listed
from core.homes.hermes.curator.archive import cache
from core.homes.hermes.curator.cron import JOBS, jobs_in, load_jobs
from core.homes.hermes.curator.curate import CLAIM
from core.homes.hermes.curator.inventory import Terms
from core.homes.hermes.curator.snapshots import (
    BACKUPS,
    CRON,
    current,
    find_snapshot,
    read_snapshot,
    safety_copy,
)
from core.homes.hermes.curator.state import STATE
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.replay import LOCKS
from core.homes.hermes.skills.rules import SKILL_FILE
from core.homes.hermes.skills.tree import SKILLS
from core.model import AnyChange, Change, Finding, Node, NodeKind, Outcome, Severity
from core.view import View, join, name, parent

JOBS_LOCK = "cron/.jobs.lock"


@dataclass(frozen=True, slots=True)
class Difference:
    """What a rollback would change: packages by folder, and what the rows would lose.

    ``pins`` are names that are pinned now and would not be; ``counts`` names whose counters go
    back; ``modes`` counts files that only get other permissions; ``jobs`` are jobs whose skills
    are put back, ``gone`` jobs of the snapshot that are not there any more.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    modes: int = 0
    jobs: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def plan_rollback(view: View, terms: Terms, token: str | None) -> tuple[Outcome, Difference]:
    """Put back the snapshot ``token`` (``None``: the newest), and what that changes.

    Files that hold what they hold in the snapshot already are not touched. Raises
    :class:`NotFoundError` for a snapshot that is not there.
    """
    chosen = find_snapshot(view, token)
    try:
        then = read_snapshot(view, chosen)
    except UnreadableError as problem:
        return Outcome("unreadable_target", f"{problem.message}."), Difference()
    now = current(view)
    why = unsafe(now, then)
    if why:
        return Outcome("unsafe_target", why), Difference()
    jobs, restored, gone = _jobs(view, chosen, terms.now)
    if not jobs and _same(now, then):
        message = f"The skills are as the snapshot {chosen} holds them."
        return Outcome("noop", message), Difference()
    copy, made = safety_copy(view, now, f"pre-rollback to {chosen}", terms.now)
    changes: list[AnyChange] = [*made, *changes_between(now, then), *jobs, *cache(view)]
    found = _difference(now, then, restored, gone)
    outcome = Outcome(
        "ok",
        f"Puts the skills back as of the snapshot {chosen}; {BACKUPS}/{copy} keeps what is there.",
        tuple(changes),
        tuple(_findings(found, now, then)),
        claims=frozenset({SKILLS}),
        locks=(usage.LOCK, *([JOBS_LOCK] if jobs else [])),
        exclusive=(CLAIM,) if view.kind(LOCKS) is NodeKind.DIR else (),
    )
    return outcome, found


def changes_between(now: Mapping[str, Node], then: Mapping[str, Node]) -> Iterator[Change]:
    """What makes ``now`` into ``then``, both by path below ``skills/``; removals come first."""
    for path in sorted(now, reverse=True):
        if path not in then:
            yield Change(join(SKILLS, path), now[path], None)
    for path, node in then.items():
        old = now.get(path)
        if old is None or (node.kind is NodeKind.FILE and old != node):
            yield Change(join(SKILLS, path), old, node)


def _same(now: Mapping[str, Node], then: Mapping[str, Node]) -> bool:
    return next(changes_between(now, then), None) is None


def unsafe(now: Mapping[str, Node], then: Mapping[str, Node]) -> str:
    """Why one could not be made from the other step by step, or not be put back."""
    for path, node in now.items():
        if node.kind is NodeKind.OTHER:
            return f"{join(SKILLS, path)} cannot be read, so it could not be put back."
        other = then.get(path)
        if other is None or other.kind is node.kind is not NodeKind.LINK or other == node:
            continue
        return f"{join(SKILLS, path)} is something else in the snapshot; move it away first."
    return ""


def _difference(
    now: Mapping[str, Node],
    then: Mapping[str, Node],
    jobs: tuple[str, ...],
    gone: tuple[str, ...],
) -> Difference:
    old, new = _packages(now), _packages(then)
    kept = sorted(old & new)
    rows, before = rows_in(now), rows_in(then)
    return Difference(
        added=tuple(sorted(new - old)),
        removed=tuple(sorted(old - new)),
        changed=tuple(f for f in kept if _inside(now, f) != _inside(then, f)),
        pins=tuple(k for k, row in sorted(rows.items()) if _pin(row) and not _pin(before.get(k))),
        counts=tuple(k for k, row in sorted(rows.items()) if _behind(row, before.get(k))),
        modes=sum(p in then and _mode_only(node, then[p]) for p, node in now.items()),
        jobs=jobs,
        gone=gone,
    )


def _packages(nodes: Mapping[str, Node]) -> set[str]:
    return {parent(path) for path in nodes if name(path) == SKILL_FILE}


def _mode_only(now: Node, then: Node) -> bool:
    return now.kind is NodeKind.FILE and now != then and now.data == then.data


def _inside(nodes: Mapping[str, Node], folder: str) -> dict[str, bytes]:
    """The files of a package and their bytes."""
    start = folder + "/"
    return {
        path: node.data
        for path, node in nodes.items()
        if path.startswith(start) and node.kind is not NodeKind.DIR
    }


def rows_in(nodes: Mapping[str, Node]) -> dict[str, Any]:
    """The usage rows that a snapshot holds; none for a file that cannot be read."""
    node = nodes.get(name(usage.PATH))
    try:
        rows = json.loads(node.data.decode("utf-8")) if node else {}
    except (ValueError, RecursionError):
        return {}
    return rows if isinstance(rows, dict) else {}


def _pin(row: object) -> bool:
    return isinstance(row, dict) and bool(row.get("pinned"))


def _behind(row: object, before: object) -> bool:
    """Whether a counter or date of ``row`` would be lost."""
    fields = ("use_count", "view_count", "patch_count", "last_used_at")
    if not isinstance(row, dict):
        return False
    old = before if isinstance(before, dict) else {}
    return any(row.get(field) and row.get(field) != old.get(field) for field in fields)


def _findings(
    found: Difference, now: Mapping[str, Node], then: Mapping[str, Node]
) -> Iterator[Finding]:
    for folders, said in (
        (found.added, "come back"),
        (found.removed, "go (the safety copy keeps them)"),
        (found.changed, "get their older content"),
    ):
        if folders:
            message = f"{len(folders)} packages {said}: {listed(folders)}."
            yield Finding("packages", Severity.INFO, message, SKILLS)
    if found.modes:
        message = f"{found.modes} files only get the permissions they had."
        yield Finding("modes", Severity.INFO, message, SKILLS)
    if found.pins:
        message = f"Pins are lost: {listed(found.pins)}."
        yield Finding("pins_lost", Severity.WARNING, message, usage.PATH)
    if found.counts:
        message = f"Counts of {len(found.counts)} skills go back: {listed(found.counts)}."
        yield Finding("counts_lost", Severity.WARNING, message, usage.PATH)
    if name(STATE) in now and name(STATE) not in then:
        message = "The curator's state goes: it starts its clock anew and waits one interval."
        yield Finding("state_lost", Severity.WARNING, message, STATE)
    if found.jobs:
        message = f"Scheduled jobs get their skills back: {listed(found.jobs)}."
        yield Finding("jobs_restored", Severity.INFO, message, JOBS)
    if found.gone:
        message = f"Jobs of the snapshot are not there any more: {listed(found.gone)}."
        yield Finding("jobs_gone", Severity.INFO, message, JOBS)
    links = [p for p, node in then.items() if node.kind is NodeKind.LINK and p not in now]
    if links:
        message = f"Links come back: {listed(links)}. Look where they lead."
        yield Finding("links", Severity.WARNING, message, SKILLS)


def _jobs(
    view: View, snapshot: str, now: datetime
) -> tuple[list[Change], tuple[str, ...], tuple[str, ...]]:
    """Jobs that are still there get the skills they had; all else of them stays as it is."""
    kept, live = view.read(join(BACKUPS, snapshot, CRON)), view.read(JOBS)
    if kept.data is None or live.data is None:
        return [], (), ()
    try:
        then, document = jobs_in(load_jobs(kept.data)), load_jobs(live.data)
    except (ValueError, RecursionError):
        return [], (), ()
    jobs = jobs_in(document)
    if then is None or jobs is None:
        return [], (), ()
    had = {_id(job): job for job in then if _id(job)}
    changed = []
    for job in jobs:
        old = had.pop(_id(job), None) if _id(job) else None
        if old is None or all(job.get(key) == old.get(key) for key in ("skills", "skill")):
            continue
        for key in ("skills", "skill"):
            if old.get(key) is None:
                job.pop(key, None)
            else:
                job[key] = old[key]
        changed.append(str(job.get("name") or _id(job)))
    gone = tuple(str(job.get("name") or key) for key, job in had.items())
    if not changed:
        return [], (), gone
    if isinstance(document, dict):
        document["updated_at"] = now.isoformat()
    else:
        document = {"jobs": jobs, "updated_at": now.isoformat()}
    data = json.dumps(document, indent=2).encode("ascii")
    before = Node(NodeKind.FILE, live.data, live.mode)
    return [Change(JOBS, before, Node(NodeKind.FILE, data, live.mode))], tuple(changed), gone


def _id(job: object) -> str:
    found = job.get("id") if isinstance(job, dict) else None
    return found if isinstance(found, str) else ""
