"""The calls of skill tools in past conversations: counted once, looked for once."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from core.homes.hermes.curator import calls as module
from core.homes.hermes.curator.calls import NONE, read_calls


def call(tool: str, skill: object, nested: bool = True) -> dict[str, object]:
    arguments = json.dumps({"name": skill, "action": "patch"})
    function: dict[str, object] = {"name": tool, "arguments": arguments}
    return {"id": "call_1", "type": "function", "function": function} if nested else function


class Past:
    """A ``state.db`` in the making."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._db = sqlite3.connect(home / "state.db", isolation_level=None)
        self._db.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT,"
            " content TEXT, tool_calls TEXT, timestamp REAL, active INTEGER, compacted INTEGER)"
        )
        self._db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT)")

    def add(
        self,
        at: float | str,
        *made: dict[str, object],
        session: str = "a",
        active: int | None = 1,
        compacted: int = 0,
    ) -> None:
        row = (session, json.dumps(made), at, active, compacted)
        self._db.execute(
            "INSERT INTO messages (session_id, role, tool_calls, timestamp, active, compacted)"
            " VALUES (?, 'assistant', ?, ?, ?, ?)",
            row,
        )

    def close(self) -> None:
        self._db.close()


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path)


def test_calls_are_those_of_the_two_tools_with_their_skill_and_conversation(past: Past) -> None:
    """Spec 7.11."""
    past.add(20, call("skill_view", "deploy"), call("terminal", "deploy"), session="b")
    past.add(10, call("skill_manage", "ops/deploy", nested=False))
    past.add(30, call("skill_view", 7), call("skill_view", "  "))
    past.close()
    found = read_calls(past.home)
    assert [(each.at, each.tool, each.skill, each.session) for each in found.found] == [
        (10.0, "skill_manage", "ops/deploy", "a"),
        (20.0, "skill_view", "deploy", "b"),
    ]
    assert len(found.of({"deploy", "ops/deploy"})) == 2
    assert (found.newest, found.problem, found.more) == (3, "", False)


def test_a_call_is_counted_once_and_what_was_taken_back_not_at_all(past: Past) -> None:
    """Specs, hermes-sessions 1: undone turns, and copies that a later session carries on."""
    past.add(10, call("skill_view", "deploy"))
    past.add(10, call("skill_view", "deploy"), session="b")
    past.add(20, call("skill_view", "deploy"), active=0)
    past.add(30, call("skill_view", "deploy"), active=0, compacted=1)
    past.add(40, call("skill_view", "deploy"), active=None)
    past.add("soon", call("skill_view", "deploy"))
    past.close()
    assert [each.at for each in read_calls(past.home).found] == [10.0, 30.0, 40.0]


def test_only_later_messages_are_looked_at_again(past: Past) -> None:
    past.add(10, call("skill_view", "deploy"))
    first = read_calls(past.home)
    past.add(20, call("skill_view", "deploy"))
    past.close()
    with_hole = module.Calls((), first.newest)
    assert [each.at for each in read_calls(past.home, with_hole).found] == [20.0]
    assert [each.at for each in read_calls(past.home, first).found] == [10.0, 20.0]


def test_another_database_is_read_from_its_beginning(past: Past) -> None:
    past.add(10, call("skill_view", "deploy"))
    past.close()
    known = module.Calls((module.Call(5.0, "skill_view", "gone", "x"),), newest=900)
    assert [each.skill for each in read_calls(past.home, known).found] == ["deploy"]


def test_a_look_that_is_out_of_time_keeps_what_it_found_and_is_gone_on_with(
    past: Past, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(5):
        past.add(at, call("skill_view", "deploy"))
    past.close()
    monkeypatch.setattr(module, "STEP", 1)
    early = read_calls(past.home, seconds=0)
    assert (early.found, early.more, early.problem) == ((), True, "")
    assert len(read_calls(past.home, early).found) == 5


def test_no_database_and_a_broken_one(tmp_path: Path) -> None:
    assert read_calls(tmp_path) == NONE
    (tmp_path / "state.db").write_bytes(b"no database at all, and long enough to tell" * 9)
    found = read_calls(tmp_path)
    assert (found.found, found.problem) == ((), "state.db cannot be read: it is damaged")
