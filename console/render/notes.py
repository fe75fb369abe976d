"""The notes of a vak home: a row for a note, and all that is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.keymap import keyed
from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.preview import finding_lines
from console.render.spots import drawn, marked, spots_of
from core.model import Finding

_TEXT = "$foreground"
#: What the agent's memory has no limit of, said where a Hermes home shows one.
NO_BUDGET = "No budget: a vak agent searches its notes, it carries none of them in its prompts."


@dataclass(frozen=True, slots=True)
class NoteItem:
    """One note, or (``id`` empty) a file of notes that has none; ``text`` then says why.

    ``workspace`` is its path or hash, empty for the profile; ``age`` is short words; ``problem``:
    why the file cannot be read; ``twin``: a note above it has the same id, which means that one.
    """

    key: str
    path: str
    id: str
    workspace: str
    kind: str
    tag: str
    age: str
    when: str
    session_id: str
    text: str
    findings: tuple[Finding, ...] = ()
    problem: bool = False
    twin: bool = False

    @property
    def place(self) -> str:
        """Where it counts, in words."""
        return self.workspace or "profile"


def note_row(item: NoteItem, width: int) -> Sequence[Content]:
    """The two lines of a row, cut to ``width`` cells."""
    signs = "! look  " if item.findings or item.problem else ""
    tail = Content.assemble((signs, ink.WARNING), (item.age, ink.LABEL))
    where = item.place.rstrip("/").rpartition("/")[2] or item.place
    words = filter(None, (where, item.kind, item.tag))
    room = max(1, width - tail.cell_length - 1)
    head = ink.line(" · ".join(words), ink.TITLE).truncate(room, ellipsis=True)
    return (
        head.pad_right(max(0, room - head.cell_length)) + Content(" ") + tail,
        Content("  ") + ink.cut(item.text, max(1, width - 2), _TEXT if item.id else ink.LABEL),
    )


def note_lines(item: NoteItem, width: int) -> tuple[Line, ...]:
    """A note whole, under what is known of it."""
    return anchored(_lines(item, width))


def _lines(item: NoteItem, width: int) -> Iterator[Line]:
    yield from _flow(ink.line(item.path, ink.TITLE), width)
    yield from _flow(
        ink.line(f"Workspace {item.workspace}" if item.workspace else "Profile"), width
    )
    if item.problem:
        yield from _flow(ink.line(f"! It cannot be read: {item.text}", ink.DANGER), width)
        return
    yield from _flow(ink.line(NO_BUDGET, ink.LABEL), width)
    yield Line(Content(""))
    if not item.id:
        yield from _flow(ink.line(keyed("No note yet: {memory.add} adds one.")), width)
        return
    facts = filter(None, (item.id, item.kind, item.tag, item.when))
    yield from _flow(ink.line(" · ".join(facts), ink.LABEL), width)
    key = keyed("({memory.conversation})")
    said = f"From session {item.session_id} {key}" if item.session_id else "It names no session."
    yield from _flow(ink.line(said, ink.LABEL), width)
    for found in item.findings:
        yield from finding_lines(found, width)
    yield Line(Content(""))
    spots = [spot for there in spots_of(item.findings).values() for spot in there]
    for piece in wrapped(marked(item.text, spots, lines=True), width):
        yield Line(piece, spots=drawn(piece) if spots else ())


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
