"""What was decided, with the bytes to take it back: one SQLite file in signoff's own folder.

An entry is opened with its intent and every before-byte in one transaction, before anything is
written, and closed with the outcome. An entry still open is a commit that did not end.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from core.errors import NotFoundError, StateError
from core.files import private_folder
from core.model import Change, EntryChange, Move, Node, NodeKind, RowAction, RowEdit
from core.view import sha256

FORMAT = 1
#: Seconds to wait for another signoff that is writing its entry.
BUSY = 5.0

SCHEMA = """
CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    home TEXT NOT NULL,
    profile TEXT NOT NULL,
    state TEXT NOT NULL,
    verb TEXT NOT NULL,
    undone_by INTEGER,
    body TEXT NOT NULL
);
CREATE INDEX entries_by_home ON entries (home, state);
CREATE TABLE steps (
    entry INTEGER NOT NULL REFERENCES entries (id),
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (entry, number)
) WITHOUT ROWID;
CREATE TABLE blobs (sha256 TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE pins (
    home TEXT NOT NULL,
    record TEXT NOT NULL,
    operation INTEGER NOT NULL,
    entry TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (home, record, operation)
) WITHOUT ROWID;
"""


class State(StrEnum):
    """Where an entry stands. ``OPEN`` did not end; ``TORN`` met bytes nobody here wrote."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"
    TORN = "torn"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing a commit writes. ``edits``: the row edits a change of a row file came from.

    ``taken_back`` says that the change reverses them: it is a step of an undo.
    """

    change: Change | Move
    edits: tuple[RowEdit, ...] = ()
    taken_back: bool = False


@dataclass(frozen=True, slots=True)
class Intent:
    """What is about to be done, to whom and by whom."""

    at: datetime
    home: str
    profile: str
    verb: str
    subject: str
    category: str
    message: str
    steps: tuple[Step, ...]
    record: str | None = None
    note: str = ""
    undoes: int | None = None
    entries: tuple[EntryChange, ...] = ()
    locks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal. ``steps`` are empty in listings; ``locks`` are the agent's."""

    id: int
    at: str
    home: str
    profile: str
    state: State
    verb: str
    subject: str
    category: str
    message: str
    note: str
    changed: tuple[str, ...]
    record: str | None
    undoes: int | None
    undone_by: int | None
    actor: Mapping[str, str]
    entries: tuple[EntryChange, ...] = ()
    locks: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def ok(self) -> bool:
        return self.state is State.DONE


class Journal:
    """The journal in ``folder`` (mode 0700, file 0600), made on the first write.

    Raises :class:`StateError` when it cannot be read or written, or a newer signoff made it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "journal.sqlite3"

    # -- writing ---------------------------------------------------------------------------

    def open(self, intent: Intent) -> int:
        """Write the intent with all before- and after-bytes; the new entry's number."""
        with self._writing() as db:
            body = {
                "subject": intent.subject,
                "category": intent.category,
                "message": intent.message,
                "note": intent.note,
                "record": intent.record,
                "undoes": intent.undoes,
                "changed": [step.change.path for step in intent.steps],
                "actor": _actor(),
                "entries": [[pair.before, pair.after] for pair in intent.entries],
                "locks": intent.locks,
            }
            cursor = db.execute(
                "INSERT INTO entries (at, home, profile, state, verb, body)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (
                    intent.at.isoformat(),
                    json.dumps(intent.home),
                    json.dumps(intent.profile),
                    State.OPEN,
                    intent.verb,
                    json.dumps(body),
                ),
            )
            number = cast("int", cursor.lastrowid)
            for place, step in enumerate(intent.steps):
                db.execute(
                    "INSERT INTO steps VALUES (?, ?, ?)",
                    (number, place, json.dumps(_step_out(step, db))),
                )
        return number

    def close(self, number: int, state: State, category: str, message: str) -> None:
        """Write how an entry ended; an undo that was done marks the entry it took back."""
        with self._writing() as db:
            row = db.execute("SELECT body FROM entries WHERE id = ?", (number,)).fetchone()
            body = json.loads(row[0]) | {"category": category, "message": message}
            db.execute(
                "UPDATE entries SET state = ?, body = ? WHERE id = ?",
                (state, json.dumps(body), number),
            )
            if state is State.DONE and body["undoes"] is not None:
                db.execute(
                    "UPDATE entries SET undone_by = ? WHERE id = ?", (number, body["undoes"])
                )

    def pin(self, home: str, record: str, entries: Mapping[int, str], at: datetime) -> None:
        """Remember which entry each operation of a record would hit; the first sight stays."""
        with self._writing() as db:
            db.executemany(
                "INSERT OR IGNORE INTO pins VALUES (?, ?, ?, ?, ?)",
                [
                    (json.dumps(home), json.dumps(record), number, json.dumps(text), at.isoformat())
                    for number, text in entries.items()
                ],
            )

    # -- reading ---------------------------------------------------------------------------

    def pins(self, home: str) -> dict[str, dict[int, str]]:
        """``record key -> operation -> entry text`` as first seen."""
        found: dict[str, dict[int, str]] = {}
        with self._reading() as db:
            rows = db.execute(
                "SELECT record, operation, entry FROM pins WHERE home = ?", (json.dumps(home),)
            )
            for record, operation, entry in rows:
                found.setdefault(json.loads(record), {})[operation] = json.loads(entry)
        return found

    def entries(
        self, home: str | None = None, *, states: Sequence[State] = (), limit: int | None = None
    ) -> tuple[Entry, ...]:
        """Entries, newest first, without their steps."""
        where, values = ["1"], list[Any]()
        if home is not None:
            where.append("home = ?")
            values.append(json.dumps(home))
        if states:
            where.append(f"state IN ({', '.join('?' * len(states))})")
            values.extend(states)
        values.append(-1 if limit is None else limit)
        with self._reading() as db:
            rows = db.execute(
                "SELECT id, at, home, profile, state, verb, undone_by, body FROM entries"
                f" WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?",
                values,
            ).fetchall()
        return tuple(_entry(row) for row in rows)

    def entry(self, number: int) -> Entry:
        """One entry with its steps. Raises :class:`NotFoundError`."""
        with self._reading() as db:
            row = db.execute(
                "SELECT id, at, home, profile, state, verb, undone_by, body FROM entries"
                " WHERE id = ?",
                (number,),
            ).fetchone()
            if row is None:
                raise NotFoundError(
                    f"The journal has no entry {number}", "List them with `signoff journal`"
                )
            bodies = db.execute(
                "SELECT body FROM steps WHERE entry = ? ORDER BY number", (number,)
            ).fetchall()
            steps = tuple(_step_in(json.loads(body), db) for (body,) in bodies)
        return _entry(row, steps)

    # -- the file --------------------------------------------------------------------------

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            private_folder(self.folder)
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.close(handle)
            with contextlib.closing(self._connect()) as db:
                db.execute("PRAGMA synchronous = FULL")
                db.execute("BEGIN IMMEDIATE")
                if _format(db) == 0:
                    for statement in SCHEMA.split(";"):
                        db.execute(statement)
                    db.execute(f"PRAGMA user_version = {FORMAT}")
                yield db
                db.execute("COMMIT")
        except (OSError, sqlite3.Error) as problem:
            raise self._problem(problem) from problem

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(self._existing() or _empty()) as db:
                yield db
        except (OSError, sqlite3.Error) as problem:
            raise self._problem(problem) from problem

    def _existing(self) -> sqlite3.Connection | None:
        """The file, if it holds tables yet: a crash may have left it without any."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return None
        db = self._connect()
        if _format(db):
            return db
        db.close()
        return None

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY, isolation_level=None)
        try:
            if _format(db) > FORMAT:
                raise StateError(
                    "The journal was made by a newer signoff",
                    f"Update signoff, or set SIGNOFF_STATE to another folder than {self.folder}",
                )
        except BaseException:
            db.close()
            raise
        return db

    def _problem(self, problem: Exception) -> StateError:
        return StateError(
            f"The journal {self.path} cannot be used ({problem})",
            "Nothing was changed; free or repair that folder, or name another in SIGNOFF_STATE",
        )


def _empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    db.executescript(SCHEMA)
    return db


def _format(db: sqlite3.Connection) -> int:
    return cast("int", db.execute("PRAGMA user_version").fetchone()[0])


def _actor() -> dict[str, str]:
    """Who decides: user, terminal and parent process, so that an agent's hand shows."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):
        user = str(os.getuid())
    try:
        terminal = os.ttyname(0)
    except OSError:
        terminal = ""
    return {"user": user, "terminal": terminal, "parent": _process_name(os.getppid())}


