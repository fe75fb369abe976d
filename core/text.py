"""Agent text made safe to draw, and the characters that hide in it named.

Everything a home holds may have been written by a model that read a web page. This module is the
one place where such text becomes drawable: a terminal obeys what it is sent, and Textual and Rich
pass escapes on. Stored bytes are never changed here; only what is shown is.

What is drawn in place of a dangerous run is a *token* of harmless characters: a control picture
(``␛``), a code point (``⟨U+202E⟩``, ``⟨U+200B×3⟩``) or decoded text (``⟨tag:hello⟩``). Joiners and
selectors that real writing needs stay as they are and are never reported: emoji sequences and
national flags (UTS #51), the Persian half-space, Indic conjuncts, ideographic variants.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core import chars
from core.model import MAX_SPANS, Finding, Severity

#: Hidden text is quoted in names and messages up to this many characters; tokens show all of it.
MAX_QUOTED = 120
#: Different names listed in one finding.
MAX_NAMES = 4
#: Code points that can hide in one cell of safe text, with room: how far ``one_line`` looks.
_POINTS_PER_CELL = 32


@dataclass(frozen=True, slots=True)
class Mark:
    """One hidden or dangerous run: code points ``start`` to ``end`` (exclusive) of the raw text.

    ``code``: ``control``, ``escape``, ``bidi``, ``zero_width``, ``tag``, ``selector``,
    ``surrogate``, ``filler``, ``noncharacter``, ``private_use`` or ``stack``. ``name`` is safe to
    draw: the Unicode name and code point, or the text a run of tags or selectors spells.
    """

    start: int
    end: int
    code: str
    name: str
    severity: Severity


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of raw text, ``start`` to ``end``, and what is drawn for it.

    ``exact`` says ``shown`` is the raw text itself, so offsets inside it map one to one.
    """

    start: int
    end: int
    shown: str
    exact: bool = False
    mark: Mark | None = None


def pieces(text: str, *, lines: bool = False, tabs: int = 4) -> Iterator[Piece]:
    """``text`` cut into plain stretches and tokens, in order, nothing left out.

    ``lines`` keeps ``\\n``; ``tabs`` is the distance of tab stops in cells (at least 1).
    """
    start, token_end, column = 0, -1, 0
    for match in chars.runs(text, newlines=not lines):
        kind, at, end = match.lastgroup, match.start(), match.end()
        # A joiner whose base was folded into a token has nothing left to join.
        if kind == "emoji" or (kind == "joiner" and at != token_end):
            continue
        if start < at:
            plain = text[start:at]
            yield Piece(start, at, plain, exact=True)
            column = _column(column, plain)
        if kind == "tab":
            piece = Piece(at, end, " " * (max(tabs, 1) - column % max(tabs, 1)))
        else:
            piece = _token(kind or "", text, at, end)
            token_end = end if piece.mark else token_end
        yield piece
        column = _column(column, piece.shown)
        start = end
    if start < len(text):
        yield Piece(start, len(text), text[start:], exact=True)


def safe(text: str, *, lines: bool = False, tabs: int = 4) -> str:
    """``text`` as it may be drawn: no control, bidi, stray zero-width or tag character is left.

    A newline stays with ``lines``, else it is ``⏎``; tabs become spaces up to the next of the
    stops ``tabs`` cells apart. Doing it twice changes nothing. Text that only looks like a token
    stays as it is: :func:`marks` tells the two apart.
    """
    if _is_clean(text, lines):
        return text
    return "".join([piece.shown for piece in pieces(text, lines=lines, tabs=tabs)])


def safe_spans(
    text: str, spans: Iterable[tuple[int, int]], *, lines: bool = False, tabs: int = 4
) -> tuple[str, tuple[tuple[int, int], ...]]:
    """``safe(text)``, and ``spans`` of the raw text as spans of it; tokens count as a whole."""
    cut = list(pieces(text, lines=lines, tabs=tabs))
    raw = [piece.start for piece in cut]
    drawn = [0]
    for piece in cut:
        drawn.append(drawn[-1] + len(piece.shown))

    def place(offset: int, *, closing: bool) -> int:
        index = bisect_right(raw, offset - closing) - 1
        if index < 0:
            return 0
        piece = cut[index]
        if piece.exact:
            return drawn[index] + min(offset, piece.end) - piece.start
        return drawn[index + 1] if closing or offset >= piece.end else drawn[index]

    moved = tuple((place(a, closing=False), place(b, closing=True)) for a, b in spans)
    return "".join([piece.shown for piece in cut]), moved


def marks(text: str) -> tuple[Mark, ...]:
    """Every hidden or dangerous run of ``text``, in order.

    Tabs, newlines and the carriage return of a CR LF are none, nor are joiners in their place.
    """
    if _is_clean(text, True):
        return ()
    return tuple(piece.mark for piece in pieces(text, lines=True) if piece.mark)


def findings(text: str, at: str) -> tuple[Finding, ...]:
    """At most one finding a code, in order of first sight, at ``{at}:{first offset}``.

    The severity is the worst of the runs; the message counts characters and names them; the spans
    are those of the runs.
    """
    groups: dict[str, list[Mark]] = {}
    for mark in marks(text):
        groups.setdefault(mark.code, []).append(mark)
    return tuple(
        Finding(
            code,
            max(group, key=_rank).severity,
            _message(code, group),
            f"{at}:{group[0].start}",
            tuple((mark.start, mark.end) for mark in group[:MAX_SPANS]),
        )
        for code, group in groups.items()
    )


