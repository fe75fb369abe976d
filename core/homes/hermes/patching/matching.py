"""Where a patch's old text stands in a file, as the agent's own matcher finds it.

hermes-agent 0.19.0, ``tools/fuzzy_match.py``: nine strategies, from exact to approximate; the first
that finds anything is used. Two of them never decide, and are not here: ``indentation_flexible``
and ``trimmed_boundary`` accept only windows that ``line_trimmed``, tried before both, accepts too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from itertools import accumulate

from core.homes.hermes.patching.similarity import Yardstick, lengths_may_reach
from core.model import Match

Span = tuple[int, int]

EXACT = "exact"
UNICODE_NORMALIZED = "unicode_normalized"

#: block_anchor: how alike the lines between the anchors must be, for one window and for several.
ONE_BLOCK = 0.50
SEVERAL_BLOCKS = 0.70
#: context_aware: how alike a line must be to count; half of the lines have to.
LINE = 0.80
#: Parsed texts kept: proposals of one queue are labelled against few files.
KEPT_SHEETS = 4

_PLAIN = {
    "“": '"',
    "”": '"',
    "‘": "'",
    "’": "'",
    "—": "--",
    "–": "-",
    "…": "...",
    "\u00a0": " ",
}
_FOLDING = str.maketrans(_PLAIN)
_BLANKS = re.compile(r"[ \t]+")
_WORD = re.compile(r"[0-9a-z_]+|\w")


def find(text: str, old: str) -> Match | None:
    """The spans of ``old`` in ``text`` by the first strategy that finds any, in the order found.

    ``text`` has LF line ends; spans are code-point offsets and may overlap for line strategies.
    ``None`` if no strategy finds a place, or ``old`` is empty. (hermes-agent 0.19.0)
    """
    if not old:
        return None
    sheet = _sheet(text)
    for name, strategy in _STRATEGIES:
        spans = strategy(sheet, old)
        if spans:
            return Match(name, tuple(spans))
    return None


def closest_lines(text: str, old: str, limit: int = 3) -> tuple[int, ...]:
    """Numbers, from 1, of up to ``limit`` lines that share most words with ``old``'s first words.

    Best first; empty when no line shares a third of its words. Our own measure, not the agent's.
    """
    wanted = next(filter(None, map(_words, old.split("\n"))), frozenset())
    scored = []
    for number, words in enumerate(_sheet(text).words, 1):
        shared = len(wanted & words)
        if 3 * shared > len(wanted) + len(words) - shared:
            scored.append((-shared / (len(wanted) + len(words)), number))
    return tuple(number for _, number in sorted(scored)[:limit])


def fold(text: str) -> str:
    """``text`` with curly quotes, dashes, ellipses and no-break spaces as plain ASCII."""
    return text.translate(_FOLDING)


def fold_offsets(text: str) -> list[int]:
    """Where each character of ``text`` begins in ``fold(text)``, and the folded length last."""
    return list(accumulate((len(_PLAIN.get(c, c)) for c in text), initial=0))


class _Lines:
    """A text cut at LF, each line stripped, with an index of where a stripped line stands."""

    def __init__(self, text: str) -> None:
        raw = text.split("\n")
        self.stripped = [line.strip() for line in raw]
        self._starts = list(accumulate((len(line) + 1 for line in raw), initial=0))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for number, line in enumerate(self.stripped):
            places.setdefault(line, []).append(number)
        return places

    def span(self, first: int, count: int) -> Span:
        """The span of ``count`` whole lines, without the line end after the last."""
        return self._starts[first], self._starts[first + count] - 1

    def windows(self, first: str, last: str, count: int) -> list[int]:
        """Where ``count`` lines begin with the stripped line ``first`` and end with ``last``."""
        room = len(self.stripped) - count
        return [
            place
            for place in self._places.get(first, ())
            if place <= room and self.stripped[place + count - 1] == last
        ]

    def trimmed(self, old: str) -> list[Span]:
        """The spans of whole lines that equal ``old``'s lines once all are stripped."""
        wanted = [line.strip() for line in old.split("\n")]
        count = len(wanted)
        return [
            self.span(place, count)
            for place in self.windows(wanted[0], wanted[-1], count)
            if self.stripped[place : place + count] == wanted
        ]


class _Collapsed:
    """A text with every run of spaces and tabs as one space, and the way back."""

    def __init__(self, text: str) -> None:
        self.text = _BLANKS.sub(" ", text)
        self._source = text

    @cached_property
    def _runs(self) -> tuple[list[int], list[Span]]:
        """Runs by their place here, and their spans in the source."""
        places, spans, surplus = [], [], 0
        for run in _BLANKS.finditer(self._source):
            places.append(run.start() - surplus)
            spans.append(run.span())
            surplus += run.end() - run.start() - 1
        return places, spans

    def original(self, span: Span) -> Span:
        """A span of the collapsed text as the agent maps it back to the source.

        The agent counts a run only up to its first space as the collapsed space, and the rest of it
        as part of the character that follows. At its right end a span takes the whole run, except
        where the text ends. (hermes-agent 0.19.0, executed)
        """
        places, spans = self._runs
        left, last = span[0], span[1] - 1

        index = bisect_left(places, left)
        if index < len(places) and places[index] == left:
            start = spans[index][0]
        elif index and places[index - 1] == left - 1:
            start = self._first_space_end(spans[index - 1])
        else:
            start = self._shift(index) + left

        index = bisect_left(places, last)
        if index == len(places) or places[index] != last:
            return start, self._shift(index) + last + 1
        if last + 1 == len(self.text):
            return start, self._first_space_end(spans[index])
        return start, spans[index][1]

    def _shift(self, runs_before: int) -> int:
        places, spans = self._runs
        return spans[runs_before - 1][1] - places[runs_before - 1] - 1 if runs_before else 0

    def _first_space_end(self, run: Span) -> int:
        space = self._source.find(" ", *run)
        return run[1] if space < 0 else space + 1


