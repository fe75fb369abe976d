"""Two stores held side by side, and nodes that have no status yet (specs, memory-rag 11)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from core.homes.rag import lexical, schema
from core.homes.rag.nodes import ACTIVE, Layer, Metadata, Node, encode
from core.homes.rag.own import OwnStore
from core.homes.rag.own_rows import get, number_of, update
from core.homes.rag.store import Store

#: Where a node without a source came from, by its layer.
_SOURCES = {Layer.CODE: "ingest_code", Layer.WIKI: "ingest_wiki", Layer.MEMORY: "learn"}


@dataclass(frozen=True, slots=True)
class Pair:
    """One collection of both stores. ``same``: every text, id and field is."""

    collection: str
    a: int
    b: int
    same: bool

    @property
    def ok(self) -> bool:
        """Whether both hold as many nodes; ``same`` is about their texts."""
        return self.a == self.b


@dataclass(frozen=True, slots=True)
class Compared:
    """Both stores. ``top_a`` and ``top_b`` are the best ids for the query, if one was asked."""

    pairs: tuple[Pair, ...]
    top_a: tuple[str, ...] = ()
    top_b: tuple[str, ...] = ()

    @property
    def identical(self) -> bool:
        """Counts, contents and the order of answers agree."""
        return all(pair.ok and pair.same for pair in self.pairs) and self.top_a == self.top_b


def compare(
    a: Store, b: Store, collection: str | None = None, query: str = "", top: int = 3
) -> Compared:
    """Compare every collection, or one; with ``query`` also what each finds first."""
    names = [collection] if collection else sorted({*a.collections(), *b.collections()})
    pairs = tuple(
        Pair(name, a.count(name), b.count(name), _content(a, name) == _content(b, name))
        for name in names
    )
    if not query:
        return Compared(pairs)
    return Compared(pairs, _best(a, names, query, top), _best(b, names, query, top))


def _best(store: Store, names: list[str], query: str, top: int) -> tuple[str, ...]:
    asked = lexical.parse(query)
    return tuple(node.id for name in names for node in store.search(name, asked, top))


def _content(store: Store, collection: str) -> str:
    hashed = hashlib.sha256()
    for node in store.nodes(collection, by_id=True):
        body = encode(node)
        hashed.update(f"{node.id}\0{len(body)}\0".encode() + body)
    return hashed.hexdigest()


@dataclass(frozen=True, slots=True)
class Stamped:
    """Nodes that lack a status, of all; ``applied`` says that they have one now."""

    stamped: int
    total: int
    applied: bool


def unstamped(store: Store) -> Iterator[tuple[Node, Metadata]]:
    """Each node without a status, with the fields it lacks."""
    for name in store.collections():
        for node in store.nodes(name):
            if lacking := _lacking(node):
                yield node, lacking


def migrate_status(store: Store, *, apply: bool) -> Stamped:
    """Give nodes without a status one; it adds only, and done twice changes nothing.

    Only signoff's own store can be written here. Raises :class:`UnreadableError`.
    """
    total = sum(store.count(name) for name in store.collections())
    found = list(unstamped(store))
    if apply and isinstance(store, OwnStore) and found:
        with schema.writing(store.folder) as db:
            for node, _ in found:
                number = number_of(db, node.collection)
                now = get(db, number, node.collection, node.id) if number is not None else None
                if number is not None and now is not None:
                    metadata = {**now.metadata, **_lacking(now)}
                    update(db, number, Node(now.collection, now.id, now.document, metadata))
    return Stamped(len(found), total, apply)


def _lacking(node: Node) -> Metadata:
    if node.metadata.get("status"):
        return {}
    fields: dict[str, str] = {"status": ACTIVE}
    if "source" not in node.metadata:
        layer = node.layer
        known = Layer(layer) if layer in tuple(Layer) else None
        fields["source"] = _SOURCES[known] if known else "unknown"
    if "created" not in node.metadata:
        fields["created"] = ""
    return fields
