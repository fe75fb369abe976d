"""The journal: a row for a decision, and what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.keymap import keyed
from console.render import ink
from console.render.hints import with_keys
from console.render.line import Line, anchored, wrapped
from console.render.preview import SPLIT_WIDTH, entry_lines, file_lines
from core.model import Change, EntryChange, Move

_SIGNS = {
    "done": ("✓", ink.GOOD),
    "undone": ("↶", ink.LABEL),
    "open": ("!", ink.DANGER),
    "torn": ("!", ink.DANGER),
    "failed": ("✗", ink.WARNING),
    "dropped": ("✗", ink.LABEL),
    "put away": ("·", ink.LABEL),
    "outside": ("≠", ink.WARNING),
}
#: What to do about an entry, or why there is nothing to do.
_ADVICE = {
    "open": "It did not end. The next decision settles it: completes it or takes it back.",
    "torn": (
        "It met bytes nobody here wrote, so it was left as it stands. Look at the files below, "
        "mend by hand what is wrong, then put it away with p."
    ),
    "outside": (
        "Another writer made this change: no decision of yours. It is written down here, "
        "and signoff cannot undo it."
    ),
}


@dataclass(frozen=True, slots=True)
class BulkStep:
    """The step that several decisions were made in: its number, its parts, how many stand.

    ``opened``: whether its parts are listed below its own row.
    """

    number: int
    parts: int
    standing: int
    opened: bool = False


@dataclass(frozen=True, slots=True)
class JournalItem:
    """One decision, or (``state`` ``outside``) what another writer did.

    ``state`` is the entry's, or ``undone``, or ``put away``; ``age`` says how long ago. ``whole``
    are the decisions of a bulk step that stands in one row; such a row is no entry itself.
    """

    key: str
    number: int
    verb: str
    subject: str
    state: str
    age: str
    message: str
    note: str
    undone_by: int | None
    bulk: BulkStep | None = None
    whole: tuple[JournalItem, ...] = ()


@dataclass(frozen=True, slots=True)
class JournalDetail:
    """One decision with what it changed, already read. ``who`` names user, terminal, parent.

    ``changed`` are the paths it wrote beside its record, ``next`` what that means for the agent.
    """

    item: JournalItem
    at: str
    home: str
    profile: str
    who: str
    entries: tuple[EntryChange, ...]
    changes: tuple[Change | Move, ...]
    changed: tuple[str, ...] = ()
    next: str = ""


def journal_row(item: JournalItem, width: int) -> Sequence[Content]:
    """The two lines of a row, cut to ``width`` cells."""
    sign, style = _SIGNS[item.state]
    word = f"undone by {item.undone_by}" if item.undone_by else item.state
    inner = "  " if item.bulk and item.bulk.opened and not item.whole else ""
    head = Content.assemble(
        (f"{inner}{sign} {word:<14} ", style),
        f"{'▾' if item.bulk and item.bulk.opened else '▸'} " if item.whole else f"{item.number}  ",
        ink.line(_name(item), ink.TITLE),
    )
    tail = ink.line(item.age, ink.LABEL)
    room = max(1, width - tail.cell_length - 1)
    first = head.truncate(room, ellipsis=True).pad_right(max(0, room - head.cell_length))
    said = f"“{item.note}”  {item.message}" if item.note else item.message
    if item.bulk and not inner:
        said = f"bulk step {item.bulk.number}: {said}"
    return (
        first + Content(" ") + tail,
        Content(f"  {inner}") + ink.cut(said, max(1, width - 2 - len(inner)), ink.LABEL),
    )


def journal_lines(
    detail: JournalDetail, width: int, *, split: bool | None = None, folded: bool = True
) -> tuple[Line, ...]:
    """A decision and its difference in ``width`` cells."""
    split = width >= SPLIT_WIDTH if split is None else split
    return anchored(_lines(detail, width, split, folded))


def bulk_lines(item: JournalItem, width: int) -> tuple[Line, ...]:
    """A bulk step that stands in one row: what it decided, the newest first."""
    assert item.bulk is not None
    key = "closes" if item.bulk.opened else "lists"
    head = (
        ink.line(f"Bulk step {item.bulk.number}: {_name(item)}", ink.TITLE),
        ink.line(standing(item.bulk), ink.LABEL),
        ink.line(keyed(f"{{journal.open}} {key} its parts, each with what it changed"), ink.LABEL),
        Content(""),
    )
    lines = [Line(piece) for content in head for piece in wrapped(content, width)]
    for part in item.whole:
        lines += _part(part, ink.line(part.message), width)
    return anchored(lines)


def parts_lines(items: Sequence[JournalItem], width: int) -> tuple[Line, ...]:
    """Decisions that would be taken back, in order: number, name, when, what it did."""
    lines: list[Line] = []
    for item in items:
        said = Content.assemble((f"{item.age}. ", ink.LABEL), ink.line(item.message))
        lines += _part(item, said, width)
    return tuple(lines)


def _part(item: JournalItem, said: Content, width: int) -> list[Line]:
    sign, style = _SIGNS[item.state]
    head = ink.line(f"{item.number}  {_name(item)}: ")
    content = Content.assemble((f"{sign} ", style), head, said)
    return [Line(piece) for piece in wrapped(content, width, rest="  ")]


def _lines(detail: JournalDetail, width: int, split: bool, folded: bool) -> Iterator[Line]:
    item = detail.item
    sign, style = _SIGNS[item.state]
    for content in (
        ink.line(f"{item.number}  {_name(item)}", ink.TITLE),
        ink.line(f"{detail.at}  {detail.home}  {detail.profile}", ink.LABEL),
        ink.line(detail.who, ink.LABEL),
        Content(""),
        Content.assemble((f"{sign} {item.state}  ", style), ink.block(with_keys(item.message))),
        *([ink.line(f"Note: {item.note}")] if item.note else []),
        *([ink.line(_step(item.bulk), ink.LABEL)] if item.bulk else []),
        *([ink.line(f"Changed: {', '.join(detail.changed)}", ink.LABEL)] if detail.changed else []),
        *([ink.line(f"Next: {with_keys(detail.next)}")] if detail.next else []),
        *([ink.line(_ADVICE[item.state], style)] if item.state in _ADVICE else []),
    ):
        for piece in wrapped(content, width):
            yield Line(piece)
    if detail.entries:
        yield from entry_lines(detail.entries, width, split=split, folded=folded)
    else:
        yield from file_lines(detail.changes, width, split=split, folded=folded)


def _name(item: JournalItem) -> str:
    """What was decided; of what another writer did, only where."""
    return item.subject if item.state == "outside" else f"{item.verb} {item.subject}"


def _step(bulk: BulkStep) -> str:
    return f"Part of bulk step {bulk.number}: {standing(bulk)}"


def standing(bulk: BulkStep) -> str:
    """How many decisions a bulk step has, and what of them ``U`` takes back."""
    parts = "1 decision" if bulk.parts == 1 else f"{bulk.parts:,} decisions"
    if not bulk.standing:
        return f"{parts}, all taken back"
    left = "all of it" if bulk.standing == bulk.parts else f"the {bulk.standing:,} that stand"
    return keyed(f"{parts}; {{journal.undo_this}} takes {left} back as one")
