"""One row of the queue: two lines, the second the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from console.render import ink

#: Sign and style of every status of the contract, and of what happens to a row on screen.
SIGNS = {
    "": ("…", ink.LABEL),
    "ready": ("✓", ink.GOOD),
    "attention": ("?", ink.WARNING),
    "noop": ("=", ink.LABEL),
    "stale": ("~", ink.LABEL),
    "ambiguous": ("≈", ink.WARNING),
    "over_budget": ("▲", ink.WARNING),
    "refused": ("✗", ink.DANGER),
    "unreadable": ("!", ink.DANGER),
    "invalid": ("✗", ink.DANGER),
    "gone": ("-", ink.LABEL),
    "working": ("»", ink.ACCENT),
    "failed": ("!", ink.DANGER),
}
WORD_CELLS = 11
#: From this many cells on a row also says where it came from.
WIDE = 56


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One row. ``fate`` overrules the status on screen: ``working``, ``failed`` or ``gone``.

    ``note`` is said in place of the summary (why it failed, who decided it). ``rivals`` counts
    other proposals for the same thing.
    """

    key: str
    token: str
    id: str
    subsystem: str
    action: str
    target: str
    age: str
    origin: str
    summary: str
    status: str = ""
    fate: str = ""
    note: str = ""
    rivals: int = 0

    @property
    def word(self) -> str:
        """The status as it is shown now."""
        return self.fate or self.status


def queue_row(item: QueueItem, width: int) -> Sequence[Content]:
    """The two lines of a row, cut to ``width`` cells."""
    sign, style = SIGNS[item.word]
    head = Content.assemble(
        (f"{sign} {(item.word or 'judging').replace('_', ' '):<{WORD_CELLS}} ", style),
        ink.line(f"{item.action or 'unknown'} "),
        ink.line(f"→ {item.target}", ink.TITLE),
    )
    wide = width >= WIDE
    rivals = (f"{item.rivals + 1} rivals" if wide else f"×{item.rivals + 1}") if item.rivals else ""
    ends = [rivals, item.age, _origin(item.origin) if wide else ""]
    tail = ink.cut("  ".join(filter(None, ends)), max(1, width // 2), ink.LABEL)
    room = width - tail.cell_length - 1
    first = head.truncate(room, ellipsis=True).pad_right(max(0, room - head.cell_length))
    second = ink.cut(item.note or item.summary, max(1, width - 2), ink.LABEL)
    return (first + Content(" ") + tail, Content("  ") + second)


def _origin(origin: str) -> str:
    return {"background_review": "auto", "assistant_tool": "chat", "foreground": "you"}.get(
        origin, origin or "origin ?"
    )
