"""The index of a home's past: where it lies, what it is fed with, whether it may answer.

It lies in signoff's own folder and is never the truth: what it finds is read from the home.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from core.conversations import Cancelled
from core.desk import origins, witnesses
from core.desk.opening import Opened
from core.errors import UnreadableError
from core.homes.base import Kind
from core.homes.hermes.sessions import fulltext
from core.homes.hermes.sessions.opening import DATABASE, Database, NoDatabaseError, reading
from core.homes.vak.index import PEOPLE
from core.recall.gather import CRON, TOOL, Place
from core.recall.index import Category, Document, Index, IndexState, Status

#: The folder of all indexes in signoff's own.
FOLDER = "index"
#: Characters of a message that can be found by the index.
LONGEST = 1 << 20
#: Messages of a session that are taken in anew at a time.
MOVED = 1_000


def index_of(opened: Opened) -> Index:
    """The index of the home; nothing is read."""
    folder = index_folder(opened)
    if opened.found.kind is Kind.VAK:
        folder = folder / PEOPLE
    return _index(folder, opened.settings.search_index)


def index_folder(opened: Opened) -> Path:
    """Where the index of the home lies."""
    home = os.path.realpath(opened.found.home)
    name = hashlib.sha256(os.fsencode(home)).hexdigest()
    return opened.state / FOLDER / name


@cache
def _index(folder: Path, on: bool) -> Index:
    # Kept: an index holds its files open, and opening them costs more than a search.
    return Index(folder, on=on)


def identity(db: Database, opened: Opened) -> str:
    """What names the file the index is made from: another file, or one whose beginning was
    deleted, has another name. ``""`` for a past without a message."""
    first = db.rows("SELECT id, session_id FROM messages ORDER BY id LIMIT 1")
    if not first:
        return ""
    try:
        file = os.stat(opened.found.home / DATABASE)
    except OSError as problem:
        raise UnreadableError(f"{DATABASE} cannot be read: {problem.strerror}") from problem
    return f"{file.st_dev}:{file.st_ino}:{first[0][0]}:{first[0][1]}"


def ready(opened: Opened, db: Database, index: Index) -> IndexState | None:
    """How far the index reaches if it may answer for this very file, else ``None``."""
    state = index.state()
    if state.status is not Status.READY or state.identity != identity(db, opened):
        return None
    return state if witnesses.newest_holds(db, witnesses.load(_marks(opened))) else None


def _marks(opened: Opened) -> Path:
    return index_folder(opened).with_suffix(".seen.json")


def _origins(opened: Opened) -> Path:
    return index_folder(opened).with_suffix(".origins.json")


def update(
    opened: Opened, index: Index, *, progress: Callable[[int, int], None], cancelled: Cancelled
) -> bool:
    """Take in what was said since the last time; true when the index is then up to date.

    ``progress`` is told how many of how many messages are in. Where the setting is off the index
    is deleted. Raises :class:`UnreadableError` for a past that cannot be read.
    """
    if opened.found.kind is Kind.VAK:
        return _update_ledgers(opened, index, progress, cancelled)
    if not opened.settings.search_index:
        index.delete()
        _marks(opened).unlink(missing_ok=True)
        origins.forget(_origins(opened))
        return False
    try:
        with reading(opened.found.home, cancelled=cancelled) as db:
            named = identity(db, opened)
            total = int(db.rows("SELECT count(*) FROM messages")[0][0]) if named else 0
            if not total:
                return False
            if not witnesses.hold(db, witnesses.load(_marks(opened))):
                # Other messages stand under the ids it knows: a backup was restored, say.
                index.delete()
                origins.forget(_origins(opened))
            _mend(db, index)
            seen = _move(db, index, _origins(opened))
            done = index.feed(
                named,
                lambda after: documents(db, after),
                total=total,
                progress=lambda done: progress(done, total),
                cancelled=cancelled,
            )
            if through := index.state().through_id:
                witnesses.save(_marks(opened), witnesses.take(db, through))
                if seen is not None:
                    origins.save(_origins(opened), seen)
            return done
    except NoDatabaseError:
        return False


def _mend(db: Database, index: Index) -> None:
    """Let the index forget what searches met and the home does not hold any more, and take in
    anew what says something else now."""
    changed = sorted(index.changed)
    index.changed.difference_update(changed)
    if not index.renew(_documents(db, changed)):
        index.changed.update(changed)
    asked = sorted(index.missing)
    index.missing.difference_update(asked)
    there = {place.id for place in fulltext.places(db, asked)}
    gone = [key for key in asked if key not in there]
    if not index.drop(gone):
        index.missing.update(gone)


def _move(db: Database, index: Index, path: Path) -> dict[str, str] | None:
    """Take in anew what was said in sessions that are of another source now, or hidden.

    The origins to keep once the index is fed; ``None`` where this must wait.
    """
    if not origins.is_time(path):
        return None
    now, through = origins.take(db), index.state().through_id
    for session_id in origins.moved(origins.load(path), now):
        ids = [key for key in fulltext.said_in(db, session_id, -1) if key <= through]
        for start in range(0, len(ids), MOVED):
            if not index.renew(_documents(db, ids[start : start + MOVED])):
                return None
    return now


def behind(opened: Opened) -> int:
    """Bytes of ledgers that a question would look through line by line, and an update would not
    leave to it; 0 on homes of other kinds, and where no index is kept."""
    if opened.found.kind is not Kind.VAK or not opened.settings.search_index:
        return 0
    from core.homes.vak.index import building

    return building.behind(opened.found.home, index_folder(opened))


def _update_ledgers(
    opened: Opened, index: Index, progress: Callable[[int, int], None], cancelled: Cancelled
) -> bool:
    from core.homes.vak.index import building

    folder = index_folder(opened)
    if not opened.settings.search_index:
        building.delete(folder)
        return False
    return building.update(opened.found.home, folder, index, progress=progress, cancelled=cancelled)


def documents(db: Database, after: int) -> Iterator[Document]:
    """Messages with a greater id than ``after``, in order, as the index takes them."""
    while True:
        sql = "SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ?"
        ids = [int(row[0]) for row in db.rows(sql, (after, fulltext.BATCH))]
        if not ids:
            return
        after = ids[-1]
        yield from _documents(db, ids)


def _documents(db: Database, ids: list[int]) -> Iterator[Document]:
    texts = fulltext.texts(db, ids, LONGEST)
    for place in fulltext.places(db, ids):
        yield Document(
            place.id,
            place.session_id,
            place.role,
            category(place),
            place.at,
            texts.get(place.id, ""),
            place.origin.source,
        )


def category(place: Place) -> Category:
    """Where a message was said: see :class:`Category`."""
    if place.origin.hidden:
        return Category.HIDDEN
    if place.role == TOOL:
        return Category.CRON_TOOL if place.origin.source == CRON else Category.TOOL
    return Category.CRON if place.origin.source == CRON else Category.SAID
