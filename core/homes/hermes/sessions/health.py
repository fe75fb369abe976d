"""How well a ``state.db`` can be read: its schema, its full text, its size, and a real query.

A damaged full-text index goes unnoticed by the agent, which counts sessions and calls that healthy
(hermes-agent #33865, field report D26). So a word that a message holds is looked for.
"""

from __future__ import annotations

import os
import re
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from core.errors import UnreadableError
from core.homes.hermes.sessions.ground import look
from core.homes.hermes.sessions.layout import BASE, TRIGRAM, Layout, Storage
from core.homes.hermes.sessions.opening import DATABASE, Database, NoDatabaseError, reading
from core.text import one_line

#: Versions whose tables are known: 0.19.0 writes 22, 0.21 writes 30.
KNOWN = range(22, 31)
#: Seconds the whole examination may take.
SECONDS = 3.0
_SESSIONS = frozenset({"id", "source", "model_config", "parent_session_id", "started_at",
                       "ended_at", "end_reason", "title", "archived"})  # fmt: skip
_MESSAGES = frozenset({"id", "session_id", "role", "content", "tool_calls", "tool_name",
                       "timestamp", "active", "compacted"})  # fmt: skip
#: File systems of which locks, or the shared memory of a write-ahead log, are not to be trusted.
_REMOTE = re.compile(r"nfs|cifs|smb|sshfs|9p|virtiofs|fuse|afs|glusterfs|ceph|lustre")
_SHADOWS = ("data", "idx", "docsize", "config", "content")
_WORD = re.compile(r"[A-Za-z]{4,40}")


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that was looked at. ``ok`` is ``None`` for what is neither good nor bad."""

    name: str
    ok: bool | None
    words: str


def examine(home: Path, *, seconds: float = SECONDS) -> tuple[Sign, ...]:
    """What can be said about the ``state.db`` of ``home``; never raises."""
    signs: list[Sign] = []
    try:
        with reading(home, seconds=seconds) as db:
            for look_at in (_readable, _schema, _columns, _files, _full_text):
                signs += look_at(db, home)
    except NoDatabaseError as problem:
        return (Sign("state.db", None, problem.message),)
    except UnreadableError as problem:
        hint = f"; {problem.hint[:1].lower()}{problem.hint[1:]}" if problem.hint else ""
        signs.append(Sign("state.db", False, f"{problem.message}{hint}"))
        signs += _place(home)
    except (OSError, ValueError) as problem:
        signs.append(Sign("state.db", False, f"cannot be read: {one_line(str(problem), 120)}"))
    return tuple(signs)


def _readable(db: Database, home: Path) -> list[Sign]:
    db.expect_conversations()
    sessions = db.rows("SELECT count(*) FROM sessions")[0][0]
    messages = db.rows("SELECT count(*) FROM messages")[0][0]
    return [Sign("state.db", True, f"{sessions:,} sessions, {messages:,} messages")]


def _schema(db: Database, home: Path) -> list[Sign]:
    version = None
    if "schema_version" in db.tables():
        rows = db.rows("SELECT version FROM schema_version LIMIT 1")
        version = rows[0][0] if rows else None
    if not isinstance(version, int):
        return [Sign("schema", None, "no version is stored; its columns are looked at instead")]
    if version in KNOWN:
        return [Sign("schema", True, f"version {version}")]
    age = "newer" if version >= KNOWN.stop else "older"
    return [Sign("schema", None, f"version {version}, {age} than those signoff knows")]


def _columns(db: Database, home: Path) -> list[Sign]:
    signs = []
    for table, wanted in (("sessions", _SESSIONS), ("messages", _MESSAGES)):
        if missing := sorted(wanted - db.columns(table)):
            words = f"{table} has no {', '.join(missing)}; what they say is left out"
            signs.append(Sign("schema", None, words))
    return signs


def _files(db: Database, home: Path) -> list[Sign]:
    ground = look(os.path.realpath(home / DATABASE))
    if ground is None:
        return []
    mode = str(db.rows("PRAGMA journal_mode")[0][0])
    if not ground.log[0]:
        # A database at rest is opened as one that nobody writes, and says "delete" whatever it is.
        mode = "at rest" if not ground.journal[0] else mode
    words = f"{ground.stamp[0] / 1e6:,.1f} MB, journal: {mode}"
    if ground.log[0]:
        words += f", log of {ground.log[0] / 1e6:,.1f} MB"
    return [Sign("state.db", True, words), *_place(home)]


def _place(home: Path) -> list[Sign]:
    """The file system, where it is one on which the agent's locks do not hold (hermes #22032)."""
    kind = file_system(home)
    if not kind or not _REMOTE.search(kind):
        return []
    words = (
        f"lies on {kind}, where the locks of a database may fail: proposals and memory still work,"
        " conversations may not"
    )
    return [Sign("state.db", None, words)]


