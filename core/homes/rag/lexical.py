"""Search by words: what a query asks for, and the rank of texts where no full text is at hand."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.homes.rag.nodes import Node, words

#: Words of a query that say nothing about what is sought, unless there is no other.
STOP_WORDS = frozenset(
    words(
        """
    a about after all also an and any are as at be been before but by can could did do does
    for from had has have how i if in into is it its me my no not of on or our should so
    than that the their them then there these they this to was we were what when where which
    who why will with would you your
    """
    )
)
#: Words of a query that count; a longer one is a text that was pasted.
MOST_WORDS = 32
#: Characters of a text that are ranked.
_RANKED = 20_000
# Scripts that put no blanks between words: kana, han, thai, lao, khmer, and hangul's particles.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
# BM25's usual constants.
_K1, _B = 1.2, 0.75


@dataclass(frozen=True, slots=True)
class Query:
    """What is sought. ``words``: plain words; ``parts``: runs of a script without blanks."""

    words: tuple[str, ...]
    parts: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.parts)


def parse(text: str) -> Query:
    """The words of a question, each once; stop words only where there is nothing else."""
    parts = tuple(dict.fromkeys(found[0] for found in _UNSPACED.finditer(text)))
    every = list(dict.fromkeys(words(_UNSPACED.sub(" ", text))))
    kept = [word for word in every if word not in STOP_WORDS] or ([] if parts else every)
    return Query(tuple(kept[:MOST_WORDS]), parts[:MOST_WORDS])


def quoted(word: str) -> str:
    """A word as the full text's query language takes it literally."""
    return '"' + word.replace('"', '""') + '"'


def rank(query: Query, nodes: Iterable[Node], limit: int) -> list[Node]:
    """The best of ``nodes`` by BM25, best first; those without any of the words are left out."""
    wanted = {_stem(word) for word in query.words}
    found: list[tuple[Node, Counter[str], int]] = []
    total = count = 0
    holders: Counter[str] = Counter()
    for node in nodes:
        text = f"{node.text('path')} {node.document[:_RANKED]}"
        tokens = [_stem(token) for token in words(text)]
        count, total = count + 1, total + len(tokens)
        counts = Counter(token for token in tokens if token in wanted)
        counts += Counter({part: text.count(part) for part in query.parts if part in text})
        if counts:
            holders.update(counts.keys())
            found.append((node, counts, len(tokens)))
    mean = total / count if total else 1.0

    def score(counts: Counter[str], length: int) -> float:
        return sum(
            math.log(1 + (count - holders[term] + 0.5) / (holders[term] + 0.5))
            * (number * (_K1 + 1))
            / (number + _K1 * (1 - _B + _B * length / mean))
            for term, number in counts.items()
        )

    scored = [(score(counts, length), node) for node, counts, length in found]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [node for _, node in scored[:limit]]


def fused(rankings: Sequence[Sequence[Node]], limit: int, constant: int = 60) -> list[Node]:
    """Several rankings as one: the sum of ``1 / (constant + place)`` decides."""
    scores: dict[tuple[str, str], float] = {}
    by_key: dict[tuple[str, str], Node] = {}
    for ranking in rankings:
        for place, node in enumerate(ranking, 1):
            key = (node.collection, node.id)
            by_key.setdefault(key, node)
            scores[key] = scores.get(key, 0.0) + 1 / (constant + place)
    best = sorted(scores, key=lambda key: -scores[key])
    return [by_key[key] for key in best[:limit]]


def distinct(nodes: Iterable[Node], limit: int) -> list[Node]:
    """The first ``limit`` nodes, each once."""
    seen: dict[tuple[str, str], Node] = {}
    for node in nodes:
        seen.setdefault((node.collection, node.id), node)
        if len(seen) == limit:
            break
    return list(seen.values())


def _stem(word: str) -> str:
    """A word without its commonest English endings: enough that ``jobs`` finds ``job``."""
    for ending in ("ing", "ies", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word
