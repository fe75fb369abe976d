"""Every conversation of a database as one row each, kept in memory and brought up to date.

A session's row holds its system prompt, tens of kilobytes that SQLite must step over to reach what
a list needs: reading all of them is what costs. So it is done once, and then for those sessions
that were added or spoken in; see :meth:`Catalogues.of` for what that cannot see.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from core.clock import now
from core.conversations import Relation
from core.homes.hermes.sessions.ground import Ground, look
from core.homes.hermes.sessions.lineage import Known, Lineage
from core.homes.hermes.sessions.opening import Database
from core.homes.hermes.sessions.parts import Part, all_parts, parts_of
from core.homes.hermes.sessions.values import word

#: Sources of sessions that no person held: left out unless asked for. hermes-agent 0.19.0 leaves
#: out the last two, 0.21 all three.
HIDDEN = frozenset({"kanban", "subagent", "tool"})
#: Seconds after which a file's last change is surely seen by a reader: a writer's commit is on
#: disk, with its time, a moment before others can read it.
SETTLED = 2.0
#: Conversations up to which all sessions are read after every change, and seconds after which
#: they are read again anyway.
SMALL, WHOLE = 500, 30.0
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


class Reach(NamedTuple):
    """How far a database was read: the greatest id of a message; of sessions the greatest row and
    their number."""

    message: int
    row: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The conversations of a database, oldest activity first, and the relations among them.

    ``by_first`` has them by the id of their first part, ``kinds`` counts them. ``reach`` is
    ``None`` where a database does not tell what is new in it.
    """

    conversations: tuple[Conversation, ...]
    by_first: Mapping[str, Conversation]
    kinds: Counter[Kind]
    known: Known
    lineage: Lineage
    reach: Reach | None


def is_settled(ground: Ground) -> bool:
    """Whether the files have stood still for long enough to be sure of what was read."""
    return now().timestamp() - ground.changed_at > SETTLED


def build(db: Database) -> Catalogue:
    """Read all sessions. Delegates and the later parts of chains get no row of their own."""
    reach = _reach(db)
    parts = all_parts(db)
    known = Known(parts)
    lineage = Lineage(known)
    found = _listed(lineage, parts)
    found.sort(key=_order)
    kinds = Counter(each.kind for each in found)
    by_first = {each.first.id: each for each in found}
    return Catalogue(tuple(found), by_first, kinds, known, lineage, reach)


def grown(db: Database, before: Catalogue) -> Catalogue | None:
    """``before`` with the sessions that were added or spoken in since; ``None`` where only reading
    everything can tell, since a session or the newest message is gone."""
    reach = _reach(db)
    if before.reach is None or reach is None or reach.message < before.reach.message:
        return None
    fresh = db.rows("SELECT id FROM sessions WHERE rowid > ?", (before.reach.row,))
    added = [word(row[0]) for row in fresh]
    if before.reach.sessions + len(added) != reach.sessions:
        return None
    sql = "SELECT DISTINCT session_id FROM messages WHERE id > ?"
    spoken = [word(row[0]) for row in db.rows(sql, (before.reach.message,))]
    parts = parts_of(db, [*added, *spoken])
    # A session that is gone on with has ended, without a message that says so.
    above = {part.parent_id for part in parts if part.parent_id} - {part.id for part in parts}
    parts += parts_of(db, list(above))
    return replace(renewed(before, parts), reach=reach)


def renewed(before: Catalogue, parts: Iterable[Part]) -> Catalogue:
    """``before`` with these sessions as they are now; ``before`` itself where nothing differs."""
    changed = [part for part in parts if before.known.get(part.id) != part]
    if not changed:
        return before
    known = before.known.having(changed)
    lineage = Lineage(known)
    held = [old for part in changed if (old := before.known.get(part.id)) is not None]
    roots = {before.lineage.root(old) for old in held} | {lineage.root(part) for part in changed}
    was = {part.id for part in _members(before.known, before.lineage, roots)}
    members = _members(known, lineage, roots)
    conversations, by_first = list(before.conversations), dict(before.by_first)
    kinds = before.kinds.copy()
    for first in was | {part.id for part in members}:
        gone = by_first.pop(first, None)
        if gone is not None:
            place = bisect_left(conversations, _order(gone), key=_order)
            del conversations[conversations.index(gone, place)]
            kinds[gone.kind] -= 1
    for new in _listed(lineage, members):
        insort(conversations, new, key=_order)
        by_first[new.first.id] = new
        kinds[new.kind] += 1
    return Catalogue(tuple(conversations), by_first, +kinds, known, lineage, before.reach)


