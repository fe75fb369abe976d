"""The memory files as they stand: entries, budget, cost, and what keeps the agent from writing."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core import text
from core.desk.opening import Opened
from core.errors import NotFoundError
from core.homes.hermes.memory import advice
from core.homes.hermes.memory import entries as memory
from core.homes.hermes.memory.replay import limit_of
from core.homes.hermes.rules import Rules
from core.model import Finding, Severity
from core.view import View, name

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

    ``used`` counts as the agent does: code points with delimiters, duplicates dropped. ``tokens``
    is about what it costs in every prompt, header included: 0 while ``enabled`` is false, since
    the agent then leaves the file out.
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
    tokens: int = 0
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy of a store that the agent left when it refused to edit it.

    ``at`` is in Unix seconds, by its name (``None``: none there); ``size`` in bytes; ``same``:
    byte for byte the store as it stands.
    """

    target: str
    file: str
    at: int | None
    size: int
    same: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """A copy beside the store as it stands (``now`` is ``None`` for an absent file)."""

    copy: Copy
    path: str
    then: bytes
    now: bytes | None


def stores(opened: Opened, target: str | None = None) -> tuple[Store, ...]:
    """The stores of the home, or the one named."""
    return tuple(_store(opened, each) for each in TARGETS if target in (None, each))


def copies(opened: Opened, target: str | None = None) -> tuple[Copy, ...]:
    """The agent's copies (``.bak.*``) of both stores, or of the one named, newest first each."""
    return tuple(each.copy for each in _compared(opened, target))


def compare(opened: Opened, file: str, target: str | None = None) -> Compared:
    """One copy, by its path in the home or its name. Raises :class:`NotFoundError`."""
    for each in _compared(opened, target):
        if file in (each.copy.file, name(each.copy.file)):
            return each
    raise NotFoundError(
        f"There is no copy {text.one_line(file, 60)}", "List them with `signoff memory`"
    )


def _compared(opened: Opened, target: str | None) -> list[Compared]:
    found = []
    for each in TARGETS:
        if target in (None, each):
            path = memory.path_of(each)
            view = View(opened.source)
            now = view.read(path).data
            for copy in advice.backups(view, each):
                same = copy.data == now
                listed = Copy(each, copy.file, copy.at, len(copy.data), same)
                found.append(Compared(listed, path, copy.data, now))
    return found


def _store(opened: Opened, target: str) -> Store:
    config = opened.config()
    limit = limit_of(target, config)
    enabled = config.user_profile_enabled if target == "user" else config.memory_enabled
    path = memory.path_of(target)
    reading = View(opened.source).read(path)
    # As the agent counts: 0.19.0 takes a byte order mark for a part of the first entry.
    file = memory.decode(reading, keep_bom=opened.home_rules() is Rules.V0_19)
    shown = memory.decode(reading)
    if isinstance(file, memory.UnreadableFile) or isinstance(shown, memory.UnreadableFile):
        reason = file.reason if isinstance(file, memory.UnreadableFile) else ""
        return Store(
            target, path, "unreadable", reason, None, 0, limit, (), reading.link, 0, enabled
        )
    marked = file.text != shown.text
    return Store(
        target,
        path,
        "absent" if file.data is None else "readable",
        "",
        memory.drift(file.text, limit),
        memory.size(file.unique),
        limit,
        tuple(
            _entry(number, entry, path, marked=marked and number == 1)
            for number, entry in enumerate(shown.unique, 1)
        ),
        reading.link,
        advice.tokens(target, file.unique, limit) if enabled else 0,
        enabled,
    )


def _entry(number: int, entry: str, path: str, *, marked: bool) -> MemoryEntry:
    at = f"{path}#{number}"
    counted = memory.BOM + entry if marked else entry
    mark = Finding("byte_order_mark", Severity.INFO, "The agent counts the byte order mark in", at)
    blocked = advice.blocked(counted, at)
    if marked:
        blocked = tuple(replace(found, spans=_moved(found.spans)) for found in blocked)
    findings = (*blocked, *text.findings(entry, at))
    return MemoryEntry(number, entry, len(counted), (mark, *findings) if marked else findings)


def _moved(spans: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Spans of a text with a byte order mark as spans of the text without it."""
    size = len(memory.BOM)
    return tuple((max(0, start - size), end - size) for start, end in spans if end > size)
