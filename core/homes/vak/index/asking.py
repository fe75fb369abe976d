"""Recall by the index: the agent's answer, score for score, without reading every ledger.

The index counts how often each term stands in each message, which is the score but for the phrase.
Messages are then read in the order of the best they could be, until no other can be better. What is
not indexed as it stands now is scored by a look at its lines.
"""

from __future__ import annotations

import sqlite3
from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.homes.vak.index import atoms, catalogue
from core.homes.vak.index.building import is_whole, read_row
from core.homes.vak.index.catalogue import Catalogue, Row, identity_of
from core.homes.vak.listing import LedgerFile
from core.homes.vak.recall.documents import Document, said
from core.homes.vak.recall.ranking import Hit, Recalled, clamp, finished, total
from core.homes.vak.recall.scoring import (
    MOST,
    PHRASE,
    Asked,
    Scorer,
    base,
    ceiling,
    from_counts,
    nudge,
)
from core.homes.vak.recall.search import WINDOW, Request, messages, notes, scan, searched
from core.homes.vak.times import nanoseconds
from core.recall.index import files


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A message that answers. ``best`` is the highest score it may have."""

    row: Row
    file: LedgerFile
    best: float

    @property
    def order(self) -> tuple[float, int, str]:
        return -self.best, -self.row.at, self.file.session_id


class Recall:
    """Recall over one home by the index in ``folder``; an index is kept open between questions."""

    def __init__(self, home: Path, folder: Path) -> None:
        self._home = home
        self._folder = folder
        self._opened: tuple[str, atoms.Reader] | None = None

    def recall(self, request: Request, now: datetime) -> Recalled:
        """What :func:`scan` answers; by a scan where the index cannot be used."""
        asked = Asked(request.query)
        if not asked.terms:
            return Recalled()
        if files.available():
            try:
                with catalogue.reading(self._folder) as known:
                    reader = self._reader(known) if known else None
                    if known is not None and reader is not None:
                        return self._by_index(known, reader, request, asked, nanoseconds(now))
            except (sqlite3.Error, files.IndexTroubleError, OSError):
                self._opened = None
        return scan(self._home, request, now)

    def _reader(self, known: Catalogue) -> atoms.Reader | None:
        """The words as of the catalogue's last commit; ``None`` where they do not belong to it."""
        state = f"{known.state()}:{atoms.changed(self._folder)}"
        if self._opened is None or self._opened[0] != state:
            reader = atoms.Reader(self._folder)
            if not is_whole(known, reader):
                return None
            self._opened = state, reader
        return self._opened[1]

    def _by_index(
        self, known: Catalogue, reader: atoms.Reader, request: Request, asked: Asked, now: int
    ) -> Recalled:
        listed = known.ledgers()
        fresh: list[LedgerFile] = []
        indexed: dict[int, tuple[LedgerFile, int]] = {}
        for file in searched(self._home, request):
            ledger = listed.get(file.file)
            if ledger is not None and ledger.identity == identity_of(file):
                indexed[ledger.number] = file, max(0, ledger.lines - WINDOW)
            else:
                fresh.append(file)
        top = _Top(asked, request, now)
        for file in fresh:
            top.take(messages(file, everywhere=request.is_everywhere))
        if request.curated:
            top.take(notes(self._home, request))
        counts = [reader.counts(term) for term in asked.terms]
        odd = reader.odd()
        ids = set().union(*counts) | odd
        candidates = []
        for row in known.messages(list(ids)):
            place = indexed.get(row.ledger)
            if place is None or row.ordinal < place[1]:
                continue
            if row.id in odd:
                document = _document(row, place[0], request)
                top.take([document] if document else [])
                continue
            times = [each.get(row.id, 0) for each in counts]
            best = _best(times, asked, request.scorer) + nudge(row.at, now)
            candidates.append(_Candidate(row, place[0], best))
        top.matches += len(candidates)
        candidates.sort(key=lambda each: each.order)
        for candidate in candidates:
            if top.is_settled(candidate.order):
                break
            document = _document(candidate.row, candidate.file, request)
            if document is not None:
                top.score(document)
        return Recalled(top.matches, finished(top.hits[: top.limit], asked))


class _Top:
    """The best hits so far, in order, and how many documents match at all."""

    def __init__(self, asked: Asked, request: Request, now: int) -> None:
        self.hits: list[Hit] = []
        self.matches = 0
        self.limit = clamp(request.limit)
        self._asked = asked
        self._scorer = request.scorer
        self._now = now

    def take(self, documents: Iterable[Document]) -> None:
        """Score documents of which it is not known whether they match."""
        for document in documents:
            self.matches += self.score(document)

    def score(self, document: Document) -> bool:
        """Whether the document matches; it takes its place if it is among the best."""
        plain = not document.is_curated
        score = base(document.text, self._asked, self._scorer, plain=plain)
        if score:
            hit = Hit(document, total(document, score, self._now), score)
            insort(self.hits, hit, key=lambda each: each.order)
            del self.hits[self.limit + 1 :]
        return bool(score)

    def is_settled(self, order: tuple[float, int, str]) -> bool:
        """Whether nothing that stands so, or after it, can be among the best."""
        return len(self.hits) >= self.limit and order > self.hits[self.limit - 1].order[:3]


def _best(times: list[int], asked: Asked, scorer: Scorer) -> float:
    counts = [min(count, MOST) for count in times]
    # The phrase holds every term: without one of them it is not there.
    phrase = PHRASE if all(counts) else 0.0
    if scorer is Scorer.CLASSIC:
        return from_counts(counts) + phrase
    return ceiling(counts) + phrase


def _document(row: Row, file: LedgerFile, request: Request) -> Document | None:
    entry = read_row(file, row)
    text = said(entry) if entry else ""
    if entry is None or not text:
        return None
    project = file.project if request.is_everywhere else ""
    return Document(file.session_id, entry.id, entry.at, entry.role, text, project, row.number)
