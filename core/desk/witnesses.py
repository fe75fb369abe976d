"""Whether a database is still the one an index was made from: a few of its messages are remembered.

A file that is restored or made anew may keep its place, its number on the disk and its first
message; then other messages stand under the ids the index knows. Only digests are kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from core.atomic import whole
from core.homes.hermes.sessions.opening import Database

#: Messages remembered, spread over all that the index knows; characters of each that count.
COUNT, LENGTH = 8, 200


def take(db: Database, through: int) -> dict[int, str]:
    """Digests of messages up to ``through``, the last among them."""
    first = db.rows("SELECT min(id) FROM messages")[0][0]
    if first is None:
        return {}
    step = max(1, (through - first) // (COUNT - 1))
    found: dict[int, str] = {}
    for target in (*range(first, through, step), through):
        sql = "SELECT max(id) FROM messages WHERE id <= ?"
        if (key := db.rows(sql, (target,))[0][0]) is not None:
            found[key] = digest(db, key) or ""
    return found


def digest(db: Database, key: int) -> str | None:
    """What tells one message from another under the same id; ``None`` where there is none."""
    sql = (
        "SELECT session_id, role, timestamp, CAST(substr(CAST(content AS BLOB), 1, ?) AS BLOB)"
        " FROM messages WHERE id = ?"
    )
    rows = db.rows(sql, (LENGTH, key))
    return hashlib.sha256(repr(rows[0]).encode("utf-8", "replace")).hexdigest() if rows else None


def hold(db: Database, marks: Mapping[int, str]) -> bool:
    """Whether the newest of ``marks`` is there, and none is another message now."""
    if not marks:
        return True
    seen = {key: digest(db, key) for key in marks}
    return seen[max(marks)] is not None and all(
        now is None or now == marks[key] for key, now in seen.items()
    )


def newest_holds(db: Database, marks: Mapping[int, str]) -> bool:
    """The quick look before a search: the newest of ``marks`` is as it was."""
    return not marks or digest(db, max(marks)) == marks[max(marks)]


def load(path: Path) -> dict[int, str]:
    """The marks kept in ``path``; none where they cannot be read."""
    try:
        kept = json.loads(path.read_bytes())
        return {int(key): str(value) for key, value in kept.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def save(path: Path, marks: Mapping[int, str]) -> None:
    """Keep ``marks``; a full disk only means that they are taken again."""
    with contextlib.suppress(OSError), whole(path, over=True) as stream:
        stream.write(json.dumps({str(key): value for key, value in marks.items()}).encode())
