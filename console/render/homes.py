"""A home one can open, in one line: which, what waits there, where it lies."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from console.render import ink

_COUNT = 12


@dataclass(frozen=True, slots=True)
class HomeItem:
    """A home. ``waiting`` is ``None`` while it is not known; ``why`` says why it stays so.

    ``path`` is short enough to read; ``current`` marks the home that is open.
    """

    name: str
    path: str
    current: bool = False
    waiting: int | None = None
    why: str = ""
    counted: bool = False


def home_line(item: HomeItem, names: int, width: int) -> Content:
    """The line, cut to ``width`` cells; ``names`` is the width of the names of all."""
    sign = ("▸ ", ink.ACCENT) if item.current else "  "
    name = ink.cut(item.name, names, ink.TITLE)
    head = Content.assemble(sign, name.pad_right(names - name.cell_length), "  ", _count(item))
    room = width - head.cell_length - 2
    where = item.why or item.path
    style = ink.WARNING if item.why else ink.LABEL
    if room < 8:
        return head.truncate(width, ellipsis=True)
    return Content.assemble(head, "  ", ink.cut(where, room, style))


def _count(item: HomeItem) -> Content:
    if not item.counted:
        said, style = "counting…", ink.LABEL
    elif item.waiting is None:
        said, style = "? unknown", ink.WARNING
    else:
        said, style = f"{item.waiting:,} waiting", ink.GOOD if item.waiting else ink.LABEL
    return Content.styled(f"{said:<{_COUNT}}", style)
