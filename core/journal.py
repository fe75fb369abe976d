"""What was decided, with the bytes to take it back: one SQLite file in signoff's own folder.

An entry is opened with its intent and every before-byte in one transaction, before anything is
written, and closed with the outcome. An entry still open is a commit that did not end.
"""

from __future__ import annotations

import getpass
import json
import os
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

from core.database import Database
from core.errors import NotFoundError
from core.journal_rows import Step as Step
from core.journal_rows import step_in, step_out
from core.model import EntryChange

#: The largest number an entry can have: SQLite has no larger one.
LAST = 2**63 - 1
_COLUMNS = "id, entries.at, entries.home, profile, state, verb, undone_by, body"


class State(StrEnum):
    """Where an entry stands. ``OPEN`` did not end; ``TORN`` met bytes nobody here wrote."""

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"
    TORN = "torn"


@dataclass(frozen=True, slots=True)
class Tags:
    """What files a decision beside others.

    ``bulk``: the number of the bulk step it is a part of. ``origin``: where the record came from,
    ``None`` where no record was decided. ``matter``: a hash of what was proposed.
    """

    bulk: int | None = None
    origin: str | None = None
    matter: str = ""


NO_TAGS = Tags()


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
    tags: Tags = NO_TAGS
    roots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the journal. ``steps`` are empty in listings; ``locks`` are the agent's.

    ``roots`` are the folders outside the home that it could write to: undo and recovery may too,
    whatever the config says by then.
    """

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
    tags: Tags = NO_TAGS
    roots: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.state is State.DONE


class Journal(Database):
    """The decisions, and what they are told by: pins, bulk steps, refused texts, snoozes."""

    # -- writing ---------------------------------------------------------------------------

    def open(self, intent: Intent) -> int:
        """Write the intent with all before- and after-bytes; the new entry's number."""
        with self._writing() as db:
            return insert(db, intent, State.OPEN)

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

    def new_bulk(self, home: str, at: datetime) -> int:
        """The number that the entries of one bulk step share."""
        with self._writing() as db:
            cursor = db.execute(
                "INSERT INTO bulks (home, at) VALUES (?, ?)", (json.dumps(home), at.isoformat())
            )
            return cast("int", cursor.lastrowid)

    def snooze(self, home: str, record: str, until: datetime | None, at: datetime) -> None:
        """Let a record sleep ``until`` then; ``None`` wakes it."""
        key = (json.dumps(home), json.dumps(record))
        with self._writing() as db:
            db.execute("DELETE FROM snoozes WHERE home = ? AND record = ?", key)
            if until is not None:
                row = (*key, until.isoformat(), at.isoformat())
                db.execute("INSERT INTO snoozes VALUES (?, ?, ?, ?)", row)

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

    def snoozes(self, home: str) -> dict[str, datetime]:
        """``record key -> until when it sleeps``, also those that are over."""
        with self._reading() as db:
            rows = db.execute(
                "SELECT record, until FROM snoozes WHERE home = ?", (json.dumps(home),)
            ).fetchall()
        return {json.loads(record): datetime.fromisoformat(until) for record, until in rows}

    def any_refused(self, home: str) -> bool:
        """Whether a text was ever refused on ``home``."""
        with self._reading() as db:
            row = db.execute("SELECT 1 FROM refused WHERE home = ? LIMIT 1", (json.dumps(home),))
            return row.fetchone() is not None

    def refused(self, home: str, matters: Collection[str]) -> dict[str, Entry]:
        """``matter -> the newest refusal of it that is in force``, of those asked for."""
        with self._reading() as db:
            rows = db.execute(
                f"SELECT matter, {_COLUMNS} FROM refused JOIN entries ON entries.id = entry"
                " WHERE refused.home = ? AND state = ? ORDER BY entry",
                (json.dumps(home), State.DONE),
            ).fetchall()
            undone = dict(
                db.execute(
                    "SELECT id, undone_by FROM entries WHERE home = ? AND undone_by IS NOT NULL",
                    (json.dumps(home),),
                ).fetchall()
            )
        return {
            matter: _entry(row)
            for matter, *row in rows
            if matter in matters and in_force(row[0], undone)
        }

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
        values.append(-1 if limit is None else min(limit, LAST))
        with self._reading() as db:
            rows = db.execute(
                f"SELECT {_COLUMNS} FROM entries"
                f" WHERE {' AND '.join(where)} ORDER BY id DESC LIMIT ?",
                values,
            ).fetchall()
        return tuple(_entry(row) for row in rows)

    def entry(self, number: int) -> Entry:
        """One entry with its steps. Raises :class:`NotFoundError`."""
        with self._reading() as db:
            row = db.execute(
                f"SELECT {_COLUMNS} FROM entries WHERE id = ?",
                (number if 0 < number <= LAST else 0,),
            ).fetchone()
            if row is None:
                raise NotFoundError(
                    f"The journal has no entry {number}", "List them with `signoff journal`"
                )
            bodies = db.execute(
                "SELECT body FROM steps WHERE entry = ? ORDER BY number", (number,)
            ).fetchall()
            steps = tuple(step_in(json.loads(body), db) for (body,) in bodies)
        return _entry(row, steps)


def insert(
    db: sqlite3.Connection, intent: Intent, state: State, changed: Sequence[str] = ()
) -> int:
    """Write an entry with all its bytes inside a transaction; its number.

    ``changed`` are further paths it is about, whose bytes are not kept.
    """
    tags = intent.tags
    body = {
        "subject": intent.subject,
        "category": intent.category,
        "message": intent.message,
        "note": intent.note,
        "record": intent.record,
        "undoes": intent.undoes,
        "changed": [*(step.change.path for step in intent.steps), *changed],
        "actor": actor(),
        "entries": [[pair.before, pair.after] for pair in intent.entries],
        "locks": intent.locks,
        "roots": intent.roots,
        "bulk": tags.bulk,
        "origin": tags.origin,
        "matter": tags.matter,
    }
    home = json.dumps(intent.home)
    cursor = db.execute(
        "INSERT INTO entries (at, home, profile, state, verb, body) VALUES (?, ?, ?, ?, ?, ?)",
        (
            intent.at.isoformat(),
            home,
            json.dumps(intent.profile),
            state,
            intent.verb,
            json.dumps(body),
        ),
    )
    number = cast("int", cursor.lastrowid)
    for place, step in enumerate(intent.steps):
        db.execute(
            "INSERT INTO steps VALUES (?, ?, ?)", (number, place, json.dumps(step_out(step, db)))
        )
    if intent.verb == "reject" and tags.matter:
        db.execute("INSERT INTO refused VALUES (?, ?, ?)", (home, tags.matter, number))
    return number


def in_force(number: int, undone: Mapping[int, int]) -> bool:
    """Whether an entry stands; ``undone`` maps entries to those that took them back.

    An undo that was itself undone puts what it took back in force again.
    """
    stands = True
    while number in undone:
        number, stands = undone[number], not stands
    return stands


def actor() -> dict[str, str]:
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
        # A file of the first format has none of these.
        tags=Tags(fields.get("bulk"), fields.get("origin"), fields.get("matter", "")),
        roots=tuple(fields.get("roots", ())),
    )
