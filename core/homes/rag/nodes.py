"""Nodes of a note store: their metadata, statuses, ids, and the collections they lie in.

Rules of hermes-memory-rag (specs, memory-rag 2 to 5). A node is a text with an id and flat
metadata; nothing of one is ever deleted, its status says whether it counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeAlias

from core.errors import UnreadableError

Scalar: TypeAlias = str | int | float | bool | None
Metadata: TypeAlias = Mapping[str, Scalar]

ACTIVE, SUPERSEDED, RETIRED, ARCHIVED = "active", "superseded", "retired", "archived"
#: Statuses that take a node out of every answer; any other word counts as live.
NOT_LIVE = (SUPERSEDED, RETIRED, ARCHIVED)
#: The project whose notes every project gets.
GLOBAL = "global"
#: The source of what mirrors the agent's own memory file: it is never staged.
MIRROR = "memory_file"
#: Keys the libraries of a Chroma store keep for themselves.
_HIDDEN = frozenset({"doc_id", "document_id", "ref_doc_id"})
#: Characters a note keeps; of a retirement's reason, and of it in the answer.
LONGEST, LONGEST_REASON, SHOWN_REASON = 500, 200, 80
#: Characters of an id that are shown, and the fewest that name a note.
SHORT, SHORTEST = 8, 4

_SLUG = re.compile(r"[^a-z0-9]+")
_COLLECTION = re.compile(r"rag_(.+)__(code|wiki|memory)")
_PREFIX = re.compile(r"[0-9a-f-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Layer(StrEnum):
    """What a collection holds."""

    WIKI = "wiki"
    CODE = "code"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Node:
    """One text of a collection. ``metadata`` is flat and complete, hidden keys included."""

    collection: str
    id: str
    document: str
    metadata: Metadata = field(default_factory=dict)

    def text(self, key: str) -> str:
        """A metadata field as text, ``""`` where it is missing or no text."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""

    @property
    def status(self) -> str:
        """Its status as it stands; a missing one counts as active."""
        return self.text("status") or ACTIVE

    @property
    def live(self) -> bool:
        """Whether it is found: neither retired, superseded nor put away."""
        return self.status not in NOT_LIVE

    @property
    def layer(self) -> str:
        """By its own word, else by its collection."""
        return self.text("layer") or layer_of(self.collection)

    @property
    def staged(self) -> bool:
        """Whether it waits to be merged: live, and no mirror of the agent's memory file."""
        return self.live and self.text("source") != MIRROR

    @property
    def shown(self) -> Metadata:
        """The metadata that says something about the text."""
        return {
            key: value
            for key, value in self.metadata.items()
            if not key.startswith("_") and key not in _HIDDEN
        }


# -- names -----------------------------------------------------------------------------------------


def slug(project: str) -> str:
    """The part of a collection's name that stands for a project; two projects can share one."""
    return _SLUG.sub("-", project.strip().lower()).strip("-") or "default"


def collection_of(project: str, layer: Layer) -> str:
    """The collection of one layer of a project."""
    return f"rag_{slug(project)}__{layer}"


def project_of(collection: str) -> str:
    """The slug in a collection's name, ``""`` for a collection of another kind.

    Neither is one whose name no project leads to: its nodes could be counted and never listed.
    """
    found = _COLLECTION.fullmatch(collection)
    return found[1] if found and slug(found[1]) == found[1] else ""


def layer_of(collection: str) -> str:
    """The layer in a collection's name, ``""`` for a collection of another kind."""
    found = _COLLECTION.fullmatch(collection)
    return found[2] if found else ""


def stamp(now: datetime) -> str:
    """A time as ``created`` holds it."""
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


# -- ids -------------------------------------------------------------------------------------------


def node_id(*parts: str) -> str:
    """The id made of ``parts``, the first of them ``mem``, ``code`` or ``wiki``."""
    digest = hashlib.sha1("\0".join(parts).encode(), usedforsecurity=False).hexdigest()
    return "-".join((digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32]))