def _members(known: Known, lineage: Lineage, roots: Iterable[str]) -> list[Part]:
    found: dict[str, Part] = {}
    for root in roots:
        begin = known.get(root)
        if begin is not None:
            found.update((part.id, part) for part, _ in lineage.tree(begin))
    return list(found.values())


def _listed(lineage: Lineage, parts: Iterable[Part]) -> list[Conversation]:
    found = []
    for part in parts:
        relation = lineage.relation(part)
        if relation in _LISTED:
            found.append(_conversation(tuple(lineage.forward(part)), relation))
    return found


def _order(each: Conversation) -> tuple[float, float, str]:
    return each.active, each.first.started, each.tip.id


def _reach(db: Database) -> Reach | None:
    try:
        ((message,),) = db.rows("SELECT max(id) FROM messages")
        ((row, sessions),) = db.rows("SELECT max(rowid), count(*) FROM sessions")
    except sqlite3.OperationalError:
        return None
    numbers = (message or 0, row or 0, sessions)
    return Reach(*numbers) if all(isinstance(each, int) for each in numbers) else None


def _conversation(chain: tuple[Part, ...], relation: Relation) -> Conversation:
    first, tip = chain[0], chain[-1]
    kind = Kind(first.source, tip.archived, tip.hidden)
    return Conversation(chain, relation, max([part.active for part in chain]), kind)


class _Kept(NamedTuple):
    """``ground`` is what it is true of; ``None`` where it may be behind in what nobody sees."""

    file: tuple[int, int]
    ground: Ground | None
    read_at: float
    catalogue: Catalogue


class Catalogues:
    """The last few catalogues of this process, by the database and the state of its files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Path, _Kept] = {}

    def of(self, db: Database, path: Path) -> tuple[Catalogue, bool]:
        """The catalogue, and whether it is exact.

        Where it is not, the files have changed since all sessions were read, at most
        :data:`WHOLE` seconds ago. It has what was added and said since; a session that was only
        renamed, ended or archived is as it was, until :meth:`check` looks at it.
        """
        ground = look(str(path))
        with self._lock:
            kept = self._kept.get(path)
        if ground is None or kept is None or kept.file != ground.file:
            return self._read(db, path, ground), True
        if kept.ground == ground:
            return kept.catalogue, True
        is_small = len(kept.catalogue.conversations) <= SMALL
        if not is_small and time.monotonic() - kept.read_at < WHOLE:
            found = grown(db, kept.catalogue)
            if found is not None:
                self._keep(path, kept._replace(ground=None, catalogue=found))
                return found, False
        return self._read(db, path, ground), True

    def check(self, db: Database, path: Path, found: Catalogue, parts: Sequence[Part]) -> Catalogue:
        """``found`` with these sessions as they are now; itself where they are as it says."""
        ids = [part.id for part in parts]
        fresh = parts_of(db, ids)
        if len(fresh) < len(ids):
            return self._read(db, path, look(str(path)))
        better = renewed(found, fresh)
        with self._lock:
            kept = self._kept.get(path)
            if better is not found and kept is not None and kept.catalogue is found:
                self._kept[path] = kept._replace(catalogue=better)
        return better

    def _read(self, db: Database, path: Path, ground: Ground | None) -> Catalogue:
        read_at = time.monotonic()
        found = build(db)
        if ground is not None:
            still = is_settled(ground) and look(str(path)) == ground
            self._keep(path, _Kept(ground.file, ground if still else None, read_at, found))
        return found

    def _keep(self, path: Path, kept: _Kept) -> None:
        with self._lock:
            self._kept.pop(path, None)
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[path] = kept
