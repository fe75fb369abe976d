"""The index as everyone uses it: its state, feeding it, asking it, deleting it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.conversations import Cancelled, Order
from core.errors import LockedError
from core.recall.index import asking, fields, files, spelling
from core.recall.index.building import Builder, create, held, open_index
from core.recall.index.files import About, IndexTroubleError, guarded
from core.recall.index.records import (
    Candidate,
    Candidates,
    Category,
    Document,
    IndexState,
    Status,
)
from core.recall.query import Node, Query, respelled, wanted
from core.recall.words import is_cjk

if TYPE_CHECKING:
    import tantivy

#: Messages between two words of progress.
_PROGRESS = 500


@dataclass(frozen=True, slots=True)
class _Reader:
    """One commit of an index, open for searches; ``about`` is what was known when it was opened."""

    signature: tuple[int, ...]
    about: About
    schema: tantivy.Schema
    messages: tantivy.Searcher
    words_schema: tantivy.Schema
    words: tantivy.Searcher


class Index:
    """The index in ``folder``. Every method may be called from any thread and process at once.

    ``on`` is the person's setting: when it is off nothing is read or written; ``delete`` works.
    """

    def __init__(self, folder: Path, *, on: bool = True) -> None:
        self._folder = folder
        self._on = on
        self._reader: _Reader | None = None
        self._broken: tuple[tuple[int, ...] | None, str] | None = None
        self._problem = ""
        self._sized: tuple[tuple[int, ...], int] | None = None
        self._sound: set[str] = set()
        self._guard = threading.Lock()
        #: Messages that a search named and the home did not have: for whoever feeds it to ``drop``.
        self.missing: set[int] = set()
        #: Messages that do not say any more what the index knows: for ``renew``.
        self.changed: set[int] = set()

    def state(self) -> IndexState:
        """Where it stands now, as any process left it; reads one small file."""
        if not self._usable():
            why = "" if not self._on else "the tantivy package cannot be imported"
            return IndexState(Status.OFF, problem=why)
        try:
            about = files.read_about(self._folder)
        except IndexTroubleError as trouble:
            return IndexState(Status.BROKEN, problem=str(trouble))
        if about is None:
            return IndexState(Status.ABSENT, problem=self._problem)
        if not _is_ours(about):
            return IndexState(Status.ABSENT, problem="it was made by another version")
        signature, broken = files.signature(self._folder), self._broken
        if signature is None or (broken and broken[0] == signature):
            why = broken[1] if broken else "a file of it is missing"
            return IndexState(Status.BROKEN, identity=about.identity, problem=why)
        return IndexState(
            Status.READY if about.complete else Status.BUILDING,
            about.documents,
            about.total,
            about.through,
            about.identity,
            self._problem,
            self._size(signature),
        )

    def feed(
        self,
        identity: str,
        documents: Callable[[int], Iterator[Document]],
        *,
        total: int,
        progress: Callable[[int], None],
        cancelled: Cancelled,
    ) -> bool:
        """Take in all messages that are new; true when the index is then up to date.

        ``identity`` names the file they come from; an index made from another, by another version,
        or damaged, is made anew. ``documents(after)`` yields the messages with an id greater than
        ``after`` in ascending order (it is closed when left early), ``total`` is how many there
        are in all, ``progress`` is told how many are in. Stops soon after ``cancelled()`` is true,
        keeping what it has; a killed feed loses what came after its last commit. False, at once,
        when it is off or another process is feeding; false with ``state().problem`` when the disk
        or tantivy failed. What ``documents`` raises is passed on.
        """
        if not self._usable():
            return False
        try:
            with files.writing(self._folder) as mine:
                if not mine:
                    return False
                about = replace(self._sound_about(identity), total=total)
                return self._feed(about, documents, progress, cancelled)
        except (IndexTroubleError, OSError) as trouble:
            self._problem = str(trouble)
            return False

    def search(
        self,
        query: Query,
        categories: Sequence[Category],
        limit: int | Mapping[Category, int],
        order: Order = Order.RANKED,
        *,
        sessions: Collection[str] | None = None,
        respell: bool = True,
    ) -> Candidates | None:
        """The best ``limit`` messages of ``categories`` together, or so many of each as it says (a
        rare category is not crowded out), and how many there are of each.

        Of the filters it knows sources, roles, dates and an exact session id; ``sessions`` narrows
        to those (for a title or workspace). Words that nothing is spelled as are looked for as
        others, if ``respell``. A query of prefixes only has no rank: newest first.
        ``NEWEST`` and ``OLDEST`` go by id. ``None`` when it cannot answer: absent, off, broken, or
        nothing is asked that it knows (``query.terms`` is ``None``).
        """
        if not self._usable() or query.terms is None:
            return None
        try:
            reader = self._opened()
            if reader is None:
                return None
            with guarded():
                asked = _Search(reader, query, sessions)
                counts = asked.counts()
                corrected: tuple[tuple[str, str], ...] = ()
                if respell and not any(counts.values()):
                    corrected, instead = _spelled(reader, query)
                    if corrected:
                        asked = _Search(reader, instead, sessions)
                        counts = asked.counts()
                limits = limit if isinstance(limit, Mapping) else dict.fromkeys(categories, limit)
                hits, by_score = asked.hits(limits, order)
                hits = hits if limits is limit else hits[: max(limits.values(), default=0)]
            return Candidates(hits, counts, asked.query, corrected, reader.about.through, by_score)
        except IndexTroubleError as trouble:
            self._broken = (files.signature(self._folder), str(trouble))
            return None

    def drop(self, ids: Iterable[int]) -> bool:
        """Forget messages that the home does not hold any more; false when that must wait."""
        return self._change(list(ids), ())

    def renew(self, documents: Iterable[Document]) -> bool:
        """Take these messages in anew, whose text changed; false when that must wait."""
        fresh = list(documents)
        return self._change([document.id for document in fresh], fresh)

    def delete(self) -> None:
        """Delete the index and its folder. Raises :class:`LockedError` while it is being fed."""
        with self._guard:
            self._reader = self._broken = None
            self._sound.clear()
        if not self._folder.exists():
            return
        with files.writing(self._folder) as mine:
            if not mine:
                raise LockedError("The index is being built", "Stop the other signoff, try again")
            files.remove(self._folder)

    # -- inside ------------------------------------------------------------------------------------

    def _size(self, signature: tuple[int, ...]) -> int:
        # Its files only change with a commit; dozens of them are asked for it.
        known = self._sized
        if known is None or known[0] != signature:
            known = self._sized = (signature, files.size(self._folder))
        return known[1]

    def _usable(self) -> bool:
        return self._on and files.available()

    def _change(self, gone: list[int], fresh: Iterable[Document]) -> bool:
        if not gone or not self._usable():
            return not gone
        try:
            with files.writing(self._folder) as mine:
                about = files.read_about(self._folder) if mine else None
                if about is None or not _is_ours(about):
                    return False
                with Builder(self._folder, about) as builder:
                    builder.drop(gone)
                    for document in fresh:
                        builder.add(document)
                    builder.through = max(builder.through, about.through)
                    builder.commit(complete=about.complete)
                    builder.finish()
            return True
        except (IndexTroubleError, OSError) as trouble:
            self._problem = str(trouble)
            return False

    def _sound_about(self, identity: str) -> About:
        """The description to go on from; of a new index where the old one cannot be used."""
        try:
            about = files.read_about(self._folder)
            if about and _is_ours(about) and about.identity == identity and self._is_whole():
                newest, count = held(self._folder)
                self._broken = None
                return replace(about, through=max(about.through, newest), documents=count)
        except IndexTroubleError:
            pass
        about = About(identity, _library())
        create(self._folder, about)
        self._sound.clear()
        self._broken = None
        return about

    def _is_whole(self) -> bool:
        if self._broken:
            self._sound.clear()
        return not files.damaged(self._folder, self._sound)

    def _feed(
        self,
        about: About,
        documents: Callable[[int], Iterator[Document]],
        progress: Callable[[int], None],
        cancelled: Cancelled,
    ) -> bool:
        waiting = documents(about.through)
        try:
            first = next(waiting, None)
            if first is None and about.complete:
                return True
            with Builder(self._folder, about) as builder:
                whole = True
                for document in chain(() if first is None else (first,), waiting):
                    if cancelled():
                        whole = False
                        break
                    if document.id <= builder.through:
                        continue
                    builder.add(document)
                    if builder.is_full:
                        builder.commit(complete=about.complete)
                    if builder.documents % _PROGRESS == 0:
                        progress(builder.documents)
                builder.commit(complete=whole or about.complete)
                progress(builder.documents)
                builder.finish()
            self._problem = ""
            return whole
        finally:
            close = getattr(waiting, "close", None)
            if close:
                close()

    def _opened(self) -> _Reader | None:
        """The newest commit, opened once."""
        now = files.signature(self._folder)
        with self._guard:
            if self._broken and self._broken[0] == now:
                return None
            if now is None:
                self._reader = None
            elif self._reader is None or self._reader.signature != now:
                about = files.read_about(self._folder)
                if about is None or not _is_ours(about):
                    return None
                messages = open_index(self._folder, files.MESSAGES)
                words = open_index(self._folder, files.VOCABULARY)
                with guarded():
                    self._reader = _Reader(
                        now,
                        about,
                        messages.schema,
                        messages.searcher(),
                        words.schema,
                        words.searcher(),
                    )
            return self._reader


class _Search:
    """One query over one commit."""

    def __init__(self, reader: _Reader, query: Query, sessions: Collection[str] | None) -> None:
        assert query.terms is not None
        self.query = query
        self._terms: Node = query.terms
        self._reader = reader
        self._within = asking.narrowing(query.filters, sessions, reader.schema)

    def counts(self) -> dict[Category, int]:
        """Messages of every category that answer."""
        return {category: self._count(category) for category in Category}

    def hits(
        self, limits: Mapping[Category, int], order: Order
    ) -> tuple[tuple[Candidate, ...], bool]:
        """The first messages of each category in order, and whether by score."""
        by_score = order is Order.RANKED and asking.has_rank(self._terms)
        found: list[Candidate] = []
        for category, limit in limits.items():
            found += self._top(category, limit, None if by_score else order)
        if by_score:
            found.sort(key=lambda hit: (-hit.score, hit.id))
        else:
            found.sort(key=lambda hit: hit.id, reverse=order is not Order.OLDEST)
        return tuple(found), by_score

    def _ask(self, category: Category) -> tantivy.Query:
        query = asking.compiled(self._terms, category, self._reader.schema)
        return asking.narrowed(query, self._within)

    def _count(self, category: Category) -> int:
        whole = None if self._within else asking.lookup(self._terms, category)
        if whole:
            return self._reader.messages.doc_freq(*whole)
        return _counted(self._reader.messages.search(self._ask(category), 1, count=True))

    def _top(self, category: Category, limit: int, order: Order | None) -> list[Candidate]:
        import tantivy

        if limit <= 0:
            return []
        searcher = self._reader.messages
        if order is None:
            found = searcher.search(self._ask(category), limit, count=False).hits
        else:
            way = tantivy.Order.Asc if order is Order.OLDEST else tantivy.Order.Desc
            found = searcher.search(
                self._ask(category), limit, count=False, order_by_field=fields.ID, order=way
            ).hits
        places = [place for _, place in found]
        scores = repeat(0.0) if order is not None else [score for score, _ in found]
        ids = searcher.fast_field_values(fields.ID, places)
        groups = searcher.fast_field_values(fields.GROUP, places)
        columns: Any = (ids, scores, repeat(category), groups)
        return list(map(Candidate, *columns))


def _counted(result: tantivy.SearchResult) -> int:
    return int(getattr(result, "count", 0) or 0)


def _spelled(reader: _Reader, query: Query) -> tuple[tuple[tuple[str, str], ...], Query]:
    """Words of ``query`` that nothing is spelled as, with others, and the query with those."""

    def count(word: str) -> int:
        return sum(reader.messages.doc_freq(fields.WORDS[category], word) for category in Category)

    def is_begun(word: str) -> bool:
        return any(
            reader.messages.terms_with_prefix(fields.WORDS[category], word, limit=1)
            for category in Category
        )

    instead: dict[str, tuple[str, ...]] = {}
    for term in wanted(query.terms):
        for place, word in enumerate(term.words):
            longer = term.prefix and place == len(term.words) - 1
            if is_cjk(word) or word in instead or count(word) or (longer and is_begun(word)):
                continue
            found = spelling.others(word, reader.words, reader.words_schema, count)
            if found:
                instead[word] = found
    pairs = tuple((asked, found) for asked, all_found in instead.items() for found in all_found)
    return pairs, respelled(query, instead)


def _library() -> str:
    with guarded():
        from tantivy.tantivy import __version__

        return __version__


def _is_ours(about: About) -> bool:
    return about.format == files.FORMAT and about.library == _library()
