"""One line of ``Content`` cut to a window of terminal cells, at a cost of the window.

A row handed to the terminal must be exactly as wide as it claims, or the frame shifts. Wide
characters may straddle an edge, joined ones measure less together than apart; so a cut is measured
piece by piece, as Textual measures what it is given.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.content import Content, Span
from textual.style import Style

#: Characters measured at a time on the way to the window; rich remembers short texts it measured.
_BLOCK = 256
_JOINER = "\u200d"
_TRAILING = frozenset((_JOINER, "\ufe0f"))


class Cut(NamedTuple):
    """``segments`` fill the window exactly; ``first`` is the index of the first character drawn."""

    segments: list[Segment]
    first: int


def cut(content: Content, style: Style, width: int, start: int = 0) -> Cut:
    """The cells ``start`` to ``start + width`` of one line, padded with spaces of ``style``.

    Half a wide character is drawn as a space, a stray newline as ``⏎``. Both numbers are cells, at
    least 0.
    """
    begin, end, skip = window(content.plain, start, width)
    piece = _piece(content, begin, end)
    # Textual 8.2.8 raises for empty content that still has spans.
    drawn = piece.render_segments(style) if piece.plain else []
    segments, dropped = _take(drawn, skip, width, style.rich_style)
    return Cut(segments, begin + dropped)


def window(plain: str, start: int, width: int) -> tuple[int, int, int]:
    """Characters that hold the window, and the cells of them that lie before it."""
    if plain.isascii():
        return start, start + width, 0
    begin, skip, at, cells = 0, start, 0, 0
    while at < len(plain) and cells <= start + width:
        stop = _block_end(plain, at)
        size = cell_len(plain[at:stop])
        if cells + size <= start:
            begin, skip = stop, start - cells - size
        at, cells = stop, cells + size
    return begin, at, skip


def _block_end(plain: str, at: int) -> int:
    end = min(at + _BLOCK, len(plain))
    while end < len(plain) and (plain[end] in _TRAILING or plain[end - 1] == _JOINER):
        end += 1
    return end


def _piece(content: Content, begin: int, end: int) -> Content:
    """``content[begin:end]``, touching only the spans that lie in it."""
    text = content.plain[begin:end]
    spans = [
        Span(max(span.start - begin, 0), min(span.end, end) - begin, span.style)
        for span in content.spans
        if span.start < end and span.end > begin
    ]
    return Content(text.replace("\n", "⏎"), spans)


def _take(
    segments: list[Segment], skip: int, width: int, pad: RichStyle
) -> tuple[list[Segment], int]:
    """``width`` cells after the first ``skip``, and how many characters were dropped for them."""
    taken: list[Segment] = []
    dropped = 0
    for text, style, _control in segments:
        size = cell_len(text)
        if skip:
            if size <= skip:
                skip -= size
                dropped += len(text)
                continue
            text, gone = _drop(text, skip)
            size = cell_len(text)
            dropped += gone
            skip = 0
        if size > width:
            text = text[: _fitting(text, width)]
            taken.append(Segment(text, style))
            width -= cell_len(text)
            break
        taken.append(Segment(text, style))
        width -= size
    if width:
        taken.append(Segment(" " * width, pad))
    return taken, dropped


def _drop(text: str, cells: int) -> tuple[str, int]:
    """``text`` without its first cells (fewer than it has), and the characters that went."""
    gone = _fitting(text, cells)
    lost = cell_len(text[:gone])
    if lost < cells:
        lost = cell_len(text[: gone + 1])
        gone = _fitting(text, lost)
    while text[gone : gone + 1] in _TRAILING:
        gone += 1
    half = " " * (lost - cells)
    return half + text[gone:], gone - len(half)


def _fitting(text: str, cells: int) -> int:
    """How many characters of ``text`` fit in ``cells``, those without a width included."""
    return bisect_right(range(len(text) + 1), cells, key=lambda end: cell_len(text[:end])) - 1
