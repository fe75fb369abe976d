"""Commit: the only way a home changes. A plan is written byte for byte, or nothing is.

The order holds everything together: signoff's own lock, the agent's locks, the record and the seal
checked again, the intent in the journal, the writes, each read back, the record removed last, the
outcome in the journal. What does not end is settled by :mod:`core.recover`.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from core import locks
from core.errors import LockedError, SignoffError, StateError, UnreadableError
from core.files import OutsideError, Writer, private_folder
from core.ground import Ground
from core.journal import NO_TAGS, Intent, Journal, State, Step, Tags
from core.model import Move, NodeKind, Receipt, RowEdit
from core.plan import Plan
from core.recover import Settled, reconcile
from core.steps import RowFormat, Standing, backward, forward, resolve, standing, standings
from core.tense import in_past
from core.view import ABSENT, Fact, View, holds


def commit(
    plan: Plan,
    ground: Ground,
    journal: Journal,
    *,
    now: datetime,
    note: str = "",
    tags: Tags = NO_TAGS,
    patience: float = locks.PATIENCE,
) -> Receipt:
    """Write ``plan``, or nothing; what stood in the way is in the receipt, never an exception.

    Commits that did not end are settled first. A journal that cannot take the intent refuses it.
    Raises :class:`StateError` when signoff's own folder cannot be used at all. ``patience``:
    seconds for all locks together.
    """
    deadline = time.monotonic() + patience
    if not plan.outcome.lands:
        return _refused(plan, plan.outcome.category, plan.outcome.message)
    try:
        private_folder(ground.state)
    except OSError as problem:
        raise StateError(
            f"signoff's own folder cannot be used: {_words(problem)}",
            "Nothing was changed; name another folder in SIGNOFF_STATE",
        ) from problem
    try:
        with ground.held(patience):
            settled = reconcile(ground, journal, deadline - time.monotonic())
            if waiting := _unsettled(plan, settled):
                return _refused(plan, "locked", waiting)
            paths = [ground.root / path for path in sorted(set(plan.outcome.locks))]
            claims = [ground.root / path for path in plan.outcome.exclusive]
            with (
                locks.claim(claims),
                ground.holding(paths, deadline - time.monotonic()) as made,
            ):
                return _decide(plan, ground, journal, now, note, tags, made)
    except StateError as problem:
        return _refused(plan, "io_error", f"{problem.message}; nothing was changed")
    except LockedError as problem:
        return _refused(plan, "locked", f"{problem.message}; nothing was changed")
    except UnreadableError as problem:
        return _refused(plan, "unreadable_target", problem.message)
    except RecursionError:
        message = "A file is nested too deeply to be rewritten; nothing was changed"
        return _refused(plan, "unreadable_target", message)
    except OutsideError as problem:
        return _refused(plan, problem.code, f"{problem.message}; nothing was changed")
    except OSError as problem:
        return _refused(plan, "io_error", f"{_words(problem)}; nothing was changed")


def _decide(
    plan: Plan,
    ground: Ground,
    journal: Journal,
    now: datetime,
    note: str,
    tags: Tags,
    made: Collection[Path],
) -> Receipt:
    if plan.undoes is not None:
        undone = journal.entry(plan.undoes)
        if undone.undone_by is not None:
            message = f"Entry {undone.id} is undone already, by entry {undone.undone_by}"
            return _refused(plan, "gone", message)
        ground = ground.reaching(undone.roots)
    view = View(ground.disk())
    if plan.record is not None and view.kind(plan.record) is None:
        return _refused(plan, "gone", "The proposal is gone: it was decided elsewhere")
    writer = ground.writer("plan")
    folders = {str(path.relative_to(ground.root)) for path in made}
    if moved := _moved(plan, view, writer, ground.rows, folders):
        return _refused(plan, "moved", f"{moved} changed since it was shown; nothing was written")
    steps = resolve(plan.changes, writer.current, ground.rows)
    for step in steps:
        writer.check(step.change)
    if not steps and plan.record is None and plan.undoes is None:
        return Receipt(plan.subject, True, plan.outcome.category, plan.outcome.message)
    number = journal.open(
        Intent(
            at=now,
            home=str(ground.root),
            profile=ground.profile,
            verb=plan.verb,
            subject=plan.subject,
            category=plan.outcome.category,
            message=plan.outcome.message,
            steps=steps,
            record=plan.record,
            note=note,
            undoes=plan.undoes,
            entries=plan.outcome.entries,
            locks=plan.outcome.locks,
            tags=tags,
            roots=tuple(map(str, ground.roots)),
        )
    )
    receipt = _write(plan, steps, number, ground, journal)
    return replace(receipt, bulk=tags.bulk)


def _moved(
    plan: Plan, view: View, writer: Writer, rows: RowFormat, made: Collection[str]
) -> str | None:
    """What the plan was based on and no longer holds, in words; ``None`` if all of it does."""
    for fact in plan.facts:
        if not holds(fact, view) and not _made_for_lock(fact, made):
            return fact.shown
    edits: dict[str, list[RowEdit]] = {}
    for change in plan.changes:
        if isinstance(change, RowEdit):
            edits.setdefault(change.path, []).append(change)
    for path, found in edits.items():
        node = writer.current(path, follow=True)
        if not rows.seal_holds(node.data if node else None, found):
            return path
    return None


def _unsettled(plan: Plan, settled: Sequence[Settled]) -> str | None:
    """Why ``plan`` must wait for an earlier commit that did not end, ``None`` if it need not."""
    touched = {change.path for change in plan.changes}
    for line in settled:
        if line.state is State.OPEN and touched & set(line.entry.changed):
            return f"Entry {line.entry.id} did not end: {line.message}; nothing was changed"
    return None


def _made_for_lock(fact: Fact, made: Collection[str]) -> bool:
    """Whether the fact is only that a folder was absent which a lock file just needed."""
    return fact.key in made and fact.value in (ABSENT, "None", "")


def _write(
    plan: Plan, steps: Sequence[Step], number: int, ground: Ground, journal: Journal
) -> Receipt:
    writer = ground.writer(str(number))
    done, torn = 0, None
    try:
        for place, step in enumerate(steps):
            # What did not land as it was meant stays in the queue.
            if step.change.path == plan.record and (
                torn := _torn(steps[:place], writer, ground.rows)
            ):
                break
            forward(step, place, writer, ground.rows)
            done += 1
        torn = torn or _torn(steps[:done], writer, ground.rows)
    except (OSError, SignoffError) as problem:
        return _take_back(plan, steps[: done + 1], number, ground, journal, _words(problem))
    state, category, message = State.DONE, plan.outcome.category, in_past(plan.outcome.message)
    if torn:
        state, category = State.TORN, "torn"
        message = f"Someone else wrote {torn} at the same moment; look at it and at the journal"
    # An outcome that cannot be written leaves the entry open; the next command finds all done.
    with contextlib.suppress(StateError):
        journal.close(number, state, category, message)
    return Receipt(
        plan.subject,
        state is State.DONE,
        category,
        message,
        changed=tuple(_paths(steps[:done])),
        entries=plan.outcome.entries,
        journal=number,
    )


def _torn(steps: Sequence[Step], writer: Writer, rows: RowFormat) -> str | None:
    """The first path that does not read back as it was written."""
    for step, stands in zip(steps, standings(steps, writer, rows), strict=True):
        if stands not in (Standing.AFTER, Standing.REBUILT):
            return step.change.path
    return None


def _take_back(
    plan: Plan,
    steps: Sequence[Step],
    number: int,
    ground: Ground,
    journal: Journal,
    reason: str,
) -> Receipt:
    writer = ground.writer(str(number))
    foreign: list[str] = []
    try:
        for place, step in reversed(list(enumerate(steps))):
            stands = standing(step, writer, ground.rows)
            if stands is Standing.AFTER:
                backward(step, place, writer)
            elif stands is Standing.FOREIGN and not _in_the_way(step, last=place == len(steps) - 1):
                foreign.append(step.change.path)
    except (OSError, SignoffError) as problem:
        message = (
            f"{reason}, and it could not be taken back ({_words(problem)});"
            " the next changing command settles it"
        )
        return Receipt(plan.subject, False, "io_error", message, journal=number)
    state, category, message = State.FAILED, "io_error", f"{reason}; nothing was changed"
    if foreign:
        state, category = State.TORN, "torn"
        message = f"{reason}, and {', '.join(foreign)} holds bytes of someone else; look at it"
    with contextlib.suppress(StateError):
        journal.close(number, state, category, message)
    return Receipt(plan.subject, False, category, message, journal=number)


def _in_the_way(step: Step, *, last: bool) -> bool:
    """Whether ``step`` is the one that failed, and did so before it wrote anything."""
    after = None if isinstance(step.change, Move) else step.change.after
    return last and (after is None or after.kind is not NodeKind.FILE)


def _paths(steps: Sequence[Step]) -> list[str]:
    paths: list[str] = []
    for step in steps:
        paths.append(step.change.path)
        if isinstance(step.change, Move):
            paths.append(step.change.to)
    return paths


def _refused(plan: Plan, category: str, message: str) -> Receipt:
    return Receipt(plan.subject, False, category, message)


def _words(problem: OSError | SignoffError) -> str:
    if isinstance(problem, SignoffError):
        return problem.message
    where = f" ({problem.filename})" if problem.filename else ""
    return f"{problem.strerror or problem}{where}"
