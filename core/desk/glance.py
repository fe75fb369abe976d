"""The home in one line: cheap enough to read again on every change, no proposal is judged."""

from __future__ import annotations

from dataclasses import dataclass

from core.desk.opening import Opened
from core.homes.hermes.config import Gate
from core.homes.hermes.pending import Queue


@dataclass(frozen=True, slots=True)
class Glance:
    """What a header says. ``waiting`` counts proposals, ``unreadable`` what is no record."""

    home: str
    kind: str
    profile: str
    rules: str
    memory_gate: Gate
    skills_gate: Gate
    waiting: int
    unreadable: int
    broken: tuple[tuple[str, str], ...]
    others: int


def glance(opened: Opened, queue: Queue) -> Glance:
    """The header of ``opened`` with ``queue`` waiting in it."""
    config = opened.config()
    found = opened.found
    return Glance(
        str(found.home),
        str(found.kind),
        found.profile,
        opened.rules_word(),
        config.memory_gate,
        config.skills_gate,
        len(queue.proposals),
        len(queue.unreadable),
        queue.broken,
        len(found.others),
    )
