"""Where the words of a query stand in a text, for marks and snippets."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from core.recall.query import Query, Term, wanted
from core.recall.words import MARK, cells, is_cjk

#: Characters looked at in one go, and how far a match may reach into the next stretch.
_STRETCH = 1 << 17
_REACH = 1 << 10
#: Matches looked at to find the place a snippet is cut from.
_CANDIDATES = 64


@dataclass(frozen=True, slots=True, order=True)
class _Match:
    """Code points ``start`` to ``end`` of a text, and which term stands there."""

    start: int
    end: int
    term: int


def spans(query: Query, text: str, limit: int) -> tuple[tuple[int, int], ...]:
    """The first ``limit`` matches of the query's words in ``text``, as (start, end) code points.

    In order, never overlapping. A prefix marks the whole word. Words the query is to be without
    are not marked. Stops reading at the last span wanted; a phrase torn apart by a thousand
    characters of punctuation is not marked.
    """
    found: list[tuple[int, int]] = []
    for match in _matches(query, text):
        if found and match.start < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], match.end))
            continue
        if len(found) >= limit:
            break
        found.append((match.start, match.end))
    return tuple(found[: max(limit, 0)])


def snippet(query: Query, text: str, width: int) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A part of ``text`` of at most ``width`` characters, and the spans in it.

    It shows the place, among the first matches, where most different words of the query stand
    together; the beginning of the text where nothing matches. It is a slice, so no ellipsis.
    """
    near: list[_Match] = []
    for match in _matches(query, text):
        near.append(match)
        if len(near) == _CANDIDATES:
            break
    if not near or width <= 0:
        return text[: max(width, 0)], ()
    best = max(near, key=lambda first: (_terms_from(first, near, width), -first.start))
    start = max(0, best.start - width // 4)
    if start:
        # Begin at a word: a blank between the cut and the match, if there is one.
        blank = max(text.find(" ", start, best.start), text.find("\n", start, best.start))
        start = blank + 1 if blank >= 0 else start
    start = max(0, min(start, len(text) - width))
    part = text[start : start + width]
    return part, tuple(
        (max(a - start, 0), min(b - start, width))
        for a, b in _merged(near)
        if b > start and a < start + width
    )


def _terms_from(first: _Match, near: list[_Match], width: int) -> int:
    last = first.start + width * 3 // 4
    return len({match.term for match in near if first.start <= match.start and match.end <= last})


def _merged(matches: list[_Match]) -> Iterator[tuple[int, int]]:
    start = end = -1
    for match in matches:
        if match.start < end:
            end = max(end, match.end)
            continue
        if end >= 0:
            yield start, end
        start, end = match.start, match.end
    if end >= 0:
        yield start, end


def _matches(query: Query, text: str) -> Iterator[_Match]:
    """Every match in order of its start, read a stretch at a time."""
    if query.symbols:
        yield from heapq.merge(*(_symbol(s, i, text) for i, s in enumerate(query.symbols)))
        return
    terms = wanted(query.terms)
    if not terms:
        return
    for begin in range(0, len(text), _STRETCH):
        # One character before says whether a word begins here; marks of it do not matter.
        lead = min(begin, 1)
        reach = _REACH + 2 * max(sum(map(len, term.words)) for term in terms)
        shown = cells(text[begin - lead : begin + _STRETCH + reach])
        kept, places = _without_marks(shown)
        lead_kept = len(shown[:lead].replace(MARK, ""))
        found = (_term(term, index, kept, lead_kept) for index, term in enumerate(terms))
        for match in heapq.merge(*found):
            start, end = match.start, match.end
            if places is not None:
                start, end = places[start], places[end - 1] + 1
                while end < len(shown) and shown[end] == MARK:
                    end += 1
            if lead <= start < lead + _STRETCH:
                yield _Match(begin - lead + start, begin - lead + end, match.term)


def _without_marks(shown: str) -> tuple[str, list[int] | None]:
    """The cells without dropped marks and, if there were any, the offset of each that is left."""
    if MARK not in shown:
        return shown, None
    return shown.replace(MARK, ""), [at for at, cell in enumerate(shown) if cell != MARK]


def _symbol(symbol: str, index: int, text: str) -> Iterator[_Match]:
    at = text.find(symbol)
    while at >= 0:
        yield _Match(at, at + len(symbol), index)
        at = text.find(symbol, at + len(symbol))


def _term(term: Term, index: int, shown: str, begin: int) -> Iterator[_Match]:
    first = term.words[0]
    at = shown.find(first, begin)
    while at >= 0:
        end = _end(term, shown, at) if _parts(shown, at - 1) or is_cjk(first) else 0
        if end:
            yield _Match(at, end, index)
        at = shown.find(first, end or at + 1)


def _end(term: Term, shown: str, at: int) -> int:
    """Where the term that begins at ``at`` ends, or 0."""
    last = len(term.words) - 1
    for place, word in enumerate(term.words):
        if not shown.startswith(word, at):
            return 0
        at += len(word)
        whole = _parts(shown, at) or is_cjk(word)
        if place == last:
            while not whole:
                if not term.prefix:
                    return 0
                at += 1
                whole = _parts(shown, at)
        elif not whole:
            return 0
        else:
            while at < len(shown) and shown[at] == " ":
                at += 1
    return at


def _parts(shown: str, at: int) -> bool:
    """Whether the cell at ``at`` belongs to no Latin word: it parts, or is a word of its own."""
    return not 0 <= at < len(shown) or shown[at] == " " or is_cjk(shown[at])
