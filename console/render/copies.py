"""The agent's copies of a memory file: a row for each, and the way from it to the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.preview import SPLIT_WIDTH, file_lines
from core.model import Change


@dataclass(frozen=True, slots=True)
class CopyItem:
    """A copy. ``age`` in words, ``size`` in bytes; ``same``: byte for byte the file of now."""

    key: str
    file: str
    target: str
    age: str
    size: int
    same: bool


def copy_row(item: CopyItem, width: int) -> Sequence[Content]:
    """The two lines of a row, cut to ``width`` cells."""
    word = "the same as the file" if item.same else "differs from the file"
    tail = ink.line(item.age, ink.LABEL)
    room = max(1, width - tail.cell_length - 1)
    head = ink.cut(item.file.rpartition("/")[2], room, ink.TITLE)
    first = head.pad_right(max(0, room - head.cell_length)) + Content(" ") + tail
    said = ink.cut(f"{item.size:,} bytes, {word}", max(1, width - 2), ink.LABEL)
    return (first.truncate(width), Content("  ") + said)


def copy_lines(
    item: CopyItem,
    path: str,
    change: Change | None,
    width: int,
    *,
    split: bool | None = None,
    folded: bool = True,
) -> tuple[Line, ...]:
    """What changed between a copy and ``path`` as it stands; no ``change`` for equal bytes."""
    return anchored(_lines(item, path, change, width, split, folded))


def _lines(
    item: CopyItem,
    path: str,
    change: Change | None,
    width: int,
    split: bool | None,
    folded: bool,
) -> Iterator[Line]:
    yield from _flow(ink.line(item.file, ink.TITLE), width)
    yield from _flow(
        ink.line("The agent made this copy when it refused to edit the file.", ink.LABEL), width
    )
    yield Line(Content(""))
    if change is None:
        yield from _flow(ink.line(f"It is {path}, byte for byte."), width)
        return
    yield from _flow(ink.line("From the copy to the file as it stands:"), width)
    side_by_side = width >= SPLIT_WIDTH if split is None else split
    yield from file_lines([change], width, split=side_by_side, folded=folded)


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
