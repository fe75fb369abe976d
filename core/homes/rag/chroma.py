"""A Chroma store read with the standard library: texts, metadata and statuses, also while Chroma
writes. The file is opened read-only and nothing is made beside it.

Layout of chromadb 1.5.9 (specs, memory-rag 12): what a collection's own tables do not have yet
stands in a queue, which is applied here as Chroma would.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from core import sqlite
from core.errors import SignoffError, UnreadableError
from core.homes.rag import chroma_vectors, lexical
from core.homes.rag.lexical import Query
from core.homes.rag.nodes import Metadata, Node, Resolved, Scalar, encode, resolved, usable_prefix
from core.homes.rag.store import MODE, Event, Vector, record_of, replaced_in
from core.model import Node as FileNode
from core.model import NodeKind
from core.sqlite import Fault

FILE = "chroma.sqlite3"
USAGE = "usage.db"
#: Seconds to wait for a Chroma that holds its lock, and for whoever writes the log.
BUSY, LOG_BUSY = 5.0, 1.0
_DOCUMENT = "chroma:document"
_TABLES = {"collections", "segments", "embeddings", "embedding_metadata", "embeddings_queue"}
_ADD, _UPDATE, _UPSERT, _DELETE = range(4)

T = TypeVar("T")


@dataclass
class _Loaded:
    """One collection as it stood when the file had ``stamp``."""

    stamp: tuple[int, int]
    nodes: dict[str, Node] = field(default_factory=dict)


class ChromaReader:
    """The Chroma store in ``folder``, read-only."""

    kind = "chroma"
    file = FILE

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._loaded: dict[str, _Loaded] = {}

    # -- as a store --------------------------------------------------------------------------------

    def collections(self) -> Mapping[str, Metadata]:
        found = self._ask(_collections)
        return {name: metadata for name, (_, metadata) in sorted(found.items())}

    def count(self, collection: str) -> int:
        return len(self._nodes(collection))

    def staged(self, collection: str) -> int:
        return sum(node.staged for node in self._nodes(collection).values())

    def nodes(self, collection: str, *, live: bool = False, by_id: bool = False) -> Iterator[Node]:
        found = list(self._nodes(collection).values())
        if by_id:
            found.sort(key=lambda node: node.id)
        return (node for node in found if node.live or not live)

    def get(self, collection: str, name: str) -> Node | None:
        return self._nodes(collection).get(name)

    def resolve(self, collection: str, written: str) -> Resolved:
        found = self._nodes(collection)
        if written in found or usable_prefix(written):
            return resolved(written, written in found, ())
        return resolved(written, False, sorted(n for n in found if n.startswith(written))[:20])

    def search(self, collection: str, query: Query, limit: int) -> list[Node]:
        return lexical.rank(query, self.nodes(collection, live=True), limit)

    def newest(self, collection: str, *, status: str = "", limit: int = -1) -> list[Node]:
        found = [
            node
            for node in reversed(self._nodes(collection).values())
            if status in ("", node.status) or (status == "live" and node.live)
        ]
        found.sort(key=lambda node: node.text("created"), reverse=True)
        return found if limit < 0 else found[:limit]

    def statuses(self, collection: str) -> Mapping[str, int]:
        return Counter(node.status for node in self._nodes(collection).values())

    def replaced(self, collection: str) -> Mapping[str, Sequence[str]]:
        return replaced_in(self.newest(collection))

    def vectors(
        self, collection: str, *, live: bool = False, names: Sequence[str] | None = None
    ) -> Iterator[Vector]:
        """The numbers of all nodes that have some; the embedder is not written in the store."""
        known = self._nodes(collection)
        found = self._ask(lambda db: chroma_vectors.vectors(db, self.folder, collection))
        return (
            Vector(name, "", found[name])
            for name, node in known.items()
            if name in found and (node.live or not live) and (names is None or name in names)
        )

    def numbered(self, collection: str) -> int:
        return self.count(collection)

    def events(self, project: str = "") -> list[Event]:
        found = read_usage(self.folder / USAGE)
        return [event for event in found if project in ("", event.project)]

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
        """See :class:`core.records.Records`: here it is always refused."""
        raise OSError(errno.EROFS, "A Chroma store is only read without the extra `chroma`", path)

    # -- reading -----------------------------------------------------------------------------------

    def _nodes(self, collection: str) -> dict[str, Node]:
        stamp = self._stamp()
        loaded = self._loaded.get(collection)
        if loaded is None or loaded.stamp != stamp:
            nodes = self._ask(lambda db: _load(db, collection))
            loaded = self._loaded[collection] = _Loaded(stamp, nodes)
        return loaded.nodes

    def _stamp(self) -> tuple[int, int]:
        try:
            status = os.stat(self.folder / FILE)
        except OSError as problem:
            raise _unreadable(self.folder, problem) from problem
        return status.st_mtime_ns, status.st_size

    def _ask(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What ``work`` answers in one transaction. Raises :class:`UnreadableError`."""
        file = self.folder / FILE
        try:
            with contextlib.closing(sqlite.connect_anywhere(file, BUSY)) as db:
                db.execute("BEGIN")
                tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
                if _TABLES - tables:
                    raise UnreadableError(
                        f"{file} is no Chroma store that signoff knows",
                        "It reads those of chromadb 1.x",
                    )
                return work(db)
        except (OSError, sqlite3.Error) as problem:
            raise _unreadable(self.folder, problem) from problem


