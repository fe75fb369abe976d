"""What people read about skills: tables of rich text, every word of a home made safe to draw."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from console.cli import paint
from console.skill_words import next_of
from core.desk.skill_table import Archived, Board, Page, Row
from core.homes.hermes.curator.curate import Prediction
from core.homes.hermes.curator.pruning import Idle
from core.homes.hermes.curator.transitions import Forecast

_STATES = {"active": ("●", "green"), "stale": ("◐", "yellow"), "archived": ("○", "dim")}

_COUNTED = {
    "last_used_at": "use_count",
    "last_viewed_at": "view_count",
    "last_patched_at": "patch_count",
}


def print_curator(seen: Board) -> None:
    """The curator's own state in two lines."""
    settings, state, due = seen.settings, seen.state, seen.due
    limits = settings.limits
    if due.due:
        when = "a run is due"
    elif due.due_at is not None and not due.why_not.startswith(("curator", "it is paused")):
        when = f"next run in {paint.span((due.due_at - seen.now).total_seconds())}"
    else:
        when = due.why_not
    last = state.last_run_at
    ran = f"last run {paint.span((seen.now - last).total_seconds())} ago" if last else "never ran"
    paint.tell(f"Curator: {when}, {ran}, every {settings.interval_hours} h.")
    bundled = "bundled ones too" if settings.prune_builtins else "bundled ones stay"
    paint.tell(
        f"Stale after {limits.stale_after_days} days, archived after"
        f" {limits.archive_after_days} ({settings.thresholds_from}); {bundled}.",
        "dim",
    )


def print_rows(rows: Sequence[Row], now: datetime) -> None:
    """Live skills, one a line; those that change soonest stand first."""
    heads = ("SKILL", "STATE", "ORIGIN", "USES", "LAST", "NOTES", "NEXT")
    soonest = sorted(rows, key=lambda row: next_of(row, now)[1])
    cells = [_cells(row, now) for row in soonest]
    paint.say([Text()])
    paint.say(paint.table(heads, cells, paint.room(), spare=("NOTES", "USES", "ORIGIN", "LAST")))


def print_archive(archived: Sequence[Archived], now: datetime) -> None:
    """The archive, one folder a line: it is what `restore` takes."""
    paint.say([Text()])
    paint.tell("Archive", "bold")
    heads = ("FOLDER", "AGE", "RESTORE")
    cells = [
        [
            Text(paint.word(each.package.folder)),
            Text(paint.age(each.archived_at.timestamp() if each.archived_at else None, now)),
            paint.plain(f"to {each.to}" if each.ok else each.note, "" if each.ok else "dim"),
        ]
        for each in archived
    ]
    paint.say(paint.table(heads, cells, paint.room(), spare=("AGE",)))


def print_page(shown: Page, seen: Board) -> None:
    """One skill in full."""
    room = paint.room()
    paint.tell(f"{shown.name}  ({shown.folder})", "bold")
    row = shown.row
    if row is not None:
        skill = row.skill
        pin = ", pinned" if skill.pinned else ""
        paint.tell(f"{row.description}")
        paint.tell(f"{skill.state}{pin}, {skill.provenance}; {row.next}")
        ahead = forecast_words(row.forecast, seen.now)
        if ahead and not row.becomes:
            paint.tell(ahead)
        if row.not_offered_because:
            paint.tell(f"Not offered to the agent: {row.not_offered_because}", "yellow")
        for found in (*row.findings, *shown.findings):
            paint.say(paint.finding(found, room, indent=2))
    for field, at in shown.dates.items():
        count = shown.counts.get(_COUNTED[field])
        said = "" if count is None else f" ({count} times)"
        paint.tell(f"{field.removeprefix('last_').removesuffix('_at')} {at:%Y-%m-%d}{said}", "dim")
    for each in shown.references:
        paint.tell(f"used by the {each.kind} {each.name}")
    for event in shown.events:
        when = f"{event.at:%Y-%m-%d}" if event.at else "unknown"
        paint.tell(f"{when}  {event.text}  ({event.source})", "dim")
    if shown.proposals:
        paint.tell(f"Proposals wait: {', '.join(shown.proposals)}", "yellow")
    paint.say([Text()])
    sizes = [
        [Text(f"{each.mode:o}"), Text(f"{each.size:,}"), paint.plain(each.path)]
        for each in shown.files
    ]
    paint.say(paint.table(("MODE", "BYTES", "FILE"), sizes, room))
    if shown.copies:
        print_archive(shown.copies, seen.now)
    paint.say([Text()])
    paint.say([paint.block(shown.text.rstrip("\n"))])


