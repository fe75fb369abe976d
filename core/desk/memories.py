"""The memory files as they stand: entries, budget, and what would keep the agent from writing."""

from __future__ import annotations

from dataclasses import dataclass

from core import text
from core.desk.opening import Opened
from core.homes.hermes.memory import entries as memory
from core.homes.hermes.rules import Rules
from core.homes.hermes.scanners.memory import blocked_at_load
from core.model import Finding, Severity
from core.view import View

TARGETS = ("memory", "user")


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """One entry. ``index`` counts from 1, ``size`` is in code points, as the agent counts.

    ``text`` leaves out a byte order mark that 0.19.0 takes for a part of the first entry.
    """

    index: int
    text: str
    size: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Store:
    """One memory file. ``state`` is absent, readable or unreadable (``reason`` says why).

    ``used`` counts as the agent does: code points with delimiters, duplicates dropped.
    """

    target: str
    path: str
    state: str
    reason: str
    drift: memory.Drift | None
    used: int
    limit: int
    entries: tuple[MemoryEntry, ...]
    link: str | None = None


def stores(opened: Opened, target: str | None = None) -> tuple[Store, ...]:
    """The stores of the home, or the one named."""
    return tuple(_store(opened, name) for name in TARGETS if target in (None, name))


def _store(opened: Opened, target: str) -> Store:
    config = opened.config()
    limit = config.user_limit if target == "user" else config.memory_limit
    path = memory.path_of(target)
    reading = View(opened.source).read(path)
    file = memory.decode(reading, keep_bom=opened.home_rules() is Rules.V0_19)
    if isinstance(file, memory.UnreadableFile):
        return Store(target, path, "unreadable", file.reason, None, 0, limit, (), reading.link)
    return Store(
        target,
        path,
        "absent" if file.data is None else "readable",
        "",
        memory.drift(file.text, limit),
        memory.size(file.unique),
        limit,
        tuple(_entry(number, entry, path) for number, entry in enumerate(file.unique, 1)),
        reading.link,
    )


def _entry(number: int, entry: str, path: str) -> MemoryEntry:
    at = f"{path}#{number}"
    shown = entry.removeprefix(memory.BOM)
    marked = (
        (Finding("byte_order_mark", Severity.INFO, "The agent counts the byte order mark in", at),)
        if shown != entry
        else ()
    )
    blocked = tuple(
        Finding(
            "blocked_at_load",
            Severity.WARNING,
            f"The agent hides this entry from its own prompts ({pattern})",
            at,
        )
        for pattern in blocked_at_load(entry)
    )
    return MemoryEntry(number, shown, len(entry), marked + blocked + text.findings(shown, at))
