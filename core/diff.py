"""Before and after as rows: for one column, for two, and as classic unified text.

No styling and no tokens here: rows hold raw text, made safe by :mod:`core.text` when drawn. Lines
end at ``\\n`` only, so a carriage return or a Unicode line separator is content like any other.

Both sides may be hostile, so the work is bounded: past its budget a stretch is shown as replaced
whole (``Hunk.coarse``), and changed words are no longer looked for (``Hunk.words``).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest

from core import sequences, text

#: Steps of the shortest edit script for the lines of one diff.
LINE_STEPS = 200_000
#: Steps of the same for all words of one diff.
WORD_STEPS = 100_000
#: Words compared to find out which lines became each other, and code points cut into words.
PAIR_STEPS = 100_000
TOKEN_CHARS = 200_000
#: A line longer than this, in code points, gets no word marks.
MAX_WORD_LINE = 4_000
#: Share of characters two lines must have in common, word by word, to count as one changed line.
ALIKE = 0.4


class RowKind(StrEnum):
    """What became of a line. The first ``CHANGED_OLD`` of a hunk pairs with the first new one."""

    SAME = "same"
    REMOVED = "removed"
    ADDED = "added"
    CHANGED_OLD = "changed_old"
    CHANGED_NEW = "changed_new"


@dataclass(frozen=True, slots=True)
class Row:
    """One line. ``old_no`` and ``new_no`` count from 1; ``None`` on the side it is not on.

    ``spans`` are the changed words, code-point offsets into ``text``. ``newline`` is false for a
    last line that does not end in one.
    """

    kind: RowKind
    old_no: int | None
    new_no: int | None
    text: str
    spans: tuple[tuple[int, int], ...] = ()
    newline: bool = True


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changes with the lines around them; starts are the numbers unified diff puts after ``@@``.

    ``words`` says changed words were looked for in every pair of lines; ``coarse`` that a stretch
    too costly to compare is shown as replaced whole.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    rows: tuple[Row, ...]
    words: bool = True
    coarse: bool = False

    @property
    def header(self) -> str:
        """``@@ -1,4 +1,5 @@``."""
        old, new = _range(self.old_start, self.old_count), _range(self.new_start, self.new_count)
        return f"@@ -{old} +{new} @@"


@dataclass(slots=True)
class _Budget:
    words: int = WORD_STEPS
    pairs: int = PAIR_STEPS
    tokens: int = TOKEN_CHARS


@dataclass(slots=True)
class _Change:
    """A stretch of old lines and the new lines in its place; matched lines lie between these."""

    old: tuple[int, int]
    new: tuple[int, int]
    coarse: bool = False
    words: bool = True
    rows: list[Row] = field(default_factory=list)


def rows(before: str, after: str, *, context: int = 3, alike: float = ALIKE) -> tuple[Hunk, ...]:
    """Hunks with ``context`` equal lines around each change; none if the texts are equal.

    Lines with less than ``alike`` in common (a share, 0 to 1) are a line removed and one added.
    """
    return _hunks(before, after, context, words=True, alike=alike)


def _hunks(
    before: str, after: str, context: int, *, words: bool, alike: float = ALIKE
) -> tuple[Hunk, ...]:
    context = max(context, 0)
    old, new = _lines(before), _lines(after)
    budget = _Budget()
    changes = _changes(old, new)
    for change in changes:
        _fill(change, old, new, budget, alike if words else None)
    groups: list[list[_Change]] = []
    for change in changes:
        if groups and change.old[0] - groups[-1][-1].old[1] <= 2 * context:
            groups[-1].append(change)
        else:
            groups.append([change])
    return tuple(_hunk(group, old, new, context) for group in groups)


def side_by_side(hunk: Hunk) -> tuple[tuple[Row | None, Row | None], ...]:
    """The rows of a hunk as pairs (old, new); ``None`` where a side has no line.

    Changed lines stand beside each other, in order; so do equal ones.
    """
    paired: list[tuple[Row | None, Row | None]] = []
    left: list[Row] = []
    right: list[Row] = []
    for row in (*hunk.rows, None):
        if row is None or row.kind is RowKind.SAME:
            paired += _beside(left, right)
            left, right = [], []
        if row is None:
            continue
        if row.kind is RowKind.SAME:
            paired.append((row, row))
        else:
            (left if row.new_no is None else right).append(row)
    return tuple(paired)


def unified(before: str | None, after: str | None, path: str, *, context: int = 3) -> str:
    """Classic unified text; ``None`` is an absent file, ``""`` the answer for equal ones.

    A file that appears or goes empty is its two header lines. A path with control characters is
    quoted, so that it cannot pass for a line of the diff.
    """
    if before == after:
        return ""
    shown = _quoted(path)
    out = [
        "--- /dev/null\n" if before is None else f"--- a/{shown}\n",
        "+++ /dev/null\n" if after is None else f"+++ b/{shown}\n",
    ]
    for hunk in _hunks(before or "", after or "", context, words=False):
        out.append(f"{hunk.header}\n")
        for row in hunk.rows:
            sign = " " if row.kind is RowKind.SAME else "-" if row.new_no is None else "+"
            out.append(f"{sign}{row.text}\n")
            if not row.newline:
                out.append("\\ No newline at end of file\n")
    return "".join(out)


def unified_bytes(before: bytes | None, after: bytes | None, path: str) -> str:
    """:func:`unified` for files as they are stored; one sentence if a side is no UTF-8 text."""
    if before == after:
        return ""
    old, new = (None if data is None else decode(data) for data in (before, after))
    if (before is not None and old is None) or (after is not None and new is None):
        return f"{_quoted(path)}: {describe(before)} before, {describe(after)} after\n"
    return unified(old, new, path)


def decode(data: bytes) -> str | None:
    """UTF-8 text, byte for byte (no mark or line end is touched); ``None`` if it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def describe(data: bytes | None) -> str:
    """A few words on what cannot be shown: ``absent``, ``binary (12 bytes)``."""
    if data is None:
        return "absent"
    kind = "binary" if decode(data) is None else "text"
    return f"{kind} ({len(data):,} byte{'' if len(data) == 1 else 's'})"