def print_prediction(found: Prediction) -> None:
    """What a run does, the skills it leaves alone only where something holds them."""
    rows = [
        [
            paint.clipped(each.name, 40),
            paint.plain(f"{each.before} → {each.to}"),
            paint.plain(each.why + _named(each.references)),
        ]
        for each in found.transitions
    ]
    if rows:
        paint.say(paint.table(("SKILL", "STATE", "WHY"), rows, paint.room()))
    held = [each for each in found.skipped if each.rule not in ("kept", "never_used_grace")]
    if held:
        paint.say([Text()])
        paint.tell("Left alone:", "dim")
        lines = [[paint.clipped(each.name, 40), paint.plain(each.why, "dim")] for each in held]
        paint.say(paint.table(("SKILL", "WHY"), lines, paint.room()))
    paint.tell(f"{paint.count(found.checked, 'skill')} looked at.", "dim")


def print_prune(found: Sequence[Idle], days: int) -> None:
    """The agent's prune list."""
    if not found:
        paint.tell(f"No skill is idle for {paint.count(days, 'day')} or longer.")
        return
    rows = [
        [
            paint.clipped(each.name, 40),
            Text(f"{each.idle_days}d"),
            paint.plain(_named(each.jobs).removeprefix("; "), "yellow"),
        ]
        for each in found
    ]
    paint.say(paint.table(("SKILL", "IDLE", ""), rows, paint.room()))


def print_snapshots(seen: Board) -> None:
    """The snapshots, the newest first."""
    if not seen.snapshots:
        paint.tell("There is no snapshot.")
        return
    rows = [
        [
            Text(each.id),
            Text(str(each.skills) if each.skills >= 0 else "?"),
            Text(f"{each.size:,}" if each.size >= 0 else "?"),
            paint.plain(each.reason),
        ]
        for each in seen.snapshots
    ]
    paint.say(paint.table(("SNAPSHOT", "SKILLS", "BYTES", "REASON"), rows, paint.room()))


def forecast_words(found: Forecast, now: datetime) -> str:
    """``stale in 3 days, archived in 33``; empty for a skill that never moves."""
    parts = []
    for word, at in (("stale", found.stale_on), ("archived", found.archive_on)):
        if at is not None:
            days = -((now - at).total_seconds() // 86400)
            ahead = f"in {paint.count(int(days), 'day')}" if days > 0 else "at the next run"
            parts.append(f"{word} {ahead}")
    return ", ".join(parts)


def _cells(row: Row, now: datetime) -> list[Text]:
    skill = row.skill
    sign, style = _STATES.get(skill.state, ("?", "red"))
    used = row.last_activity[0] if row.last_activity else None
    notes = [found for found in row.findings if str(found.severity) != "info"]
    marks = ("⌖" if skill.pinned else "") + ("!" if notes else "")
    marks += "∅" if row.not_offered_because else ""
    return [
        Text(paint.word(skill.name)),
        Text(f"{sign} ", style=style) + paint.plain(skill.state),
        paint.plain(skill.provenance),
        Text("?" if row.uses is None else f"{row.uses:,}"),
        Text(paint.age(used.timestamp(), now) if used else "never"),
        Text(marks),
        paint.plain(next_of(row, now)[0]),
    ]


def _named(jobs: Sequence[str]) -> str:
    return f"; still used by {', '.join(jobs)}" if jobs else ""
