"""Taking ledgers into the index: those that changed, one after the other, in commits that survive.

What is committed stays when a build is stopped; the next one goes on from there.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from core.conversations import Cancelled, Visibility
from core.homes.vak.home import ledger_files
from core.homes.vak.index import PEOPLE, atoms, catalogue
from core.homes.vak.index.catalogue import Catalogue, Row, identity_of
from core.homes.vak.ledgers import (
    MESSAGE,
    Entry,
    Ledger,
    Line,
    from_lines,
    lines,
    open_ledger,
    read_entry,
)
from core.homes.vak.listing import LedgerFile
from core.homes.vak.recall.documents import said
from core.homes.vak.summaries import source_of, summarise
from core.homes.vak.transcript import TOOL, role_of, text_of
from core.homes.vak.tree import visibilities
from core.recall.index import Category, Document, Index, files

#: Seconds a ledger must have been left alone: one being written may change unnoticed meanwhile.
SETTLED = 0.05
#: Bytes of ledgers between two commits.
_COMMIT = 48_000_000
_SEEN = tuple(Visibility)
#: Nanoseconds that a database has a number for.
_LATEST = (1 << 63) - 1
_STAMP, _WORDS, _RUN, _LAST = "stamp", "words", "run", "last"
#: Messages that one run can take in, as a power of two.
_RUN_BITS = 32

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class _Taken:
    """A ledger as it was read for the index."""

    ledger: Ledger
    seen: dict[int, Visibility]


def update(
    home: Path, folder: Path, people: Index, *, progress: Progress, cancelled: Cancelled
) -> bool:
    """Take in what changed since the last time; true when the index is then up to date.

    ``progress`` is told how many bytes of how many are looked at. False at once when another
    process builds it, or when the disk or a library failed: then it is made anew the next time.
    """
    if not files.available():
        return False
    try:
        with files.writing(folder) as mine:
            if not mine:
                return False
            return _Build(home, folder, people, progress, cancelled).run()
    except (OSError, sqlite3.Error, files.IndexTroubleError):
        with suppress(OSError):
            delete(folder)
        return False


def behind(home: Path, folder: Path) -> int:
    """Bytes of ledgers that are not indexed as they stand now; 0 where no index can be made."""
    if not files.available():
        return 0
    try:
        with catalogue.reading(folder) as known:
            listed = known.ledgers() if known else {}
    except sqlite3.Error:
        listed = {}
    return sum(
        file.size
        for file in ledger_files(home)
        if file.file not in listed or listed[file.file].identity != identity_of(file)
    )


def delete(folder: Path) -> None:
    """Remove everything of the index but the lock."""
    for name in (atoms.FOLDER, PEOPLE):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in (catalogue.NAME, f"{catalogue.NAME}-wal", f"{catalogue.NAME}-shm"):
        (folder / name).unlink(missing_ok=True)
    (folder / atoms.VOCABULARY).unlink(missing_ok=True)


class _Build:
    """One run of an update; the caller holds the index."""

    def __init__(
        self, home: Path, folder: Path, people: Index, progress: Progress, cancelled: Cancelled
    ) -> None:
        self._home = home
        self._folder = folder
        self._people = people
        self._progress = progress
        self._cancelled = cancelled
        self._whole = True
        self._next = 0
        self._gone: list[int] = []

    def run(self) -> bool:
        if not self._is_sound():
            delete(self._folder)
        found = {file.file: file for file in ledger_files(self._home)}
        with catalogue.writing(self._folder) as known:
            new = not known.value(_STAMP)
            if new:
                known.put(_STAMP, secrets.token_hex(8))
            # Numbers that a killed run gave away are never given again.
            run = int(known.value(_RUN) or 0) + 1
            known.put(_RUN, str(run))
            known.commit()
            self._next = run << _RUN_BITS
            writer = atoms.Writer(self._folder, new=new)
            try:
                self._forget(known, writer, found)
                stamp = known.value(_STAMP)
                fed = self._people.feed(
                    stamp,
                    lambda after: self._documents(known, writer, found, after),
                    total=max(1, known.count()),
                    progress=lambda done: None,
                    cancelled=self._cancelled,
                )
                if not fed:
                    # Whatever is left of it is taken in without the other index.
                    for _ in self._documents(known, writer, found, self._next):
                        pass
                self._commit(known, writer)
                self._people.drop(self._gone)
                writer.finish()
            except BaseException:
                with suppress(files.IndexTroubleError):
                    writer.give_up()
                raise
        return self._whole

    def _is_sound(self) -> bool:
        """Whether what is there belongs together and can be gone on with."""
        try:
            with catalogue.reading(self._folder) as known:
                return known is not None and is_whole(known, atoms.Reader(self._folder))
        except (sqlite3.Error, files.IndexTroubleError, OSError):
            return False

    def _forget(self, known: Catalogue, writer: atoms.Writer, found: dict[str, LedgerFile]) -> None:
        gone = [each.number for each in known.ledgers().values() if each.file not in found]
        self._gone += known.ids(gone)
        for number in gone:
            writer.drop(number)
        known.drop(gone)

    def _documents(
        self,
        known: Catalogue,
        writer: atoms.Writer,
        found: dict[str, LedgerFile],
        after: int,
    ) -> Iterator[Document]:
        """What people's index has not yet: of ledgers that are indexed, then of those that are
        taken in on the way."""
        yield from self._behind(known, found, after)
        indexed = known.ledgers()
        waiting = [
            file
            for file in found.values()
            if file.file not in indexed or indexed[file.file].identity != identity_of(file)
        ]
        total, done, open_ = sum(file.size for file in waiting), 0, 0
        for file in waiting:
            if self._cancelled():
                self._whole = False
                return
            old = indexed.get(file.file)
            yield from self._take(known, writer, file, old.number if old else None)
            done += file.size
            open_ += file.size
            self._progress(done, total)
            if open_ >= _COMMIT:
                self._commit(known, writer)
                open_ = 0

    def _behind(
        self, known: Catalogue, found: dict[str, LedgerFile], after: int
    ) -> Iterator[Document]:
        late = list(known.after(after))
        known_of = known.summaries({name for name, _ in late})
        sources = {name: source_of(summary) for name, (_, summary) in known_of.items()}
        for name, row in late:
            file = found.get(name)
            entry = read_row(file, row) if file else None
            if file is not None and entry is not None:
                yield _document(row.id, file, entry, sources[name])

    def _take(
        self, known: Catalogue, writer: atoms.Writer, file: LedgerFile, old: int | None
    ) -> Iterator[Document]:
        if abs(time.time() - file.touched / 1e9) < SETTLED:
            self._whole = False
            return
        taken = _read(file)
        if taken is None:
            return
        ledger = taken.ledger
        if any(not -_LATEST <= entry.at <= _LATEST for entry in ledger.entries):
            return
        if old is not None:
            self._gone += known.ids([old])
            writer.drop(old)
        summary = summarise(ledger)
        number = known.add(file, ledger.lines, summary)
        rows = []
        spoken = [entry for entry in ledger.entries if entry.kind == MESSAGE]
        for entry in spoken:
            self._next += 1
            line = entry.line
            seen = _SEEN.index(taken.seen[line.number])
            rows.append(
                Row(
                    self._next,
                    number,
                    line.ordinal,
                    line.number,
                    line.offset,
                    len(line.data),
                    entry.at,
                    seen,
                )
            )
            writer.add(self._next, number, said(entry))
        known.add_messages(rows)
        known.put(_LAST, str(self._next))
        for row, entry in zip(rows, spoken, strict=True):
            yield _document(row.id, file, entry, source_of(summary))

    def _commit(self, known: Catalogue, writer: atoms.Writer) -> None:
        # The words before the list of ledgers: what is listed can be found.
        known.put(_WORDS, str(writer.commit()))
        known.commit()


def is_whole(known: Catalogue, reader: atoms.Reader) -> bool:
    """Whether the words of everything that is listed are there."""
    return reader.size >= int(known.value(_WORDS) or 0) and reader.documents >= known.count()


def read_row(file: LedgerFile, row: Row) -> Entry | None:
    """The entry of a message, read where it stands; ``None`` if it is not there any more."""
    line = Line(row.number, row.ordinal, row.start, b"", True)
    return read_entry(file.path, row.size, line)


def _read(file: LedgerFile) -> _Taken | None:
    """The ledger in the very state it was listed in, else nothing."""
    try:
        with open_ledger(file.path) as stream:
            ledger = from_lines(lines(stream))
            status = os.fstat(stream.fileno())
    except OSError:
        return None
    state = (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
    if state != file.identity:
        return None
    return _Taken(ledger, visibilities(ledger))


def _document(key: int, file: LedgerFile, entry: Entry, source: str) -> Document:
    role = role_of(entry)
    category = Category.TOOL if role == TOOL else Category.SAID
    return Document(key, file.file, role, category, entry.at / 1e9, text_of(entry), source)
