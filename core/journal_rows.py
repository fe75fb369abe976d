"""How the journal writes a step down: JSON, with the bytes in a table of their own, kept once."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.model import Change, Move, Node, NodeKind, RowAction, RowEdit
from core.view import sha256


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a commit writes. ``edits``: the row edits a change of a row file came from.

    ``taken_back`` says that the change reverses them: it is a step of an undo.
    """

    change: Change | Move
    edits: tuple[RowEdit, ...] = ()
    taken_back: bool = False


@dataclass(frozen=True, slots=True)
class Hashed:
    """A step without its bytes: ``to`` for a move, else the hashes before and after (of files)."""

    path: str
    to: str | None = None
    before: str | None = None
    after: str | None = None


def hashed_step(body: Mapping[str, Any]) -> Hashed:
    """The step that was written as ``body``, without its bytes."""
    if "to" in body:
        return Hashed(body["path"], body["to"])
    return Hashed(body["path"], None, _hash_in(body["before"]), _hash_in(body["after"]))


def step_out(step: Step, db: sqlite3.Connection) -> dict[str, Any]:
    """A step as JSON; its bytes are stored."""
    if isinstance(step.change, Move):
        return {"path": step.change.path, "to": step.change.to}
    return {
        "path": step.change.path,
        "before": _node_out(step.change.before, db),
        "after": _node_out(step.change.after, db),
        "cache": step.change.cache,
        "edits": [
            [e.path, e.key, e.action, e.field, e.old, e.new, _plain(e.default), e.sealed]
            for e in step.edits
        ],
        "taken_back": step.taken_back,
    }


def step_in(body: Mapping[str, Any], db: sqlite3.Connection) -> Step:
    """The step that was written as ``body``."""
    if "to" in body:
        return Step(Move(body["path"], body["to"]))
    change = Change(
        body["path"], _node_in(body["before"], db), _node_in(body["after"], db), body["cache"]
    )
    edits = tuple(
        RowEdit(path, key, RowAction(action), field, old, new, default, sealed)
        for path, key, action, field, old, new, default, sealed in body["edits"]
    )
    return Step(change, edits, body["taken_back"])


def _plain(default: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if default is None else dict(default)


def _node_out(node: Node | None, db: sqlite3.Connection) -> list[Any] | None:
    if node is None:
        return None
    return [node.kind, node.mode, keep(db, node.data)]


def keep(db: sqlite3.Connection, data: bytes) -> str:
    """Store bytes, once; their hash."""
    digest = sha256(data)
    db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (digest, data))
    return digest


def _node_in(body: Sequence[Any] | None, db: sqlite3.Connection) -> Node | None:
    if body is None:
        return None
    kind, mode, digest = body
    data = db.execute("SELECT data FROM blobs WHERE sha256 = ?", (digest,)).fetchone()[0]
    return Node(NodeKind(kind), data, mode)


def _hash_in(body: Sequence[Any] | None) -> str | None:
    return None if body is None or body[0] == NodeKind.DIR else body[2]