class _Sheet:
    """One text in every form the strategies look at, each made when first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> _Lines:
        return _Lines(self.text)

    @cached_property
    def collapsed(self) -> _Collapsed:
        return _Collapsed(self.text)

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @cached_property
    def folded_lines(self) -> _Lines:
        return self.lines if self.folded == self.text else _Lines(self.folded)

    @cached_property
    def unstripped(self) -> list[str]:
        """The folded lines as they stand."""
        return self.folded.split("\n")

    @cached_property
    def words(self) -> list[frozenset[str]]:
        return [_words(line) for line in self.text.split("\n")]


@lru_cache(KEPT_SHEETS)
def _sheet(text: str) -> _Sheet:
    return _Sheet(text)


def _words(line: str) -> frozenset[str]:
    return frozenset(_WORD.findall(line.lower()))


def _occurrences(text: str, wanted: str) -> list[Span]:
    spans, end = [], 0
    while (start := text.find(wanted, end)) >= 0:
        end = start + len(wanted)
        spans.append((start, end))
    return spans


def _exact(sheet: _Sheet, old: str) -> list[Span]:
    return _occurrences(sheet.text, old)


def _line_trimmed(sheet: _Sheet, old: str) -> list[Span]:
    return sheet.lines.trimmed(old)


def _whitespace_normalized(sheet: _Sheet, old: str) -> list[Span]:
    collapsed = sheet.collapsed
    found = _occurrences(collapsed.text, _BLANKS.sub(" ", old))
    return [collapsed.original(span) for span in found]


def _escape_normalized(sheet: _Sheet, old: str) -> list[Span]:
    real = old.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
    return _occurrences(sheet.text, real) if real != old else []


def _unicode_normalized(sheet: _Sheet, old: str) -> list[Span]:
    plain = fold(old)
    if plain == old and sheet.folded == sheet.text:
        return []
    found = _occurrences(sheet.folded, plain) or sheet.folded_lines.trimmed(plain)
    return _unfolded(sheet.text, found) if found else []


def _unfolded(text: str, spans: Iterable[Span]) -> list[Span]:
    """Spans of the folded text as spans of ``text``; one that starts inside a character is lost."""
    offsets = fold_offsets(text)
    found = []
    for left, right in spans:
        start = bisect_left(offsets, left)
        if start < len(text) and offsets[start] == left:
            found.append((start, bisect_left(offsets, right)))
    return found


def _block_anchor(sheet: _Sheet, old: str) -> list[Span]:
    wanted = fold(old).split("\n")
    count = len(wanted)
    if count < 2:
        return []
    places = sheet.folded_lines.windows(wanted[0].strip(), wanted[-1].strip(), count)
    threshold = ONE_BLOCK if len(places) == 1 else SEVERAL_BLOCKS
    if count > 2 and places:
        middle = Yardstick("\n".join(wanted[1:-1]))
        places = [
            place
            for place in places
            if middle.reached_from(
                "\n".join(sheet.unstripped[place + 1 : place + count - 1]), threshold
            )
        ]
    return [sheet.lines.span(place, count) for place in places]


def _context_aware(sheet: _Sheet, old: str) -> list[Span]:
    verdicts: dict[str, _Verdicts] = {}
    wanted = []
    for line in old.split("\n"):
        line = line.strip()
        if line not in verdicts:
            verdicts[line] = _Verdicts(line)
        wanted.append(verdicts[line])
    needed = (len(wanted) + 1) // 2
    lines = sheet.lines.stripped
    found = []
    for place in range(len(lines) - len(wanted) + 1):
        pairs = [
            (verdict, line)
            for verdict, line in zip(wanted, lines[place : place + len(wanted)], strict=True)
            if verdict.fits(line)
        ]
        if len(pairs) >= needed and _enough(pairs, needed):
            found.append(sheet.lines.span(place, len(wanted)))
    return found


class _Verdicts:
    """Which lines are like one line of the old text; each asked once."""

    __slots__ = ("_alike", "_fitting", "_yardstick")

    def __init__(self, line: str) -> None:
        self._yardstick = Yardstick(line)
        self._fitting: dict[int, bool] = {}
        self._alike: dict[str, bool] = {}

    def fits(self, line: str) -> bool:
        """Whether the lengths alone leave it open."""
        length = len(line)
        known = self._fitting.get(length)
        if known is None:
            known = lengths_may_reach(len(self._yardstick.text), length, LINE)
            self._fitting[length] = known
        return known

    def alike(self, line: str) -> bool:
        known = self._alike.get(line)
        if known is None:
            known = self._alike[line] = self._yardstick.reaches(line, LINE)
        return known


def _enough(pairs: list[tuple[_Verdicts, str]], needed: int) -> bool:
    """Whether ``needed`` of the pairs are alike; stops as soon as it is settled."""
    spare = len(pairs) - needed
    for verdict, line in pairs:
        if verdict.alike(line):
            needed -= 1
            if not needed:
                return True
        else:
            spare -= 1
            if spare < 0:
                return False
    return False


_STRATEGIES: tuple[tuple[str, Callable[[_Sheet, str], list[Span]]], ...] = (
    (EXACT, _exact),
    ("line_trimmed", _line_trimmed),
    ("whitespace_normalized", _whitespace_normalized),
    ("escape_normalized", _escape_normalized),
    (UNICODE_NORMALIZED, _unicode_normalized),
    ("block_anchor", _block_anchor),
    ("context_aware", _context_aware),
)
