"""A skill moved to the archive where the agent would delete it, as its own curator archives.

Also here: the small parts that every guard on skills is made of.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace
from datetime import datetime, timedelta

from core.homes.hermes.config import Config
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.actions import FOLDER
from core.homes.hermes.skills.tree import ARCHIVE, SKILLS, declared_name
from core.model import Change, Finding, Move, NodeKind, Outcome, RowEdit, Severity
from core.view import View, join, name

#: Names tried, a second apart, before the archive counts as one that cannot be used.
ATTEMPTS = 60
#: Files of an archived skill that its finding names.
NAMED = 4


def archived(view: View, outcome: Outcome, folder: str, config: Config, now: datetime) -> Outcome:
    """``outcome``, the delete of the skill ``folder``, as a move to the archive.

    The finding ``guard_archive`` says so; it warns where there is no archive to move to, and the
    delete stays one.
    """
    if _external(folder, config):
        return with_finding(
            outcome,
            "guard_archive",
            Severity.WARNING,
            "The skill lies in an external folder, which has no archive: it is deleted for good.",
        )
    kind = view.kind(ARCHIVE)
    target = free_place(view, name(folder), now) if kind in (None, NodeKind.DIR) else ""
    if not target:
        return with_finding(
            outcome,
            "guard_archive",
            Severity.WARNING,
            f"{ARCHIVE} cannot be used, so the skill is deleted for good, as the agent would.",
        )
    kept = [
        change
        for change in outcome.changes
        if not isinstance(change, RowEdit) and not within(change.path, folder)
    ]
    made = [] if kind else [Change(ARCHIVE, None, FOLDER)]
    rows = usage.load(view)
    state = {"state": "archived", "archived_at": now.isoformat()}
    edits = usage.put(rows, _row_key(view, rows, folder), state, now)
    _, semicolon, successor = outcome.message.partition(";")
    landed = replace(
        outcome,
        message=f"Archives the skill {name(folder)} as {target}{semicolon}{successor or '.'}",
        changes=(*made, Move(folder, target), *kept, *edits),
        locks=with_usage_lock(outcome.locks) if edits else outcome.locks,
    )
    return with_finding(
        landed,
        "guard_archive",
        Severity.INFO,
        f"The folder is moved, with {_held(outcome, folder)};"
        " the agent alone would delete it for good.",
    )


def _held(outcome: Outcome, folder: str) -> str:
    """What a folder holds that would have been deleted, in words."""
    files = [
        change.path.removeprefix(f"{folder}/")
        for change in outcome.changes
        if isinstance(change, Change)
        and within(change.path, folder)
        and change.before is not None
        and change.before.kind is not NodeKind.DIR
    ]
    shown = ", ".join(sorted(files, key=lambda path: (path != "SKILL.md", path))[:NAMED])
    return shown + (f" and {len(files) - NAMED} more" if len(files) > NAMED else "")


def with_finding(
    outcome: Outcome, code: str, severity: Severity, message: str, at: str | None = None
) -> Outcome:
    """``outcome`` with one finding more."""
    return replace(outcome, findings=(*outcome.findings, Finding(code, severity, message, at)))


def with_usage_lock(locks: tuple[str, ...]) -> tuple[str, ...]:
    """``locks`` with the one of the usage rows, first."""
    return locks if usage.LOCK in locks else (usage.LOCK, *locks)


def within(path: str, folder: str) -> bool:
    """Whether ``path`` is ``folder`` or lies below it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _external(folder: str, config: Config) -> bool:
    return not within(folder, SKILLS) or any(
        within(folder, external) for external in config.external_dirs
    )


def free_place(view: View, named: str, now: datetime, taken: Container[str] = ()) -> str:
    """A place in the archive; taken ones get the agent's stamp, a later second if need be.

    ``taken`` are places that the same plan fills already. ``""`` when none is free: in a folder
    that may not be entered every place looks taken.
    """
    place = join(ARCHIVE, named)
    for later in range(ATTEMPTS):
        if place not in taken and view.kind(place) is None:
            return place
        place = join(ARCHIVE, f"{named}-{now + timedelta(seconds=later):%Y%m%d%H%M%S}")
    return ""


def _row_key(view: View, rows: usage.Rows, folder: str) -> str:
    """The row the curator looks at is under the head's name; the folder's stands in."""
    declared = declared_name(view, folder)
    if rows.row(declared) is None and rows.row(name(folder)) is not None:
        return name(folder)
    return declared
