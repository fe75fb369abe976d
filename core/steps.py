"""The steps of a commit against what stands on disk: before, after, or neither.

Shared by the commit (roll back), the recovery after a crash (roll forward) and nobody else.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from enum import Enum
from typing import Protocol

from core.errors import UnreadableError
from core.files import Writer
from core.journal import Step
from core.model import AnyChange, Change, Move, Node, NodeKind, RowEdit, RowUndo


class RowFormat(Protocol):
    """How a home's row files are written: the agent's own serialisation.

    Each method takes the file's bytes (``None``: absent) and raises :class:`UnreadableError`
    for bytes that are no row file: those are never written over.
    """

    def apply(self, data: bytes | None, edits: Sequence[RowEdit]) -> bytes | None:
        """The file with ``edits`` made; ``None`` when there is nothing to write."""

    def reverse(self, data: bytes | None, edits: Sequence[RowEdit]) -> bytes | None:
        """The file with those fields put back that still hold what ``edits`` wrote."""

    def seal_holds(self, data: bytes | None, edits: Sequence[RowEdit]) -> bool:
        """Whether every sealed edit still finds the old value it was planned on."""

    def made(self, data: bytes | None, edits: Sequence[RowEdit]) -> bool:
        """Whether ``edits`` have been written already, whatever else changed since."""


class Standing(Enum):
    """How a step stands on disk. ``FOREIGN``: bytes that neither the plan nor its past knows.

    ``REBUILT``: a cache that the agent made anew; it tells nothing and harms nothing.
    """

    BEFORE = "before"
    AFTER = "after"
    FOREIGN = "foreign"
    REBUILT = "rebuilt"


class Current(Protocol):
    """What stands at a path now; with ``follow`` a link to a file counts as that file."""

    def __call__(self, path: str, *, follow: bool) -> Node | None: ...


def resolve(changes: Sequence[AnyChange], current: Current, rows: RowFormat) -> tuple[Step, ...]:
    """Turn planned changes into exact steps on what ``current`` tells: the disk, or a view.

    Row edits become the file with those rows changed; a cache is taken as it stands. Raises
    ``OSError`` and :class:`UnreadableError`.
    """
    steps: list[Step] = []
    edits: dict[str, list[RowEdit]] = {}
    for change in changes:
        if isinstance(change, RowEdit):
            edits.setdefault(change.path, []).append(change)
    for change in changes:
        if isinstance(change, Move):
            steps.append(Step(change))
        elif isinstance(change, RowEdit):
            if change.path in edits:
                steps += _row_step(change.path, edits.pop(change.path), current, rows)
        elif isinstance(change, RowUndo):
            steps += _row_undo_step(change, current, rows)
        elif change.cache:
            now = current(change.path, follow=False)
            after = None if now is not None else change.after
            if now != after:
                steps.append(Step(replace(change, before=now, after=after)))
        elif change.before != change.after:
            steps.append(Step(change))
    return tuple(steps)


def standing(step: Step, writer: Writer, rows: RowFormat) -> Standing:
    """How ``step`` stands. Raises ``OSError`` when it cannot be told."""
    change = step.change
    if isinstance(change, Move):
        source = writer.current(change.path, follow=False)
        target = writer.current(change.to, follow=False)
        if (source is None) == (target is None):
            return Standing.FOREIGN
        return Standing.AFTER if source is None else Standing.BEFORE
    now = writer.current(change.path, follow=_is_file(change))
    if same(now, change.after):
        return Standing.AFTER
    if same(now, change.before):
        return Standing.BEFORE
    if change.cache:
        return Standing.REBUILT
    if step.edits and (now is None or now.kind is NodeKind.FILE):
        try:
            made = rows.made(now.data if now else None, step.edits)
        except UnreadableError:
            return Standing.FOREIGN
        return Standing.AFTER if made is not step.taken_back else Standing.BEFORE
    return Standing.FOREIGN


def standings(steps: Sequence[Step], writer: Writer, rows: RowFormat) -> tuple[Standing, ...]:
    """How all steps of one entry stand. Raises ``OSError`` when it cannot be told.

    A folder moved to where an earlier step moved one away (a swap) fills that place again: each
    of the two is judged by its own other end.
    """
    left = {step.change.path for step in steps if isinstance(step.change, Move)}
    filled = {step.change.to for step in steps if isinstance(step.change, Move)}
    found = []
    for step in steps:
        change = step.change
        if isinstance(change, Move) and change.path in filled:
            found.append(_by_end(writer, change.to, change.path, there=Standing.AFTER))
        elif isinstance(change, Move) and change.to in left:
            found.append(_by_end(writer, change.path, change.to, there=Standing.BEFORE))
        else:
            found.append(standing(step, writer, rows))
    return tuple(found)


def _by_end(writer: Writer, own: str, shared: str, *, there: Standing) -> Standing:
    """How one half of a swap stands: ``there`` while something is at its ``own`` end."""
    if writer.current(own, follow=False) is not None:
        return there
    if writer.current(shared, follow=False) is None:
        return Standing.FOREIGN
    return Standing.BEFORE if there is Standing.AFTER else Standing.AFTER


def forward(step: Step, number: int, writer: Writer, rows: RowFormat) -> None:
    """Make a step that stands before. Raises ``OSError`` and :class:`SignoffError`."""
    change = step.change
    if isinstance(change, Move):
        writer.move(change)
        return
    if step.edits:
        # The agent may have written other rows since the intent: never put old bytes over them.
        now = writer.current(change.path, follow=True)
        if now != change.before:
            make = rows.reverse if step.taken_back else rows.apply
            data = make(now.data if now else None, step.edits)
            if data is None:
                return
            mode = now.mode if now else 0o600
            change = replace(change, before=now, after=Node(NodeKind.FILE, data, mode))
    writer.put(change, number)


def backward(step: Step, number: int, writer: Writer) -> None:
    """Take a step that stands after back. Raises ``OSError`` and :class:`SignoffError`."""
    change = step.change
    if isinstance(change, Move):
        writer.move(Move(change.to, change.path))
        return
    try:
        writer.put(replace(change, before=change.after, after=change.before), number)
    except OSError as problem:
        # A folder made for this commit that someone uses by now stays.
        if problem.errno != errno.ENOTEMPTY:
            raise


def same(left: Node | None, right: Node | None) -> bool:
    """Whether two nodes are the same thing; a folder is one whatever its mode."""
    if left is None or right is None:
        return left is right
    if left.kind is NodeKind.DIR and right.kind is NodeKind.DIR:
        return True
    return left == right


def _is_file(change: Change) -> bool:
    node = change.after or change.before
    return node is not None and node.kind is NodeKind.FILE and change.after is not None


def _row_step(
    path: str, edits: Sequence[RowEdit], current: Current, rows: RowFormat
) -> tuple[Step, ...]:
    now = current(path, follow=True)
    data = rows.apply(now.data if now else None, edits)
    if data is None:
        return ()
    after = Node(NodeKind.FILE, data, now.mode if now else 0o600)
    return (Step(Change(path, now, after), tuple(edits)),) if after != now else ()


def _row_undo_step(undo: RowUndo, current: Current, rows: RowFormat) -> tuple[Step, ...]:
    now = current(undo.path, follow=True)
    if now == undo.after:
        return (Step(Change(undo.path, now, undo.before), undo.edits, taken_back=True),)
    data = rows.reverse(now.data if now else None, undo.edits)
    if data is None or now is None or data == now.data:
        return ()
    return (Step(Change(undo.path, now, replace(now, data=data)), undo.edits, taken_back=True),)
