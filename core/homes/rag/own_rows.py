"""Rows of the own store: how a node lies in the tables of its collection."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Sequence
from typing import Any

from core.errors import UnreadableError
from core.homes.rag import schema
from core.homes.rag.nodes import ACTIVE, Metadata, Node, flat
from core.homes.rag.store import Vector

#: The columns that :func:`node_in` takes.
ROW = "id, document, metadata"
#: The status of a row, as :attr:`Node.status` tells it.
STATUS = (
    "coalesce(nullif(CASE json_type(metadata, '$.status') WHEN 'text'"
    f" THEN json_extract(metadata, '$.status') END, ''), '{ACTIVE}')"
)


def number_of(db: sqlite3.Connection | None, collection: str) -> int | None:
    """The number of a collection's tables, ``None`` where there are none."""
    if db is None:
        return None
    row = db.execute(
        "SELECT number FROM collections WHERE name = ? AND ready", (collection,)
    ).fetchone()
    return int(row[0]) if row else None


def made_number(db: sqlite3.Connection, collection: str) -> int:
    """The same; the tables are made where there are none."""
    number = number_of(db, collection)
    return make(db, collection, ready=True) if number is None else number


def make(
    db: sqlite3.Connection,
    collection: str,
    *,
    ready: bool,
    metadata: Metadata | None = None,
    progress: str = "",
) -> int:
    """Tables for a collection: in use at once, or to be filled aside."""
    cursor = db.execute(
        "INSERT INTO collections (name, ready, metadata, progress) VALUES (?, ?, ?, ?)",
        (collection, int(ready), json.dumps(dict(metadata or {}), sort_keys=True), progress),
    )
    number = int(cursor.lastrowid or 0)
    schema.make_tables(db, number)
    return number


def insert(db: sqlite3.Connection, number: int, nodes: Sequence[Node]) -> None:
    """Write nodes; one whose id is there already takes its place."""
    db.executemany(
        f"INSERT INTO nodes_{number} (id, document, metadata, path, live, created, source)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " document = excluded.document, metadata = excluded.metadata, path = excluded.path,"
        " live = excluded.live, created = excluded.created, source = excluded.source",
        [(node.id, node.document, *_derived(node)) for node in nodes],
    )


def update(db: sqlite3.Connection, number: int, node: Node) -> None:
    """Write a node's metadata; its text stays."""
    db.execute(
        f"UPDATE nodes_{number} SET metadata = ?, path = ?, live = ?, created = ?, source = ?"
        " WHERE id = ?",
        (*_derived(node), node.id),
    )


def _derived(node: Node) -> tuple[str, str, int, str, str]:
    return (
        json.dumps(dict(node.metadata), ensure_ascii=False, sort_keys=True),
        node.text("path"),
        int(node.live),
        node.text("created"),
        node.text("source"),
    )


def node_in(collection: str, row: Sequence[Any]) -> Node:
    """The node of a row ``id, document, metadata``. Raises :class:`UnreadableError`."""
    name, document, metadata = row
    try:
        if not isinstance(document, str):
            raise ValueError("its text is no text")
        return Node(collection, str(name), document, flat(json.loads(metadata)))
    except (ValueError, TypeError) as problem:
        raise UnreadableError(
            f"The note {name} is damaged in the store: {problem}",
            "Restore an export into another store",
        ) from problem


def get(db: sqlite3.Connection, number: int, collection: str, name: str) -> Node | None:
    """The node ``name``, if the collection's tables have it."""
    row = db.execute(f"SELECT {ROW} FROM nodes_{number} WHERE id = ?", (name,)).fetchone()
    return node_in(collection, row) if row else None


def put_vectors(db: sqlite3.Connection, number: int, vectors: Sequence[Vector]) -> None:
    """Keep the numbers of nodes that are there."""
    db.executemany(
        f"INSERT OR REPLACE INTO vectors_{number} (number, embedder, dim, data)"
        f" SELECT number, ?, ?, ? FROM nodes_{number} WHERE id = ?",
        [
            (each.embedder, len(each.values), array("f", each.values).tobytes(), each.id)
            for each in vectors
        ],
    )
