"""What any note store answers, whoever made it; and how one is told from the other."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote

from core.homes.rag.lexical import Query
from core.homes.rag.nodes import (
    ARCHIVED,
    RETIRED,
    SUPERSEDED,
    Metadata,
    Node,
    Resolved,
)

#: The mode a row has as a node of a home; rows have none of their own.
MODE = 0o600


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a store's log: seconds since 1970, the project's slug, what, about what."""

    ts: float
    project: str
    event: str
    detail: str


@dataclass(frozen=True, slots=True)
class Vector:
    """The numbers of one text, and which embedder made them."""

    id: str
    embedder: str
    values: Sequence[float]


class Store(Protocol):
    """A note store. Reading makes nothing; every method may raise :class:`UnreadableError`."""

    @property
    def folder(self) -> Path:
        """Where it lies."""

    @property
    def file(self) -> str:
        """Its database's name: rows stand below it as records of a home."""

    @property
    def kind(self) -> str:
        """``signoff`` or ``chroma``."""

    def collections(self) -> Mapping[str, Metadata]:
        """Every collection with its own metadata, in the order of their names."""

    def count(self, collection: str) -> int:
        """Nodes of any status."""

    def staged(self, collection: str) -> int:
        """Live nodes that are no mirrors of the agent's memory file."""

    def nodes(self, collection: str, *, live: bool = False, by_id: bool = False) -> Iterator[Node]:
        """All nodes in the order they came or of their ids; with ``live`` only those."""

    def get(self, collection: str, name: str) -> Node | None:
        """One node by its whole id."""

    def resolve(self, collection: str, written: str) -> Resolved:
        """Which node an id or the beginning of one names; all statuses take part."""

    def search(self, collection: str, query: Query, limit: int) -> list[Node]:
        """The best live nodes by their words, best first."""

    def newest(self, collection: str, *, status: str = "", limit: int = -1) -> list[Node]:
        """The nodes by their time, the newest first; ``status`` is a word, or ``live``."""

    def statuses(self, collection: str) -> Mapping[str, int]:
        """How many nodes have each status."""

    def replaced(self, collection: str) -> Mapping[str, Sequence[str]]:
        """By the id of a node those whose place it took, the oldest first."""

    def vectors(
        self, collection: str, *, live: bool = False, names: Sequence[str] | None = None
    ) -> Iterator[Vector]:
        """The numbers kept beside the texts, with ``live`` only of live nodes; or of ``names``."""

    def numbered(self, collection: str) -> int:
        """How many nodes may have numbers."""

    def events(self, project: str = "") -> list[Event]:
        """The log, oldest first; or what is in it of one project's slug."""


def replaced_in(nodes: Iterable[Node]) -> Mapping[str, Sequence[str]]:
    """What :meth:`Store.replaced` says, of nodes that stand the newest first."""
    found: dict[str, list[str]] = {}
    for node in reversed([node for node in nodes if node.status == SUPERSEDED]):
        found.setdefault(node.text("superseded_by"), []).append(node.id)
    return found


def record_path(file: str, collection: str, name: str) -> str:
    """The path of a row in its store's home."""
    return f"{file}/{quote(collection, safe='')}/{quote(name, safe='')}"


def record_of(file: str, path: str) -> tuple[str, str] | None:
    """Collection and id of a record's path, ``None`` for any other path."""
    first, _, rest = path.partition("/")
    collection, _, name = rest.partition("/")
    if first != file or not collection or not name or "/" in name:
        return None
    return unquote(collection), unquote(name)


def status_event(before: Node, after: Node) -> tuple[str, str] | None:
    """The log line of a changed status: event and detail; ``None`` where it stays."""
    if before.status == after.status:
        return None
    if after.status == RETIRED:
        return "retire", f"{after.id} {after.text('retired_reason')}".strip()
    if after.status == SUPERSEDED:
        return "supersede", f"{after.id}->{after.text('superseded_by')}"
    if after.status == ARCHIVED:
        return "archive", after.id
    return "reactivate", f"{after.id} ({before.status})"


def moved(path: str) -> OSError:
    """A row that is not what a change was planned on."""
    return OSError(errno.EBUSY, "Another process changed the note meanwhile", path)
