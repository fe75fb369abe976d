"""Outlines of generated databases against their rows, read one by one (spec 1.4, 1.7)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from math import isfinite
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.conversations import Mark, Visibility
from core.homes.hermes.sessions.store import StateDb
from tests.core.hermes.sessions.homes import drop_full_text, insert, make_home

ROLES = ("user", "assistant", "tool", "system", "session_meta")
SAID = st.sampled_from(["deploy", "deploy it", None, "x" * 9_000])
#: As the agent writes them; few times, so that some are copies.
PLAIN = st.fixed_dictionaries(
    {
        "session_id": st.sampled_from("ab"),
        "role": st.sampled_from(ROLES),
        "timestamp": st.sampled_from([0.0, 1_783_069_200.123457, 1_783_069_201.0]),
        "content": SAID,
        "active": st.sampled_from([1, 1, 0]),
        "compacted": st.sampled_from([0, 1]),
    }
)
VALUES = st.sampled_from(
    [None, "", "user", "tool", "1", "0", 0, 1, 2, -1, 2.5, 9e999, -9e999, 1.0, 10**18,
     b"user", b"\xff", "\ud7ff", "us\0er"]
)  # fmt: skip
ODD = st.fixed_dictionaries(
    {
        "session_id": st.sampled_from("ab"),
        "role": st.sampled_from(ROLES) | VALUES,
        "timestamp": st.sampled_from([0.0, 5.5]) | VALUES,
        "content": SAID | VALUES,
        "active": st.sampled_from([0, 1]) | VALUES,
        "compacted": st.sampled_from([0, 1]) | VALUES,
    }
)
IDS = st.sets(st.integers(1, 50) | st.integers(-(2**63), 2**63 - 1), min_size=12, max_size=12)


def number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and isfinite(value) else None


def word(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return "" if value is None else str(value)


def read(home: Path, session_id: str) -> tuple[Mark, ...]:
    """What an outline means: every row by itself."""
    with closing(sqlite3.connect(home / "state.db")) as db:
        names = {row[1] for row in db.execute("PRAGMA table_info(messages)")}
        wanted = ("id", "role", "timestamp", "active", "compacted", "content")
        columns = ", ".join(name if name in names else "NULL" for name in wanted)
        sql = f"SELECT {columns} FROM messages WHERE session_id = ? ORDER BY id"
        rows = db.execute(sql, (session_id,)).fetchall()
    seen = []
    for _, _, _, active, compacted, _ in rows:
        taken_back = isinstance(active, int | float) and active == 0
        summarised = isinstance(compacted, int | float) and compacted == 1
        away = Visibility.SUMMARISED if summarised else Visibility.UNDONE
        seen.append(away if taken_back else Visibility.LIVE)
    marks = []
    for place, (id_, role, at, _, _, content) in enumerate(rows):
        key = (word(role), number(at))
        alike = [row for row in rows[:place] if (word(row[1]), number(row[2])) == key]
        # A copy is one of the first message with its role and time, and of no other.
        first = alike[0] if alike and key[1] is not None else None
        same = first is not None and (type(first[5]), first[5]) == (type(content), content)
        carried = same and Visibility.SUMMARISED in seen
        marks.append(Mark(id_, *key, seen[place], first[0] if carried and first else 0))
    return tuple(marks)


@pytest.fixture(scope="module")
def agents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables as the agent makes them."""
    return with_sessions(make_home(tmp_path_factory.mktemp("agents")))


@pytest.fixture(scope="module")
def typeless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Messages without the constraints and types that the agent's have."""
    home = make_home(tmp_path_factory.mktemp("typeless"))
    with closing(sqlite3.connect(home / "state.db")) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(messages)")]
        columns = ["id INTEGER PRIMARY KEY", *names[1:]]
        drop_full_text(db)
        db.execute("DROP TABLE messages")
        db.execute(f"CREATE TABLE messages ({', '.join(columns)})")
        db.commit()
    return with_sessions(home)


def with_sessions(home: Path) -> Path:
    insert(home, "sessions", {"id": "a"}, {"id": "b"})
    return home


def fill(home: Path, rows: list[dict[str, object]], ids: set[int]) -> None:
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute("DELETE FROM messages")
        db.commit()
    insert(home, "messages", *({"id": id_} | row for id_, row in zip(ids, rows, strict=False)))


@given(rows=st.lists(PLAIN, max_size=12), ids=IDS)
@settings(max_examples=60)
def test_rows_as_the_agent_writes_them(
    agents: Path, rows: list[dict[str, object]], ids: set[int]
) -> None:
    fill(agents, rows, ids)
    for session_id in "ab":
        assert StateDb(agents).outline(session_id) == read(agents, session_id)


@given(rows=st.lists(PLAIN | ODD, max_size=12), ids=IDS)
@settings(max_examples=120)
def test_rows_that_hold_anything(
    typeless: Path, rows: list[dict[str, object]], ids: set[int]
) -> None:
    fill(typeless, rows, ids)
    for session_id in "ab":
        assert StateDb(typeless).outline(session_id) == read(typeless, session_id)


@pytest.mark.parametrize("gone", ["timestamp", "active", "compacted"])
def test_a_column_that_is_not_there(tmp_path: Path, gone: str) -> None:
    home = with_sessions(make_home(tmp_path / "h"))
    rows = [{"session_id": "a", "active": n % 2, "compacted": n % 3 % 2} for n in range(9)]
    insert(home, "messages", *rows)
    with closing(sqlite3.connect(home / "state.db")) as db:
        drop_full_text(db)
        names = [row[1] for row in db.execute("PRAGMA table_info(messages)")]
        left = ", ".join(name for name in names if name != gone)
        db.execute(f"CREATE TABLE kept AS SELECT {left} FROM messages")
        db.execute("DROP TABLE messages")
        db.execute("ALTER TABLE kept RENAME TO messages")
        db.commit()
    outline = StateDb(home).outline("a")
    assert outline == read(home, "a")
    assert len(outline) == len(rows)
