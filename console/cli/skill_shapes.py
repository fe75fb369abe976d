"""The curator's JSON of the contract, made from the desk's records."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from console.cli import shapes
from core.desk.opening import Opened
from core.desk.skill_table import Archived, Board, Page, Row
from core.desk.skills import Planned
from core.homes.hermes.curator.curate import Prediction
from core.homes.hermes.curator.pruning import Idle
from core.homes.hermes.curator.rollback import Difference
from core.homes.hermes.curator.snapshots import Snapshot
from core.model import Receipt

Json = dict[str, Any]


def board(opened: Opened, seen: Board, rows: Sequence[Row], archive: Sequence[Archived]) -> Json:
    """The answer of ``skills``; ``rows`` and ``archive`` are those asked for."""
    return {
        **shapes.home(opened),
        "agent_rules": str(seen.rules),
        "curator": curator(seen),
        "skills": [row(each) for each in rows],
        "archived": [archived(each) for each in archive],
        "snapshots": [snapshot(each) for each in seen.snapshots],
        "borrowed": [
            {"name": each.name, "folder": each.folder, "provenance": each.origin}
            for each in seen.borrowed
        ],
        "findings": [shapes.finding(each) for each in seen.findings],
    }


def curator(seen: Board) -> Json:
    """The curator's own state and what is in force."""
    settings, state = seen.settings, seen.state
    return {
        "enabled": settings.enabled,
        "paused": state.paused,
        "last_run_at": state.values.get("last_run_at"),
        "last_run_summary": state.values.get("last_run_summary"),
        "run_count": state.values.get("run_count"),
        "due": seen.due.due,
        "due_at": _date(seen.due.due_at),
        "not_due_because": seen.due.why_not or None,
        "interval_hours": settings.interval_hours,
        "stale_after_days": settings.limits.stale_after_days,
        "archive_after_days": settings.limits.archive_after_days,
        "thresholds_from": settings.thresholds_from,
        "sources": dict(settings.sources),
        "consolidate": settings.consolidate,
        "prune_builtins": settings.prune_builtins,
    }


def row(seen: Row) -> Json:
    """One live skill."""
    skill = seen.skill
    return {
        "name": skill.name,
        "folder": skill.folder,
        "category": skill.category or None,
        "description": seen.description,
        "state": skill.state,
        "pinned": skill.pinned,
        "provenance": skill.provenance,
        "managed": skill.managed,
        "uses": seen.uses,
        "last_activity": _date(seen.last_activity[0]) if seen.last_activity else None,
        "stale_on": _date(seen.forecast.stale_on),
        "archive_on": _date(seen.forecast.archive_on),
        "next": seen.next,
        "cron_jobs": [job.shown for job in skill.jobs],
        "bundles": list(skill.bundles),
        "offered": not seen.not_offered_because,
        "not_offered_because": seen.not_offered_because or None,
        "findings": [shapes.finding(found) for found in seen.findings],
    }


def archived(seen: Archived) -> Json:
    """One package of the archive."""
    return {
        "folder": seen.package.folder,
        "name": seen.package.name,
        "archived_at": _date(seen.archived_at),
        "original_path": seen.original_path,
        "restore": {
            "to": seen.to,
            "ok": seen.ok,
            "category": seen.category,
            "note": seen.note,
        },
    }


def snapshot(seen: Snapshot) -> Json:
    """One snapshot; counts that its manifest does not say are null."""
    return {
        "id": seen.id,
        "reason": seen.reason,
        "created_at": _date(seen.created_at),
        "bytes": _count(seen.size),
        "skills": _count(seen.skills),
        "jobs": _count(seen.jobs),
    }


def page(opened: Opened, seen: Board, shown: Page) -> Json:
    """The answer of ``skill``: the same words as ``skills``, and all of the one."""
    rows = [shown.row] if shown.row else []
    return {
        **board(opened, seen, rows, shown.copies),
        "name": shown.name,
        "folder": shown.folder,
        "text": shown.text,
        "files": [
            {
                "path": each.path,
                "kind": str(each.kind),
                "mode": oct(each.mode),
                "bytes": each.size,
            }
            for each in shown.files
        ],
        "counts": dict(shown.counts),
        "dates": {field: _date(at) for field, at in shown.dates.items()},
        "references": [
            {"kind": each.kind, "name": each.name, "at": each.at or None}
            for each in shown.references
        ],
        "history": [
            {"at": _date(each.at), "source": each.source, "text": each.text}
            for each in shown.events
        ],
        "proposals": list(shown.proposals),
        "lint": [shapes.finding(each) for each in shown.findings],
    }


def prediction(seen: Prediction) -> Json:
    """What a run would do."""
    return {
        "transitions": [
            {
                "name": each.name,
                "folder": each.folder,
                "from": each.before,
                "to": each.to,
                "rule": each.rule,
                "why": each.why,
                "moved": {each.moved[0]: each.moved[1]} if each.moved else None,
                "references": list(each.references),
            }
            for each in seen.transitions
        ],
        "checked": seen.checked,
        "skipped": [
            {"name": each.name, "rule": each.rule, "why": each.why, "seeded": each.seeded}
            for each in seen.skipped
        ],
    }


def prune(opened: Opened, found: Sequence[Idle]) -> Json:
    """The agent's prune list."""
    return {
        **shapes.home(opened),
        "prune": [
            {"name": each.name, "idle_days": each.idle_days, "cron_jobs": list(each.jobs)}
            for each in found
        ],
    }


def result(opened: Opened, planned: Planned, receipt: Receipt, dry_run: bool) -> Json:
    """What became of one command, or would."""
    done = receipt.ok
    said: Json = {
        **shapes.home(opened),
        "ok": receipt.ok,
        "category": receipt.category,
        "message": receipt.message,
        "moved": dict(planned.moved) if done else {},
        "rows": {
            name: {field: list(pair) for field, pair in fields.items() if pair[0] != pair[1]}
            for name, fields in (planned.rows.items() if done else ())
        },
        "journal": receipt.journal,
        "dry_run": dry_run,
        "changed": list(receipt.changed),
        "next": receipt.next,
        **shapes.planned(planned.plan),
    }
    if planned.prediction is not None:
        said |= prediction(planned.prediction)
    if planned.difference is not None:
        said["difference"] = difference(planned.difference)
    return said


def difference(seen: Difference) -> Json:
    """What a rollback changes."""
    return {
        "added": list(seen.added),
        "removed": list(seen.removed),
        "changed": list(seen.changed),
        "pins_lost": list(seen.pins),
        "counts_lost": list(seen.counts),
        "modes_only": seen.modes,
        "jobs_restored": list(seen.jobs),
        "jobs_gone": list(seen.gone),
    }


def _date(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _count(number: int) -> int | None:
    return None if number < 0 else number
