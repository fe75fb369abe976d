"""signoff's own note store: one SQLite file with full text, no model, no service."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.errors import SignoffError, UnreadableError
from core.homes.rag import own_search, schema
from core.homes.rag.lexical import Query
from core.homes.rag.nodes import (
    ACTIVE,
    ARCHIVED,
    MIRROR,
    Metadata,
    Node,
    Resolved,
    decode,
    encode,
    flat,
    project_of,
    resolved,
    usable_prefix,
)
from core.homes.rag.own_rows import (
    ROW,
    STATUS,
    get,
    insert,
    made_number,
    node_in,
    number_of,
    put_vectors,
    update,
)
from core.homes.rag.store import MODE, Event, Vector, moved, record_of, replaced_in, status_event
from core.model import Node as FileNode
from core.model import NodeKind

#: Characters of an event's detail that are kept.
_DETAIL = 500
#: Nodes that are asked for at once.
_TOGETHER = 500


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing a note did. ``was``: its status, if it was there before: then nothing changed.

    ``archived``: ids of the oldest, put away because of the cap.
    """

    id: str
    was: str | None = None
    archived: tuple[str, ...] = ()


class OwnStore:
    """The store in ``folder``; made with the first note. ``clock`` tells the time of events."""

    kind = "signoff"
    file = schema.FILE

    def __init__(self, folder: Path, clock: Callable[[], datetime]) -> None:
        self.folder = folder
        self.clock = clock

    # -- reading -----------------------------------------------------------------------------------

    def collections(self) -> Mapping[str, Metadata]:
        with schema.reading(self.folder) as db:
            if db is None:
                return {}
            rows = db.execute("SELECT name, metadata FROM collections WHERE ready ORDER BY name")
            return {name: _metadata_of(name, metadata) for name, metadata in rows}

    def count(self, collection: str) -> int:
        return self._counted(collection, "1")

    def staged(self, collection: str) -> int:
        return self._counted(collection, f"live = 1 AND source <> '{MIRROR}'")

    def nodes(self, collection: str, *, live: bool = False, by_id: bool = False) -> Iterator[Node]:
        where, order = "WHERE live = 1" if live else "", "id" if by_id else "number"
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return
            rows = db.execute(f"SELECT {ROW} FROM nodes_{number} {where} ORDER BY {order}")
            for row in rows:
                yield node_in(collection, row)

    def get(self, collection: str, name: str) -> Node | None:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return None
            return get(db, number, collection, name)

    def resolve(self, collection: str, written: str) -> Resolved:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return resolved(written, False, ())
            found = db.execute(f"SELECT 1 FROM nodes_{number} WHERE id = ?", (written,)).fetchone()
            if found or usable_prefix(written):
                return resolved(written, bool(found), ())
            # The characters of a usable beginning mean nothing to GLOB.
            rows = db.execute(
                f"SELECT id FROM nodes_{number} WHERE id GLOB ? ORDER BY id LIMIT 20",
                (f"{written}*",),
            )
            return resolved(written, False, [name for (name,) in rows])

    def search(self, collection: str, query: Query, limit: int) -> list[Node]:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return []
            return own_search.search(db, number, collection, query, limit)

    def newest(self, collection: str, *, status: str = "", limit: int = -1) -> list[Node]:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return []
            where = {"": "1", "live": "live = 1"}.get(status, f"{STATUS} = :status")
            # Sorted without the texts, which may be a gigabyte.
            rows = db.execute(
                f"SELECT number FROM nodes_{number} WHERE {where}"
                " ORDER BY created DESC, number DESC LIMIT :limit",
                {"status": status, "limit": limit},
            )
            chosen = [found for (found,) in rows]
            nodes: dict[int, Node] = {}
            for start in range(0, len(chosen), _TOGETHER):
                some = chosen[start : start + _TOGETHER]
                sql = f"SELECT number, {ROW} FROM nodes_{number} WHERE number IN"
                for found, *row in db.execute(f"{sql} ({', '.join('?' * len(some))})", some):
                    nodes[found] = node_in(collection, row)
            return [nodes[found] for found in chosen]

    def statuses(self, collection: str) -> Mapping[str, int]:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return {}
            sql = f"SELECT {STATUS} AS status, count(*) FROM nodes_{number} GROUP BY status"
            return dict(db.execute(sql).fetchall())

    def replaced(self, collection: str) -> Mapping[str, Sequence[str]]:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return {}
            # Without the texts: only a few of them are wanted.
            rows = db.execute(
                f"SELECT id, '', metadata FROM nodes_{number} WHERE live = 0"
                " ORDER BY created DESC, number DESC"
            )
            return replaced_in(node_in(collection, row) for row in rows)

    def vectors(
        self, collection: str, *, live: bool = False, names: Sequence[str] | None = None
    ) -> Iterator[Vector]:
        where = "WHERE live = 1" if live else ""
        if names is not None:
            where = f"WHERE id IN ({', '.join('?' * len(names))})"
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return
            rows = db.execute(
                f"SELECT id, embedder, data FROM vectors_{number} JOIN nodes_{number}"
                f" USING (number) {where} ORDER BY number",
                names or (),
            )
            for name, embedder, data in rows:
                yield Vector(name, embedder, array("f", data))

    def numbered(self, collection: str) -> int:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return 0
            return int(db.execute(f"SELECT count(*) FROM vectors_{number}").fetchone()[0])

    def events(self, project: str = "") -> list[Event]:
        with schema.reading(self.folder) as db:
            if db is None:
                return []
            rows = db.execute(
                "SELECT ts, project, event, detail FROM events WHERE project = ? OR ? = ''"
                " ORDER BY ts, rowid",
                (project, project),
            )
            return [Event(*row) for row in rows]

    # -- writing -----------------------------------------------------------------------------------

    def learn(self, node: Node, cap: int) -> Stored:
        """Store a note unless its id is there, and archive the oldest past ``cap``, as one.

        Only notes whose status is active are archived, mirrors of the agent's file never are and
        do not count. Raises :class:`UnreadableError`.
        """
        with schema.writing(self.folder) as db:
            number = made_number(db, node.collection)
            project = project_of(node.collection)
            if there := get(db, number, node.collection, node.id):
                self._log(db, project, "learn_dup", node.id)
                return Stored(node.id, there.status)
            insert(db, number, [node])
            self._log(db, project, "learn", node.text("kind"))
            archived = self._archive_past(db, number, node.collection, cap)
            return Stored(node.id, None, archived)

    def keep_vectors(self, collection: str, vectors: Sequence[Vector]) -> None:
        """Keep the numbers of nodes that are there. Raises :class:`UnreadableError`."""
        with schema.writing(self.folder) as db:
            put_vectors(db, made_number(db, collection), vectors)

    def log(self, project: str, event: str, detail: str) -> None:
        """Write one line of the log; a store that is not there yet, or takes none, has none."""
        if not os.path.exists(self.folder / schema.FILE):
            return
        try:
            with schema.writing(self.folder, patience=0.05) as db:
                self._log(db, project, event, detail)
        except UnreadableError:
            return

    def _archive_past(
        self, db: sqlite3.Connection, number: int, collection: str, cap: int
    ) -> tuple[str, ...]:
        where = f"live = 1 AND source <> '{MIRROR}'"
        live = db.execute(f"SELECT count(*) FROM nodes_{number} WHERE {where}").fetchone()[0]
        archived: list[str] = []
        if live > cap:
            rows = db.execute(
                f"SELECT {ROW} FROM nodes_{number} WHERE {where} ORDER BY created, number"
            ).fetchall()
            for row in rows:
                node = node_in(collection, row)
                if len(archived) == live - cap:
                    break
                if node.status == ACTIVE:
                    archived.append(node.id)
                    metadata = {**node.metadata, "status": ARCHIVED}
                    update(db, number, Node(collection, node.id, node.document, metadata))
                    self._log(db, project_of(collection), "archive", node.id)
        return tuple(archived)

    def _log(self, db: sqlite3.Connection, project: str, event: str, detail: str) -> None:
        row = (self.clock().timestamp(), project, event, detail[:_DETAIL])
        db.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)

    # -- as records of a home ----------------------------------------------------------------------

    def holds(self, path: str) -> bool:
        """See :class:`core.records.Records`."""
        return record_of(self.file, path) is not None

    def node(self, path: str) -> FileNode | None:
        """See :class:`core.records.Records`."""
        collection, name = record_of(self.file, path) or ("", "")
        try:
            found = self.get(collection, name)
        except SignoffError as problem:
            raise OSError(errno.EIO, problem.message) from problem
        return FileNode(NodeKind.FILE, encode(found), MODE) if found else None

    def put(self, path: str, before: FileNode | None, after: FileNode | None) -> None:
        """See :class:`core.records.Records`. A row is never made or removed here."""
        collection, name = record_of(self.file, path) or ("", "")
        if before is None or after is None:
            raise OSError(errno.EPERM, "Notes are never removed, only their status changes", path)
        wanted = decode(collection, name, after.data)
        with schema.writing(self.folder) as db:
            number = number_of(db, collection)
            found = get(db, number, collection, name) if number is not None else None
            if number is None or found is None or encode(found) != before.data:
                raise moved(path)
            update(db, number, wanted)
            if event := status_event(found, wanted):
                self._log(db, project_of(collection), *event)

    def _counted(self, collection: str, where: str) -> int:
        with schema.reading(self.folder) as db:
            number = number_of(db, collection)
            if db is None or number is None:
                return 0
            row = db.execute(f"SELECT count(*) FROM nodes_{number} WHERE {where}").fetchone()
            return int(row[0])


def _metadata_of(collection: str, written: str) -> Metadata:
    try:
        return flat(json.loads(written))
    except (ValueError, TypeError) as problem:
        raise UnreadableError(
            f"What is kept of {collection} is damaged in the store: {problem}",
            "Restore an export into another store",
        ) from problem