# -- lines -------------------------------------------------------------------------------------


def _lines(body: str) -> list[str]:
    """Lines with their ``\\n``; only the last may lack one."""
    parts = [f"{part}\n" for part in body.split("\n")]
    last = parts.pop()[:-1]
    return [*parts, last] if last else parts


def _changes(old: list[str], new: list[str]) -> list[_Change]:
    blocks, coarse = sequences.blocks(old, new, LINE_STEPS)
    changes: list[_Change] = []
    i = j = 0
    for at_old, at_new, size in [*blocks, (len(old), len(new), 0)]:
        if (i, j) != (at_old, at_new):
            changes.append(_Change((i, at_old), (j, at_new), coarse=(i, j) in coarse))
        i, j = at_old + size, at_new + size
    return changes


# -- words -------------------------------------------------------------------------------------

_ASCII_TOKEN = re.compile(r"\w+|\s+|.")


def _tokens(line: str) -> list[str]:
    """Words, stretches of white space and single characters; a wide character is a word."""
    if line.isascii():
        return _ASCII_TOKEN.findall(line)
    found: list[str] = []
    last = ""
    for start, end in text.clusters(line):
        first = line[start]
        kind = "space" if first.isspace() else "word" if first.isalnum() or first == "_" else ""
        if kind == "word" and unicodedata.east_asian_width(first) in "WF":
            kind = ""
        if kind and kind == last:
            found[-1] += line[start:end]
        else:
            found.append(line[start:end])
        last = kind
    return found


def _fill(
    change: _Change, old: list[str], new: list[str], budget: _Budget, alike: float | None
) -> None:
    """Make the rows of a change: which lines are each other's, and which of their words moved.

    ``alike`` is ``None`` when no words are wanted.
    """
    olds = [line.removesuffix("\n") for line in old[slice(*change.old)]]
    news = [line.removesuffix("\n") for line in new[slice(*change.new)]]
    old_spans: dict[int, tuple[tuple[int, int], ...]] = {}
    new_spans: dict[int, tuple[tuple[int, int], ...]] = {}
    change.words = alike is not None and not change.coarse
    if alike is not None and change.words and olds and news:
        for i, j in _pairs(change, olds, news, budget, alike):
            old_spans[i], new_spans[j] = _changed(change, olds[i], news[j], budget)
    for i, line in enumerate(olds):
        kind = RowKind.CHANGED_OLD if i in old_spans else RowKind.REMOVED
        number = change.old[0] + i
        ends = old[number].endswith("\n")
        change.rows.append(Row(kind, number + 1, None, line, old_spans.get(i, ()), ends))
    for j, line in enumerate(news):
        kind = RowKind.CHANGED_NEW if j in new_spans else RowKind.ADDED
        number = change.new[0] + j
        ends = new[number].endswith("\n")
        change.rows.append(Row(kind, None, number + 1, line, new_spans.get(j, ()), ends))


