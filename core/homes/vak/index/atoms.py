"""How often each word stands in each message, so that any part of a word can be counted.

A term of recall is found inside words. It holds no separator, so it is found nowhere else: what it
counts in a message is the sum over the message's words. One atom is a word with how often it
stands there; all atoms lie one a line in a file, which is looked through for a term.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from core.homes.vak.recall.scoring import MOST
from core.homes.vak.recall.words import normalise, runs
from core.recall.index import files
from core.recall.index.files import guarded

if TYPE_CHECKING:
    import tantivy

FOLDER, VOCABULARY = "atoms", "atoms.txt"
#: A mark behind a word: how often it stands in the message.
_TIMES = 0xE000
#: The atom of a message that holds a word too long to be kept: it is always looked at.
ODD = chr(0xE0FF)
#: Characters of a word that is kept.
LONGEST = 200
_ID, _LEDGER, _ATOMS = "id", "ledger", "atoms"
_HEAP = 64_000_000


def atoms(text: str) -> list[str]:
    """The atoms of a message."""
    counts = Counter(runs(normalise(text)))
    found = []
    for word, times in counts.items():
        if len(word) > LONGEST:
            found.append(ODD)
        else:
            found.append(word + chr(_TIMES + min(times, MOST)))
    return found


def matching(term: str, vocabulary: str) -> Iterator[tuple[str, int]]:
    """Every atom whose word holds ``term``, and how often the term then stands in the message."""
    place = vocabulary.find(term)
    while place >= 0:
        start, end = vocabulary.rfind("\n", 0, place) + 1, vocabulary.find("\n", place)
        atom = vocabulary[start : end if end >= 0 else None]
        yield atom, (ord(atom[-1]) - _TIMES) * atom.count(term)
        place = vocabulary.find(term, start + len(atom))


def schema() -> tantivy.Schema:
    """What tantivy keeps of a message."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field(_ID, fast=True, indexed=True)
    builder.add_text_field(_LEDGER, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(_ATOMS, tokenizer_name="whitespace", index_option="basic")
    return builder.build()


class Writer:
    """The one writer; the caller holds the index. Raises :class:`files.IndexTroubleError`."""

    def __init__(self, folder: Path, *, new: bool) -> None:
        with guarded():
            import tantivy

            self._make = tantivy.Document
            place = folder / FOLDER
            files.make_folder(place)
            index = tantivy.Index(schema(), str(place)) if new else tantivy.Index.open(str(place))
            self._writer = index.writer(_HEAP, 1)
        self._path = folder / VOCABULARY
        self._fresh: list[str] = []
        self._known = set() if new else set(_read(self._path).split("\n"))
        with guarded():
            if new:
                self._path.write_text("", encoding="utf-8")
                self._path.chmod(0o600)
            elif not _read(self._path).endswith("\n"):
                # A kill may have cut the last word: nothing may grow together with it.
                self._fresh.append("")

    def add(self, key: int, ledger: int, text: str) -> None:
        """Take one message in."""
        found = atoms(text)
        for atom in found:
            if atom not in self._known:
                self._known.add(atom)
                self._fresh.append(atom)
        with guarded():
            document = self._make()
            document.add_integer(_ID, key)
            document.add_text(_LEDGER, str(ledger))
            document.add_text(_ATOMS, " ".join(found))
            self._writer.add_document(document)

    def drop(self, ledger: int) -> None:
        """Forget the messages of a ledger."""
        with guarded():
            self._writer.delete_documents_by_term(_LEDGER, str(ledger))

    def commit(self) -> int:
        """Make what was taken in last, words first; the bytes of all words."""
        with guarded(), self._path.open("a", encoding="utf-8") as stream:
            stream.write("".join(f"{atom}\n" for atom in self._fresh))
        self._fresh.clear()
        with guarded():
            self._writer.commit()
            self._close_to_others()
            return self._path.stat().st_size

    def _close_to_others(self) -> None:
        # tantivy writes under the process's own umask, and merges delete files meanwhile.
        for entry in os.scandir(self._path.parent / FOLDER):
            with suppress(FileNotFoundError):
                os.chmod(entry.path, 0o600)

    def finish(self) -> None:
        """Let small parts be put together."""
        with guarded():
            self._writer.wait_merging_threads()
            self._close_to_others()

    def give_up(self) -> None:
        """Forget what was not committed."""
        with guarded():
            self._writer.rollback()
            self._writer.wait_merging_threads()


class Reader:
    """One commit, open for questions. Raises :class:`files.IndexTroubleError`."""

    def __init__(self, folder: Path) -> None:
        with guarded():
            import tantivy

            index = tantivy.Index.open(str(folder / FOLDER))
            self._schema, self._searcher = index.schema, index.searcher()
            self.vocabulary = _read(folder / VOCABULARY)
            self.size = (folder / VOCABULARY).stat().st_size

    @property
    def documents(self) -> int:
        """How many messages it holds."""
        return int(self._searcher.num_docs)

    def counts(self, term: str) -> dict[int, int]:
        """``id -> how often`` for every message that holds ``term``, more than counts at most."""
        weighed = list(matching(term, self.vocabulary))
        return {key: int(score) for key, score in self._ask(weighed)}

    def odd(self) -> set[int]:
        """Messages that must be looked at whatever is asked."""
        return {key for key, _ in self._ask([(ODD, 1)])}

    def _ask(self, weighed: list[tuple[str, int]]) -> Iterator[tuple[int, float]]:
        if not weighed or not self.documents:
            return
        with guarded():
            import tantivy

            ask = tantivy.Query
            parts = [
                (
                    tantivy.Occur.Should,
                    ask.const_score_query(
                        ask.term_query(self._schema, _ATOMS, atom, "basic"), float(weight)
                    ),
                )
                for atom, weight in weighed
            ]
            found = self._searcher.search(
                ask.boolean_query(parts), self.documents, count=False
            ).hits
            ids = self._searcher.fast_field_values(_ID, [place for _, place in found])
        for (score, _), key in zip(found, ids, strict=True):
            if key is not None:
                yield int(key), float(score)


def changed(folder: Path) -> str:
    """Differs after every commit."""
    with guarded():
        status = (folder / FOLDER / "meta.json").stat()
        return f"{status.st_ino}:{status.st_mtime_ns}"


def _read(path: Path) -> str:
    with guarded():
        return path.read_text(encoding="utf-8")
