"""One row of the queue: two lines, the second the summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content

from console.render import ink
from console.render.hints import with_keys

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
#: From this many cells on the first line also says how old it is and where it came from; in fewer
#: the second line ends with that.
WIDE = 64


@dataclass(frozen=True, slots=True)
class QueueItem:
    """One row. ``fate`` overrules the status on screen: ``working``, ``failed`` or ``gone``.

    ``note`` is said in place of the summary (why it failed, who decided it). ``rivals`` counts
    other proposals for the same thing; ``digest`` tells one content of the record from another.
    ``broken`` says why the record itself is no proposal, ``""`` if it is one; a ``status`` of
    ``unreadable`` alone means that a file it needs cannot be read. ``by_hand``: only a person can
    remove it.
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
    digest: str = ""
    broken: str = ""
    by_hand: bool = False

    @property
    def word(self) -> str:
        """The status as it is shown now."""
        return self.fate or self.status

    @property
    def is_settled(self) -> bool:
        """Whether it is decided already, here or elsewhere."""
        return self.fate in ("working", "gone")


def queue_row(item: QueueItem, width: int) -> Sequence[Content]:
    """The two lines of a row, cut to ``width`` cells."""
    if width >= WIDE:
        rivals = f"{item.rivals + 1} rivals" if item.rivals else ""
        tail = _tail([rivals, item.age, origin_word(item.origin)], width)
        return (_ends(_head(item, width - tail.cell_length - 1), tail, width), _said(item, width))
    rivals = f"×{item.rivals + 1}" if item.rivals else ""
    tail = _tail([rivals, item.age, origin_word(item.origin)], width)
    said = _said(item, width - tail.cell_length - 1)
    return (_head(item, width), _ends(said, tail, width))


def _head(item: QueueItem, cells: int) -> Content:
    """Status, action and target; a target too long for its place stands without the action."""
    sign, style = SIGNS[item.word]
    word = (item.word or "judging").replace("_", " ")
    status = Content.styled(f"{sign} {word:<{WORD_CELLS}} ", style)
    target = ink.line(item.target, ink.TITLE)
    head = Content.assemble(status, ink.line(f"{item.action or 'unknown'} → "), target)
    if head.cell_length > cells:
        head = status + target
    return head.truncate(max(1, cells), ellipsis=True)


def _said(item: QueueItem, cells: int) -> Content:
    said = with_keys(item.note) or item.summary
    return Content("  ") + ink.cut(said, max(1, cells - 2), ink.LABEL)


def _tail(words: Sequence[str], width: int) -> Content:
    return ink.cut("  ".join(filter(None, words)), max(1, width // 2), ink.LABEL)


def _ends(left: Content, right: Content, width: int) -> Content:
    return left.pad_right(max(0, width - left.cell_length - right.cell_length)) + right


def origin_word(origin: str) -> str:
    """Where a record came from, in a word."""
    return {"background_review": "auto", "assistant_tool": "chat", "foreground": "you"}.get(
        origin, origin or "origin ?"
    )