def _pairs(
    change: _Change, olds: list[str], news: list[str], budget: _Budget, alike: float
) -> list[tuple[int, int]]:
    """Lines that became each other, in order: the alignment with the most in common."""
    if max(map(len, (*olds, *news))) > MAX_WORD_LINE:
        change.words = False
        return []
    while (size := sum(map(len, olds)) + sum(map(len, news))) > budget.tokens:
        # Too much to cut into words: half of it, as long as lines stand beside each other.
        change.words = False
        if len(olds) != len(news) or len(olds) == 1:
            return []
        olds, news = olds[: len(olds) // 2], news[: len(news) // 2]
    budget.tokens -= size
    left, right = ([Counter(_tokens(line)) for line in side] for side in (olds, news))
    cost = sum(map(len, left)) * len(news)
    if cost > budget.pairs:
        if len(olds) != len(news):
            change.words = False
            return []
        beside = ((i, i) for i in range(len(olds)))
        return [(i, j) for i, j in beside if _alike(left[i], right[j]) >= alike]
    budget.pairs -= cost
    best = [[0.0] * (len(news) + 1) for _ in range(len(olds) + 1)]
    likes = [[_alike(a, b) for b in right] for a in left]
    for i in range(len(olds) - 1, -1, -1):
        for j in range(len(news) - 1, -1, -1):
            paired = likes[i][j] + best[i + 1][j + 1] if likes[i][j] >= alike else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    found: list[tuple[int, int]] = []
    i = j = 0
    while i < len(olds) and j < len(news):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            found.append((i, j))
            i, j = i + 1, j + 1
    return found


def _alike(left: Counter[str], right: Counter[str]) -> float:
    """Share of characters in common, word by word, white space left out: 0 to 1."""
    shared = total = 0
    for word, count in left.items():
        if not word.isspace():
            total += count * len(word)
            shared += min(count, right[word]) * len(word)
    total += sum(count * len(word) for word, count in right.items() if not word.isspace())
    return 2 * shared / total if total else 0.0


def _changed(
    change: _Change, old: str, new: str, budget: _Budget
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    left, right = _tokens(old), _tokens(new)
    kept, budget.words = sequences.shortest(left, right, budget.words)
    if kept is None:
        change.words = False
        return (), ()
    return _spans(old, left, {i for i, _ in kept}), _spans(new, right, {j for _, j in kept})


def _spans(line: str, tokens: list[str], kept: set[int]) -> tuple[tuple[int, int], ...]:
    spans: list[tuple[int, int]] = []
    at = 0
    for index, token in enumerate(tokens):
        if index not in kept:
            # Words changed one after the other read as one change, the space between included.
            if spans and (spans[-1][1] == at or line[spans[-1][1] : at].isspace()):
                spans[-1] = spans[-1][0], at + len(token)
            else:
                spans.append((at, at + len(token)))
        at += len(token)
    return tuple(spans)


# -- hunks -------------------------------------------------------------------------------------


def _hunk(group: list[_Change], old: list[str], new: list[str], context: int) -> Hunk:
    old_at = group[0].old[0] - min(context, group[0].old[0])
    new_at = group[0].new[0] - (group[0].old[0] - old_at)
    old_end = min(group[-1].old[1] + context, len(old))
    new_end = group[-1].new[1] + old_end - group[-1].old[1]
    made: list[Row] = []
    i, j = old_at, new_at
    for change in group:
        made += _same(old, i, change.old[0], j - i)
        made += change.rows
        i, j = change.old[1], change.new[1]
    made += _same(old, i, old_end, j - i)
    old_count, new_count = old_end - old_at, new_end - new_at
    return Hunk(
        old_at + (old_count > 0),
        old_count,
        new_at + (new_count > 0),
        new_count,
        tuple(made),
        words=all(change.words for change in group),
        coarse=any(change.coarse for change in group),
    )


def _same(old: list[str], start: int, end: int, shift: int) -> list[Row]:
    return [
        Row(
            RowKind.SAME,
            number + 1,
            number + 1 + shift,
            old[number].removesuffix("\n"),
            newline=old[number].endswith("\n"),
        )
        for number in range(start, end)
    ]


def _beside(left: list[Row], right: list[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    a = c = 0
    olds = [i for i, row in enumerate(left) if row.kind is RowKind.CHANGED_OLD]
    news = [j for j, row in enumerate(right) if row.kind is RowKind.CHANGED_NEW]
    for i, j in zip(olds, news, strict=True):
        yield from zip_longest(left[a:i], right[c:j])
        yield left[i], right[j]
        a, c = i + 1, j + 1
    yield from zip_longest(left[a:], right[c:])


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _quoted(path: str) -> str:
    return path if path.isprintable() else ascii(path)[1:-1]
