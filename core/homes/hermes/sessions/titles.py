"""The titles of all sessions, folded for a search and kept in memory.

Every search of people looks at every title. To read and fold them costs tens of milliseconds where
tens of thousands of sessions have one, so it is done once, and checked: an index over the titles
tells in a few milliseconds whether they are the same.
"""

from __future__ import annotations

import math
import os
import threading
from bisect import bisect_left, insort
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.homes.hermes.sessions.catalogue import is_settled
from core.homes.hermes.sessions.ground import Ground, look
from core.homes.hermes.sessions.opening import DATABASE, Database, Row
from core.homes.hermes.sessions.parts import BATCH
from core.homes.hermes.sessions.values import number, word
from core.recall.words import flat

_KEPT = 4
# The table's own rows are long; of them only the id is read, which stands at their beginning.
_TITLED = "(SELECT rowid AS row, title FROM sessions WHERE title IS NOT NULL)"
# With lengths, since a title may hold any sign; three texts are made faster than one.
_WRITTEN = (
    "SELECT group_concat(title, ''), group_concat(length(title)), group_concat(rowid)"
    " FROM sessions WHERE title IS NOT NULL"
)


class Titled(NamedTuple):
    """A session with a title: no message of it is later than ``newest`` or earlier than ``oldest``
    (seconds since 1970; a message without a time counts as said at 0). ``flat`` is the title as
    :func:`core.recall.words.flat` has it."""

    newest: float
    oldest: float
    title: str
    id: str
    flat: str


class _Kept(NamedTuple):
    """``ground`` is what all of it is true of, ``None`` where that is not sure; ``through`` the
    last message that was read."""

    file: tuple[int, int]
    ground: Ground | None
    written: Row
    through: int
    titles: Sequence[Titled]


class Titles:
    """The titles of the last few databases of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}

    def of(self, db: Database, home: Path) -> Sequence[Titled]:
        """All sessions that have a title, those first whose newest message is the newest.

        Messages are taken to keep their times, and newer ones to have greater ids.
        """
        if "title" not in db.columns("sessions"):
            return ()
        path = os.path.realpath(home / DATABASE)
        ground = look(path)
        with self._lock:
            kept = self._kept.get(path)
        if ground is None:
            return _read(db)
        if kept is not None and kept.ground == ground and kept.file == ground.file:
            return kept.titles
        through = int(db.rows("SELECT max(id) FROM messages")[0][0] or 0)
        (written,) = db.rows(_WRITTEN)
        titles: Sequence[Titled] | None = None
        if kept is not None and kept.file == ground.file and kept.written == written:
            titles = _spoken(db, kept, through)
        if titles is None:
            titles = _read(db)
        still = is_settled(ground) and look(path) == ground
        self._keep(path, _Kept(ground.file, ground if still else None, written, through, titles))
        return titles

    def _keep(self, path: str, kept: _Kept) -> None:
        with self._lock:
            self._kept.pop(path, None)
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[path] = kept


def _read(db: Database) -> list[Titled]:
    latest, first = "NULL", "NULL"
    if "timestamp" in db.columns("messages"):
        latest, first = (
            f"(SELECT {name}(m.timestamp) FROM messages m WHERE m.session_id = s.id)"
            for name in ("max", "min")
        )
    sql = (
        f"SELECT s.id, t.title, {latest}, {first}"
        f" FROM {_TITLED} t CROSS JOIN sessions s ON s.rowid = t.row"
    )
    return sorted(map(_titled, db.rows(sql)), key=_order)


def _titled(row: Row) -> Titled:
    key, title, latest, first = row
    said = word(title)
    return Titled(*_between(latest, first), said, word(key), flat(said))


def _between(latest: object, first: object) -> tuple[float, float]:
    # What is no number is greater than all numbers to SQLite, so that some may be hidden behind it.
    newest = 0.0 if latest is None else number(latest)
    oldest = number(first)
    return (
        math.inf if newest is None else max(newest, 0.0),
        math.inf if oldest is None else oldest,
    )


def _order(each: Titled) -> tuple[float, str]:
    return -each.newest, each.title


def _spoken(db: Database, kept: _Kept, through: int) -> Sequence[Titled] | None:
    """The titles kept, with the times of what was said since; ``None`` where all must be read."""
    if through < kept.through or "timestamp" not in db.columns("messages"):
        return None
    if through == kept.through:
        return kept.titles
    # The plus sign: SQLite would rather go through all messages in the order of their sessions.
    sql = (
        "SELECT session_id, max(timestamp), min(timestamp) FROM messages WHERE id > ?"
        " GROUP BY +session_id"
    )
    rows = db.rows(sql, (kept.through,))
    said = {word(key): _between(latest, first) for key, latest, first in rows}
    titles = list(kept.titles)
    old = [each for each in titles if each.id in said]
    for each in old:
        del titles[titles.index(each, bisect_left(titles, _order(each), key=_order))]
        newest, oldest = said.pop(each.id)
        wider = each._replace(newest=max(each.newest, newest), oldest=min(each.oldest, oldest))
        insort(titles, wider, key=_order)
    new = list(said)
    for start in range(0, len(new), BATCH):
        some = new[start : start + BATCH]
        marks = ", ".join("?" * len(some))
        sql = f"SELECT 1 FROM sessions WHERE title IS NOT NULL AND id IN ({marks}) LIMIT 1"
        # A row that was used again for another session, which bears the same title.
        if db.rows(sql, some):
            return None
    return titles
