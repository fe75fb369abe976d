"""What sessions are to each other: one column, four meanings.

Classes and the choice of the newest part follow hermes-agent 0.21 (spec hermes-sessions 1.7), which
reads what 0.19.0 wrote as well: a marker that a compacted session inherited from further up is not
its own, and a reset is told from work that was handed out. Loops and missing parents end a walk.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from core.conversations import Relation
from core.homes.hermes.sessions.opening import Database
from core.homes.hermes.sessions.parts import Part, children_of, parts_of

COMPRESSION, BRANCHED = "compression", "branched"
#: Reasons of an end after which the same person goes on in a new session.
RESETS = frozenset({"session_reset", "session_switch", "idle", "daily", "suspended",
                    "resume_pending_expired"})  # fmt: skip
#: Parts of a chain that are followed at most, as the agent does.
LONGEST_CHAIN = 100


class Kin(Protocol):
    """Where relatives are looked up."""

    def get(self, session_id: str) -> Part | None:
        """One session."""

    def children(self, session_id: str) -> Iterable[Part]:
        """The sessions that name it as their parent, in no order."""


class Known:
    """Relatives among sessions that were all read."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = {part.id: part for part in parts}
        self._children: dict[str, list[Part]] = {}
        for part in self._parts.values():
            if part.parent_id:
                self._children.setdefault(part.parent_id, []).append(part)

    def get(self, session_id: str) -> Part | None:
        """One session."""
        return self._parts.get(session_id)

    def children(self, session_id: str) -> Iterable[Part]:
        """The sessions that name it as their parent, in no order."""
        return self._children.get(session_id, ())

    def __iter__(self) -> Iterator[Part]:
        return iter(self._parts.values())


def with_families(db: Database, parts: Iterable[Part]) -> Known:
    """These sessions and all of their families, a few statements for each generation."""
    found = {part.id: part for part in parts}
    asked: set[str] = set()
    while True:
        above = {part.parent_id for part in found.values() if part.parent_id}
        above -= asked | found.keys()
        if not above:
            break
        asked |= above
        found.update((part.id, part) for part in parts_of(db, list(above)))
    below = list(found)
    while below:
        fresh = [part for part in children_of(db, below) if part.id not in found]
        found.update((part.id, part) for part in fresh)
        below = [part.id for part in fresh]
    return Known(found.values())


class Asked:
    """Relatives that are asked for one by one, each once."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._parts: dict[str, Part | None] = {}
        self._children: dict[str, list[Part]] = {}

    def get(self, session_id: str) -> Part | None:
        """One session."""
        if session_id not in self._parts:
            found = parts_of(self._db, [session_id])
            self._parts[session_id] = found[0] if found else None
        return self._parts[session_id]

    def children(self, session_id: str) -> Iterable[Part]:
        """The sessions that name it as their parent, in no order."""
        if session_id not in self._children:
            found = children_of(self._db, [session_id])
            self._children[session_id] = found
            self._parts.update((part.id, part) for part in found)
        return self._children[session_id]


class Lineage:
    """The family relations among sessions."""

    def __init__(self, kin: Kin) -> None:
        self._kin = kin
        self._roots: dict[str, str] = {}

    def root(self, part: Part) -> str:
        """The id where the family of ``part`` begins, whatever the classes on the way.

        Of sessions that are each other's ancestors it is the one that began first.
        """
        path: dict[str, Part] = {}
        at = part
        while at.id not in self._roots and at.id not in path:
            path[at.id] = at
            above = self._kin.get(at.parent_id) if at.parent_id else None
            if above is None:
                self._roots[at.id] = at.id
                break
            at = above
        if at.id not in self._roots:
            ids = list(path)
            loop = [path[each] for each in ids[ids.index(at.id) :]]
            first = min(loop, key=lambda each: (each.started, each.id)).id
            self._roots.update((each.id, first) for each in loop)
        root = self._roots[at.id]
        self._roots.update((each, root) for each in path)
        return root

    def parent(self, part: Part) -> Part | None:
        """The session it came from; ``None`` for a root and where that session is gone."""
        if not part.parent_id or self.root(part) == part.id:
            return None
        return self._kin.get(part.parent_id)

    def relation(self, part: Part) -> Relation:
        """What ``part`` is to its parent."""
        parent = self.parent(part)
        if parent is None:
            return _alone(part)
        cut = parent.end_reason == COMPRESSION
        if _own(part.delegated, parent, cut):
            return Relation.DELEGATE
        if _own(part.branched, parent, cut) or (
            parent.end_reason == BRANCHED
            and parent.ended is not None
            and part.started >= parent.ended
        ):
            return Relation.BRANCH
        if _own(part.reset, parent, cut) or (
            parent.end_reason in RESETS
            and part.session_key != ""
            and part.session_key == parent.session_key
        ):
            return Relation.RESET
        return Relation.CONTINUATION if cut and part.source != "tool" else Relation.DELEGATE

    def children(self, part: Part) -> list[Part]:
        """What came out of ``part``, oldest first."""
        found = [each for each in self._kin.children(part.id) if self.parent(each) is not None]
        return sorted(found, key=lambda each: (each.started, each.id))

    def chain(self, part: Part) -> tuple[Part, ...]:
        """The parts of its chain from the first to the newest; ``part`` is always among them."""
        above: list[Part] = []
        at = part
        while self.relation(at) is Relation.CONTINUATION:
            parent = self.parent(at)
            if parent is None:
                break
            at = parent
            above.append(at)
        return (*reversed(above), *self.forward(part))

    def forward(self, part: Part) -> Iterator[Part]:
        """``part`` and the parts that continue it, each the one the agent would go on with."""
        seen: set[str] = set()
        at: Part | None = part
        while at is not None and at.id not in seen and len(seen) <= LONGEST_CHAIN:
            seen.add(at.id)
            yield at
            at = self._next(at)

    def _next(self, part: Part) -> Part | None:
        if part.end_reason != COMPRESSION:
            return None
        going_on = [
            each
            for each in self._kin.children(part.id)
            if self.relation(each) is Relation.CONTINUATION
        ]
        return max(going_on, key=_preference, default=None)

    def tree(self, root: Part) -> Iterator[tuple[Part, int]]:
        """``root`` and all that came out of it with its depth, parents first, depth first."""
        waiting, seen = [(root, 0)], {root.id}
        while waiting:
            part, depth = waiting.pop()
            yield part, depth
            below = [each for each in self.children(part) if each.id not in seen]
            seen.update(each.id for each in below)
            waiting += [(each, depth + 1) for each in reversed(below)]


def _own(marker: str, parent: Part, cut: bool) -> bool:
    """Whether a marker is meant for this bond: a compacted session hands its markers down."""
    return marker != "" and (not cut or marker == parent.id)


def _alone(part: Part) -> Relation:
    if part.delegated or (part.parent_id and part.source == "subagent"):
        return Relation.DELEGATE
    if not part.parent_id:
        return Relation.ROOT
    if part.branched:
        return Relation.BRANCH
    return Relation.RESET if part.reset else Relation.ROOT


def _preference(part: Part) -> tuple[int, float, float, str]:
    """The greatest goes on: cut again before still open before closed, then the latest."""
    state = 2 if part.end_reason == COMPRESSION else 1 if part.ended is None else 0
    return state, part.active, part.started, part.id
