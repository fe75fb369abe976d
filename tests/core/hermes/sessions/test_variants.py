"""Databases of other versions, and rows of any type: spec hermes-sessions 1.4, 7.12, 7.14."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.conversations import Filters, Handoff, Relation, Visibility
from core.homes.hermes.sessions.health import Sign, examine
from core.homes.hermes.sessions.opening import reading
from core.homes.hermes.sessions.store import StateDb
from tests.core.hermes.sessions.homes import (
    AT,
    change,
    drop_full_text,
    fixture_home,
    insert,
    listing,
    make_home,
    session,
)

ALL = Filters(with_hidden=True, with_archived=True)


def ask_everything(home: Path) -> None:
    """Every question about every session; none may fail."""
    store = StateDb(home)
    for each in store.listing(ALL, 500).sessions:
        marks = store.outline(each.id)
        for longest in (5, sys.maxsize):
            store.messages([mark.id for mark in marks], each.id, longest)
        store.family(each.id)
        store.session(each.id)
        for mark in marks:
            store.debug(mark.id)
    store.totals()


# -- versions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [22, 25, 30, 99])
def test_versions(tmp_path: Path, version: int) -> None:
    home = make_home(tmp_path / "h", version=version)
    insert(home, "sessions", {"id": "s1", "title": "One"}, {"id": "s2", "parent_session_id": "s1"})
    insert(home, "messages", {"session_id": "s1", "content": "first words"})
    ask_everything(home)
    (row,) = StateDb(home).listing(Filters(), 9).sessions
    assert (row.id, row.title, row.preview) == ("s1", "One", "first words")
    assert session(home, "s2").relation is Relation.DELEGATE


@pytest.mark.parametrize("version", [25, 30])
def test_what_newer_columns_say(tmp_path: Path, version: int) -> None:
    home = make_home(tmp_path / "h", version=version)
    insert(
        home,
        "sessions",
        {"id": "pinned", "pinned": 1, "started_at": AT},
        {"id": "hidden", "hidden": 1, "started_at": AT + 1},
        {"id": "read", "last_read_at": AT + 50, "started_at": AT + 2},
        {"id": "unread", "last_read_at": AT + 2, "started_at": AT + 3},
        {"id": "never", "last_read_at": 0, "started_at": AT + 4},
        {"id": "busy", "last_activity_at": AT + 90, "started_at": AT + 5},
    )
    found = StateDb(home).listing(Filters(), 9)
    shown = {each.id: each for each in found.sessions}
    assert list(shown) == ["busy", "never", "unread", "read", "pinned"]
    assert found.hidden == 1
    assert shown["pinned"].pinned
    assert not shown["read"].pinned
    assert [name for name, each in shown.items() if each.unread] == ["never", "unread"]
    assert shown["busy"].last_active == AT + 90
    assert StateDb(home).listing(ALL, 9).sessions[4].hidden
    insert(
        home,
        "messages",
        {"session_id": "read", "content": "scaffolding", "display_kind": "hidden"},
        {"session_id": "read", "content": "go left", "display_kind": "steer", "timestamp": AT + 1},
        {"session_id": "read", "content": "", "_compressed_summary": 1, "timestamp": AT + 2},
        {"session_id": "read", "content": "we did", "_compressed_summary": 1, "timestamp": AT + 3},
    )
    store = StateDb(home)
    said = store.messages([mark.id for mark in store.outline("read")], "read", 99)
    assert [each.notes for each in said] == [("hidden from people",), ("steer",), (), ()]
    assert [each.handoff for each in said] == [None, None, Handoff.OPAQUE, Handoff.MODEL]
    assert session(home, "read").preview == "go left"
    assert dict(store.debug(said[1].id))["display kind"] == "steer"


def test_the_oldest_tables(tmp_path: Path) -> None:
    # Only what no version is without.
    with closing(sqlite3.connect(tmp_path / "state.db")) as db:
        db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT)")
        db.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT)"
        )
        db.execute("INSERT INTO sessions VALUES ('s1', 'cli')")
        db.execute("INSERT INTO messages VALUES (3, 's1', 'user', 'hello'), (9, 's1', 'x', NULL)")
        db.commit()
    ask_everything(tmp_path)
    (row,) = StateDb(tmp_path).listing(Filters(), 9).sessions
    assert (row.preview, row.started_at, row.last_active) == ("hello", None, None)
    assert [mark.visibility for mark in StateDb(tmp_path).outline("s1")] == [Visibility.LIVE] * 2
    assert StateDb(tmp_path).totals().messages == 2


def test_null_visibility_is_live(tmp_path: Path) -> None:
    # 1.4: old files hold NULL for 1. Such a table has no NOT NULL.
    home = make_home(tmp_path / "h")
    change(
        home, "ALTER TABLE messages RENAME COLUMN active TO was", "ALTER TABLE messages ADD active"
    )
    insert(home, "sessions", {"id": "s1"})
    rows: list[dict[str, object]] = [
        {"active": None, "compacted": 0},
        {"active": 1, "compacted": 1},
        {"active": 0, "compacted": 1},
        {"active": 0, "compacted": 0},
    ]
    insert(home, "messages", *({"session_id": "s1", **row} for row in rows))
    expected = [Visibility.LIVE, Visibility.LIVE, Visibility.SUMMARISED, Visibility.UNDONE]
    marks = StateDb(home).outline("s1")
    assert [mark.visibility for mark in marks] == expected
    said = StateDb(home).messages([mark.id for mark in marks], "s1", 9)
    assert [each.visibility for each in said] == expected


# -- previews --------------------------------------------------------------------------------------


def test_a_preview_is_the_first_thing_a_person_said(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h")
    insert(home, "sessions", {"id": "s1"})
    said: list[dict[str, object]] = [
        {"content": "[CONTEXT COMPACTION — REFERENCE ONLY] before"},
        {"content": "[PRIOR CONTEXT — for reference only; not a new message]\nx"},
        {"content": None},
        {"content": ""},
        {"content": "taken back", "active": 0, "compacted": 0},
        {"content": "an answer", "role": "assistant"},
        {"content": "the first\n\n words " + "x" * 400},
        {"content": "later words"},
    ]
    rows = [
        {"session_id": "s1", "timestamp": AT + number} | each for number, each in enumerate(said)
    ]
    insert(home, "messages", *rows)
    expected = "the first words " + "x" * 144
    assert session(home, "s1").preview == expected
    assert StateDb(home).listing(Filters(), 9).sessions[0].preview == expected


def test_a_preview_of_an_encoded_structure(tmp_path: Path) -> None:
    # 1.4: the agent's own preview of one is empty.
    home = make_home(tmp_path / "h")
    insert(home, "sessions", {"id": "s1"})
    image = (
        '{"type": "image_url", "image_url": {"url": "data:image/png;base64,' + "A" * 5_000 + '"}}'
    )
    content = "\0json:[" + image + ', {"type": "text", "text": "what is this?"}]'
    insert(home, "messages", {"session_id": "s1", "content": content})
    assert session(home, "s1").preview == "what is this?"


# -- hostile rows ----------------------------------------------------------------------------------

ODD: list[object] = [
    None, "", "text", "7", b"\xff\xfe", b"\0json:[]", 7, -1, 2.5, 9e999, 10**18, "\x1b[2J",
    "\0json:[{}]", "[" * 5_000, '{"_branched_from": ["s1"], "_from": 1}', "é" * 70_000,
]  # fmt: skip


@pytest.mark.parametrize("table", ["sessions", "messages"])
def test_any_value_in_any_column(tmp_path: Path, table: str) -> None:
    home = make_home(tmp_path / "h", version=30)
    # Without the constraints and types that the agent's tables have.
    with closing(sqlite3.connect(home / "state.db")) as db:
        names = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        db.execute("PRAGMA foreign_keys=OFF")
        drop_full_text(db)
        db.execute("DROP VIEW messages_fts_src")
        db.execute(f"DROP TABLE {table}")
        columns = [
            "id INTEGER PRIMARY KEY" if n == "id" and table == "messages" else f'"{n}"'
            for n in names
        ]
        db.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
        db.commit()
    insert(home, "sessions", {"id": "s1"}, {"id": "s2", "parent_session_id": "s1"})
    insert(home, "messages", {"session_id": "s1"})
    for name in names:
        if name in ("id", "session_id") and table == "messages":
            continue
        base: dict[str, object] = {} if table == "sessions" else {"session_id": "s1"}
        if table == "sessions" and name != "id":
            rows = [base | {"id": f"{name}{n}", name: value} for n, value in enumerate(ODD)]
        else:
            rows = [base | {name: value} for value in ODD]
        insert(home, table, *rows)
    before = listing(home)
    ask_everything(home)
    examine(home)
    assert listing(home) == before
    if table == "messages":
        assert len(StateDb(home).outline("s1")) == 1 + len(ODD) * (len(names) - 2)


def test_calls_that_cannot_be_read_are_noted(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h")
    insert(home, "sessions", {"id": "s1"})
    for calls in ("[{", "[]", None):
        insert(home, "messages", {"session_id": "s1", "role": "assistant", "tool_calls": calls})
    said = StateDb(home).messages([1, 2, 3], "s1", 99)
    assert [each.tool_calls for each in said] == [(), (), ()]
    assert [each.notes for each in said] == [("its calls cannot be read",), (), ()]


def test_a_tool_that_read_a_summary_is_none(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h")
    insert(home, "sessions", {"id": "s1"})
    text = "[CONTEXT COMPACTION — REFERENCE ONLY] from a file"
    insert(home, "messages", {"session_id": "s1", "role": "tool", "content": text})
    assert StateDb(home).messages([1], "s1", 99)[0].handoff is None


@pytest.mark.parametrize("parent", ["s1", "s3", "gone", ""])
def test_loops_and_orphans(tmp_path: Path, parent: str) -> None:
    home = make_home(tmp_path / "h")
    insert(
        home,
        "sessions",
        {"id": "s1", "parent_session_id": parent, "end_reason": "compression", "started_at": AT},
        {"id": "s2", "parent_session_id": "s1", "end_reason": "compression", "started_at": AT + 1},
        {"id": "s3", "parent_session_id": "s2", "started_at": AT + 2},
    )
    store = StateDb(home)
    (row,) = store.listing(Filters(), 9).sessions
    assert row.chain == ("s1", "s2", "s3")
    for each in row.chain:
        assert session(home, each).root_id == "s1"
        assert [(e.session.id, e.depth) for e in store.family(each)] == [
            ("s1", 0),
            ("s2", 1),
            ("s3", 2),
        ]


# -- health ----------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return fixture_home(tmp_path / "home")


def bad(home: Path) -> list[str]:
    return [sign.words for sign in examine(home) if sign.ok is False]


def test_a_healthy_database(home: Path) -> None:
    before = listing(home)
    assert examine(home) == (
        Sign("state.db", True, "52 sessions, 1,400 messages"),
        Sign("schema", True, "version 22"),
        Sign("state.db", True, "2.3 MB, journal: at rest"),
        Sign("search", True, "messages_fts, with its own text: a query for 'Done' finds its message"),
        Sign(
            "search in Chinese, Japanese and Korean",
            True,
            "messages_fts_trigram, with its own text: a query for 'Done' finds its message",
        ),
    )  # fmt: skip
    assert listing(home) == before


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        # D26, hermes #33865
        ("DELETE FROM messages_fts_data WHERE id > 10", "is damaged"),
        ("UPDATE messages_fts_data SET block = x'00'", "(messages_fts_data is empty or damaged)"),
        ("DELETE FROM messages_fts_data", "messages_fts_data is damaged"),
        ("DELETE FROM messages_fts_idx", "(messages_fts_idx is empty or damaged)"),
        ("DROP TABLE messages_fts_data", "messages_fts_data is missing"),
        ("DROP TABLE messages_fts_config", "messages_fts_config is missing"),
        ("DELETE FROM messages_fts", "misses its message"),
        ("UPDATE messages_fts_trigram_data SET block = x'00'", "messages_fts_trigram"),
    ],
)
def test_a_damaged_index_is_named(home: Path, spoil: str, said: str) -> None:
    change(home, spoil)
    (words,) = bad(home)
    assert said in words
    assert "messages_fts" in words
    assert "hermes sessions optimize" in words


def test_no_index_at_all(home: Path) -> None:
    # 7.14: dropped by a repair
    with closing(sqlite3.connect(home / "state.db")) as db:
        drop_full_text(db)
        db.commit()
    assert bad(home) == [
        "there is no full-text index: the agent finds nothing, signoff reads every message"
    ]
    ask_everything(home)


def test_the_agents_own_tokenizer_is_not_touched(home: Path) -> None:
    # 1.3.11: SELECT on it fails in a plain SQLite. Its definition alone is enough to know.
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute("PRAGMA writable_schema=ON")
        db.execute(
            "INSERT INTO sqlite_master VALUES ('table', 'messages_fts_cjk', 'messages_fts_cjk', 0,"
            " 'CREATE VIRTUAL TABLE messages_fts_cjk USING fts5(content, tokenize=cjk_unicode61)')"
        )
        db.commit()
    assert bad(home) == []
    assert "messages_fts_cjk is the agent's alone and is not read" in [
        s.words for s in examine(home)
    ]
    with reading(home) as db_:
        assert db_.layout.cjk
    ask_everything(home)


def test_a_new_index_over_the_messages(tmp_path: Path) -> None:
    home = make_home(tmp_path / "h", version=30)
    insert(home, "sessions", {"id": "s1"}, {"id": "c", "source": "cron"})
    insert(home, "messages", {"session_id": "s1", "content": "harbour lights"})
    insert(home, "messages", {"session_id": "c", "content": "nightly report"})
    change(home, "INSERT INTO messages_fts(messages_fts) VALUES ('rebuild')")
    change(
        home,
        "INSERT INTO messages_fts_trigram(rowid, content, tool_name) VALUES (1, 'harbour lights', '')",
    )
    signs = {sign.name: sign for sign in examine(home)}
    assert signs["schema"].words == "version 30"
    assert "over the messages: a query for 'nightly' finds" in signs["search"].words
    assert "'harbour' finds" in signs["search in Chinese, Japanese and Korean"].words
    assert bad(home) == []


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["fts_stale"], "the agent marked its index as stale and reads every message instead"),
        (
            ["fts_rebuild_high_water", "fts_rebuild_progress"],
            "the agent is rebuilding its index; older messages may be missing from it",
        ),
    ],
)
def test_an_index_that_the_agent_works_on(home: Path, keys: list[str], said: str) -> None:
    # 3.6
    change(home, *(("INSERT INTO state_meta VALUES (?, '1')", (key,)) for key in keys))
    assert Sign("search", None, said) in examine(home)
    assert bad(home) == []


@pytest.mark.parametrize(
    ("version", "words"),
    [
        ("21", "version 21, older than those signoff knows"),
        ("31", "version 31, newer than those signoff knows"),
        ("'x'", "no version is stored; its columns are looked at instead"),
    ],
)
def test_schema_versions(home: Path, version: str, words: str) -> None:
    change(home, f"UPDATE schema_version SET version = {version}")
    assert Sign("schema", None, words) in examine(home)


def test_missing_columns_are_named(home: Path) -> None:
    change(home, "ALTER TABLE sessions DROP COLUMN archived")
    expected = Sign("schema", None, "sessions has no archived; what they say is left out")
    assert expected in examine(home)


def test_what_cannot_be_examined(home: Path) -> None:
    path = home / "state.db"
    path.write_bytes(b"nothing of the kind" * 100)
    assert bad(home) == [
        "state.db cannot be read: it is damaged; `hermes sessions repair` mends what can be mended"
    ]
    path.unlink()
    assert examine(home) == (
        Sign("state.db", None, "There is no state.db, so no conversation is kept"),
    )
    path.touch()
    assert len(bad(home)) == 1
    path.unlink()
    path.mkdir()
    assert bad(home) == ["state.db cannot be read: it is a folder; move it away"]


def test_a_file_system_that_cannot_lock(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # D28, hermes #22032
    monkeypatch.setattr("core.homes.hermes.sessions.health.file_system", lambda path: "nfs4")
    words = [sign.words for sign in examine(home) if "nfs4" in sign.words]
    assert words == [
        "lies on nfs4, where the locks of a database may fail: proposals and memory still work,"
        " conversations may not"
    ]
