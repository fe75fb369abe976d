"""After a crash: settle what a commit left open, under the same locks, or say why not.

Every path still as before: dropped. Some after and none foreign: rolled forward, the record
removed. Any foreign: untouched and reported as torn.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass

from core import locks
from core.errors import LockedError, SignoffError
from core.ground import Ground
from core.journal import Entry, Journal, State, Step
from core.model import Change
from core.steps import Standing, forward, standings


@dataclass(frozen=True, slots=True)
class Settled:
    """One open entry and how it was settled; ``State.OPEN``: not yet, ``message`` says why."""

    entry: Entry
    state: State
    message: str


def open_entries(ground: Ground, journal: Journal) -> tuple[Entry, ...]:
    """Commits of this home that did not end, newest first; torn ones stay on the list."""
    return journal.entries(str(ground.root), states=(State.OPEN, State.TORN))


def reconcile(
    ground: Ground, journal: Journal, patience: float = locks.PATIENCE
) -> tuple[Settled, ...]:
    """Settle every open entry of this home, oldest first. signoff's own lock must be held.

    ``patience``: seconds to wait for the agent's locks, for all entries together.
    """
    deadline = time.monotonic() + patience
    found = journal.entries(str(ground.root), states=(State.OPEN,))
    return tuple(
        _settle(journal.entry(line.id), ground, journal, deadline - time.monotonic())
        for line in reversed(found)
    )


def settle(ground: Ground, journal: Journal) -> None:
    """Settle what did not end, if it can be done now; a commit in progress is left alone.

    Raises :class:`StateError` when the journal cannot be used.
    """
    if not journal.entries(str(ground.root), states=(State.OPEN,)):
        return
    with contextlib.suppress(LockedError, OSError), ground.held():
        reconcile(ground, journal)


def _settle(entry: Entry, ground: Ground, journal: Journal, patience: float) -> Settled:
    paths = [ground.root / path for path in sorted(set(entry.locks))]
    try:
        with ground.holding(paths, patience):
            state, message = _roll(entry, ground)
    except LockedError:
        return Settled(entry, State.OPEN, "the agent holds the lock; it is settled next time")
    except (OSError, SignoffError) as problem:
        return Settled(entry, State.OPEN, f"it could not be finished ({problem})")
    category = {State.DONE: entry.category, State.DROPPED: "io_error"}.get(state, "torn")
    journal.close(entry.id, state, category, message)
    return Settled(entry, state, message)


def _roll(entry: Entry, ground: Ground) -> tuple[State, str]:
    writer = ground.reaching(entry.roots).writer(str(entry.id))
    for number, step in enumerate(entry.steps):
        if isinstance(step.change, Change):
            writer.sweep(step.change, number)
    stands = standings(entry.steps, writer, ground.rows)
    foreign = [
        step.change.path
        for step, stand in zip(entry.steps, stands, strict=True)
        if stand is Standing.FOREIGN
    ]
    if foreign:
        return State.TORN, f"interrupted, and changed since by someone else: {', '.join(foreign)}"
    if Standing.AFTER not in stands:
        return State.DROPPED, "interrupted before anything was written; nothing was changed"
    for number, (step, stand) in enumerate(zip(entry.steps, stands, strict=True)):
        # A cache made anew since the crash may show the home as it was: it goes once more.
        if stand is Standing.BEFORE or (stand is Standing.REBUILT and _removes(step)):
            forward(step, number, writer, ground.rows)
    return State.DONE, "interrupted, and finished by the next command"


def _removes(step: Step) -> bool:
    return isinstance(step.change, Change) and step.change.after is None