def one_line(text: str, limit: int) -> str:
    """``text`` safe and on one line, at most ``limit`` cells wide, ending in ``…`` if cut."""
    head = text[: max(limit, 0) * _POINTS_PER_CELL]
    shown = safe(head)
    return clip(shown if len(head) == len(text) else f"{shown}…", limit)


def clip(text: str, cells: int) -> str:
    """One line of safe text cut to ``cells``, ``…`` included; no character is cut in two."""
    if cells <= 0:
        return ""
    if text.isascii():
        return text if len(text) <= cells else f"{text[: cells - 1]}…"
    used = cut = 0
    for start, end in clusters(text):
        used += chars.cells(text[start:end])
        if used > cells:
            return text[:cut].rstrip(chars.JOINERS) + "…"
        if used < cells:
            cut = end
    return text


def width(text: str) -> int:
    """Terminal cells of one line of safe text.

    An approximation, as every terminal's is: wide and full-width characters, emoji sequences and
    flags take two cells, marks and Jamo vowels none, all else one, ambiguous width included. Rich,
    which lays out what we draw, agrees but for a letter after a joiner (it says no cell, terminals
    give it one) and half a flag with a selector; a terminal may draw a joined emoji it does not
    know as its parts.
    """
    if text.isascii():
        return len(text)
    return sum(map(chars.cells, chars.cluster().findall(text)))


def clusters(text: str) -> Iterator[tuple[int, int]]:
    """Spans of what a reader takes for one character: a base with its marks, an emoji, a flag."""
    return (match.span() for match in chars.cluster().finditer(text))


# -- tokens ------------------------------------------------------------------------------------


def _token(kind: str, text: str, start: int, end: int) -> Piece:
    run = text[start:end]
    if kind == "lf":
        return Piece(start, end, "⏎")
    if kind == "cr":
        return Piece(start, end, "␍")
    if kind == "skin":
        # Plain to see, but layouts count it as no cell wide wherever it stands.
        return Piece(start, end, _picture(run, 1))
    if kind == "marks":
        return _stack(run, start, end, bare=start == 0 or text[start - 1] == "\n")
    hidden = _spelled(run) if kind in {"tags", "selectors"} else ""
    if hidden:
        code, word = ("tag", "tag") if kind == "tags" else ("selector", "hidden")
        quoted = hidden if len(hidden) <= MAX_QUOTED else f"{hidden[:MAX_QUOTED]}…"
        mark = Mark(start, end, code, f'hidden text "{quoted}"', Severity.DANGER)
        return Piece(start, end, f"⟨{word}:{hidden}⟩", mark=mark)
    code, severity = chars.classify(run[0])
    name = chars.name(run[0])
    if code == "escape":
        name += chars.meaning(run[0], text[end : end + 32])
    if run == run[0] * len(run):
        shown = _picture(run[0], len(run))
        name += f" ×{len(run)}" if len(run) > 1 else ""
    else:
        shown = "".join(_picture(char, 1) for char in run)
        name = f"{len(run)} characters from {name}"
    return Piece(start, end, shown, mark=Mark(start, end, code, name, severity))


def _stack(run: str, start: int, end: int, *, bare: bool) -> Piece:
    # Marks with no base would be drawn onto the border or the neighbour: give them one.
    shown = ("◌" if bare else "") + run[: chars.MAX_MARKS]
    extra = len(run) - chars.MAX_MARKS
    if extra <= 0:
        return Piece(start, end, shown)
    mark = Mark(start, end, "stack", f"{len(run)} marks on one character", Severity.WARNING)
    return Piece(start, end, f"{shown}⟨+{extra} marks⟩", mark=mark)


def _spelled(run: str) -> str:
    """The ASCII text a run of tags (offset) or selectors (one byte each) spells, or ``""``."""
    found = []
    for char in run:
        point = ord(char)
        if 0xFE00 <= point <= 0xFE0F:
            point -= 0xFE00
        elif 0xE0100 <= point <= 0xE01EF:
            point -= 0xE0100 - 16
        else:
            point -= 0xE0000
        if not 0x20 <= point < 0x7F:
            return ""
        found.append(chr(point))
    return "".join(found)


def _picture(char: str, count: int) -> str:
    point = ord(char)
    if count <= 3 and (point < 0x20 or point == 0x7F):
        return chr(0x2400 + point if point < 0x20 else 0x2421) * count
    return f"⟨U+{point:04X}⟩" if count == 1 else f"⟨U+{point:04X}×{count}⟩"


def _rank(mark: Mark) -> int:
    return list(Severity).index(mark.severity)


def _message(code: str, group: list[Mark]) -> str:
    count = sum(mark.end - mark.start for mark in group)
    names = list(dict.fromkeys(mark.name for mark in group))
    listed = ", ".join(names[:MAX_NAMES])
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    kind = _KINDS[code] + ("" if count == 1 else "s")
    return f"{count} {kind}: {listed}{more}."


_KINDS = {
    "control": "control character",
    "escape": "terminal escape",
    "bidi": "text direction character",
    "zero_width": "invisible character",
    "tag": "tag character",
    "selector": "stray variation selector",
    "surrogate": "lone surrogate",
    "filler": "blank filler",
    "noncharacter": "noncharacter",
    "private_use": "private use character",
    "stack": "piled up combining mark",
}

_ASCII_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def _is_clean(text: str, lines: bool) -> bool:
    if not lines and "\n" in text:
        return False
    return not (_ASCII_CONTROL if text.isascii() else chars.first_suspect()).search(text)


def _column(column: int, shown: str) -> int:
    _, newline, tail = shown.rpartition("\n")
    return width(tail) if newline else column + width(shown)
