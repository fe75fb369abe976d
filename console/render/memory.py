"""The memory files: a row for an entry, and all that is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.render import ink
from console.render.line import Line, anchored, wrapped
from console.render.preview import budget_bar, finding_lines
from console.render.spots import drawn, marked, spots_of
from core.model import Budget, Finding

#: An entry is what a row is about, not a remark on it.
_TEXT = "$foreground"


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One entry of a store, or (``index`` 0) the store itself when it has none to show."""

    key: str
    path: str
    index: int
    text: str
    size: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A store around its entries. ``problem``: why it cannot be read; ``drift``: why not edited.

    ``tokens``: about what it costs in every prompt; ``enabled``: whether the agent reads it at all;
    ``copies``: how many the agent made of it.
    """

    path: str
    link: str | None
    used: int
    limit: int
    count: int
    problem: str
    drift: str
    target: str = ""
    tokens: int = 0
    enabled: bool = True
    copies: int = 0

    @property
    def file(self) -> str:
        """The file's name, as people call it."""
        return self.path.rpartition("/")[2]


def memory_row(item: MemoryItem, width: int) -> Sequence[Content]:
    """The two lines of a row, cut to ``width`` cells."""
    flagged = any(f.code == "blocked_at_load" for f in item.findings)
    signs = "‼ blocked  " if flagged else "! look  " if item.findings else ""
    tail = Content.assemble(
        (signs, ink.WARNING), (f"{item.size:,} chars" if item.index else "", ink.LABEL)
    )
    tail = tail.truncate(max(1, width - 2), ellipsis=True)
    name = item.path.rpartition("/")[2]
    head = ink.line(f"{name} {item.index}" if item.index else name, ink.TITLE)
    room = max(1, width - tail.cell_length - 1)
    first = head.truncate(room, ellipsis=True).pad_right(max(0, room - head.cell_length))
    return (
        first + Content(" ") + tail,
        Content("  ") + ink.cut(item.text, max(1, width - 2), _TEXT),
    )


def memory_lines(item: MemoryItem, store: StoreInfo, width: int) -> tuple[Line, ...]:
    """An entry whole, under what its file says."""
    return anchored(_lines(item, store, width))


def _lines(item: MemoryItem, store: StoreInfo, width: int) -> Iterator[Line]:
    where = f"{store.path} → {store.link}" if store.link else store.path
    yield from _flow(ink.line(where, ink.TITLE), width)
    if store.problem:
        yield from _flow(ink.line(f"! It cannot be read: {store.problem}", ink.DANGER), width)
        yield from _flow(ink.line("Nothing is written to it until that is put right."), width)
        return
    yield from _flow(budget_bar(Budget("", store.used, store.used, store.limit)), width)
    if not store.enabled:
        said = "! Turned off: the agent leaves this file out of its prompts."
        yield from _flow(ink.line(said, ink.WARNING), width)
    elif store.tokens:
        said = f"About {store.tokens:,} token{'s' * (store.tokens != 1)} in every prompt"
        yield from _flow(ink.line(said, ink.LABEL), width)
    if store.drift:
        yield from _flow(
            ink.line(f"! The agent refuses to edit it: {store.drift}", ink.WARNING), width
        )
    if store.copies:
        yield from _flow(ink.line(_copies(store.copies), ink.LABEL), width)
    yield Line(Content(""))
    if not item.index:
        yield from _flow(ink.line("No entries yet: the agent carries nothing from here."), width)
        return
    title = f"Entry {item.index} of {store.count}, {item.size:,} characters"
    yield from _flow(ink.line(title, ink.LABEL), width)
    for found in item.findings:
        yield from finding_lines(found, width)
    yield Line(Content(""))
    spots = [spot for there in spots_of(item.findings).values() for spot in there]
    for piece in wrapped(marked(item.text, spots, lines=True), width):
        yield Line(piece, spots=drawn(piece) if spots else ())


def _copies(count: int) -> str:
    said = "1 copy" if count == 1 else f"{count} copies"
    return f"The agent made {said} of it when it refused to edit it"


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
