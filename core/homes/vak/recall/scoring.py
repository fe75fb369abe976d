"""How well a text answers a query: the classic scorer, and the later bm25 (vak spec 5 and 5.6).

A score is a sum over the terms of the query, and what the whole phrase, a note and a young age add.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from core.homes.vak.recall.words import normalise, terms
from core.homes.vak.times import HOUR

#: A term counts at most so often.
MOST = 16
PHRASE, CURATED, RECENT = 3.0, 2.5, 0.01
_K1, _B, _AVERAGE, _ENTITY = 1.2, 0.75, 100, 4.0


class Scorer(StrEnum):
    """Which of the agent's scorers."""

    CLASSIC = "classic"
    BM25 = "bm25"


@dataclass(frozen=True)
class Asked:
    """A query as the scorers read it: terms in order, the phrase in lower case and untrimmed."""

    query: str

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The words asked for; none: nothing is found."""
        return terms(self.query)

    @cached_property
    def phrase(self) -> str:
        """The whole query."""
        return normalise(self.query)


def base(text: str, asked: Asked, scorer: Scorer = Scorer.CLASSIC, *, plain: bool = True) -> float:
    """The score of a text by itself, 0.0 when no term is in it.

    ``plain`` is false for a note: bm25 knows names in messages only.
    """
    lowered = normalise(text)
    counts = [min(lowered.count(term), MOST) for term in asked.terms]
    if not any(counts):
        return 0.0
    if scorer is Scorer.CLASSIC:
        score = sum(1.0 + math.log(count) for count in counts if count)
    else:
        names = entities(text) if plain else frozenset()
        length = max(1, len(lowered))
        score = sum(
            _weighed(count, length) * (_ENTITY if term in names else 1.0)
            for term, count in zip(asked.terms, counts, strict=True)
            if count
        )
    return score + (PHRASE if asked.phrase in lowered else 0.0)


def from_counts(counts: Sequence[int]) -> float:
    """The classic sum over terms that occur so often, each at most :data:`MOST` times."""
    return sum(1.0 + math.log(min(count, MOST)) for count in counts if count)


def ceiling(counts: Sequence[int]) -> float:
    """What bm25 gives at most for terms that occur so often, whatever the text."""
    return sum(_weighed(count, 1) * _ENTITY for count in counts if count)


def nudge(at: int, now: int) -> float:
    """What a young age adds: by whole hours, nothing negative. Both in nanoseconds."""
    return RECENT / (1 + max(0, now - at) // HOUR)


def _weighed(count: int, length: int) -> float:
    norm = _K1 * (1 - _B + _B * length / _AVERAGE)
    return math.log(2) * count * (_K1 + 1) / (count + norm)


_NOT_WORD = re.compile(r"\W+\Z")
#: Words that look like names and are none (vak spec 5.6, as far as it lists them).
_STOPPED = frozenset(
    {
        *("the", "this", "that", "current", "latest", "next", "key", "summary"),
        *("source", "sources", "tools", "article"),
    }
)


def entities(text: str) -> frozenset[str]:
    """The named things of a message in lower case: single proper nouns, and acronyms."""
    found: set[str] = set()
    run: list[str] = []
    for raw in text.split():
        word = _NOT_WORD.sub("", raw)
        if _is_noun(word):
            run.append(word)
            if len(run) == 4:
                found.add("_".join(run))
                run = []
            continue
        found.add("_".join(run))
        run = []
        if 2 <= len(word) <= 6 and word.isalpha() and word.isupper():
            found.add(word)
    found.add("_".join(run))
    return frozenset(name.lower() for name in found) - _STOPPED


def _is_noun(word: str) -> bool:
    return len(word) >= 4 and word[0].isupper() and word[1:4].islower() and word[1:4].isalpha()
