"""The files of a home as signoff last saw them: what tells a change by someone else apart.

A look happens under signoff's own lock, so no decision of ours is half done meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.database import Database
from core.journal import Intent, State, insert
from core.journal_rows import Hashed, hashed_step, keep

#: The verb of an entry that no decision of ours made.
OUTSIDE = "outside"


@dataclass(frozen=True, slots=True)
class Sighting:
    """One file as it was seen: its hash (``""``: not there), and a stamp that moves with it."""

    sha256: str
    stamp: str


@dataclass(frozen=True, slots=True)
class Look:
    """The last look at a home: the newest entry then, and every file that was there."""

    entry: int
    files: Mapping[str, Sighting]


@dataclass(frozen=True, slots=True)
class Decided:
    """What one entry of ours wrote since: its steps with hashes in place of bytes."""

    entry: int
    steps: tuple[Hashed, ...]


class Sightings(Database):
    """The looks at homes, in the journal's own file."""

    def last(self, home: str) -> Look | None:
        """The last look at ``home``, ``None`` if there was none."""
        key = json.dumps(home)
        with self._reading() as db:
            row = db.execute("SELECT entry FROM looks WHERE home = ?", (key,)).fetchone()
            if row is None:
                return None
            files = db.execute(
                "SELECT path, sha256, stamp FROM sightings WHERE home = ?", (key,)
            ).fetchall()
        return Look(row[0], {json.loads(path): Sighting(*seen) for path, *seen in files})

    def newest(self, home: str) -> int:
        """The newest entry of ``home``, 0 if there is none."""
        with self._reading() as db:
            found = db.execute(
                "SELECT coalesce(max(id), 0) FROM entries WHERE home = ?", (json.dumps(home),)
            ).fetchone()[0]
        return int(found)

    def decided_since(self, home: str, entry: int) -> tuple[Decided, ...]:
        """What was written by entries newer than ``entry``, oldest first; no outside edits."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT id, steps.body FROM entries JOIN steps ON entry = id"
                " WHERE home = ? AND id > ? AND state IN (?, ?) AND verb != ?"
                " ORDER BY id, number",
                (json.dumps(home), entry, State.DONE, State.TORN, OUTSIDE),
            ).fetchall()
        found: dict[int, list[Hashed]] = {}
        for number, body in rows:
            found.setdefault(number, []).append(hashed_step(json.loads(body)))
        return tuple(Decided(number, tuple(steps)) for number, steps in found.items())

    def kept(self, hashes: Collection[str]) -> dict[str, bytes]:
        """``hash -> bytes`` of those that are kept."""
        with self._reading() as db:
            found = {}
            for digest in hashes:
                row = db.execute("SELECT data FROM blobs WHERE sha256 = ?", (digest,)).fetchone()
                if row is not None:
                    found[digest] = row[0]
        return found

    def look(
        self,
        home: str,
        entry: int,
        at: datetime,
        files: Mapping[str, Sighting | None],
        blobs: Collection[bytes],
        edits: Sequence[tuple[Intent, Sequence[str]]],
    ) -> tuple[int, ...]:
        """Write down a look and the outside edits it found, all or nothing; their entries.

        ``files`` are those that differ from the last look (``None``: forgotten); an edit comes
        with the paths whose bytes are not kept.
        """
        key = json.dumps(home)
        with self._writing() as db:
            numbers = tuple(insert(db, intent, State.DONE, paths) for intent, paths in edits)
            for data in blobs:
                keep(db, data)
            for path, seen in files.items():
                place = json.dumps(path)
                if seen is None:
                    db.execute("DELETE FROM sightings WHERE home = ? AND path = ?", (key, place))
                else:
                    row = (key, place, seen.stamp, seen.sha256)
                    db.execute("INSERT OR REPLACE INTO sightings VALUES (?, ?, ?, ?)", row)
            newest = max(entry, *numbers) if numbers else entry
            db.execute(
                "INSERT OR REPLACE INTO looks VALUES (?, ?, ?)", (key, newest, at.isoformat())
            )
        return numbers
