"""What a skill's page needs beside itself: an archived package's files, uses, decisions.

The agent counts uses in one number. How it grew is known where a snapshot kept the rows, and from
the calls in past conversations.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.desk.opening import Opened
from core.desk.skill_table import Event, PackageFile
from core.errors import StateError, UnreadableError
from core.homes.hermes.curator.calls import NONE as NO_CALLS
from core.homes.hermes.curator.calls import Calls as Calls
from core.homes.hermes.curator.calls import read_calls
from core.homes.hermes.curator.heads import read_head
from core.homes.hermes.curator.moments import counter
from core.homes.hermes.curator.snapshots import list_snapshots, read_snapshot
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.rules import SKILL_FILE
from core.view import Snapshot, View, join, name

#: The newest snapshots that are unpacked, and decisions that are looked through.
SNAPSHOTS, DECISIONS = 8, 2000


@dataclass(frozen=True, slots=True)
class Counted:
    """How often each skill had been used at one moment, by name."""

    at: datetime
    uses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a package holds: its files, and its SKILL.md as text."""

    files: tuple[PackageFile, ...]
    text: str


def contents(opened: Opened, folder: str) -> Contents:
    """The package in ``folder``, a path of the home; live or archived."""
    view = View(Snapshot(opened.source))
    start = len(folder) + 1
    files = tuple(
        PackageFile(path[start:], node.kind, node.mode, len(node.data))
        for path, node in view.quiet().tree(folder)
        if path != folder
    )
    return Contents(files, read_head(view, folder).text)


def row_of(opened: Opened, name: str) -> Mapping[str, Any]:
    """The usage row under ``name`` as it stands; empty where there is none that is an object."""
    return usage.load(View(opened.source)).row(name) or {}


def stored_text(opened: Opened, folder: str) -> str:
    """The SKILL.md in ``folder`` as it is stored, line ends and all.

    Raises :class:`UnreadableError` for one that is not there, or is no UTF-8 text.
    """
    path = join(folder, SKILL_FILE)
    reading = View(opened.source).read(path)
    try:
        if reading.data is not None:
            return reading.data.decode("utf-8")
        why = reading.reason or "it is not there"
    except UnicodeDecodeError as problem:
        why = f"it is no UTF-8 text (byte {problem.start})"
    raise UnreadableError(f"{path} cannot be edited: {why}", "Nothing was changed")


def counts(opened: Opened) -> tuple[Counted, ...]:
    """The counters that the newest snapshots kept, the oldest first; broken ones are left out."""
    view = View(opened.source).quiet()
    found = []
    for snapshot in list_snapshots(view)[:SNAPSHOTS]:
        if snapshot.created_at is None:
            continue
        try:
            node = read_snapshot(view, snapshot.id).get(name(usage.PATH))
            rows = json.loads(node.data.decode("utf-8")) if node else {}
        except (UnreadableError, ValueError, RecursionError):
            continue
        if isinstance(rows, dict):
            found.append(Counted(snapshot.created_at, _uses(rows)))
    return tuple(sorted(found, key=lambda each: each.at))


def calls(opened: Opened, known: Calls = NO_CALLS) -> Calls:
    """The calls of skill tools in past conversations; those ``known`` are not looked for again."""
    return read_calls(opened.found.home, known)


def decisions(opened: Opened, folder: str, names: Collection[str]) -> tuple[Event, ...]:
    """What was decided on the skill in ``folder`` or under one of ``names``, newest first."""
    try:
        entries = opened.journal.entries(str(opened.found.home), limit=DECISIONS)
    except StateError:
        return ()
    below = folder + "/"
    found = []
    for entry in entries:
        touched = any(path == folder or path.startswith(below) for path in entry.changed)
        if entry.ok and (touched or entry.subject in names or entry.subject == folder):
            said = f"{entry.verb}: {entry.message}"
            said += f" Note: {entry.note}" if entry.note else ""
            said += f" (undone by {entry.undone_by})" if entry.undone_by else ""
            found.append(Event(datetime.fromisoformat(entry.at), f"journal {entry.id}", said))
    return tuple(found)


def _uses(rows: Mapping[str, object]) -> dict[str, int]:
    found = {}
    for key, row in rows.items():
        uses = counter(row.get("use_count")) if isinstance(row, dict) else None
        if uses is not None:
            found[key] = uses
    return found
