"""The database's own full text, for people's search: ids first, everything else for those shown.

Measured with hermes-agent 0.19.0 (specs, hermes-sessions 5): ranking a common word costs as much
whatever is selected beside it, the rows of the matching messages cost far more. ``newest`` walks
the index backwards: a message's id grows with its time.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import TypeVar

from core.conversations import Filters, Order, Visibility
from core.homes.hermes.sessions.catalogue import HIDDEN
from core.homes.hermes.sessions.content import text_of, written
from core.homes.hermes.sessions.layout import BASE, TRIGRAM, Storage
from core.homes.hermes.sessions.opening import Database, Row
from core.homes.hermes.sessions.values import chosen, flag, live, number, word
from core.recall.gather import CRON, NOWHERE, Origin, Place

T = TypeVar("T")
#: Filters that ask for nothing.
ALL = Filters()
#: Ids asked for in one statement.
BATCH = 500
#: The shortest word that a trigram index can find, and the last character there is.
_GRAM, _LAST = 3, "\U0010ffff"
# With the id in it SQLite sorts what is wanted; by rank alone FTS5 sorts everything, twice as long.
_ORDERS = {Order.RANKED: "rank, rowid", Order.NEWEST: "rowid DESC", Order.OLDEST: "rowid"}
_SAID = ("content", "tool_name", "tool_calls")
_MESSAGE = ("id", "session_id", "role", "timestamp", "active", "compacted", "display_kind")
_SESSION = ("id", "source", "title", "git_repo_root", "cwd", "hidden")
# The plus sign where it is used keeps SQLite from asking the full text about each of them.
_PEOPLES = (
    "SELECT id FROM messages WHERE session_id IN"
    f" (SELECT id FROM sessions WHERE source <> '{CRON}')"
)
_NAMES = frozenset({"title", "git_repo_root", "cwd"})
_STALE = ("fts_stale", "fts_rebuild_high_water")


def usable(db: Database) -> str:
    """Why the full text cannot be asked, ``""`` if it can."""
    if db.layout.base is Storage.NONE:
        return "the database has no full text"
    if "state_meta" in db.tables():
        marks = ", ".join("?" * len(_STALE))
        found = db.rows(f"SELECT key FROM state_meta WHERE key IN ({marks})", _STALE)
        if found:
            return "the agent has yet to rebuild the full text"
    return ""


def ids(
    db: Database,
    expression: str,
    order: Order,
    limit: int,
    *,
    trigram: bool = False,
    beyond: int | None = None,
    cron: bool | None = None,
    within: Collection[str] = (),
) -> list[int]:
    """Messages that match an FTS5 ``expression``, at most ``limit``.

    ``beyond`` takes up a walk by id behind that one; ``cron`` asks for those of cron jobs only, or
    for all others; ``within`` for those of these sessions. Of matches of one rank the oldest is
    first.

    Raises ``sqlite3.Error`` for an index that is damaged or an expression it does not take.
    """
    table = TRIGRAM if trigram else BASE
    behind = "" if beyond is None else f" AND rowid {'>' if order is Order.OLDEST else '<'} ?"
    whose = "" if cron is None else f" AND +rowid {'NOT IN' if cron else 'IN'} ({_PEOPLES})"
    if within:
        theirs = f"SELECT id FROM messages WHERE session_id IN ({_marks(within)})"
        whose += f" AND +rowid IN ({theirs})"
    sql = (
        f"SELECT rowid FROM {table} WHERE {table} MATCH ?{behind}{whose}"
        f" ORDER BY {_ORDERS[order]} LIMIT ?"
    )
    edge = () if beyond is None else (beyond,)
    return [int(row[0]) for row in db.rows(sql, (expression, *edge, *within, limit))]


def count(db: Database, expression: str, most: int, *, trigram: bool = False) -> int:
    """How many messages match an FTS5 ``expression``, ``most`` at most. Raises as :func:`ids`."""
    table = TRIGRAM if trigram else BASE
    sql = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    return int(db.rows(sql, (expression, most))[0][0])


def places(db: Database, wanted: Sequence[int], filters: Filters = ALL) -> list[Place]:
    """Where these messages stand, in the order asked; those that are gone are left out.

    Their origins hold title and workspace only where ``filters`` ask for one of these.
    """
    fields = chosen(_MESSAGE, db.columns("messages"), "messages")
    rows: dict[int, Row] = {}
    for some in _batches(wanted):
        sql = f"SELECT {fields} FROM messages WHERE id IN ({_listed(some)})"
        for row in db.rows(sql):
            rows[row[0]] = row
    sessions = [word(key) for key in {row[1] for row in rows.values()}]
    origins = _origins(db, sessions, named=bool(filters.title or filters.workspace))
    return [_place(rows[key], origins) for key in wanted if key in rows]


def _origins(db: Database, wanted: Sequence[str], *, named: bool) -> dict[str, Origin]:
    # Apart from the messages: many share a session, and its row is long. What stands behind the
    # prompt in it costs ten times what stands before.
    columns = db.columns("sessions")
    fields = chosen(_SESSION, columns if named else columns - _NAMES, "sessions")
    found: dict[str, Origin] = {}
    for some in _batches(wanted):
        sql = f"SELECT {fields} FROM sessions WHERE id IN ({_marks(some)})"
        for key, source, title, root, cwd, hidden in db.rows(sql, some):
            source = word(source)
            found[word(key)] = Origin(
                source,
                word(title),
                word(root).strip() or word(cwd).strip(),
                source in HIDDEN or flag(hidden),
            )
    return found


def _place(row: Row, origins: Mapping[str, Origin]) -> Place:
    key, session_id, role, at, active, compacted, display = row
    origin = origins.get(session_id)
    # The common row, of which a search meets thousands, needs no closer look.
    if (
        active == 1
        and display is None
        and origin is not None
        and type(at) is float
        and isfinite(at)
        and type(role) is str
    ):
        return Place(key, session_id, role, at, Visibility.LIVE, origin)
    visibility = Visibility.LIVE
    if not live(active):
        visibility = Visibility.SUMMARISED if flag(compacted) else Visibility.UNDONE
    session_id = word(session_id)
    origin = origins.get(session_id, NOWHERE)
    if display == "hidden":
        origin = origin._replace(hidden=True)
    return Place(key, session_id, word(role), number(at), visibility, origin)


def texts(db: Database, wanted: Sequence[int], longest: int) -> dict[int, str]:
    """What was said in these messages, and the tools they call with what; cut at ``longest``.

    Rows that hold encoded parts are decoded whole: SQLite takes them for empty texts.
    """
    found: dict[int, str] = {}
    known = db.columns("messages")
    extra = chosen(("tool_name", "tool_calls"), known, "messages")
    for some in _batches(wanted):
        sql = (
            f"SELECT id, substr(content, 1, {longest}), {extra},"
            " CASE WHEN instr(content, char(0)) = 1 THEN content END"
            f" FROM messages WHERE id IN ({_listed(some)})"
        )
        for key, content, tool, calls, encoded in db.rows(sql):
            said = text_of(content if encoded is None else encoded)[:longest]
            behind = " ".join(filter(None, (word(tool), written(calls))))[:longest]
            found[key] = "\n".join(filter(None, (said, behind)))
    return found


def trigrams(db: Database, run: str) -> str:
    """What the trigram index is asked for messages that hold ``run``, of a script written without
    spaces, as it stands or escaped in JSON; ``""`` where it begins too many trigrams.

    Two characters are no trigram, but begin some: the vocabulary knows which. The index must cover
    every message, whose text always goes on behind ``run`` then. Raises as :func:`ids`.
    """
    found = [run] if len(run) >= _GRAM else db.ask(partial(_beginning, run=run))
    if len(found) > BATCH:
        return ""
    escaped = " AND ".join(f'"{_escaped(char)}"' for char in run)
    spelled = ['"' + each.replace('"', '""') + '"' for each in found]
    return f"({' OR '.join([*spelled, f'({escaped})'])})"


def _beginning(db: sqlite3.Connection, run: str) -> list[str]:
    # Only a table of one's own shows the vocabulary; it is kept in memory, the file stays as it is.
    db.execute("PRAGMA temp_store=MEMORY")
    db.execute("PRAGMA query_only=OFF")
    try:
        db.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary"
            f" USING fts5vocab(main, {TRIGRAM}, 'row')"
        )
    finally:
        db.execute("PRAGMA query_only=ON")
    sql = "SELECT term FROM temp.vocabulary WHERE term >= ? AND term < ? LIMIT ?"
    return [word(row[0]) for row in db.execute(sql, (run, f"{run}{_LAST}", BATCH + 1))]


def encoded(db: Database, further: str) -> Iterator[list[int]]:
    """The newest messages that are encoded structures, in which JSON hides words behind its
    escapes, in one go. ``further`` goes on with the FTS5 expression. Raises as :func:`ids`."""
    sql = (
        f"SELECT id FROM messages WHERE id IN (SELECT rowid FROM {BASE} WHERE {BASE} MATCH ?"
        " ORDER BY rowid DESC LIMIT ?) AND instr(content, char(0)) = 1 ORDER BY id DESC"
    )
    yield [int(row[0]) for row in db.rows(sql, (f'(^ "json") {further}', BATCH))]


def escapes(pieces: Sequence[str]) -> str:
    """More of an FTS5 expression: these characters, as words of JSON begin with their escapes."""
    return "".join(f' AND "{_escaped(piece)}"*' for piece in pieces)


def scan(db: Database, order: Order, pieces: Sequence[str]) -> Iterator[list[int]]:
    """Every message that may answer, some at a time: newest first, or oldest if asked.

    ``pieces`` are texts that an answer holds as they stand or escaped in JSON, so that SQLite may
    pass over others. The clock and the cancelling of ``db`` end it early, with their errors.
    """
    sign, way = (">", "ASC") if order is Order.OLDEST else ("<", "DESC")
    edge = -(1 << 63) if sign == ">" else (1 << 63) - 1
    known = db.columns("messages")
    where, values = [f"id {sign} ?"], list[str]()
    for piece in pieces:
        hidden = _escaped(piece[-1])
        held = [(f"instr({name}, ?) > 0", piece) for name in _SAID if name in known]
        # Of a structure the first character is none to SQLite: no plain text is searched twice.
        held.append(("(unicode(content) IS NULL AND instr(content, ?) > 0)", hidden))
        if "tool_calls" in known:
            held.append(("instr(tool_calls, ?) > 0", hidden))
        where.append(f"({' OR '.join(condition for condition, _ in held)})")
        values += [value for _, value in held]
    sql = f"SELECT id FROM messages WHERE {' AND '.join(where)} ORDER BY id {way} LIMIT {BATCH}"
    while some := [int(row[0]) for row in db.rows(sql, (edge, *values))]:
        yield some
        edge = some[-1]


def _escaped(char: str) -> str:
    """How JSON in ASCII writes ``char``, without backslashes: there may be one or more; of a
    character beyond the first plane its last half."""
    return char if char.isascii() else json.dumps(char)[-6:-1]


def by_source(db: Database) -> Counter[str]:
    """How many sessions there are of each source."""
    found: Counter[str] = Counter()
    for source, sessions in db.rows("SELECT source, count(*) FROM sessions GROUP BY source"):
        found[word(source)] += sessions
    return found


def families(db: Database, sessions: Iterable[str]) -> dict[str, tuple[str, str]]:
    """The title of each session, and where its family begins: ``(root, title)``.

    Parents are followed to the end, whatever the relation; one that is missing, or was met before,
    ends the walk.
    """
    wanted = dict.fromkeys(sessions)
    fields = chosen(("id", "parent_session_id", "title"), db.columns("sessions"), "sessions")
    parents: dict[str, str] = {}
    titled: dict[str, str] = {}
    asked = list(wanted)
    while asked:
        found: dict[str, str] = {}
        for some in _batches(asked):
            sql = f"SELECT {fields} FROM sessions WHERE id IN ({_marks(some)})"
            for key, parent, title in db.rows(sql, some):
                found[word(key)] = word(parent)
                titled[word(key)] = word(title)
        parents |= found
        above = [parent for parent in dict.fromkeys(found.values()) if parent]
        asked = [parent for parent in above if parent not in parents]
    return {key: (_root(key, parents), titled.get(key, "")) for key in wanted}


def _root(key: str, parents: Mapping[str, str]) -> str:
    seen = {key}
    while (parent := parents.get(key, "")) in parents and parent not in seen:
        seen.add(parent)
        key = parent
    return key


def said_in(db: Database, session_id: str, after: int) -> list[int]:
    """The messages of a session with a greater id than ``after``, in order."""
    sql = "SELECT id FROM messages WHERE session_id = ? AND id > ? ORDER BY id"
    return [int(row[0]) for row in db.rows(sql, (session_id, after))]


def first_live(db: Database, session_id: str) -> int | None:
    """The first message of a session that the agent still sees."""
    return firsts_live(db, [session_id]).get(session_id)


def firsts_live(db: Database, sessions: Sequence[str]) -> dict[str, int]:
    """:func:`first_live` of those of ``sessions`` that have one."""
    where = " AND (active IS NULL OR active = 1)" if "active" in db.columns("messages") else ""
    found: dict[str, int] = {}
    for some in _batches(sessions):
        sql = (
            f"SELECT session_id, min(id) FROM messages WHERE session_id IN ({_marks(some)}){where}"
            " GROUP BY session_id"
        )
        found.update((word(key), int(first)) for key, first in db.rows(sql, some))
    return found


def from_sources(db: Database, sessions: Sequence[str], sources: Sequence[str]) -> set[str]:
    """Those of ``sessions`` that are of these sources, named in lower case."""
    found: set[str] = set()
    for some in _batches(sessions):
        sql = f"SELECT id, source FROM sessions WHERE id IN ({_marks(some)})"
        rows = db.rows(sql, some)
        found.update(word(key) for key, source in rows if word(source).lower() in sources)
    return found


def _batches(wanted: Sequence[T]) -> Iterator[tuple[T, ...]]:
    for start in range(0, len(wanted), BATCH):
        yield tuple(wanted[start : start + BATCH])


def _listed(ids: Iterable[int]) -> str:
    # Written out: binding hundreds of numbers costs more than reading them.
    return ",".join(map(str, ids))


def _marks(some: Collection[object]) -> str:
    return ", ".join("?" * len(some))
