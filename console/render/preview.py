"""The preview of a proposal: what, whether, why, and the difference, as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from textual.content import Content

from console.render import ink
from console.render.diffs import diff_lines
from console.render.hints import with_keys
from console.render.line import Line, anchored, wrapped
from console.render.queue import SIGNS
from console.render.spots import Spot, Spots, as_stored, drawn, marked, on_lines, worst
from core import diff
from core.model import Budget, Change, EntryChange, Finding, Move, Node, Severity

#: From this many cells on old and new stand side by side unless the person says otherwise.
SPLIT_WIDTH = 110
#: No findings to mark.
NOWHERE: Spots = {}
#: Lines shown of a text that would not land while it is folded.
PROPOSED = 40


@dataclass(frozen=True, slots=True)
class Preview:
    """All a preview shows, already read.

    ``origin`` says where the proposal came from, in words; ``proposed`` are the texts of one that
    would not land, each with its name: what the agent wanted. ``spots`` are what the findings are
    about, by the path of a change, ``entry 0`` of ``entries``, or the name in ``proposed``.
    """

    id: str
    subsystem: str
    action: str
    target: str
    origin: str
    status: str
    message: str
    findings: tuple[Finding, ...]
    budget: Budget | None
    strategy: str | None
    entries: tuple[EntryChange, ...]
    changes: tuple[Change | Move, ...]
    also: tuple[str, ...]
    proposed: tuple[tuple[str, str], ...] = ()
    spots: Spots = field(default_factory=dict)


def preview_lines(
    shown: Preview, width: int, *, split: bool | None = None, folded: bool = True
) -> tuple[Line, ...]:
    """The preview in ``width`` cells. Nothing is folded while a finding wants to be seen."""
    folded = folded and not any(f.severity is Severity.DANGER for f in shown.findings)
    side_by_side = width >= SPLIT_WIDTH if split is None else split
    return anchored(_lines(shown, width, side_by_side, folded))


def _lines(shown: Preview, width: int, split: bool, folded: bool) -> Iterator[Line]:
    kind = "memory file" if shown.subsystem == "memory" else "skill"
    head = ink.line(f"{shown.action} → {shown.target}", ink.TITLE)
    yield from _flow(Content.assemble(head, (f"  {kind}", ink.LABEL)), width)
    yield from _flow(ink.line(f"{shown.id}, {shown.origin}", ink.LABEL), width)
    yield Line(Content(""))
    sign, style = SIGNS[shown.status]
    word = Content.styled(f"{sign} {shown.status.replace('_', ' ')}", style)
    yield from _flow(Content.assemble(word, "  ", ink.block(with_keys(shown.message))), width)
    if shown.strategy not in (None, "exact"):
        yield from _flow(ink.line(f"  matched by {shown.strategy}", ink.LABEL), width)
    aside = [found for found in shown.findings if _is_aside(found)]
    for found in shown.findings:
        if found not in aside:
            yield from finding_lines(found, width)
    if shown.budget:
        yield from _flow(budget_bar(shown.budget), width)
    if shown.subsystem == "memory":
        yield from entry_lines(shown.entries, width, split=split, folded=folded, spots=shown.spots)
    else:
        yield from file_lines(shown.changes, width, split=split, folded=folded, spots=shown.spots)
        if not shown.changes:
            yield from standing_lines(shown.entries, width, split=split, folded=folded)
    for name, value in shown.proposed:
        yield Line(Content(""))
        for number, piece in enumerate(wrapped(ink.line(name, ink.TITLE), width)):
            yield Line(piece, anchor=name if number == 0 else None)
        yield from stored_lines(value, width, folded, shown.spots.get(name, ()))
    if aside:
        yield Line(Content(""))
    for found in aside:
        yield from finding_lines(found, width)
    for remark in shown.also:
        yield Line(Content(""))
        yield from _flow(ink.line(remark, ink.LABEL), width)


def _is_aside(found: Finding) -> bool:
    """Whether it only says how signoff writes with more care: it stands under nearly every row."""
    return found.severity is Severity.INFO and found.code.startswith("guard_")


def budget_bar(budget: Budget, cells: int = 16) -> Content:
    """The budget before and after: a bar of what is used, and the numbers."""
    over = budget.after > budget.limit
    share = min(1.0, budget.after / budget.limit) if budget.limit > 0 else 1.0
    full = round(share * cells)
    style = ink.DANGER if over else ink.GOOD
    change = budget.after - budget.before
    return Content.assemble(
        ("█" * full + "░" * (cells - full), style),
        f"  {budget.before:,} → " if change else "  ",
        f"{budget.after:,} of {budget.limit:,} chars",
        (f" ({change:+,})" if change else "", ink.LABEL),
        (", over budget" if over else "", ink.DANGER),
    )


def finding_lines(found: Finding, width: int) -> Iterator[Line]:
    """A finding with its sign and its place."""
    sign, style = ink.SEVERITY[found.severity]
    content = Content.assemble(
        ink.block(with_keys(found.message)), ink.line(f"  {found.at or ''}", ink.LABEL)
    )
    for number, piece in enumerate(wrapped(content, width - 2)):
        prefix = Content.styled(f"{sign} ", style) if number == 0 else Content("  ")
        yield Line(prefix + piece, anchor=f"finding {found.code}" if number == 0 else None)


def entry_lines(
    entries: Sequence[EntryChange],
    width: int,
    *,
    split: bool,
    folded: bool,
    spots: Spots = NOWHERE,
) -> Iterator[Line]:
    """Entries of a memory file before and after."""
    for number, pair in enumerate(entries):
        yield Line(Content(""))
        word = "added" if pair.before is None else "removed" if pair.after is None else "replaced"
        yield Line(Content.styled(f"Entry {word}", ink.TITLE), anchor="entry")
        yield from diff_lines(
            _lines_of(pair.before),
            _lines_of(pair.after),
            width,
            split=split,
            folded=folded,
            spots=spots.get(f"entry {number}", ()),
            entry=True,
        )


def file_lines(
    changes: Sequence[Change | Move],
    width: int,
    *,
    split: bool,
    folded: bool,
    spots: Spots = NOWHERE,
) -> Iterator[Line]:
    """Files before and after, folders that moved."""
    for change in changes:
        yield Line(Content(""))
        if isinstance(change, Move):
            yield from _flow(ink.line(f"Moved {change.path} → {change.to}", ink.TITLE), width)
            continue
        verb = "New" if change.before is None else "Removed" if change.after is None else "Changed"
        title = ink.line(f"{verb} {change.path}", ink.TITLE)
        for number, piece in enumerate(wrapped(title, width)):
            yield Line(piece, anchor=change.path if number == 0 else None)
        before, after = _text(change.before), _text(change.after)
        if before is None or after is None:
            yield Line(Content.styled("  These bytes are no text", ink.LABEL))
            continue
        found = as_stored(after, spots.get(change.path, ()))
        yield from diff_lines(before, after, width, split=split, folded=folded, spots=found)


def standing_lines(
    entries: Sequence[EntryChange], width: int, *, split: bool, folded: bool
) -> Iterator[Line]:
    """What stands where a proposal cannot go, beside what is proposed."""
    for pair in entries:
        yield Line(Content(""))
        title = Content.styled("What stands there, and what is proposed", ink.TITLE)
        for number, piece in enumerate(wrapped(title, width)):
            yield Line(piece, anchor="standing" if number == 0 else None)
        if pair.before is None:
            yield Line(Content.styled("  What stands there is no text", ink.LABEL))
        else:
            before, after = pair.before, pair.after or ""
            yield from diff_lines(before, after, width, split=split, folded=folded)


def _lines_of(entry: str | None) -> str:
    """An entry as whole lines: where a file ends is no news inside one."""
    return f"{entry}\n" if entry else ""


def stored_lines(
    value: str, width: int, folded: bool, spots: Sequence[Spot] = ()
) -> Iterator[Line]:
    """A text as it is stored, by line; hidden characters and ``spots`` are marked."""
    lines = value.split("\n")
    found = on_lines(value, as_stored(value, spots))
    for number, line in enumerate(lines[:PROPOSED] if folded else lines, 1):
        here = found.get(number, ())
        first = f"{worst(here)} "
        for piece in wrapped(marked(line, here), width, first=first):
            yield Line(piece, spots=drawn(piece) if here else ())
    if folded and len(lines) > PROPOSED:
        left = f"  ⋯ {len(lines) - PROPOSED:,} more lines"
        yield Line(Content.styled(left, ink.LABEL))


def _text(node: Node | None) -> str | None:
    return diff.decode(node.data) if node else ""


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
