"""The note store in rows: its projects, and the notes or pieces of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from console.render import ink

#: Sign and style of a status, so that it needs no colour; any other word counts as live.
STATUSES = {
    "active": ("●", ink.GOOD),
    "superseded": ("→", ink.LABEL),
    "retired": ("✗", ink.LABEL),
    "archived": ("○", ink.LABEL),
}
ODD = ("●", ink.WARNING)
#: From this many cells on a row holds the word ``superseded`` beside the successor.
_BOTH = 54
#: What holds of every project, as answers mark it.
SHARED = "[global]"
#: What a node of each layer is called: one, and many of them.
LAYERS = {"memory": ("note", "notes"), "wiki": ("wiki piece", "wiki"), "code": ("piece", "code")}


@dataclass(frozen=True, slots=True)
class ProjectItem:
    """A project. ``layers`` holds a layer and how many nodes it has, those without any left out."""

    key: str
    layers: tuple[tuple[str, int], ...]
    staged: int
    due: bool
    shared: bool

    @property
    def name(self) -> str:
        return SHARED if self.shared else self.key


@dataclass(frozen=True, slots=True)
class KnowledgeItem:
    """A note, or a piece of a page or of code. ``project`` is that of its collection.

    ``age`` is short words, ``when`` the whole time. ``successor``, ``reason`` and ``page`` (that it
    was merged into) say what came of it. ``shared``: it is of every project, listed in another;
    ``named``: its layer is said, others stand beside it.
    """

    key: str
    id: str
    project: str
    layer: str
    status: str
    live: bool
    kind: str
    path: str
    text: str
    age: str
    when: str
    source: str
    successor: str = ""
    reason: str = ""
    page: str = ""
    shared: bool = False
    named: bool = False

    @property
    def short(self) -> str:
        """The id as answers show it."""
        return f"#{self.id[:8]}"

    @property
    def is_note(self) -> bool:
        """Whether it is a note: pieces come from files, and nobody decides on them."""
        return self.layer == "memory"


def project_row(item: ProjectItem, width: int) -> Sequence[Content]:
    """The two lines of a project, cut to ``width`` cells."""
    tail = Content.styled("! merge due", ink.WARNING) if item.due else Content("")
    return (
        _ends(ink.line(item.name, ink.TITLE), tail, width),
        Content("  ") + ink.cut(counts_of(item), max(1, width - 2), ink.LABEL),
    )


def counts_of(item: ProjectItem) -> str:
    """What a project holds, in words."""
    counts = [
        f"{count:,} {LAYERS[layer][count != 1 or layer != 'memory']}"
        for layer, count in item.layers
    ]
    staged = f"{item.staged:,} staged" if item.staged else ""
    return " · ".join(filter(None, [*counts, staged])) or "nothing"


def node_row(item: KnowledgeItem, width: int) -> Sequence[Content]:
    """The two lines of a node, cut to ``width`` cells."""
    where = [SHARED] if item.shared else []
    if item.is_note:
        sign, style = sign_of(item.status)
        head = Content.assemble(
            (f"{sign} ", style),
            ink.line(f"{item.short}  ", ink.ACCENT),
            ink.line("  ".join([*where, item.kind]), ink.TITLE if item.live else ink.LABEL),
            ink.line(after_of(item), ink.LABEL),
        )
        said = "" if item.status == "active" else item.status
        # Who took its place says more than that someone did.
        said = "" if item.successor and width < _BOTH else said
        tail = ink.line("  ".join(filter(None, (said, item.age))), ink.LABEL)
    else:
        head = ink.line("  ".join([*where, item.path]), ink.TITLE)
        words = filter(None, (item.layer if item.named else "", item.age))
        tail = ink.line("  ".join(words), ink.LABEL)
    said = " ".join(item.text.split())
    text = ink.cut(said, max(1, width - 2), "" if item.live else ink.LABEL)
    return (_ends(head, tail, width), Content("  ") + text)


def sign_of(status: str) -> tuple[str, str]:
    """Sign and style of a status."""
    return STATUSES.get(status, ODD)


def after_of(item: KnowledgeItem) -> str:
    """What came of a note that is live no more, in a few words behind its kind."""
    if item.successor:
        return f"  → #{item.successor[:8]}"
    if item.page:
        return f"  in {item.page}"
    return f": {item.reason}" if item.reason else ""


def _ends(left: Content, right: Content, width: int) -> Content:
    # A status may be any word of another program.
    right = right.truncate(max(1, width // 2), ellipsis=True)
    room = max(1, width - right.cell_length - (1 if right else 0))
    left = left.truncate(room, ellipsis=True)
    filled = left.pad_right(max(0, room - left.cell_length))
    return filled + Content(" ") + right if right else filled
