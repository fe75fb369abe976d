"""Hits in the agent's order: score, then newest, then by name (vak spec 5, rule 9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.homes.vak.recall.documents import Document
from core.homes.vak.recall.scoring import CURATED, Asked, Scorer, base, nudge
from core.homes.vak.recall.snippets import snippet

DEFAULT, LEAST, MOST = 8, 1, 50


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that answers. ``base`` is its score without the note's bonus and its age."""

    document: Document
    score: float
    base: float
    snippet: str = ""

    @property
    def order(self) -> tuple[float, int, str, str, str]:
        """What hits are sorted by."""
        document = self.document
        return (
            -self.score,
            -document.at,
            document.session_id,
            document.entry_id,
            document.project,
        )


@dataclass(frozen=True, slots=True)
class Recalled:
    """An answer: how many documents match at all, and the best of them."""

    matches: int = 0
    hits: tuple[Hit, ...] = ()


def clamp(limit: int) -> int:
    """The limit that is used for one that is asked."""
    return min(max(limit, LEAST), MOST)


def total(document: Document, score: float, now: int) -> float:
    """A base score with everything that is added to it."""
    return score + (CURATED if document.is_curated else 0.0) + nudge(document.at, now)


def rank(
    documents: Iterable[Document],
    asked: Asked,
    *,
    limit: int,
    now: int,
    scorer: Scorer = Scorer.CLASSIC,
) -> Recalled:
    """Score every document and keep the best. ``now`` is in nanoseconds since 1970."""
    if not asked.terms:
        return Recalled()
    hits = []
    for document in documents:
        score = base(document.text, asked, scorer, plain=not document.is_curated)
        if score:
            hits.append(Hit(document, total(document, score, now), score))
    hits.sort(key=lambda hit: hit.order)
    return Recalled(len(hits), finished(hits[: clamp(limit)], asked))


def finished(hits: Sequence[Hit], asked: Asked) -> tuple[Hit, ...]:
    """Hits with their snippets."""
    return tuple(
        Hit(hit.document, hit.score, hit.base, snippet(hit.document.text, asked.terms))
        for hit in hits
    )
