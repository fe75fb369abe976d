"""What waits in a home, since when, and whether the agent asks at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from core.clock import is_date
from core.desk.history import unsettled
from core.desk.opening import Opened
from core.desk.review import Board, Label
from core.errors import StateError
from core.homes.base import Kind
from core.homes.hermes.config import Gate
from core.homes.hermes.pending import Queue
from core.homes.hermes.rules import Rules
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

    @property
    def snoozed(self) -> int:
        """How many proposals sleep."""
        return sum(label.snoozed_until is not None for label in self.labels)


def overview(opened: Opened) -> Overview:
    """Read and label the whole queue."""
    board = Board(opened)
    queue = board.read()
    labels = tuple(board.labels())
    config = opened.config()
    return Overview(
        queue,
        labels,
        opened.home_rules(),
        {"memory": config.memory_gate, "skills": config.skills_gate},
        oldest(queue, opened.clock()),
        dict(Counter(str(label.status) for label in labels)),
        trouble(queue),
    )


#: What it means for a person that a switch of a vak home is off.
OFF = {
    "search_enabled": "the agent does not search its past; you can",
    "skill_proposals": "the agent proposes no skills; what waits can be decided",
    "write_enabled": "the agent writes no notes; you can",
}


def switched_off(allowed: Mapping[str, bool], *names: str) -> tuple[str, ...]:
    """What switches of :func:`settings` forbid, one sentence each; ``names`` are those asked
    about, all unless named."""
    return tuple(
        f"{name} is off in the home's [memory] settings: {meaning}"
        for name, meaning in OFF.items()
        if not allowed.get(name, True) and (not names or name in names)
    )


def settings(opened: Opened) -> dict[str, bool]:
    """What a vak home's own settings let its agent do; nothing for other kinds."""
    if opened.found.kind is not Kind.VAK:
        return {}
    from core.homes.vak.settings import SWITCHES, read_settings

    found = read_settings(View(opened.source))
    return {name: getattr(found, name) for name in SWITCHES}


def warnings(opened: Opened) -> tuple[str, ...]:
    """What is odd about a vak home's settings and layout, one sentence each."""
    if opened.found.kind is not Kind.VAK:
        return ()
    from core.homes.vak.home import odd_layout
    from core.homes.vak.settings import read_settings

    return (*read_settings(View(opened.source)).warnings, *odd_layout(opened.found.home))


def trouble(queue: Queue) -> tuple[str, ...]:
    """The queues that cannot be listed, one sentence each; what lies in them is unknown."""
    return tuple(f"{folder} cannot be read: {reason}" for folder, reason in queue.broken)


def oldest(queue: Queue, now: datetime) -> float | None:
    """The age of the oldest dated proposal, in seconds; ``None`` if there is none."""
    dates = [p.created_at for p in queue.proposals if is_date(p.created_at)]
    return max(0.0, now.timestamp() - min(dates)) if dates else None


def remarks(opened: Opened) -> tuple[str, ...]:
    """What a reader should know beside any answer: no journal, decisions that did not end."""
    if problem := opened.state_trouble():
        return (f"{problem}; nothing can be decided until it can",)
    try:
        waiting = unsettled(opened)
    except StateError as failure:
        return (failure.message,)
    if not waiting:
        return ()
    listed = ", ".join(f"{entry.id} ({entry.state})" for entry in reversed(waiting))
    word = "entry" if len(waiting) == 1 else "entries"
    return (f"Journal {word} {listed} did not end; `signoff doctor` says more",)
