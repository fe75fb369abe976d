"""What is odd about a skill, its row, and the curator's files: findings, nothing is mended."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from core.homes.hermes.curator.heads import Head, line_at
from core.homes.hermes.curator.inventory import Inventory, Skill, Terms
from core.homes.hermes.curator.moments import (
    ACTIVITY,
    COUNTERS,
    counter,
    created,
    last_activity,
    moment,
)
from core.homes.hermes.curator.origins import SUPPRESSED
from core.homes.hermes.curator.packages import Package
from core.homes.hermes.curator.settings import Offering
from core.homes.hermes.curator.state import CuratorState
from core.homes.hermes.curator.transitions import ACTIVE, ARCHIVED, STALE
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.rules import SKILL_FILE
from core.model import Finding, Severity
from core.view import join

_INLINE_SHELL = re.compile(r"!`([^`\n]+)`")


def of_skill(skill: Skill, head: Head, offering: Offering, terms: Terms) -> Iterator[Finding]:
    """Findings on one live skill: its names, its head, its row."""
    at = join(skill.folder, SKILL_FILE)
    if skill.twins:
        others = ", ".join(skill.twins)
        message = f"{others} has the same name: one row, and the agent takes either."
        yield Finding("duplicate_name", Severity.WARNING, message, skill.folder)
    if skill.name != skill.named:
        message = f"Its head says {skill.name}, its folder {skill.named}."
        yield Finding("name_dir_mismatch", Severity.INFO, message, at)
    if head.problem:
        yield Finding("broken_frontmatter", Severity.WARNING, f"{head.problem}.", at)
    for found in _INLINE_SHELL.finditer(head.text) if "!`" in head.text else ():
        severity = Severity.DANGER if offering.inline_shell else Severity.WARNING
        runs = "runs" if offering.inline_shell else "would run (skills.inline_shell is off)"
        line = line_at(head.text, found.start())
        message = f"Viewing it {runs} the command in line {line}: {found[1]}"
        spans = ((found.start(), found.end()),)
        yield Finding("inline_shell", severity, message, f"{at}:{found.start()}", spans)
    if skill.row_is_odd:
        message = "Its row is no object: the agent drops it at its next save."
        yield Finding("row_not_understood", Severity.WARNING, message, usage.PATH)
    if skill.row is not None:
        yield from _of_row(skill, skill.row, terms)


def of_home(
    inventory: Inventory,
    packages: Sequence[Package],
    leftovers: Sequence[str],
    state: CuratorState,
    suppressed: Collection[str] = (),
) -> Iterator[Finding]:
    """Findings on the files around the skills: unreadable ones, rows, folders, names left over.

    ``suppressed`` names are those that an update does not bring again.
    """
    rows = inventory.rows
    for problem in (
        inventory.origins.problem,
        inventory.references.problem,
        state.problem,
        f"{usage.PATH}: {rows.problem}" if rows.problem else "",
    ):
        if problem:
            yield Finding("unreadable", Severity.DANGER, f"{problem}.")
    known = {skill.name for skill in inventory.skills}
    known |= {skill.named for skill in inventory.skills}
    kept = {name for package in packages for name in (package.name, package.base)}
    for key, row in rows.rows.items():
        if not isinstance(row, dict):
            message = f"The row of {key} is no object."
            yield Finding("row_not_understood", Severity.WARNING, message, usage.PATH)
        elif key not in known and key not in kept:
            message = f"There is a row of {key}, but no skill."
            yield Finding("row_without_skill", Severity.INFO, message, usage.PATH)
    for key in sorted(suppressed):
        if key not in kept:
            message = f"An update does not bring {key} again, and the archive holds no copy of it."
            yield Finding("suppressed_without_copy", Severity.INFO, message, SUPPRESSED)
    for entry in leftovers:
        message = f"{entry} in the archive holds no SKILL.md; it cannot be restored."
        yield Finding("archive_leftover", Severity.INFO, message, join("skills/.archive", entry))


def _of_row(skill: Skill, row: Mapping[str, Any], terms: Terms) -> Iterator[Finding]:
    state = row.get("state", ACTIVE)
    if state == ARCHIVED:
        message = "Its row says archived although the folder is live: no run ever touches it."
        yield Finding("archived_but_live", Severity.WARNING, message, usage.PATH)
    elif state not in (ACTIVE, STALE):
        message = f"Its state is {state!r}, a word the agent does not know."
        yield Finding("odd_state", Severity.WARNING, message, usage.PATH)
    odd = [field for field in COUNTERS if counter(row.get(field)) is None]
    if odd:
        message = f"{', '.join(odd)} is no number: the agent stops counting it."
        yield Finding("odd_counter", Severity.WARNING, message, usage.PATH)
    dates = [field for field in ACTIVITY if row.get(field) and moment(row.get(field)) is None]
    if dates:
        message = f"{', '.join(dates)} cannot be read as a date."
        yield Finding("unreadable_dates", Severity.WARNING, message, usage.PATH)
    used = last_activity(row)
    if used is None and created(row) is None:
        message = "It has no date that can be read, so it never ages."
        yield Finding("never_ages", Severity.INFO, message, usage.PATH)
    if used is not None and used[0] > terms.now:
        message = f"{used[1]} lies in the future, so it does not age until then."
        yield Finding("future_date", Severity.INFO, message, usage.PATH)
