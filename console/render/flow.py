"""Where lines of safe text break: at spaces and beside wide characters, at a cost of the text.

Offsets only: whoever draws slices the text, so that styles and matches stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.content import Content

from core import chars, text


def rows(value: str, width: int) -> Iterator[tuple[int, int]]:
    """``(start, end)`` of every row of ``value`` in ``width`` cells (at least 2).

    The newline, and the space a row breaks at, belong to no row. A word longer than a row is cut.
    """
    width, start = max(2, width), 0
    while True:
        end = value.find("\n", start)
        end = len(value) if end < 0 else end
        yield from line_rows(value, start, end, width)
        if end == len(value):
            return
        start = end + 1


def line_rows(value: str, start: int, end: int, width: int) -> Iterator[tuple[int, int]]:
    """The rows of one line, ``value[start:end]``; an empty line is one row."""
    width = max(2, width)
    line = value[start:end]
    cut = _ascii(line, width) if line.isascii() else _any(line, width)
    return ((start + a, start + b) for a, b in cut)


def flowed(content: Content, width: int) -> Iterator[Content]:
    """Styled safe text in rows of at most ``width`` cells (at least 2)."""
    return (content[a:b] for a, b in rows(content.plain, width))


def _ascii(line: str, width: int) -> Iterator[tuple[int, int]]:
    start = 0
    while len(line) - start > width:
        cut = line.rfind(" ", start, start + width + 1)
        # An indentation is no place to break: the row would be empty.
        if cut <= start or line[start:cut].isspace():
            yield start, start + width
            start += width
        else:
            yield start, cut
            start = cut + 1
    yield start, len(line)


def _any(line: str, width: int) -> Iterator[tuple[int, int]]:
    start = used = 0
    good: tuple[int, int] | None = None
    for a, b in text.clusters(line):
        size = chars.cells(line[a:b])
        if size == 2 and a > start:
            good = (a, a)
        while used + size > width and a > start:
            if good is None or good[1] > a:
                good = (a, a)
            yield start, good[0]
            start, used, good = good[1], text.width(line[good[1] : a]), None
        used += size
        if size == 2:
            good = (b, b)
        elif line[a] == " " and not line[start:b].isspace():
            good = (a, b)
    yield start, len(line)
