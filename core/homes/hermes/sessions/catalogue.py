"""Every conversation of a database as one row each, kept in memory and brought up to date.

A session's row holds its system prompt, tens of kilobytes that SQLite must step over to reach what
stands behind it. So of most sessions only what orders and counts them is read, and kept; of those
that have relatives, and of those that are shown, the rest. And it is done once, and then for those
sessions that were added or spoken in; see :meth:`Catalogues.of` for what that cannot see.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from sys import intern
from typing import NamedTuple

from core.clock import now
from core.conversations import Relation, Session
from core.homes.hermes.sessions.ground import Ground, look
from core.homes.hermes.sessions.lineage import Known, Lineage, with_families
from core.homes.hermes.sessions.opening import Database, Row
from core.homes.hermes.sessions.parts import Part, active, all_parts, briefs, folder, parts_of
from core.homes.hermes.sessions.values import chosen, flag, number, word

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
    """A row of the list: the parts of a chain from the first to the newest, by their ids.

    It comes from where its first part came from; its newest part says whether it is archived, so
    that an archived beginning does not hide what goes on (hermes-agent #55588). ``parts`` holds the
    chain of a session that has relatives; of one without, which most are, it is empty.
    """

    active: float
    started: float
    tip: str
    first: str
    kind: Kind
    relation: Relation
    root: str
    parts: tuple[Part, ...]

    @property
    def chain(self) -> tuple[str, ...]:
        """The ids of its parts."""
        return tuple([part.id for part in self.parts]) if self.parts else (self.tip,)


class Texts(NamedTuple):
    """What filters of a list ask of a session's texts, folded."""

    title: str
    folder: str


class Shown(NamedTuple):
    """A conversation that was listed, and what its row was made of."""

    conversation: Conversation
    tip: Part
    first: Part
    preview: str
    session: Session


class Reach(NamedTuple):
    """How far a database was read: the greatest id of a message; of sessions the greatest row and
    their number."""

    message: int
    row: int
    sessions: int


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The conversations of a database, oldest activity first.

    ``by_part`` has them by the id of each of their parts, ``kinds`` counts them. ``texts`` is of
    every session, ``None`` until a filter asks. ``reach`` is ``None`` where a database does not
    tell what is new in it.
    """

    conversations: Sequence[Conversation]
    by_part: Mapping[str, Conversation]
    kinds: Counter[Kind]
    reach: Reach | None
    texts: Mapping[str, Texts] | None = None

    def shows(self, part: Part) -> bool:
        """Whether a session is as the catalogue has it, as far as that matters to a list."""
        if self.texts is not None and self.texts.get(part.id) != _texts(part):
            return False
        row = self.by_part.get(part.id)
        if row is None:
            return False
        if row.parts:
            return part in row.parts
        return (
            _has_no_bond(part)
            and row.active == part.active
            and row.started == part.started
            and row.kind == (part.source, part.archived, part.hidden)
        )


def is_settled(ground: Ground) -> bool:
    """Whether the files have stood still for long enough to be sure of what was read."""
    return now().timestamp() - ground.changed_at > SETTLED


def build(db: Database) -> Catalogue:
    """Read all sessions. Delegates and the later parts of chains get no row of their own."""
    reach = _reach(db)
    found: list[Conversation] = []
    related: list[Part] | None = None
    if reach is not None:
        found, others = briefs(db, _by_bond)
        if len(found) + len(others) == reach.sessions:
            related = parts_of(db, others)
    if related is None or len(related) < len(others):
        # A table without row ids, a view, an id that is no text, or a session that just went.
        found, related = [], all_parts(db)
    found += _listed(Known(related))
    found.sort(key=_order)
    by_part = {row.tip: row for row in found if not row.parts}
    by_part.update((part.id, row) for row in found for part in row.parts)
    return Catalogue(found, by_part, Counter([each.kind for each in found]), reach)


def with_texts(db: Database, before: Catalogue) -> Catalogue:
    """``before`` with the texts of all sessions."""
    fields = chosen(("id", "title", "git_repo_root", "cwd"), db.columns("sessions"), "s")

    def read(rows: Iterable[Row]) -> dict[str, Texts]:
        return {
            word(key): Texts(word(title).casefold(), intern(folder(root, cwd).casefold()))
            for key, title, root, cwd in rows
        }

    return replace(before, texts=db.made(f"SELECT {fields} FROM sessions s", (), read))


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
    # The plus sign: SQLite would rather go through all messages in the order of their sessions.
    sql = "SELECT DISTINCT +session_id FROM messages WHERE id > ?"
    spoken = [word(row[0]) for row in db.rows(sql, (before.reach.message,))]
    parts = parts_of(db, list(dict.fromkeys([*added, *spoken])))
    # A session that is gone on with has ended, without a message that says so.
    above = {part.parent_id for part in parts if part.parent_id} - {part.id for part in parts}
    parts += parts_of(db, list(above))
    return replace(renewed(db, before, parts), reach=reach)


def renewed(db: Database, before: Catalogue, parts: Iterable[Part]) -> Catalogue:
    """``before`` with these sessions and their families as they are now; ``before`` itself where
    nothing differs."""
    changed = [part for part in parts if not before.shows(part)]
    if not changed:
        return before
    known, gone = with_families(db, changed), dict[str, Conversation]()
    asked: set[str] = set()
    while True:
        rows = (before.by_part.get(part.id) for part in known)
        gone = {row.first: row for row in rows if row is not None}
        # What was in one chain with these and is not any more.
        left = {key for row in gone.values() for key in row.chain} - {part.id for part in known}
        if left <= asked:
            break
        asked |= left
        known = with_families(db, [*known, *parts_of(db, list(left))])
    conversations, by_part = list(before.conversations), dict(before.by_part)
    kinds = before.kinds.copy()
    for row in gone.values():
        del conversations[
            conversations.index(row, bisect_left(conversations, _order(row), key=_order))
        ]
        kinds[row.kind] -= 1
        for key in row.chain:
            by_part.pop(key, None)
    for row in _listed(known):
        insort(conversations, row, key=_order)
        kinds[row.kind] += 1
        by_part.update(dict.fromkeys(row.chain, row))
    texts = before.texts
    if texts is not None:
        texts = {**texts, **{part.id: _texts(part) for part in known}}
    return Catalogue(conversations, by_part, +kinds, before.reach, texts)


_order = itemgetter(0, 1, 2)


def _by_bond(rows: Iterable[Row]) -> tuple[list[Conversation], list[str]]:
    """The rows of sessions without relatives, and the ids of all others."""
    alone: list[Conversation] = []
    bound: list[str] = []
    parents: set[str] = set()
    kinds: dict[tuple[object, ...], Kind] = {}
    for id_, source, archived, hidden, parent, marked, started, last, beat in rows:
        key = word(id_)
        if parent or marked:
            bound.append(key)
            parents.add(word(parent))
            continue
        named = source, archived, hidden
        kind = kinds.get(named)
        if kind is None:
            kind = kinds[named] = Kind(word(source), flag(archived), flag(hidden))
        begun = number(started) or 0.0
        at = begun if last is None and beat is None else active(started, last, beat)
        alone.append(Conversation(at, begun, key, key, kind, Relation.ROOT, key, ()))
    if parents:
        bound += [row.tip for row in alone if row.tip in parents]
        alone = [row for row in alone if row.tip not in parents]
    return alone, bound


def _has_no_bond(part: Part) -> bool:
    return not (part.parent_id or part.delegated or part.branched or part.reset)


def _alone(part: Part) -> Conversation:
    kind = Kind(part.source, part.archived, part.hidden)
    return Conversation(
        part.active, part.started, part.id, part.id, kind, Relation.ROOT, part.id, ()
    )


def _listed(known: Known) -> list[Conversation]:
    lineage = Lineage(known)
    found = []
    for part in known:
        relation = lineage.relation(part)
        if relation not in _LISTED:
            continue
        if _has_no_bond(part) and not known.children(part.id):
            found.append(_alone(part))
            continue
        chain = tuple(lineage.forward(part))
        tip, at = chain[-1], max([each.active for each in chain])
        kind, root = Kind(part.source, tip.archived, tip.hidden), lineage.root(part)
        found.append(Conversation(at, part.started, tip.id, part.id, kind, relation, root, chain))
    return found


def _texts(part: Part) -> Texts:
    return Texts(part.title.casefold(), part.workspace.casefold())


def _reach(db: Database) -> Reach | None:
    try:
        ((message,),) = db.rows("SELECT max(id) FROM messages")
        ((row,),) = db.rows("SELECT max(rowid) FROM sessions")
        # Apart, SQLite counts pages and not rows.
        ((sessions,),) = db.rows("SELECT count(*) FROM sessions")
    except sqlite3.OperationalError:
        return None
    numbers = (message or 0, row or 0, sessions)
    return Reach(*numbers) if all(isinstance(each, int) for each in numbers) else None


class Seen(NamedTuple):
    """What is known of a database.

    ``is_exact``: all of the catalogue is. Where it is not, the files have changed since all
    sessions were read, at most :data:`WHOLE` seconds ago. It has what was added and said since; a
    session that was only renamed, ended or archived is as it was, until :meth:`Catalogues.check`
    looks at it. ``shown`` are rows that were listed, by the ids of their newest parts, and
    ``are_as_shown`` says that nothing has changed since.
    """

    catalogue: Catalogue
    is_exact: bool
    shown: Mapping[str, Shown]
    are_as_shown: bool = False


class _Kept(NamedTuple):
    """``ground`` is what it is true of; ``None`` where it may be behind in what nobody sees.
    ``shown_on`` is what ``shown`` is true of."""

    file: tuple[int, int]
    ground: Ground | None
    read_at: float
    catalogue: Catalogue
    shown: Mapping[str, Shown]
    shown_on: Ground | None = None


class Catalogues:
    """The last few catalogues of this process, by the database and the state of its files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Path, _Kept] = {}

    def of(self, db: Database, path: Path, *, texts: bool = False) -> Seen:
        """The catalogue of a database, with ``texts`` where they are asked."""
        seen = self._of(db, path)
        if not texts or seen.catalogue.texts is not None:
            return seen
        better = with_texts(db, seen.catalogue)
        self._put(path, seen.catalogue, better)
        return seen._replace(catalogue=better)

    def _of(self, db: Database, path: Path) -> Seen:
        ground = look(str(path))
        with self._lock:
            kept = self._kept.get(path)
        if kept is None or ground is None or kept.file != ground.file:
            return Seen(self._read(db, path, ground), True, {})
        if kept.ground == ground:
            return Seen(kept.catalogue, True, kept.shown, kept.shown_on == ground)
        is_small = len(kept.catalogue.conversations) <= SMALL
        if not is_small and time.monotonic() - kept.read_at < WHOLE:
            found = grown(db, kept.catalogue)
            if found is not None:
                self._keep(path, kept._replace(ground=None, catalogue=found))
                return Seen(found, False, kept.shown)
        return Seen(self._read(db, path, ground), True, kept.shown)

    def check(
        self, db: Database, path: Path, found: Catalogue, ids: Sequence[str], parts: Sequence[Part]
    ) -> Catalogue:
        """``found`` with these sessions as they are now, ``parts`` those of ``ids`` that are there;
        itself where they are as it says."""
        if len(parts) < len(ids):
            better = self._read(db, path, look(str(path)))
            return better if found.texts is None else with_texts(db, better)
        better = renewed(db, found, parts)
        self._put(path, found, better)
        return better

    def show(self, path: Path, found: Catalogue, shown: Mapping[str, Shown]) -> None:
        """Keep the rows that were made of ``found``."""
        with self._lock:
            kept = self._kept.get(path)
            if kept is not None and kept.catalogue is found:
                self._kept[path] = kept._replace(shown=shown, shown_on=kept.ground)

    def _put(self, path: Path, found: Catalogue, better: Catalogue) -> None:
        """Keep ``better`` where ``found`` is kept."""
        with self._lock:
            kept = self._kept.get(path)
            if better is not found and kept is not None and kept.catalogue is found:
                self._kept[path] = kept._replace(catalogue=better)

    def _read(self, db: Database, path: Path, ground: Ground | None) -> Catalogue:
        read_at = time.monotonic()
        found = build(db)
        if ground is not None:
            still = is_settled(ground) and look(str(path)) == ground
            self._keep(path, _Kept(ground.file, ground if still else None, read_at, found, {}))
        return found

    def _keep(self, path: Path, kept: _Kept) -> None:
        with self._lock:
            self._kept.pop(path, None)
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[path] = kept
