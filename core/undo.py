"""Undo is a plan like any other: the same steps backwards, refused when someone wrote since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.errors import UsageError
from core.journal import Entry, State, Step
from core.model import (
    AnyChange,
    Change,
    EntryChange,
    Move,
    NodeKind,
    Outcome,
    RowUndo,
)
from core.plan import Plan, bind
from core.sightings import OUTSIDE
from core.steps import same
from core.view import View, name, parent


def plan_undo(view: View, entry: Entry, later: Sequence[Entry]) -> Plan:
    """The plan that takes ``entry`` (with its steps) back.

    ``later``: newer entries of the same home that are done and not undone; one of them that
    changed the same path is named. Category ``undone``, or ``moved_on`` with the paths that moved.
    Raises :class:`UsageError` for an entry that did nothing or is undone already.
    """
    if entry.undone_by is not None:
        raise UsageError(
            f"Entry {entry.id} is undone already", f"Entry {entry.undone_by} took it back"
        )
    if entry.verb == OUTSIDE:
        raise UsageError(
            f"Entry {entry.id} is a change by another writer: there is no decision to undo",
            "Put it right by hand; `signoff journal` has what it changed",
        )
    if entry.state is State.TORN:
        raise UsageError(
            f"Entry {entry.id} is torn: someone else wrote where it did",
            f"Put it right by hand, then `signoff journal {entry.id} --seen`",
        )
    if entry.state is not State.DONE:
        raise UsageError(
            f"Entry {entry.id} changed nothing that could be undone", "See `signoff journal`"
        )
    changes, moved = _reversed(view, entry)
    outcome = _moved_on(entry, moved, later) if moved else _undone(entry, changes)
    return bind(view, "undo", entry.subject, outcome, undoes=entry.id)


def in_the_way(view: View, entry: Entry, later: Sequence[Entry]) -> tuple[int, ...]:
    """Those of ``later`` that changed what ``entry`` wrote: they must be taken back before it."""
    _, moved = _reversed(view, entry)
    return tuple(line.id for line in later if set(line.changed) & set(moved))


def _reversed(view: View, entry: Entry) -> tuple[list[AnyChange], list[str]]:
    """The steps of ``entry`` backwards, and the paths where what it wrote does not stand."""
    changes: list[AnyChange] = []
    moved: list[str] = []
    for step in reversed(entry.steps):
        back, stands = _backwards(view, step, changes)
        changes += back
        if not stands:
            moved.append(step.change.path)
    return changes, moved


def _undone(entry: Entry, changes: Sequence[AnyChange]) -> Outcome:
    pairs = tuple(EntryChange(pair.after, pair.before) for pair in reversed(entry.entries))
    message = f"Entry {entry.id} ({entry.verb} {entry.subject}) is taken back"
    return Outcome("undone", message, tuple(changes), entries=pairs, locks=entry.locks)


def _moved_on(entry: Entry, moved: Sequence[str], later: Sequence[Entry]) -> Outcome:
    touching = [str(line.id) for line in later if set(line.changed) & set(moved)]
    what = f"{', '.join(moved)} changed since entry {entry.id}"
    if touching:
        step = f"undo {', '.join(touching)} first, the newest first"
    else:
        step = "by another writer; put it right by hand"
    return Outcome("moved_on", f"{what}: {step}")


def _backwards(
    view: View, step: Step, planned: Sequence[AnyChange]
) -> tuple[list[AnyChange], bool]:
    """The changes that reverse ``step``, and whether what it wrote still stands."""
    change = step.change
    if isinstance(change, Move):
        # A place that another folder was moved to is free again once that one went back.
        freed = any(isinstance(each, Move) and each.path == change.path for each in planned)
        free = view.kind(change.path) is None or freed
        stands = free and view.kind(change.to) is NodeKind.DIR
        return [Move(change.to, change.path)], stands
    if step.taken_back:
        return list(step.edits), True
    if step.edits and change.after is not None:
        return [RowUndo(change.path, change.before, change.after, step.edits)], True
    if change.cache:
        return [replace(change, before=None, after=change.before)], True
    back = replace(change, before=change.after, after=change.before)
    if _is_folder(change):
        return _folder_back(view, back, planned)
    is_file = change.after is not None and change.after.kind is NodeKind.FILE
    return [back], same(view.current(change.path, follow=is_file), change.after)


def _folder_back(
    view: View, back: Change, planned: Sequence[AnyChange]
) -> tuple[list[AnyChange], bool]:
    if back.after is not None:
        kind = view.kind(back.path)
        return ([] if kind else [back]), kind in (None, NodeKind.DIR)
    leaving = {
        name(c.path)
        for c in planned
        if isinstance(c, Change) and c.after is None and parent(c.path) == back.path
    } | {name(c.path) for c in planned if isinstance(c, Move) and parent(c.path) == back.path}
    # A folder that others use by now (or a lock file lies in) stays.
    stays = set(view.names(back.path)) - leaving
    return ([] if stays or view.kind(back.path) is None else [back]), True


def _is_folder(change: Change) -> bool:
    node = change.after or change.before
    return node is not None and node.kind is NodeKind.DIR
