"""Before and after as lines: unified, or side by side where there is room."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from textual.content import Content

from console.render import ink
from console.render.line import Line, wrapped
from console.render.spots import Spot, drawn, marked, on_lines, worst
from core import diff, text
from core.diff import Hunk, Row, RowKind

#: Unchanged lines around a change while the rest is folded.
CONTEXT = 2
#: Rows of one hunk shown while it is folded; nobody reads more before asking for it.
FOLD = 80
#: Enough context to show everything.
EVERYTHING = 1_000_000
_SIGNS = {
    RowKind.SAME: (" ", ""),
    RowKind.REMOVED: ("-", ink.REMOVED),
    RowKind.CHANGED_OLD: ("-", ink.REMOVED),
    RowKind.ADDED: ("+", ink.ADDED),
    RowKind.CHANGED_NEW: ("+", ink.ADDED),
}


def diff_lines(
    before: str,
    after: str,
    width: int,
    *,
    split: bool,
    folded: bool,
    spots: Sequence[Spot] = (),
    entry: bool = False,
) -> Iterator[Line]:
    """The difference of two texts in ``width`` cells.

    ``folded`` leaves out unchanged lines far from a change and the tail of very long hunks, and
    says how many lines that hides. ``split`` needs two sides: what is all new, or all gone, stands
    in one column. ``spots`` are marked in ``after``. Of an ``entry`` the words that are lost are
    struck out between ``[-`` and ``-]``, however much else is new; a line whose words are all
    lost is struck out whole.
    """
    split = split and bool(before) and bool(after)
    context = CONTEXT if folded else EVERYTHING
    replaced = entry and bool(before) and bool(after)
    hunks = diff.rows(before, after, context=context, alike=0.0 if replaced else diff.ALIKE)
    found = on_lines(after, spots)
    seen = 0
    for hunk in hunks:
        start = max(0, hunk.new_start - 1)
        skipped = start - seen
        if skipped > 0:
            yield _fold(skipped, "unchanged")
        shown = hunk.rows[:FOLD] if folded else hunk.rows
        draw = _split if split else _unified
        part = replace(hunk, rows=shown)
        struck = replaced and hunk.words and not hunk.coarse
        for place, line in enumerate(draw(part, width, found, struck)):
            anchor = "hunk" if place == 0 else None
            spotted = drawn(line.content) if found else ()
            yield Line(line.content, line.style, anchor, spotted)
        if len(shown) < len(hunk.rows):
            yield _fold(len(hunk.rows) - len(shown), "more")
        seen = start + hunk.new_count
    rest = after.count("\n") + bool(after and not after.endswith("\n")) - seen
    if hunks and rest > 0:
        yield _fold(rest, "unchanged")


def _fold(count: int, word: str) -> Line:
    plural = "line" if count == 1 else "lines"
    return Line(Content.styled(f"  ⋯ {count:,} {word} {plural}", ink.LABEL))


_Found = Mapping[int, Sequence[Spot]]


def _unified(hunk: Hunk, width: int, found: _Found, struck: bool) -> Iterator[Line]:
    cells = len(str(hunk.old_start + hunk.old_count + hunk.new_start + hunk.new_count))
    for row in hunk.rows:
        sign, style = _SIGNS[row.kind]
        number = row.new_no if row.new_no is not None else row.old_no
        spots = found.get(row.new_no or 0, ())
        gutter = f"{number:>{cells}} {sign}{worst(spots)}"
        for piece in wrapped(_text(row, spots, struck), width, first=gutter):
            yield Line(piece, style)


def _split(hunk: Hunk, width: int, found: _Found, struck: bool) -> Iterator[Line]:
    half = max(8, (width - 3) // 2)
    for old, new in diff.side_by_side(hunk):
        for left, right in zip_longest(
            _side(old, half, {}, struck), _side(new, half, found, struck)
        ):
            yield Line(
                Content.assemble(
                    left or Content(" " * half), (" │ ", ink.LABEL), right or Content("")
                ),
            )


def _side(row: Row | None, width: int, found: _Found, struck: bool) -> list[Content]:
    if row is None:
        return []
    sign, style = _SIGNS[row.kind]
    spots = found.get(row.new_no or 0, ())
    lines = wrapped(_text(row, spots, struck), width, first=f"{sign}{worst(spots)}")
    return [_filled(line, width, style) for line in lines]


def _filled(line: Content, width: int, style: str) -> Content:
    line = line.pad_right(max(0, width - line.cell_length))
    return line.stylize(style) if style else line


def _text(row: Row, spots: Sequence[Spot], struck: bool) -> Content:
    """A row's text, safe, with changed words, hidden characters and findings marked."""
    content = marked(row.text, spots)
    places = text.safe_spans(row.text, row.spans)[1] if row.spans else ()
    if struck and row.kind is RowKind.REMOVED:
        content = content.stylize(ink.LOST)
    elif struck and row.kind is RowKind.CHANGED_OLD:
        content = _lost(content, places)
    else:
        for start, end in places:
            content = content.stylize(ink.WORD, start, end)
    if not row.newline:
        content += Content.styled("  (no line end)", ink.LABEL)
    return content


def _lost(content: Content, places: Sequence[tuple[int, int]]) -> Content:
    """``content`` with ``places`` struck out, and marked where nothing can be struck out."""
    pieces: list[Content] = []
    at = 0
    for start, end in places:
        word = Content.assemble("[-", content[start:end], "-]").stylize(ink.LOST)
        pieces += (content[at:start], word)
        at = end
    return Content("").join([*pieces, content[at:]])
