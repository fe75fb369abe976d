"""A skill as its page shows it: sentences made from what the desk read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from console.ages import span
from console.render.skills_curator import CuratorItem
from console.render.skills_detail import ArchiveSummary, Detail, FileItem, Summary, Uses
from console.skill_words import ahead
from core.homes.hermes.curator.cron import words_for
from core.homes.hermes.curator.moments import counter, created, last_activity
from core.homes.hermes.skills.rules import SKILL_FILE
from core.view import join

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.skill_looks import Calls, Counted
    from core.desk.skill_table import Archived, Board, Event, PackageFile, Row
    from core.homes.hermes.curator.borrowed import Borrowed
    from core.homes.hermes.curator.inventory import Skill
    from core.model import Finding

_WEEK = 7 * 86400
#: Events and references listed of one skill.
EVENTS, REFERENCES = 60, 40
_NOT_KNOWN = "Not known: its usage row cannot be read. No run changes anything until it can be."
#: A finding that the page says in more words.
_SAID = "name_dir_mismatch"
_COUNTED = (
    ("use_count", "last_used_at", "used"),
    ("view_count", "last_viewed_at", "viewed"),
    ("patch_count", "last_patched_at", "patched"),
)


def curator_of(board: Board) -> CuratorItem:
    """What stands above the table."""
    settings, due, now = board.settings, board.due, board.now
    if due.due:
        when = "a run is due"
    elif due.due_at is not None and settings.enabled and not board.state.paused:
        when = f"next run in {span((due.due_at - now).total_seconds())}"
    else:
        when = due.why_not
    last = board.state.last_run_at
    ago = "" if last is None else span((now - last).total_seconds())
    ran = f"ran {ago} ago" if ago else "never ran"
    return CuratorItem(
        next_run=when,
        last_run=ran,
        limits=limits_of(board),
        blocked=board.blocked,
        paused=board.state.paused,
        stopped=not settings.enabled,
        changes=sum(bool(row.becomes) for row in board.rows),
    )


def limits_of(board: Board) -> str:
    """The thresholds in force and where they come from."""
    limits = board.settings.limits
    return (
        f"stale after {limits.stale_after_days} days, archived after"
        f" {limits.archive_after_days} ({board.settings.thresholds_from})"
    )


def summary_of(row: Row, board: Board, proposals: int) -> Summary:
    """What the table knows of a live skill; ``proposals`` wait that would change it."""
    skill = row.skill
    identity = ""
    if skill.name != skill.named:
        identity = (
            f"Two names: its head says {skill.name} (rows, pins, the curator), its folder"
            f" {skill.named} (tools, archive)"
        )
    limits = limits_of(board)
    # Without rows everything looks active, unused and not the agent's own.
    blocked = bool(board.blocked)
    return Summary(
        name=skill.name,
        folder=skill.folder,
        state="unknown" if blocked else skill.state,
        pinned=skill.pinned,
        origin="" if blocked and skill.provenance == "user" else skill.provenance,
        description=row.description,
        identity=identity,
        fate=_NOT_KNOWN if blocked else _fate(row),
        forecast=_forecast(row, board.now),
        limits=f"{limits[:1].upper()}{limits[1:]}.",
        hidden=row.not_offered_because,
        findings=_placed((f for f in row.findings if f.code != _SAID), skill.folder),
        proposals=proposals,
        editable=skill.provenance != "external",
    )


def archive_of(each: Archived, now: datetime) -> ArchiveSummary:
    """What the table knows of a package of the archive."""
    at = each.archived_at
    since = ""
    if at is not None:
        ago = span((now - at).total_seconds())
        since = f"{at:%Y-%m-%d}" + (f", {ago} ago" if ago else "")
    return ArchiveSummary(
        name=each.package.name,
        folder=each.package.path,
        since=since or "nobody knows since when",
        original=each.original_path or "",
        to=each.to,
        ok=each.ok,
        why=each.note,
        findings=each.findings,
    )


def borrowed_of(each: Borrowed) -> Summary:
    """A skill of a plugin or a project, which no command changes."""
    return Summary(
        name=each.name,
        folder=each.folder,
        state="read-only",
        pinned=False,
        origin=each.origin,
        description="",
        identity="",
        fate=f"It belongs to a {each.origin}: the curator never looks at it, and nothing here"
        " changes it.",
        forecast="",
        limits="",
        hidden="",
        findings=(),
    )


def borrowed_detail(opened: Opened, each: Borrowed) -> Detail:
    """The package of a plugin or project, read now."""
    from core.desk.skill_looks import contents

    held = contents(opened, each.folder)
    return Detail(text=held.text, files=_files(held.files))


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of uses in the past: counters that snapshots kept, calls in conversations.

    ``calls`` are ``None`` until conversations were looked through.
    """

    counted: tuple[Counted, ...]
    calls: Calls | None


def detail_of(opened: Opened, row: Row, past: Past, now: datetime) -> Detail:
    """A live skill's package, read now.

    Raises as :func:`core.desk.skill_table.page`.
    """
    from core.desk.skill_looks import decisions
    from core.desk.skill_table import page

    shown = page(opened, row.skill.folder)
    names = {row.skill.name, row.skill.named}
    events = (*decisions(opened, row.skill.folder, names), *shown.events)
    return Detail(
        text=shown.text,
        files=_files(shown.files),
        uses=_uses(row.skill.row or {}, row.skill.name, _words(row.skill), past, now),
        references=tuple(_referred(each.kind, each.name, each.at) for each in shown.references)[
            :REFERENCES
        ],
        copies=tuple(_copy(each) for each in shown.copies),
        events=_events(events),
        findings=_placed(shown.findings, row.skill.folder),
    )


