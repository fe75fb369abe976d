"""A collection built aside and put in place in one transaction; what was there stays until then.

Each batch is one transaction with the state of the work, so a build that was ended goes on where
it was, and one that failed leaves the old collection as it stands.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import LockedError, UnreadableError
from core.homes.rag import schema
from core.homes.rag.nodes import Node, project_of
from core.homes.rag.own import OwnStore
from core.homes.rag.own_rows import insert, made_number, make, number_of, put_vectors
from core.homes.rag.store import Vector


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest did: files and pieces in place now, and files it went on behind."""

    project: str
    collection: str
    files: int
    pieces: int
    resumed_at: int = 0


class Build:
    """The next state of ``collection``, under way. ``key`` says from what it is made.

    ``state`` is what the last batch left; it is empty at the beginning. A build with another key
    is thrown away.
    """

    def __init__(self, store: OwnStore, collection: str, key: str) -> None:
        self._store, self._collection = store, collection
        self._token = secrets.token_hex(8)
        with schema.writing(store.folder) as db:
            row = db.execute(
                "SELECT number, progress FROM collections WHERE name = ? AND NOT ready",
                (collection,),
            ).fetchone()
            found = json.loads(row[1]) if row else {}
            self.state: dict[str, Any] = found.get("state", {}) if found.get("key") == key else {}
            self._key = key
            if row and not self.state:
                forget(db, row[0])
            if row and self.state:
                self._number = int(row[0])
                self._save(db)
            else:
                self._number = make(db, collection, ready=False, progress=self._progress())

    def restart(self) -> None:
        """Throw away what is there of it."""
        with self._own() as db:
            forget(db, self._number)
            self.state = {}
            self._number = make(db, self._collection, ready=False, progress=self._progress())

    def add(
        self, nodes: Sequence[Node], state: Mapping[str, Any], vectors: Sequence[Vector] = ()
    ) -> None:
        """One batch. Raises :class:`UnreadableError`, and :class:`LockedError` if another build of
        the same collection took over."""
        with self._own() as db:
            insert(db, self._number, nodes)
            put_vectors(db, self._number, vectors)
            self.state = dict(state)
            self._save(db)

    def finish(self, expected: int, event: str, detail: str) -> int:
        """Put it in the place of what was there; the number of nodes.

        Raises :class:`UnreadableError` when fewer nodes are there than were sent.
        """
        with self._own() as db:
            count = int(db.execute(f"SELECT count(*) FROM nodes_{self._number}").fetchone()[0])
            if count < expected:
                raise UnreadableError(
                    f"Only {count} of {expected} pieces were stored", "The old ones are in place"
                )
            old = number_of(db, self._collection)
            if old is not None:
                # Its own metadata (the distance of its numbers) is not the ingest's to change.
                db.execute(
                    "UPDATE collections SET metadata = (SELECT metadata FROM collections"
                    " WHERE number = ?) WHERE number = ?",
                    (old, self._number),
                )
                forget(db, old)
            db.execute(
                "UPDATE collections SET ready = 1, progress = '' WHERE number = ?", (self._number,)
            )
            row = (self._store.clock().timestamp(), project_of(self._collection), event, detail)
            db.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
            return count

    def _own(self) -> _Owned:
        return _Owned(self._store, self._number, self._token)

    def _progress(self) -> str:
        return json.dumps({"key": self._key, "token": self._token, "state": self.state})

    def _save(self, db: sqlite3.Connection) -> None:
        db.execute(
            "UPDATE collections SET progress = ? WHERE number = ?",
            (self._progress(), self._number),
        )


class _Owned:
    """A transaction in which the build is still ours."""

    def __init__(self, store: OwnStore, number: int, token: str) -> None:
        self._writing = schema.writing(store.folder)
        self._number, self._token = number, token

    def __enter__(self) -> sqlite3.Connection:
        db = self._writing.__enter__()
        row = db.execute(
            "SELECT progress FROM collections WHERE number = ?", (self._number,)
        ).fetchone()
        if row is None or not row[0] or json.loads(row[0])["token"] != self._token:
            problem = LockedError(
                "Another ingest of the same collection took over", "Wait until it ends"
            )
            self._writing.__exit__(type(problem), problem, None)
            raise problem
        return db

    def __exit__(self, *problem: Any) -> bool | None:
        return self._writing.__exit__(*problem)


def add_in_place(store: OwnStore, nodes: Sequence[Node], vectors: Sequence[Vector] = ()) -> None:
    """Nodes of one collection into what is there; those with the same id are replaced."""
    if not nodes:
        return
    with schema.writing(store.folder) as db:
        number = made_number(db, nodes[0].collection)
        insert(db, number, nodes)
        put_vectors(db, number, vectors)


def forget(db: sqlite3.Connection, number: int) -> None:
    """Take a collection away, with all that is in it."""
    schema.drop_tables(db, number)
    db.execute("DELETE FROM collections WHERE number = ?", (number,))
