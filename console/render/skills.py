"""The table of skills and the archive: one line a row, as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from console.render import ink
from core import text
from core.model import Severity

#: Sign and style of the states of a skill, so that they need no colour.
STATES = {
    "active": ("●", ink.GOOD),
    "stale": ("◐", ink.WARNING),
    "archived": ("○", ink.LABEL),
    "read-only": ("·", ink.LABEL),
}
ODD = ("?", ink.DANGER)
PINNED, HIDDEN = "◆", "∅"
#: Columns that show what they can of a long word; the others are cut off.
_FLEXIBLE = 0


@dataclass(frozen=True, slots=True)
class SkillItem:
    """One live skill. ``next`` says what becomes of it, ``due`` in how many seconds (soonest).

    ``used`` is the time of its last use (Unix seconds, 0 for never); ``worst`` is its gravest
    finding; ``words`` is everything a filter looks for.
    """

    key: str
    name: str
    state: str
    pinned: bool
    origin: str
    uses: int | None
    last: str
    used: float
    next: str
    due: float
    worst: Severity | None
    offered: bool
    words: str = ""


@dataclass(frozen=True, slots=True)
class ArchiveItem:
    """One package of the archive. ``to`` is where it would go; ``ok``: whether it could now."""

    key: str
    folder: str
    name: str
    age: str
    at: float
    to: str
    ok: bool
    why: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name is what a sort goes by. ``cells`` 0 takes what the others leave."""

    name: str
    title: str
    cells: int
    right: bool = False


_MARKS = Column("notes", "", 3)
_NAME = Column("name", "skill", _FLEXIBLE)
_STATE, _SIGN = Column("state", "state", 10), Column("state", "", 1)
_ORIGIN = Column("origin", "origin", 8)
_USES = Column("uses", "uses", 5, right=True)
_LAST = Column("last", "used", 6, right=True)
_NEXT = Column("next", "next", 15)
#: The columns of each width, the first that fits.
_SKILLS = (
    (74, (_MARKS, _NAME, _STATE, _ORIGIN, _USES, _LAST, _NEXT)),
    (65, (_MARKS, _NAME, _STATE, _USES, _LAST, _NEXT)),
    (53, (_MARKS, _SIGN, _NAME, _USES, _LAST, _NEXT)),
    (0, (_MARKS, _SIGN, _NAME, _NEXT)),
)
_FOLDER = Column("folder", "folder", _FLEXIBLE)
_AGE = Column("age", "since", 7, right=True)
_TO = Column("to", "restores to", _FLEXIBLE)
_ARCHIVE = ((48, (_FOLDER, _AGE, _TO)), (0, (_FOLDER, _AGE)))

#: What a sort goes by, in the order the key steps through: what comes soonest stands first.
SKILL_SORTS = ("next", "name", "state", "origin", "uses", "last", "notes")
ARCHIVE_SORTS = ("age", "folder", "to")


def heads(archive: bool, sort: str, backwards: bool, width: int) -> Content:
    """The titles of the columns in ``width`` cells, the one that is sorted by marked."""
    cells = []
    columns = _columns(_ARCHIVE if archive else _SKILLS, width)
    for column, room in zip(columns, _rooms(columns, width), strict=True):
        mark = ("▴" if backwards else "▾") if column.name == sort else ""
        title = Content.styled(f"{column.title}{mark}", ink.ACCENT if mark else ink.LABEL)
        cells.append(_fitted(title, room, column.right))
    return Content(" ").join(cells)


def skill_row(item: SkillItem, width: int) -> Sequence[Content]:
    """The line of a skill, cut to ``width`` cells."""
    sign, style = STATES.get(item.state, ODD)
    columns = _columns(_SKILLS, width)
    cells = {
        "notes": _marks(item),
        "name": ink.line(item.name, ink.TITLE),
        "state": Content.assemble((f"{sign} ", style), ink.line(item.state)),
        "origin": ink.line(item.origin, ink.LABEL),
        "uses": Content("?" if item.uses is None else f"{item.uses:,}"),
        "last": ink.line(item.last, ink.LABEL),
        "next": ink.line(item.next, ink.WARNING if item.due <= 0 else ""),
    }
    return (_joined(columns, cells, width),)


def archive_row(item: ArchiveItem, width: int) -> Sequence[Content]:
    """The line of a package of the archive, cut to ``width`` cells."""
    columns = _columns(_ARCHIVE, width)
    cells = {
        "folder": ink.line(item.folder, ink.TITLE),
        "age": ink.line(item.age, ink.LABEL),
        "to": _place(item),
    }
    return (_joined(columns, cells, width),)


def _place(item: ArchiveItem) -> Content:
    sign, style = ("✓", ink.GOOD) if item.ok else ("✗", ink.WARNING)
    return Content.assemble((f"{sign} ", style), ink.line(item.to if item.ok else item.why))


def _marks(item: SkillItem) -> Content:
    sign, style = ink.SEVERITY[item.worst] if item.worst is not None else (" ", "")
    return Content.assemble(
        (PINNED if item.pinned else " ", ink.ACCENT),
        (" " if item.offered else HIDDEN, ink.LABEL),
        (sign, style),
    )


def _columns(sets: Sequence[tuple[int, Sequence[Column]]], width: int) -> Sequence[Column]:
    return next(columns for least, columns in sets if width >= least)


def _rooms(columns: Sequence[Column], width: int) -> list[int]:
    """Cells of each column; those without a size of their own share what is left."""
    left = width - sum(column.cells for column in columns) - (len(columns) - 1)
    flexible = [column for column in columns if column.cells == _FLEXIBLE]
    share = max(1, left // max(1, len(flexible)))
    rooms = [column.cells or share for column in columns]
    spare = left - share * len(flexible)
    if spare > 0:
        first = next(n for n, column in enumerate(columns) if column.cells == _FLEXIBLE)
        rooms[first] += spare
    return rooms


def _joined(columns: Sequence[Column], cells: dict[str, Content], width: int) -> Content:
    fitted = [
        _fitted(cells[column.name], room, column.right)
        for column, room in zip(columns, _rooms(columns, width), strict=True)
    ]
    return Content(" ").join(fitted)


def _fitted(content: Content, room: int, right: bool) -> Content:
    cut = content.truncate(room, ellipsis=True) if content.cell_length > room else content
    if room == 1 and content.cell_length > 1:
        cut = content[:1]
    missing = max(0, room - text.width(cut.plain))
    return cut.pad_left(missing) if right else cut.pad_right(missing)
