"""What an agent that died left in the notes' folders: locks, half-written files, empty folders.

A note is never removed by age (vak spec 7.3, "clean").
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime

from core.homes.vak.home import MEMORY, PROFILE_FOLDER
from core.homes.vak.times import HOUR, nanoseconds
from core.model import Change, Node, NodeKind, Outcome
from core.view import Disk, View, join

#: Nanoseconds after which a lock or a half-written file counts as abandoned.
ABANDONED = 24 * HOUR


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What cleaning removes, as paths of the home."""

    locks: tuple[str, ...] = ()
    temporary: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


def find(view: View, now: datetime) -> Leftovers:
    """Everything that cleaning would remove; what cannot be dated stays."""
    locks: list[str] = []
    temporary: list[str] = []
    folders: list[str] = []
    before = nanoseconds(now) - ABANDONED
    for workspace in sorted(view.names(MEMORY)):
        folder = join(MEMORY, workspace)
        if workspace == PROFILE_FOLDER or view.kind(folder) is not NodeKind.DIR:
            continue
        left = set(view.names(folder))
        for each in sorted(left):
            path = join(folder, each)
            is_lock = each.endswith(".lock")
            if not is_lock and ".tmp." not in each:
                continue
            changed = view.ask("mtime", path, _changed)
            if view.kind(path) is NodeKind.FILE and changed and int(changed) <= before:
                (locks if is_lock else temporary).append(path)
                left.discard(each)
        if not left:
            folders.append(folder)
    return Leftovers(tuple(locks), tuple(temporary), tuple(folders))


def plan(view: View, now: datetime) -> tuple[Leftovers, Outcome]:
    """What is left over, and the outcome of removing it."""
    found = find(view, now)
    paths = (*found.locks, *found.temporary, *found.folders)
    if not paths:
        return found, Outcome("noop", "Nothing is left over.")
    changes = []
    for path in paths:
        node = view.node(path)
        if path in found.folders:
            node = Node(NodeKind.DIR, mode=node.mode if node else 0o755)
        changes.append(Change(path, node, None))
    counts = (
        (len(found.locks), "lock"),
        (len(found.temporary), "half-written file"),
        (len(found.folders), "empty folder"),
    )
    said = [f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count]
    return found, Outcome("ok", f"Removed: {', '.join(said)}.", tuple(changes))


def _changed(view: View, path: str) -> str:
    """When a file was last changed, in nanoseconds; ``""`` where that cannot be told."""
    source = view.source
    if not isinstance(source, Disk):
        return ""
    try:
        return str(os.lstat(source.absolute(path)).st_mtime_ns)
    except OSError:
        return ""
