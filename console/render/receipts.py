"""What became of decisions: what changed, what did not, when the agent sees it, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from console.render import ink
from console.render.hints import with_keys
from console.render.line import Line, anchored, wrapped
from console.render.preview import entry_lines, finding_lines
from core.model import Receipt

#: Decisions up to which each says what became of its entries.
EXPLAINED = 3


def receipt_lines(receipts: Sequence[Receipt], width: int) -> tuple[Line, ...]:
    """The receipts of one run of decisions, in the order they were made."""
    return anchored(_lines(receipts, width))


def _lines(receipts: Sequence[Receipt], width: int) -> Iterator[Line]:
    if len(receipts) > 1:
        done = sum(receipt.ok for receipt in receipts)
        said = f"{done:,} of {len(receipts):,} done"
        yield from _flow(ink.line(said, ink.TITLE), width)
        yield Line(Content(""))
    for number, receipt in enumerate(receipts):
        if number and len(receipts) <= EXPLAINED:
            yield Line(Content(""))
        yield from _one(receipt, width, explained=len(receipts) <= EXPLAINED)
    yield from _after(receipts, width)


def _one(receipt: Receipt, width: int, *, explained: bool) -> Iterator[Line]:
    sign, style = ("✓ ", ink.GOOD) if receipt.ok else ("✗ ", ink.DANGER)
    word = receipt.category.replace("_", " ")
    head = Content.assemble(
        (sign, style), ink.line(receipt.subject, ink.TITLE), "  ", ink.line(word, style)
    )
    for number, piece in enumerate(wrapped(head, width)):
        yield Line(piece, anchor=receipt.subject if number == 0 else None)
    yield from _flow(ink.block(with_keys(receipt.message)), width, "  ")
    if receipt.changed:
        said = f"Changed: {', '.join(receipt.changed)}"
    else:
        said = "" if receipt.ok else "Nothing was changed."
    yield from _flow(ink.line(said, ink.LABEL), width, "  ") if said else ()
    if receipt.journal is not None:
        yield from _flow(ink.line(f"Journal entry {receipt.journal}", ink.LABEL), width, "  ")
    if explained:
        for found in receipt.findings:
            yield from finding_lines(found, width)
        yield from entry_lines(receipt.entries, width, split=False, folded=True)


def _after(receipts: Sequence[Receipt], width: int) -> Iterator[Line]:
    """What comes next, each sentence once."""
    sentences = list(dict.fromkeys(with_keys(receipt.next) for receipt in receipts if receipt.next))
    if not sentences:
        return
    yield Line(Content(""))
    yield Line(Content.styled("Next", ink.TITLE), anchor="next")
    for sentence in sentences:
        yield from _flow(ink.line(sentence), width, "  ")


def _flow(content: Content, width: int, first: str = "") -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width, first=first))
