"""What waits in a home, and whether everything signoff depends on works."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from core import locks
from core.desk.memories import stores
from core.desk.opening import Opened
from core.desk.review import Board, Label
from core.errors import SignoffError
from core.homes.hermes import usage
from core.homes.hermes.config import Gate
from core.homes.hermes.memory import lock_of
from core.homes.hermes.pending import Queue
from core.homes.hermes.rules import Rules
from core.recover import open_entries
from core.view import View


@dataclass(frozen=True, slots=True)
class Overview:
    """The home at a glance. ``oldest_seconds`` is the age of the oldest dated proposal.

    ``trouble`` names queues that cannot be read at all; they are not empty.
    """

    queue: Queue
    labels: tuple[Label, ...]
    rules: Rules
    gates: Mapping[str, Gate]
    oldest_seconds: float | None
    by_status: Mapping[str, int]
    trouble: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the doctor looked at. ``ok`` is None where there is nothing to judge."""

    name: str
    ok: bool | None
    message: str


def overview(opened: Opened) -> Overview:
    """Read and label the whole queue."""
    board = Board(opened)
    queue = board.read()
    labels = tuple(board.labels())
    config = opened.config()
    dates = [p.created_at for p in queue.proposals if p.created_at is not None]
    oldest = max(0.0, opened.clock().timestamp() - min(dates)) if dates else None
    return Overview(
        queue,
        labels,
        opened.home_rules(),
        {"memory": config.memory_gate, "skills": config.skills_gate},
        oldest,
        dict(Counter(str(label.status) for label in labels)),
        _trouble(queue),
    )


def checkup(opened: Opened) -> tuple[Check, ...]:
    """Everything that can stand in the way, looked at one by one; changes nothing."""
    queue = Board(opened).read()
    checks = [
        Check("home", True, f"{opened.found.home} ({opened.found.kind}, {opened.found.profile})"),
        Check("rules", None, f"judged as hermes-agent {opened.home_rules()}"),
        *_config_checks(opened),
        *(Check("queue", False, reason) for reason in _trouble(queue)),
        Check("queue", None, f"{len(queue.proposals)} proposals wait"),
        *(Check("record", False, f"{item.file}: {item.reason}") for item in queue.unreadable),
        *_store_checks(opened),
        _usage_check(opened),
        *_lock_checks(opened),
        *_journal_checks(opened),
    ]
    return tuple(checks)


def _trouble(queue: Queue) -> tuple[str, ...]:
    return tuple(f"{folder} cannot be read: {reason}" for folder, reason in queue.broken)


def _config_checks(opened: Opened) -> list[Check]:
    config = opened.config()
    gates = (("memory", config.memory_gate), ("skills", config.skills_gate))
    return [
        Check(
            f"{name} gate",
            gate.on,
            gate.reason if gate.on else f"{gate.reason}: the agent writes without asking",
        )
        for name, gate in gates
    ]


def _store_checks(opened: Opened) -> list[Check]:
    checks = []
    for store in stores(opened):
        if store.state == "unreadable":
            checks.append(Check(store.path, False, f"cannot be read: {store.reason}"))
        elif store.drift:
            message = f"the agent refuses to edit it: {store.drift.message}"
            checks.append(Check(store.path, False, message))
        else:
            checks.append(Check(store.path, True, f"{store.used:,} of {store.limit:,} characters"))
    return checks


def _usage_check(opened: Opened) -> Check:
    rows = usage.read_rows(View(opened.source).read(usage.PATH))
    if rows.problem:
        return Check(usage.PATH, False, rows.problem)
    return Check(usage.PATH, True, f"{len(rows.rows)} rows")


def _lock_checks(opened: Opened) -> list[Check]:
    paths = (lock_of("memory"), lock_of("user"), usage.LOCK)
    held = [path for path in paths if locks.is_held(opened.found.home / path)]
    if not held:
        return [Check("locks", True, "nobody holds a lock")]
    return [Check("locks", None, f"{path} is held right now") for path in held]


def _journal_checks(opened: Opened) -> list[Check]:
    try:
        waiting = open_entries(opened.ground(), opened.journal)
    except SignoffError as problem:
        return [Check("journal", False, problem.message)]
    if not waiting:
        usable = os.access(opened.state if opened.state.exists() else opened.state.parent, os.W_OK)
        where = f"{opened.journal.path}"
        return [Check("journal", usable or None, where)]
    return [
        Check("journal", False, f"entry {e.id} ({e.verb} {e.subject}) is {e.state}: {e.message}")
        for e in waiting
    ]