def learnt(text: str) -> str:
    """A text as a note keeps it: trimmed, the rest behind :data:`LONGEST` cut; ``""`` for none."""
    text = scrubbed(text).strip()
    return text[: LONGEST - 3] + "…" if len(text) > LONGEST else text


def scrubbed(text: str) -> str:
    """``text`` with U+FFFD for lone surrogates and NUL: no database of texts holds them."""
    # Of a whole store most fields are plain, and each is looked at.
    if text.isascii() and "\0" not in text:
        return text
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


@dataclass(frozen=True, slots=True)
class Resolved:
    """What an id or its beginning names: one id, or the candidates; ``why`` it names none."""

    id: str | None
    candidates: tuple[str, ...] = ()
    why: str = ""


def usable_prefix(written: str) -> str:
    """Why ``written`` can be no beginning of an id; ``""`` if it can."""
    if len(written) < SHORTEST or not _PREFIX.fullmatch(written):
        return f"give at least {SHORTEST} characters of an id (0-9, a-f, dashes)"
    return ""


def resolved(written: str, exact: bool, matches: Sequence[str]) -> Resolved:
    """Which note ``written`` names: an exact id wins, else a beginning that only one has.

    ``matches`` are the ids that begin with it; ``exact`` says that one is it.
    """
    if exact:
        return Resolved(written)
    if why := usable_prefix(written):
        return Resolved(None, (), why)
    if len(matches) == 1:
        return Resolved(matches[0])
    if matches:
        return Resolved(None, tuple(matches), "more than one note begins with it")
    return Resolved(None, (), "no note has it")


# -- one node as bytes -----------------------------------------------------------------------------


def encode(node: Node) -> bytes:
    """A node as one JSON object, a field a line, so that a change of it reads as a diff."""
    body = {"document": node.document, "metadata": dict(node.metadata)}
    text = json.dumps(body, ensure_ascii=False, indent=1, sort_keys=True)
    return f"{text}\n".encode()


def decode(collection: str, name: str, data: bytes) -> Node:
    """The node that :func:`encode` wrote. Raises :class:`UnreadableError`."""
    try:
        body = json.loads(data)
        return Node(collection, name, body["document"], flat(body["metadata"]))
    except (ValueError, KeyError, TypeError) as problem:
        raise UnreadableError(f"{name} is no note ({problem})", "Nothing was changed") from problem


def flat(value: object) -> Metadata:
    """``value`` if it is flat metadata, its texts scrubbed. Raises ``ValueError``."""
    if not isinstance(value, dict):
        raise ValueError("metadata must be an object")
    made: dict[str, Scalar] = {}
    for key, found in value.items():
        if isinstance(found, str):
            found = scrubbed(found)
        elif found is not None and not isinstance(found, int | float):
            raise ValueError(f"metadata {key!r} must be a text, a number or true/false")
        elif isinstance(found, float) and found - found != 0:
            raise ValueError(f"metadata {key!r} is no number")
        made[scrubbed(str(key))] = found
    return made


# -- order -----------------------------------------------------------------------------------------


def oldest_first(nodes: Iterable[Node]) -> list[Node]:
    """By ``created`` as text; those of one second keep their order."""
    return sorted(nodes, key=lambda node: node.text("created"))


def one_line(text: str, limit: int) -> str:
    """A text as an answer shows it: trimmed, line ends as blanks, cut to ``limit`` and ``…``."""
    text = text.strip().replace("\n", " ")
    return text[:limit] + "…" if len(text) > limit else text


def words(text: str) -> list[str]:
    """The words of a text in small letters without accents, as the full text compares them."""
    if text.isascii():
        return _WORD.findall(text.lower())
    folded = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(char for char in folded if not unicodedata.combining(char))
    return _WORD.findall(plain)


_WORD = re.compile(r"[^\W_]+")