def _process_name(pid: int) -> str:
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        name = ""
    return f"{pid} {name}".strip()


def _entry(row: Sequence[Any], steps: tuple[Step, ...] = ()) -> Entry:
    number, at, home, profile, state, verb, undone_by, body = row
    fields = json.loads(body)
    return Entry(
        id=number,
        at=at,
        home=json.loads(home),
        profile=json.loads(profile),
        state=State(state),
        verb=verb,
        subject=fields["subject"],
        category=fields["category"],
        message=fields["message"],
        note=fields["note"],
        changed=tuple(fields["changed"]),
        record=fields["record"],
        undoes=fields["undoes"],
        undone_by=undone_by,
        actor=fields["actor"],
        entries=tuple(EntryChange(*pair) for pair in fields["entries"]),
        locks=tuple(fields["locks"]),
        steps=steps,
    )


def _step_out(step: Step, db: sqlite3.Connection) -> dict[str, Any]:
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


def _step_in(body: Mapping[str, Any], db: sqlite3.Connection) -> Step:
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
    digest = sha256(node.data)
    db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (digest, node.data))
    return [node.kind, node.mode, digest]


def _node_in(body: Sequence[Any] | None, db: sqlite3.Connection) -> Node | None:
    if body is None:
        return None
    kind, mode, digest = body
    data = db.execute("SELECT data FROM blobs WHERE sha256 = ?", (digest,)).fetchone()[0]
    return Node(NodeKind(kind), data, mode)
