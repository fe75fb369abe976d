"""Changes of a note's status as outcomes: retired, superseded, archived, and active again.

Read through a view, so that a plan is sealed on the rows it was made from. Nothing is deleted, and
each is taken back by another (specs, memory-rag 3 and 5; to bring a note back is signoff's own).
"""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import UnreadableError
from core.homes.rag.nodes import (
    ACTIVE,
    ARCHIVED,
    LONGEST_REASON,
    RETIRED,
    SHORT,
    SHOWN_REASON,
    SUPERSEDED,
    Metadata,
    Node,
    decode,
    encode,
    scrubbed,
)
from core.homes.rag.store import MODE, record_path
from core.model import Change, EntryChange, NodeKind, Outcome
from core.model import Node as FileNode
from core.view import View

#: What goes when a note becomes active again.
_TRACES = ("superseded_by", "retired_reason", "merged_into")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a note lies: the database's name and the collection."""

    file: str
    collection: str

    def of(self, name: str) -> str:
        """The record of one note."""
        return record_path(self.file, self.collection, name)


def retire(view: View, place: Place, name: str, reason: str) -> Outcome:
    """Take a note out because it is wrong or over; one that is not live stays as it is."""
    node = read(view, place, name)
    if node is None:
        return unknown(name)
    if not node.live:
        return _already(node)
    reason = scrubbed(reason).strip()[:LONGEST_REASON]
    metadata = {**node.metadata, "status": RETIRED, "retired_reason": reason}
    why = f" ({reason[:SHOWN_REASON]})" if reason else ""
    said = f"retired {name[:SHORT]}{why}"
    return _changed("ok", said, place, node, metadata)


def supersede(view: View, place: Place, name: str, by: str) -> Outcome:
    """Say that the note ``by`` took the place of ``name``, whatever its status was.

    A note cannot take its own place, nor one that took its place before.
    """
    node, successor = read(view, place, name), read(view, place, by)
    if node is None or successor is None:
        return unknown(by if node else name)
    if node.status == SUPERSEDED and node.text("superseded_by") == by:
        return _already(node)
    if name in (step.id for step in chain(view, place, by)):
        return Outcome(
            "invalid", f"{by[:SHORT]} cannot take the place of {name[:SHORT]}: that would be a ring"
        )
    metadata = {**node.metadata, "status": SUPERSEDED, "superseded_by": by}
    said = f"{name[:SHORT]} is replaced by {by[:SHORT]}"
    return _changed("ok", said, place, node, metadata)


def archive(view: View, place: Place, name: str, merged_into: str = "") -> Outcome:
    """Put a note away; ``merged_into`` names the wiki page that has it now."""
    node = read(view, place, name)
    if node is None:
        return unknown(name)
    if not node.live:
        return _already(node)
    metadata = {**node.metadata, "status": ARCHIVED}
    if merged_into:
        metadata["merged_into"] = merged_into
    return _changed("archived", f"{name[:SHORT]} is archived", place, node, metadata)


def reactivate(view: View, place: Place, name: str) -> Outcome:
    """Make a note active again; what its last status left behind goes."""
    node = read(view, place, name)
    if node is None:
        return unknown(name)
    if node.live:
        return Outcome("noop", f"already {node.status} — nothing changed")
    kept = {key: value for key, value in node.metadata.items() if key not in _TRACES}
    said = f"{name[:SHORT]} is active again (it was {node.status})"
    return _changed("restored", said, place, node, {**kept, "status": ACTIVE})


def chain(view: View, place: Place, name: str) -> list[Node]:
    """The note and those that took its place, one after the other; a ring ends where it closes."""
    found: list[Node] = []
    seen: set[str] = set()
    while name and name not in seen:
        seen.add(name)
        node = read(view, place, name)
        if node is None:
            break
        found.append(node)
        name = node.text("superseded_by")
    return found


def read(view: View, place: Place, name: str) -> Node | None:
    """The note ``name``, as a recorded read. Raises :class:`UnreadableError`."""
    record = view.node(place.of(name))
    if record is None:
        return None
    if record.kind is not NodeKind.FILE:
        raise UnreadableError("The note store cannot be read", "Try again in a moment")
    return decode(place.collection, name, record.data)


def unknown(written: str) -> Outcome:
    """There is no such note, or more than one."""
    return Outcome("no_match", f"no single memory note matches {written!r}; nothing changed")


def _already(node: Node) -> Outcome:
    return Outcome("noop", f"already {node.status} — nothing changed")


def _changed(category: str, message: str, place: Place, node: Node, metadata: Metadata) -> Outcome:
    after = Node(node.collection, node.id, node.document, metadata)
    change = Change(place.of(node.id), _file(node), _file(after))
    pair = EntryChange(f"{node.status}: {node.document}", f"{after.status}: {node.document}")
    return Outcome(category, message, (change,), entries=(pair,), claims=frozenset({node.id}))


def _file(node: Node) -> FileNode:
    return FileNode(NodeKind.FILE, encode(node), MODE)