def _unreadable(folder: Path, problem: Exception) -> UnreadableError:
    said, hint = str(problem), "Check who may read it and its folder"
    match sqlite.fault(problem):
        case Fault.LOCKED:
            said, hint = "Chroma is writing to it", "Try again in a moment"
        case Fault.READ_ONLY:
            said, hint = "it was left in the middle of a write", "Open it once with Chroma"
        case Fault.DAMAGED:
            said, hint = "it is damaged", "Restore an export into another store"
    return UnreadableError(f"The Chroma store {folder} cannot be read: {said}", hint)


def _collections(db: sqlite3.Connection) -> dict[str, tuple[str, Metadata]]:
    """``name -> id, metadata``; of two databases with the same name the first one's."""
    found: dict[str, tuple[str, Metadata]] = {}
    for number, name in db.execute("SELECT id, name FROM collections ORDER BY rowid DESC"):
        rows = db.execute(
            "SELECT key, str_value, int_value, float_value, bool_value FROM collection_metadata"
            " WHERE collection_id = ? ORDER BY key",
            (number,),
        )
        found[name] = (number, {key: _value(*values) for key, *values in rows})
    return found


def _load(db: sqlite3.Connection, collection: str) -> dict[str, Node]:
    found = _collections(db).get(collection)
    if found is None:
        return {}
    number = found[0]
    segment = db.execute(
        "SELECT id FROM segments WHERE collection = ? AND scope = 'METADATA'", (number,)
    ).fetchone()
    bodies: dict[str, dict[str, Scalar]] = {}
    if segment is not None:
        names: dict[int, str] = {}
        for row, name in db.execute(
            "SELECT id, embedding_id FROM embeddings WHERE segment_id = ? ORDER BY id", segment
        ):
            names[row] = name
            bodies[name] = {}
        for row, key, *values in db.execute(
            "SELECT m.id, key, string_value, int_value, float_value, bool_value"
            " FROM embedding_metadata m JOIN embeddings e ON e.id = m.id WHERE e.segment_id = ?",
            segment,
        ):
            bodies[names[row]][key] = _value(*values)
    for operation, name, metadata in _queued(db, number, segment[0] if segment else ""):
        _apply(bodies, operation, name, metadata)
    return {name: _node(collection, name, body) for name, body in bodies.items()}


def _queued(
    db: sqlite3.Connection, number: str, segment: str
) -> Iterator[tuple[int, str, dict[str, Any] | None]]:
    """What waits to be applied to the metadata of a collection, in order."""
    row = db.execute("SELECT seq_id FROM max_seq_id WHERE segment_id = ?", (segment,)).fetchone()
    last = row[0] if row else 0
    # Older files hold the number as bytes, the highest first.
    done = int.from_bytes(last, "big") if isinstance(last, bytes) else int(last or 0)
    for operation, name, metadata in db.execute(
        "SELECT operation, id, metadata FROM embeddings_queue"
        " WHERE topic LIKE ? AND seq_id > ? ORDER BY seq_id",
        (f"%/{number}", done),
    ):
        yield operation, name, json.loads(metadata) if metadata else None


def _apply(
    bodies: dict[str, dict[str, Scalar]], operation: int, name: str, changes: dict[str, Any] | None
) -> None:
    if operation == _DELETE:
        bodies.pop(name, None)
        return
    there = name in bodies
    if there == (operation == _ADD) and operation != _UPSERT:
        # To add what is there, or update what is not, changes nothing.
        return
    body = bodies.setdefault(name, {})
    for key, value in (changes or {}).items():
        if value is None:
            body.pop(key, None)
        elif isinstance(value, str | int | float):
            body[key] = value


def _node(collection: str, name: str, body: dict[str, Scalar]) -> Node:
    document = body.pop(_DOCUMENT, "")
    return Node(collection, name, document if isinstance(document, str) else "", body)


def _value(text: Any, whole: Any, real: Any, truth: Any) -> Scalar:
    if text is not None:
        return str(text)
    if truth is not None:
        return bool(truth)
    if whole is not None:
        return int(whole)
    return None if real is None else float(real)


def read_usage(file: Path) -> list[Event]:
    """The log of the original, oldest first; none where it cannot be read."""
    try:
        with contextlib.closing(sqlite.connect(file, LOG_BUSY)) as db:
            rows = db.execute("SELECT ts, project, event, detail FROM events ORDER BY ts, rowid")
            return [Event(float(ts), str(p), str(e), str(d or "")) for ts, p, e, d in rows]
    except (sqlite3.Error, TypeError, ValueError):
        return []
