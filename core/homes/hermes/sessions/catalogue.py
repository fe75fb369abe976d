"""Every conversation of a database as one row each, kept in memory while nothing changes.

A session's row holds its system prompt, tens of kilobytes that SQLite must step over to reach what
a list needs: reading all of them is what costs. So it is done once for each state of the files.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.clock import now
from core.conversations import Relation
from core.homes.hermes.sessions.ground import Ground
from core.homes.hermes.sessions.lineage import Known, Lineage
from core.homes.hermes.sessions.opening import Database
from core.homes.hermes.sessions.parts import Part, all_parts

#: Sources of sessions that no person held: left out unless asked for. hermes-agent 0.19.0 leaves
#: out the last two, 0.21 all three.
HIDDEN = frozenset({"kanban", "subagent", "tool"})
#: Seconds after which a file's last change is surely seen by a reader: a writer's commit is on
#: disk, with its time, a moment before others can read it.
SETTLED = 2.0
_KEPT = 4
_LISTED = frozenset({Relation.ROOT, Relation.BRANCH, Relation.RESET})


class Kind(NamedTuple):
    """What decides whether a conversation is listed at all."""

    source: str
    archived: bool
    hidden: bool


class Conversation(NamedTuple):
    """A row of the list: the parts of a chain from the first to the newest.

    It comes from where its first part came from; its newest part says whether it is archived, so
    that an archived beginning does not hide what goes on (hermes-agent #55588).
    """

    chain: tuple[Part, ...]
    relation: Relation
    active: float
    kind: Kind

    @property
    def first(self) -> Part:
        """Where it begins."""
        return self.chain[0]

    @property
    def tip(self) -> Part:
        """Its newest part."""
        return self.chain[-1]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The conversations of a database, newest activity first, and the relations among them."""

    conversations: tuple[Conversation, ...]
    lineage: Lineage


def is_settled(ground: Ground) -> bool:
    """Whether the files have stood still for long enough to be sure of what was read."""
    return now().timestamp() - ground.changed_at > SETTLED


def build(db: Database) -> Catalogue:
    """Read all sessions. Delegates and the later parts of chains get no row of their own."""
    parts = all_parts(db)
    lineage = Lineage(Known(parts))
    found = []
    for part in parts:
        relation = lineage.relation(part)
        if relation in _LISTED:
            found.append(_conversation(tuple(lineage.forward(part)), relation))
    found.sort(key=lambda each: (each.active, each.first.started, each.tip.id), reverse=True)
    return Catalogue(tuple(found), lineage)


def _conversation(chain: tuple[Part, ...], relation: Relation) -> Conversation:
    first, tip = chain[0], chain[-1]
    kind = Kind(first.source, tip.archived, tip.hidden)
    return Conversation(chain, relation, max([part.active for part in chain]), kind)


class Catalogues:
    """The last few catalogues of this process, by the database and the state of its files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Path, tuple[Ground, Catalogue]] = {}

    def get(self, path: Path, ground: Ground) -> Catalogue | None:
        """The catalogue of exactly this state."""
        with self._lock:
            kept = self._kept.get(path)
        return kept[1] if kept and kept[0] == ground else None

    def keep(self, path: Path, ground: Ground, catalogue: Catalogue) -> None:
        """Keep it, unless the files changed a moment ago."""
        if not is_settled(ground):
            return
        with self._lock:
            self._kept.pop(path, None)
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[path] = (ground, catalogue)
