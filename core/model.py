"""What every part of signoff shares: nodes, changes, findings, outcomes, receipts. All frozen.

Paths are text, relative to the home, with ``/`` between parts (``skills/ops/x/SKILL.md``); a path
outside the home (``skills.external_dirs``) is absolute. Undecodable names carry surrogate escapes,
as :func:`os.fsdecode` makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class NodeKind(StrEnum):
    """What a path holds. ``OTHER`` is a device, pipe or socket: never read, never written."""

    FILE = "file"
    DIR = "dir"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Node:
    """One thing on disk. ``data``: a file's bytes, a link's target, empty for a folder.

    ``mode`` holds the permission bits only (``0o644``); links have none (0).
    """

    kind: NodeKind
    data: bytes = b""
    mode: int = 0


class Severity(StrEnum):
    """How much a finding matters to a careful person."""

    INFO = "info"
    WARNING = "warning"
    DANGER = "danger"


#: Places one finding highlights; more are only counted.
MAX_SPANS = 200


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a careful person should know before deciding.

    ``at`` says where: a path of the home, or ``path:offset`` with a code-point offset. ``spans``
    are what to highlight, at most :data:`MAX_SPANS`: code points of the text at that path, as the
    agent reads it (LF line ends).
    """

    code: str
    severity: Severity
    message: str
    at: str | None = None
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """One path before and after, with exact bytes and mode; ``None`` is "absent".

    A ``cache`` is a file the agent rebuilds at will: it is removed as it stands when the plan is
    committed, and no seal depends on it.
    """

    path: str
    before: Node | None
    after: Node | None
    cache: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """A whole folder renamed. ``path`` exists before, ``to`` after; never both."""

    path: str
    to: str


class RowAction(StrEnum):
    """What a row edit does to one field of a row, or to the whole row."""

    SET = "set"
    ADD = "add"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class RowEdit:
    """One field of one row in a JSON file the agent rewrites all the time.

    ``SET`` writes ``new`` into ``field`` (``old`` is what was there when planned, for undo);
    ``ADD`` adds the number ``new`` to whatever stands there when it is committed;
    ``DROP`` removes the whole row ``key`` (``field`` is ``""``, ``old`` the row).
    ``default`` is the row to start from when the file has none under ``key``.
    ``sealed`` says the plan depends on ``old``: if it moved, nothing is written.
    """

    path: str
    key: str
    action: RowAction
    field: str = ""
    old: Any = None
    new: Any = None
    default: Mapping[str, Any] | None = None
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class RowUndo:
    """Takes row edits back: the before-bytes if the file has not moved, else only their fields."""

    path: str
    before: Node | None
    after: Node
    edits: tuple[RowEdit, ...]


AnyChange = Change | Move | RowEdit | RowUndo


@dataclass(frozen=True, slots=True)
class Budget:
    """A store's size before and after, in code points with delimiters; ``target`` is its name."""

    target: str
    before: int
    after: int
    limit: int


@dataclass(frozen=True, slots=True)
class Match:
    """How a patch found its place: the strategy's name and the spans it replaces.

    Spans are code-point offsets ``(start, end)`` into the file's text with LF line ends.
    """

    strategy: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class EntryChange:
    """One memory entry before and after; ``None`` when it was added or removed."""

    before: str | None
    after: str | None


#: Categories that mean "done"; every other word of the vocabulary is a refusal.
SUCCESS = frozenset(
    {"ok", "noop", "rejected", "undone", "pinned_ok", "unpinned", "archived", "restored"}
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a replay or a guard says would happen; the body of a plan, without disk or seal.

    ``category`` is the precise word of the contract's vocabulary, ``message`` one plain sentence.
    ``changes`` stand in the order they are written and leave out the pending record.
    ``claims`` name what it touches (an entry, a file, a skill): two proposals that share one are
    rivals. ``locks`` are the agent's lock files, relative to the home; ``exclusive`` are files of
    the home that are made for the length of the commit: while another's is there, nothing is done.
    """

    category: str
    message: str
    changes: tuple[AnyChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    budget: Budget | None = None
    match: Match | None = None
    entries: tuple[EntryChange, ...] = ()
    claims: frozenset[str] = frozenset()
    locks: tuple[str, ...] = ()
    exclusive: tuple[str, ...] = ()

    @property
    def lands(self) -> bool:
        """Whether it would succeed (``noop`` changes no byte, yet is a success)."""
        return self.category in SUCCESS


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a commit did. ``changed``: paths written; ``journal``: the entry that can undo it.

    ``next``: when the agent sees it and what to do next. ``bulk``: the bulk step it is a part of.
    ``findings``: what is said about a plan that nobody looked at before it was committed.
    """

    subject: str
    ok: bool
    category: str
    message: str
    changed: tuple[str, ...] = ()
    entries: tuple[EntryChange, ...] = ()
    journal: int | None = None
    next: str = ""
    bulk: int | None = None
    findings: tuple[Finding, ...] = ()
