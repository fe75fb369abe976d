"""How files become pieces (specs, memory-rag 9): code by length, wiki pages by their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: Characters of a piece of code, and how many of them the next one repeats. The original counts
#: 1,500 tokens and 150; code has about three characters to a token.
WINDOW, OVERLAP = 4_500, 450
#: Characters before a cap in which a blank is looked for.
_NEAR = 200
#: Characters of a piece of a wiki page, and of a heading that each of its pieces repeats.
WIKI_PIECE, WIKI_TITLE = 4_000, 400

_BLANK = re.compile(r"\s")


def code_pieces(text: str, cap: int) -> Iterator[str]:
    """A file cut into overlapping pieces at line ends, none longer than ``cap``."""
    start = 0
    while start < len(text):
        end = _line_end(text, start, start + WINDOW)
        for piece in capped(text[start:end], cap):
            if piece.strip():
                yield piece
        if end >= len(text):
            return
        start = _line_start(text, start, end)


def _line_end(text: str, start: int, end: int) -> int:
    """The last line end in the second half of a window, else the window's end."""
    if end >= len(text):
        return len(text)
    found = text.rfind("\n", start + WINDOW // 2, end)
    return found + 1 if found >= 0 else end


def _line_start(text: str, start: int, end: int) -> int:
    """Where the next piece begins: at a line in the overlap, else in the middle of one."""
    found = text.find("\n", end - OVERLAP, end)
    # The last line end is the piece's own: nothing would be repeated.
    begin = found + 1 if 0 <= found < end - 1 else end - OVERLAP
    return max(begin, start + 1)


def capped(text: str, cap: int) -> Iterator[str]:
    """``text`` in pieces of ``cap`` characters at most, cut at a blank near the end if one is.

    The blanks at the beginning of what is left are dropped.
    """
    while len(text) > cap:
        cut = cap
        for place in range(cap - 1, max(cap - _NEAR, 1) - 1, -1):
            if _BLANK.match(text, place):
                cut = place
                break
        yield text[:cut]
        text = text[cut:].lstrip()
    if text:
        yield text


def wiki_pieces(text: str) -> Iterator[tuple[str, str]]:
    """A page as pairs of heading and piece; a piece begins with its heading.

    What stands before the first ``## `` behind a line end is one piece without heading; headings
    with nothing below them are left out. A long one is cut, each piece with the heading again.
    """
    first, *rest = text.split("\n## ")
    if first.strip():
        yield from (("", piece) for piece in _cut("", first))
    for part in rest:
        title, _, body = part.partition("\n")
        if body.strip():
            title = title.strip()
            yield from ((title, piece) for piece in _cut(f"## {title[:WIKI_TITLE]}\n", body))


def _cut(lead: str, body: str) -> Iterator[str]:
    room = WIKI_PIECE - len(lead)
    for start in range(0, len(body), room):
        piece = body[start : start + room]
        if piece.strip():
            yield lead + piece
