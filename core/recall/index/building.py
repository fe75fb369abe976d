"""Putting messages into the index: in bounded memory, in commits that survive a kill."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.recall.index import fields, files
from core.recall.index.files import About, guarded
from core.recall.index.records import Document
from core.recall.index.spelling import is_word

if TYPE_CHECKING:
    import tantivy

#: A commit after so many messages or characters, whichever comes first. tantivy takes documents in
#: faster than it works on them, so the characters bound the memory of those that wait.
COMMIT_MESSAGES, COMMIT_CHARACTERS = 50_000, 24_000_000
#: Bytes tantivy collects before it writes a segment; 15 MB is the least it accepts.
_HEAP, _VOCABULARY_HEAP = 64_000_000, 15_000_000
#: Words remembered as known, for not asking the vocabulary again.
_REMEMBERED = 300_000


def open_index(folder: Path, name: str) -> tantivy.Index:
    """One of the two indexes in ``folder``. Raises :class:`IndexTroubleError`."""
    with guarded():
        import tantivy

        return tantivy.Index.open(str(folder / name))


def create(folder: Path, about: About) -> None:
    """Two empty indexes in place of whatever was there; the caller holds the lock."""
    files.clear(folder)
    with guarded():
        import tantivy

        for name, schema in (
            (files.MESSAGES, fields.messages_schema()),
            (files.VOCABULARY, fields.vocabulary_schema()),
        ):
            files.make_folder(folder / name)
            tantivy.Index(schema, str(folder / name))
        files.close_to_others(folder)
        files.write_about(folder, about)


def held(folder: Path) -> tuple[int, int]:
    """The greatest id in the index and how many messages: a kill may fall between a commit and its
    description."""
    with guarded():
        import tantivy

        searcher = open_index(folder, files.MESSAGES).searcher()
        found = searcher.search(
            tantivy.Query.all_query(), 1, count=False, order_by_field=fields.ID
        ).hits
        ids = searcher.fast_field_values(fields.ID, [place for _, place in found])
        return (int(ids[0] or 0) if ids else 0), searcher.num_docs


class Builder:
    """The one writer of an index; the caller holds the lock.

    Use it in a ``with`` block: what was not committed at its end is given up.
    """

    def __init__(self, folder: Path, about: About) -> None:
        self.through, self.documents = about.through, about.documents
        self._about = about
        self._folder = folder
        with guarded():
            messages = open_index(folder, files.MESSAGES)
            vocabulary = open_index(folder, files.VOCABULARY)
            self._messages = messages.writer(_HEAP, 1)
            self._vocabulary = vocabulary.writer(_VOCABULARY_HEAP, 1)
            self._known = vocabulary.searcher()
        self._remembered: set[str] = set()
        self._waiting = self._characters = 0
        self._closed = False

    def __enter__(self) -> Builder:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def is_full(self) -> bool:
        """Whether it is time for a commit."""
        return self._waiting >= COMMIT_MESSAGES or self._characters >= COMMIT_CHARACTERS

    def add(self, document: Document) -> None:
        """Take one message in; its id is above all before it."""
        self.through = document.id
        if not document.text:
            return
        parts = list(fields.stretches(document.text))
        with guarded():
            # The longest messages are dumps: what is misspelled in them nobody looks for.
            self._learn(parts[0])
            self._messages.add_document(fields.message(document, parts))
        self._waiting += 1
        self._characters += len(document.text)
        self.documents += 1

    def drop(self, ids: list[int]) -> None:
        """Forget messages; it holds from the next commit on."""
        with guarded():
            for gone in ids:
                self._messages.delete_documents_by_term(fields.ID, gone)

    def commit(self, *, complete: bool) -> None:
        """Make what was taken in last, words first: an index without its vocabulary spells badly,
        but a vocabulary ahead of its index does no harm."""
        with guarded():
            self._vocabulary.commit()
            self._messages.commit()
            about = replace(
                self._about, through=self.through, documents=self.documents, complete=complete
            )
            files.write_about(self._folder, about)
            files.close_to_others(self._folder)
        self._waiting = self._characters = 0

    def finish(self) -> None:
        """Wait for tantivy to put small segments together; nothing can be added after it."""
        self._closed = True
        with guarded():
            self._vocabulary.wait_merging_threads()
            self._messages.wait_merging_threads()
            files.close_to_others(self._folder)

    def _learn(self, part: str) -> None:
        fresh = set(part.split()) - self._remembered
        if not fresh:
            return
        if len(self._remembered) > _REMEMBERED:
            self._remembered.clear()
        self._remembered |= fresh
        for word in fresh:
            if is_word(word) and not self._known.doc_freq(fields.WORD, word):
                self._vocabulary.add_document(fields.word(word))

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            with guarded():
                self._vocabulary.rollback()
                self._messages.rollback()
                self._vocabulary.wait_merging_threads()
                self._messages.wait_merging_threads()
                files.close_to_others(self._folder)
        except files.IndexTroubleError:
            # It is being given up already, for a reason that is on its way.
            pass