def archived_detail(
    opened: Opened, each: Archived, board: Board, past: Past, now: datetime
) -> Detail:
    """An archived package, read now, beside a live skill that stands in its way."""
    from core.desk.skill_looks import contents, decisions, row_of
    from core.desk.skills import compare

    package = each.package
    held = contents(opened, package.path)
    beside = compare(opened, package.path)
    others = (
        other
        for other in board.archived
        if other is not each
        and {other.package.name, other.package.base} & {package.name, package.base}
    )
    return Detail(
        text=held.text,
        files=_files(held.files),
        uses=_uses(
            row_of(opened, package.name), package.name, {package.name, package.base}, past, now
        ),
        copies=tuple(_copy(other) for other in others),
        events=_events(decisions(opened, package.path, {package.name, package.base})),
        against=("", ()) if beside is None else (beside.live, beside.files),
    )


def _fate(row: Row) -> str:
    said = row.next
    if not row.becomes:
        return f"The next run leaves it as it is: {said}." if said else "No run looks at it."
    why = said.partition(": ")[2]
    does = {
        "stale": "makes it stale",
        "archived": "archives it",
        "active": "makes it active again",
    }.get(row.becomes, f"makes it {row.becomes}")
    return f"The next run {does}: {why}."


def _forecast(row: Row, now: datetime) -> str:
    parts = []
    for word, at in (("stale", row.forecast.stale_on), ("archived", row.forecast.archive_on)):
        # What is due already was said with the next run.
        if at is not None and (days := ahead(at, now)):
            parts.append(f"{word} in {days} day{'s' * (days != 1)}, {at:%Y-%m-%d}")
    return f"If nobody uses it: {'; '.join(parts)}." if parts else ""


def _uses(
    row: Mapping[str, Any], name: str, words: Collection[str], past: Past, now: datetime
) -> Uses:
    shown = _counted(row, name, past.counted, now)
    if past.calls is None:
        return shown
    calls = past.calls.of(words)
    if not calls:
        missing = f"Conversations were not looked through: {past.calls.problem}"
        return replace(shown, called=missing) if past.calls.problem else shown
    until = max(shown.until, now.timestamp(), calls[-1].at)
    # Both charts have one axis; a step for each call, at its very moment.
    known = [shown.points[0][0]] if shown.points else []
    made = created(row)
    start = min([calls[0].at, until - _WEEK, *known, *([made.timestamp()] if made else [])])
    steps = ((call.at, done) for n, call in enumerate(calls) for done in (n, n + 1))
    first = datetime.fromtimestamp(start, now.tzinfo)
    sessions = len({call.session for call in calls})
    told = (
        f"{first:%Y-%m-%d} to {now:%Y-%m-%d}: {_many(len(calls), 'call')} of skill_view and"
        f" skill_manage in {_many(sessions, 'conversation')} (state.db)"
    )
    return replace(shown, calls=((start, 0), *steps), called=told, until=until)


def _words(skill: Skill) -> Collection[str]:
    return words_for(skill.name, skill.folder, skill.root)


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def _counted(row: Mapping[str, Any], name: str, counted: Sequence[Counted], now: datetime) -> Uses:
    said = []
    for field, dated, verb in _COUNTED:
        times = counter(row.get(field))
        if field in row:
            many = "an odd number of times" if times is None else _times(times)
            said.append(f"{verb} {many}" + (f", last {_day(row[dated])}" if row.get(dated) else ""))
    made, used = created(row), last_activity(row)
    if made is not None:
        said.append(f"known since {made:%Y-%m-%d}")
    told = ("; ".join(said),) if said else ()
    points = [] if made is None else [(made.timestamp(), 0)]
    points += [(each.at.timestamp(), each.uses[name]) for each in counted if name in each.uses]
    uses = counter(row.get("use_count"))
    if uses is not None and used is not None:
        points.append((used[0].timestamp(), uses))
    points = sorted(points)
    if len(points) < 2 or points[-1][1] == points[0][1]:
        return Uses(told)
    start = datetime.fromtimestamp(points[0][0], now.tzinfo)
    known = "by its counter, what is between two counts is spread evenly"
    words = f"{start:%Y-%m-%d} to {now:%Y-%m-%d}; {known}"
    return Uses(told, tuple(points), max(now.timestamp(), points[-1][0]), words)


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count:,} times")


def _day(value: object) -> str:
    return str(value)[:10]


def _placed(findings: Iterable[Finding], folder: str) -> tuple[Finding, ...]:
    """Findings on a skill; where it is its own SKILL.md, the page need not say so."""
    own = join(folder, SKILL_FILE)
    return tuple(
        replace(found, at=None) if (found.at or "").partition(":")[0] == own else found
        for found in findings
    )


def _files(files: Sequence[PackageFile]) -> tuple[FileItem, ...]:
    return tuple(FileItem(each.path, each.mode, each.size, str(each.kind)) for each in files)


def _referred(kind: str, name: str, at: str) -> str:
    return {
        "job": f"the scheduled job {name} uses it",
        "bundle": f"the bundle {name} loads it",
        "skill": f"the skill {name} names it ({at})",
    }.get(kind, f"{kind} {name}")


def _copy(each: Archived) -> str:
    when = f"{each.archived_at:%Y-%m-%d}" if each.archived_at else "unknown"
    return f"{each.package.path}, {when}"


def _events(events: Sequence[Event]) -> tuple[tuple[str, str, str], ...]:
    dated = sorted(events, key=lambda each: each.at.timestamp() if each.at else 0.0, reverse=True)
    return tuple(
        (f"{each.at:%Y-%m-%d}" if each.at else "unknown   ", each.text, each.source)
        for each in dated[:EVENTS]
    )
