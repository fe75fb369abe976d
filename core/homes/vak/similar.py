"""How alike two texts are, as vak screens copies: shared words over all words (vak spec 8, 9)."""

from __future__ import annotations

from core.homes.vak.recall.words import normalise, runs

#: From here on vak takes one text for a copy of the other.
ALIKE = 0.55
#: Characters of a word that counts.
_SHORTEST = 3


def words(text: str) -> frozenset[str]:
    """The words of a text that count for likeness."""
    return frozenset(run for run in runs(normalise(text)) if len(run) >= _SHORTEST)


def likeness(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard: 0.0 for nothing in common, 1.0 for the same words; 0.0 where one has none."""
    together = len(left | right)
    return len(left & right) / together if together else 0.0