def file_system(path: Path) -> str:
    """The kind of file system that holds ``path``; ``""`` where the platform does not tell."""
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        return ""
    real = os.path.realpath(path)
    best, kind = "", ""
    for line in lines:
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) < 5 or not rest:
            continue
        mount = parts[4].replace("\\040", " ")
        inside = real == mount or real.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, rest.split(" ")[0]
    return kind


def _full_text(db: Database, home: Path) -> list[Sign]:
    layout = db.layout
    if layout.base is Storage.NONE:
        words = "there is no full-text index: the agent finds nothing, signoff reads every message"
        return [Sign("search", False, words)]
    if not db.rows("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"):
        return [Sign("search", None, "this SQLite has no FTS5: signoff reads every message")]
    if rebuilding := _rebuilding(db):
        return [Sign("search", None, rebuilding)]
    signs = [_probe(db, layout, BASE, "search")]
    if layout.trigram is not Storage.NONE:
        signs.append(_probe(db, layout, TRIGRAM, "search in Chinese, Japanese and Korean"))
    if layout.cjk:
        signs.append(Sign("search", None, "messages_fts_cjk is the agent's alone and is not read"))
    return signs


def _rebuilding(db: Database) -> str:
    """Whether the agent (0.21) says that its index is not what it should be."""
    if not {"key", "value"} <= db.columns("state_meta"):
        return ""
    found = {key for (key,) in db.rows("SELECT key FROM state_meta WHERE key LIKE 'fts_%'")}
    if "fts_stale" in found:
        return "the agent marked its index as stale and reads every message instead"
    if {"fts_rebuild_high_water", "fts_rebuild_progress"} <= found:
        return "the agent is rebuilding its index; older messages may be missing from it"
    return ""


def _probe(db: Database, layout: Layout, table: str, name: str) -> Sign:
    """Look for a word that a recent message holds."""
    inline = (layout.base if table == BASE else layout.trigram) is Storage.INLINE
    kind = f"{table}, {'with its own text' if inline else 'over the messages'}"
    if broken := _missing_shadow(db, table, inline):
        return Sign(name, False, f"{kind}: {broken} is missing; {_MEND}")
    try:
        found = _find(db, table)
    except sqlite3.Error as problem:
        part = _broken_part(db, table)
        said = one_line(str(problem), 80)
        return Sign(name, False, f"{kind}: {part or 'the index'} is damaged ({said}); {_MEND}")
    if found is None:
        return Sign(name, None, f"{kind}: no message to look for")
    word, hit = found
    if hit:
        return Sign(name, True, f"{kind}: a query for {word!r} finds its message")
    part = _broken_part(db, table)
    why = f" ({part} is empty or damaged)" if part else ""
    return Sign(name, False, f"{kind}: a query for {word!r} misses its message{why}; {_MEND}")


_MEND = "`hermes sessions optimize` or a restart of the agent may mend it"


def _find(db: Database, table: str) -> tuple[str, bool] | None:
    """A word of a recent message that a person or the agent wrote, and whether it is found."""
    rows = db.rows(
        "SELECT id, substr(content, 1, 400) FROM messages WHERE role IN ('user', 'assistant')"
        " AND content <> '' ORDER BY id DESC LIMIT 50"
    )
    sources = "trigram" in table and db.layout.trigram is not Storage.INLINE
    if sources:
        # The newer trigram index leaves out what no person held: look where it looks.
        rows = db.rows(
            "SELECT m.id, substr(m.content, 1, 400) FROM messages m JOIN sessions s"
            " ON s.id = m.session_id WHERE m.role IN ('user', 'assistant') AND m.content <> ''"
            " AND s.source NOT IN ('cron', 'subagent')"
            " AND (s.model_config IS NULL OR instr(s.model_config, '_delegate_from') = 0)"
            " ORDER BY m.id DESC LIMIT 50"
        )
    for message_id, text in rows:
        if isinstance(text, str) and (word := _WORD.search(text)):
            sql = f"SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid = ? LIMIT 1"
            return word[0], bool(db.rows(sql, (f'"{word[0]}"', message_id)))
    return None


def _missing_shadow(db: Database, table: str, inline: bool) -> str:
    wanted = [name for name in _SHADOWS if inline or name != "content"]
    names = [f"{table}_{name}" for name in wanted]
    return next((name for name in names if name not in db.tables()), "")


def _broken_part(db: Database, table: str) -> str:
    """The first of the tables behind an index that cannot be read, or that is empty. The tenth
    record of the data says where all the others are (FTS5)."""
    checks = {"data": " WHERE id = 10 AND length(block) > 4", "idx": "", "docsize": ""}
    for part, condition in checks.items():
        name = f"{table}_{part}"
        try:
            if not db.rows(f"SELECT count(*) FROM {name}{condition}")[0][0]:
                return name
        except sqlite3.Error:
            return name
    return ""
