"""People's search over a vak home: messages by the query language, ranked by the agent's scorer.

Notes are found beside them, under the ids that recall gives them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from core.conversations import Cancelled, Engine, Found, Hit, Order, Visibility
from core.homes.vak import noted, transcript
from core.homes.vak.ledgers import MESSAGE, Entry, Line, lines, open_ledger, parse
from core.homes.vak.recall.documents import Document
from core.homes.vak.recall.ranking import total
from core.homes.vak.recall.scoring import Asked, base
from core.homes.vak.recall.search import Request as Everything
from core.homes.vak.recall.search import notes
from core.homes.vak.store import Past
from core.homes.vak.times import seconds
from core.homes.vak.tree import visibilities
from core.recall.gather import Gathering, Origin, Place, Verdict
from core.recall.query import Query, matches, wanted
from core.recall.spans import snippet

#: Characters of a snippet, and of a message that is looked at.
SNIPPET, LONGEST = 240, 1 << 20


@dataclass(frozen=True)
class Said:
    """A message or a note that answers: where it stands, its text, how well it answers.

    ``visibility`` is ``None`` where only the whole ledger tells it.
    """

    place: Place
    text: str
    score: float
    visibility: Visibility | None = None


@dataclass
class Search:
    """One query over one moment of a home. ``now`` is in nanoseconds since 1970."""

    home: Path
    past: Past
    query: Query
    order: Order
    limit: int
    now: int
    deadline: float
    cancelled: Cancelled | None = None
    is_cut: bool = False
    origins: dict[str, Origin] = field(default_factory=dict)

    @cached_property
    def asked(self) -> Asked:
        """The words of the query as the scorer reads them."""
        shown = [term.shown or " ".join(term.words) for term in wanted(self.query.terms)]
        return Asked(" ".join(shown))

    def scanned(self) -> Iterator[Said]:
        """Everything that answers, by a look at every line; it ends when its time is up."""
        for key, file in self.past.files.items():
            if self.is_over():
                self.is_cut = True
                return
            filters = self.query.filters
            if filters.session_id and filters.session_id != key:
                continue
            try:
                with open_ledger(file.path) as stream:
                    yield from self.among(key, lines(stream))
            except OSError:
                continue

    def among(self, key: str, some: Iterable[Line]) -> Iterator[Said]:
        """What answers among these lines of a ledger."""
        for line in some:
            entry = parse(line)
            if not isinstance(entry, Entry) or entry.kind != MESSAGE:
                continue
            text = transcript.text_of(entry)[:LONGEST]
            if matches(self.query, text):
                yield self.said(key, entry, text)

    def noted(self) -> Iterator[Said]:
        """The notes that answer."""
        filters = self.query.filters
        if filters.session_id:
            return
        for note in notes(self.home, Everything("")):
            if matches(self.query, note.text):
                as_session = noted.session(note)
                origin = Origin(as_session.source, as_session.title)
                at = seconds(note.at)
                place = Place(
                    noted.MESSAGE_ID, note.session_id, note.role, at, Visibility.LIVE, origin
                )
                yield Said(place, note.text, self._score(note))

    def found(
        self,
        answers: Iterable[Said],
        engine: Engine,
        *,
        tools: int = 0,
        corrected: tuple[tuple[str, str], ...] = (),
        is_whole: bool = True,
    ) -> Found:
        """Hits by session, the best or newest first, and what was left out.

        ``tools`` counts what of it is not among the answers; ``is_whole`` says that nothing else
        is missing from them.
        """
        listed = [*answers, *self.noted()]
        if self.order is Order.RANKED:
            listed.sort(key=lambda said: (-said.score, -(said.place.at or 0.0)))
        else:
            newest = self.order is Order.NEWEST
            listed.sort(key=lambda said: (said.place.at or 0.0, said.place.id), reverse=newest)
        texts = {(said.place.session_id, said.place.id): said for said in listed}
        gathering = Gathering(self.query.filters, self.limit)
        gathering.add(said.place for said in listed)
        hits = []
        for group in gathering.groups():
            said = texts[group.place.session_id, group.place.id]
            hits.append(self._hit(group.place, said, group.more))
        left = gathering.left_out
        notes = [*self.query.notes]
        if self.is_cut:
            notes.append("time was up before every ledger was looked at")
        return Found(
            self.query.text,
            self.query.effective,
            engine,
            tuple(hits),
            gathering.sessions,
            is_whole=is_whole and not self.is_cut,
            literally=self.query.literally,
            corrected=corrected,
            tool_output=left[Verdict.TOOL_OUTPUT] + tools,
            hidden_sources=left[Verdict.HIDDEN_SOURCE],
            undone=left[Verdict.UNDONE],
            note="; ".join(notes),
        )

    def said(self, key: str, entry: Entry, text: str, visibility: Visibility | None = None) -> Said:
        """A message that answers; ``visibility`` if it is known already."""
        document = Document(key, entry.id, entry.at, entry.role, text)
        origin = self._origin(key)
        place = Place(
            entry.line.number,
            key,
            transcript.role_of(entry),
            seconds(entry.at),
            Visibility.LIVE,
            origin,
        )
        return Said(place, text, self._score(document), visibility)

    def _score(self, document: Document) -> float:
        return total(document, base(document.text, self.asked), self.now)

    def _origin(self, key: str) -> Origin:
        if key not in self.origins:
            session = self.past.session(key, preview=False)
            self.origins[key] = Origin(session.source, session.title, session.workspace)
        return self.origins[key]

    def _hit(self, place: Place, said: Said, more: int) -> Hit:
        cut, spans = snippet(self.query, said.text, SNIPPET)
        known = place.session_id in self.past.files
        return Hit(
            place.session_id,
            self.past.root(place.session_id) if known else place.session_id,
            place.id,
            place.role,
            place.at,
            place.origin.title,
            place.origin.source,
            said.visibility or self._visibility(place),
            cut,
            spans,
            round(said.score, 6),
            more,
        )

    def _visibility(self, place: Place) -> Visibility:
        """Which only the whole ledger tells, so it is asked for what is shown."""
        file = self.past.files.get(place.session_id)
        if file is None:
            return Visibility.LIVE
        try:
            seen = visibilities(self.past.reader.ledger(file))
        except OSError:
            return Visibility.LIVE
        return seen.get(place.id, Visibility.LIVE)

    def is_over(self) -> bool:
        """Whether its time is up, or nobody waits for it any more."""
        return time.monotonic() > self.deadline or bool(self.cancelled and self.cancelled())
