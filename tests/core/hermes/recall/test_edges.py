"""What is easily forgotten: arguments of the wrong kind, odd databases, profiles, deviations.

Cases of specs, hermes-sessions 7; what the agent answers is measured with hermes-agent 0.19.0
where it could be run (``tests/interop/test_recall.py`` compares far more of them).
"""

from __future__ import annotations

import json
import sqlite3
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from core.homes.hermes.recall.deviations import Deviation
from core.homes.hermes.recall.profiles import Profiles
from core.homes.hermes.recall.tool import recall
from core.homes.hermes.rules import Rules
from core.homes.hermes.sessions import opening
from tests.core.hermes.recall.calls import NOW, Asked, Json, condensed, fixture_home, ids
from tests.core.hermes.recall.databases import Made

MARATHON = "20260713_090000_6a6a01"
OLD = Rules.V0_19


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fixture_home(tmp_path_factory.mktemp("edges"))


@pytest.fixture
def ask(home: Path) -> Asked:
    return Asked(home)


# -- arguments -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "count"),
    [(0, 1), (-4, 1), (99, 10), ("5", 5), ("many", 3), (None, 3), (2.9, 2), (True, 1), (" 4 ", 4)],
)
def test_limit(ask: Asked, limit: object, count: int) -> None:
    """Spec 7, case 5: int() it, 3 if that fails, then clamp to 1…10."""
    assert ask(query="deploy", limit=limit)["count"] == count
    assert ask(limit=limit)["count"] == count


@pytest.mark.parametrize(
    ("window", "used"), [(0, 1), (99, 20), ("3", 3), ("wide", 5), (None, 5), (-1, 1)]
)
def test_window(ask: Asked, window: object, used: int) -> None:
    answer = ask(session_id=MARATHON, around_message_id=905, window=window)
    assert answer["window"] == used
    assert (answer["messages_before"], answer["messages_after"]) == (used, used)


@pytest.mark.parametrize("anchor", ["x", "", [], 1e999, float("nan")])
def test_an_anchor_that_is_no_integer(ask: Asked, anchor: object) -> None:
    """:attr:`Deviation.INFINITE` for one of them."""
    assert ask(session_id=MARATHON, around_message_id=anchor) == {
        "error": "scroll requires integer around_message_id",
        "success": False,
    }


def test_an_anchor_too_large_for_the_database(ask: Asked) -> None:
    said = ask(session_id=MARATHON, around_message_id=10**30)
    assert said["error"] == (
        "failed to load messages: Python int too large to convert to SQLite INTEGER"
    )


def test_a_message_of_another_family(ask: Asked) -> None:
    assert ask(session_id=MARATHON, around_message_id=1) == {
        "error": f"around_message_id 1 not in session_id {MARATHON}",
        "success": False,
    }


def test_roles_that_are_all_blank_are_the_default(ask: Asked) -> None:
    assert ask(query="deploy", role_filter=" , ") == ask(query="deploy")
    assert ask(query="deploy", role_filter=7) == ask(query="deploy")


@pytest.mark.parametrize("query", ["🚀", "* * *", "AND OR NOT", "\0", '"'])
def test_queries_of_nothing(ask: Asked, query: str) -> None:
    """Spec 7, case 11."""
    assert ask(query=query)["count"] == 0


def test_a_lone_surrogate_is_refused_as_sqlite_refuses_it(ask: Asked) -> None:
    """Measured: unless the query before it failed, too."""
    assert ask(query="a \ud800")["error"] == (
        "Search failed: 'utf-8' codec can't encode character '\\ud800' in position 2: "
        "surrogates not allowed"
    )
    assert ask(session_id="\ud800") == {"error": "session_id not found: \ud800", "success": False}


def test_scroll_beats_query_and_read_ignores_it(ask: Asked) -> None:
    assert ask(query="deploy", session_id=MARATHON, around_message_id="905")["mode"] == "scroll"
    assert ask(query="deploy", session_id=MARATHON)["mode"] == "read"
    assert ask(query="  ", session_id="  ")["mode"] == "browse"
    assert ask(query=["deploy"])["mode"] == "browse"


# -- sessions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("session_id", "count", "truncated"),
    [("20260712_083000_5f5f31", 31, True), (MARATHON, 254, True)],
)
def test_thirty_one_messages_are_too_many(
    ask: Asked, session_id: str, count: int, truncated: bool
) -> None:
    """Spec 7, case 2."""
    answer = ask(session_id=session_id)
    assert (answer["message_count"], answer["truncated"]) == (count, truncated)
    assert len(answer["messages"]) == 30


def test_ids_order_though_clocks_go_back(ask: Asked) -> None:
    """Spec 7, case 1."""
    messages = ask(session_id="20260714_090000_7b7b01")["messages"]
    times = [message["timestamp"] for message in messages]
    assert ids(messages) == sorted(ids(messages))
    assert times != sorted(times)


def test_a_rewound_anchor_is_served(tmp_path: Path) -> None:
    """Spec 7, case 7."""
    made = Made(tmp_path / "home", OLD)
    made.session("a")
    anchor = made.say("a", "taken back", active=0)
    answer = Asked(made.done())(session_id="a", around_message_id=anchor)
    assert answer["messages"][0]["anchor"] is True


def test_a_parent_that_is_missing_ends_the_family(tmp_path: Path) -> None:
    """Spec 1.7: imports can leave one."""
    made = Made(tmp_path / "home", OLD)
    made.session("a/odd id", parent_session_id="gone", model="m")
    made.say("a/odd id", "needle")
    made.session("b", parent_session_id="a/odd id")
    made.say("b", "needle")
    (result,) = Asked(made.done())(query="needle")["results"]
    assert (result["session_id"], result["parent_session_id"]) == ("a/odd id", "gone")
    assert (result["source"], result["model"], result["title"]) == ("cli", "m", None)


def test_a_family_that_goes_round_ends(tmp_path: Path) -> None:
    """:attr:`Deviation.CYCLE`: the agent's own list would not end."""
    made = Made(tmp_path / "home", OLD)
    made.session("a", end_reason="compression")
    made.session("b", parent_session_id="a", end_reason="compression")
    made.session("c", parent_session_id="b", end_reason="compression")
    made.run("UPDATE sessions SET parent_session_id = 'c' WHERE id = 'b'")
    made.say("c", "needle")
    ask = Asked(made.done())
    assert ask(query="needle")["count"] == 1
    assert [row["session_id"] for row in ask()["results"]] == ["a"]
    assert Asked(ask.home, Rules.NEWEST)()["success"] is True


def test_contents_of_every_kind(tmp_path: Path) -> None:
    """Spec 7, case 12, and 1.4; :attr:`Deviation.BYTES`."""
    made = Made(tmp_path / "home", OLD)
    made.session("a")
    parts = '\0json:[{"type": "text", "text": "needle"}]'
    for content in (None, "", parts, "\0json:{broken", b"bytes\xff", "x" * 200_000):
        made.say("a", content, tool_calls="{broken", tool_call_id="")
    first, *_, last = Asked(made.done())(session_id="a")["messages"]
    assert first["content"] is None
    assert set(first) == {"id", "role", "content", "timestamp"}
    assert len(last["content"]) == 200_000
    messages = Asked(made.home)(session_id="a")["messages"]
    assert messages[2]["content"] == [{"type": "text", "text": "needle"}]
    assert messages[3]["content"] == "\0json:{broken"
    assert messages[4]["content"] == "bytes\ufffd"
    assert Asked(made.home)(query="needle")["count"] == 1


@pytest.mark.parametrize("rules", list(Rules))
def test_bytes_in_any_column_break_nothing(tmp_path: Path, rules: Rules) -> None:
    """Found by a tester; :attr:`Deviation.BYTES`. Browsing is as hermes-agent 0.19.0 answers."""
    made = Made(tmp_path / "home", rules)
    made.session("a", title=b"t\xfe", model=b"m")
    made.run("UPDATE sessions SET source = CAST('cli' AS BLOB)")
    key = made.say("a", "needle", tool_name=b"name", tool_call_id=b"\xffid")
    ask = Asked(made.done(), rules)
    read = ask(session_id="a")
    assert read["session_meta"]["source"] == "cli"
    assert read["session_meta"]["title"] == "t\ufffd"
    assert read["messages"][0]["tool_call_id"] == "\ufffdid"
    for answer in (read, ask(session_id="a", around_message_id=key), ask(query="needle")):
        assert answer["success"] is True
        assert json.loads(json.dumps(answer)) == answer
    assert ask() == {
        "error": "Failed to list recent sessions: Object of type bytes is not JSON serializable",
        "success": False,
    }


@pytest.mark.parametrize(
    ("started", "told"),
    [
        (1_783_000_000, "July 02, 2026 at 07:16 PM"),
        ("1783000000.5", "July 02, 2026 at 07:16 PM"),
        ("yesterday", "yesterday"),
        (1e30, "1e+30"),
        ("-", "-"),
    ],
)
def test_when_is_told_in_the_zone_that_is_given(tmp_path: Path, started: object, told: str) -> None:
    made = Made(tmp_path / "home", OLD)
    made.run("CREATE TABLE copy AS SELECT * FROM sessions; DROP TABLE sessions;")
    made.run("ALTER TABLE copy RENAME TO sessions")
    made.session("a", started_at=started)
    profiles = Profiles(made.done())
    zone = timezone(timedelta(hours=5, minutes=30))
    answer = recall(
        made.home, {"session_id": "a"}, rules=OLD, now=NOW, profiles=profiles, zone=zone
    )
    assert answer["session_meta"]["when"] == told


# -- profiles --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        ("ghost", "profile 'ghost' does not exist"),
        ("Ghost ", "profile 'ghost' does not exist"),
        ("No Name", "Invalid profile name 'no name'. Must match [a-z0-9][a-z0-9_-]{0,63}"),
        ("empty", "unable to open database file"),
    ],
)
def test_profiles_that_cannot_be_asked(tmp_path: Path, profile: str, reason: str) -> None:
    home = fixture_home(tmp_path)
    (home / "profiles" / "empty").mkdir(parents=True)
    said = {"error": f"profile '{profile}': {reason}", "success": False}
    assert Asked(home)(profile=profile) == said
    assert Asked(home, Rules.NEWEST)(query="deploy", profile=profile) == said


def test_0_19_searches_nothing_in_a_profile_that_is_named(ask: Asked) -> None:
    """Spec 1.3, point 12 (#54861): measured; a title is found all the same."""
    assert ask(query="deploy", profile="default")["count"] == 0
    assert ask(query="Archived Draft", profile="DEFAULT")["count"] == 1
    newest = Asked(ask.home, Rules.NEWEST)
    assert newest(query="deploy", profile="default")["count"] == 3


@pytest.mark.parametrize("rules", Rules)
def test_a_pasted_link_is_read(home: Path, rules: Rules) -> None:
    """:attr:`Deviation.PREFIX`: the agent takes it for a profile's name."""
    ask = Asked(home, rules)
    plain = ask(session_id=f"default/{MARATHON}")
    assert plain["success"] is True
    assert ask(session_id=f"@session:default/{MARATHON}") == plain
    assert ask(session_id=f" @session:{MARATHON} ")["session_id"] == MARATHON


def test_a_guard_ends_at_the_profile(ask: Asked) -> None:
    """Spec 2, step 2: current_session_id counts for nothing in another profile."""
    asked = {"session_id": MARATHON, "around_message_id": 905, "current_session_id": MARATHON}
    assert "error" in ask(**asked)
    assert ask(**asked, profile="default")["success"] is True


# -- databases -------------------------------------------------------------------------------------


def no_file(home: Path) -> None:
    home.mkdir()


def zero_bytes(home: Path) -> None:
    home.mkdir()
    (home / "state.db").touch()


@pytest.mark.parametrize("make", [no_file, zero_bytes])
@pytest.mark.parametrize("rules", Rules)
def test_a_home_without_a_conversation(tmp_path: Path, make: object, rules: Rules) -> None:
    """:attr:`Deviation.UNMADE`: the agent would make its tables first and find as little."""
    home = tmp_path / "home"
    assert callable(make)
    make(home)
    before = sorted(home.iterdir())
    ask = Asked(home, rules)
    assert ask()["results"] == []
    assert ask(query="deploy")["count"] == 0
    assert "note" not in ask(query="deploy")
    assert "not found" in ask(session_id="x")["error"]
    assert ask(session_id="x", around_message_id=1)["error"] == "session_id not found: x"
    assert sorted(home.iterdir()) == before


def test_a_lock_is_no_empty_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """:attr:`Deviation.BUSY`."""
    monkeypatch.setattr(opening, "BUSY", 0.2)
    made = Made(tmp_path / "home", OLD)
    made.session("a")
    made.say("a", "needle")
    ask = Asked(made.done())
    writer = sqlite3.connect(ask.home / "state.db", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("UPDATE sessions SET title = 'being written'")
    for rules in Rules:
        for arguments in ({"query": "needle"}, {}, {"session_id": "a"}):
            said = Asked(ask.home, rules)(**arguments)
            assert said["success"] is False
            assert said["error"].startswith("Session database not available: ")
    writer.execute("ROLLBACK")
    writer.close()
    assert ask(query="needle")["count"] == 1


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"no database at all" * 100)
    said = Asked(tmp_path)(query="deploy")
    assert said["success"] is False
    assert said["error"].startswith("Session database not available: ")


@pytest.mark.parametrize("rules", Rules)
def test_a_database_without_its_index_is_read_row_by_row(tmp_path: Path, rules: Rules) -> None:
    """:attr:`Deviation.NO_INDEX`, spec 7, case 14."""
    home = fixture_home(tmp_path)
    db = sqlite3.connect(home / "state.db")
    for name in ("messages_fts", "messages_fts_trigram"):
        db.execute(f"DROP TABLE {name}")
    db.commit()
    db.close()
    answer = Asked(home, rules)(query="postgres OR irrigation", limit=5)
    assert answer["count"] == 2
    assert "no search index" in answer["note"]
    assert Asked(home, rules)(query="大别山")["count"] == 1


def test_an_older_file_without_flags_and_a_newer_one_with_more(tmp_path: Path) -> None:
    """Spec 1.4: columns are told by looking, never by the version; NULL reads as live."""
    made = Made(tmp_path / "home", OLD)
    made.run(
        "ALTER TABLE messages ADD COLUMN from_the_future TEXT;"
        "UPDATE schema_version SET version = 99;"
        "DROP INDEX idx_messages_session_active; DROP INDEX idx_messages_active_null;"
        "ALTER TABLE messages DROP COLUMN active; ALTER TABLE messages DROP COLUMN compacted;"
        "ALTER TABLE sessions DROP COLUMN archived"
    )
    made.session("a")
    made.say("a", "needle")
    ask = Asked(made.done())
    assert ask(query="needle")["count"] == 1
    assert ask(session_id="a")["message_count"] == 1
    assert ask()["count"] == 1


def test_a_null_flag_is_a_live_message(tmp_path: Path) -> None:
    made = Made(tmp_path / "home", OLD)
    made.run(
        "CREATE TABLE copy AS SELECT * FROM messages; DROP TABLE messages;"
        "ALTER TABLE copy RENAME TO messages"
    )
    made.session("a")
    made.say("a", "needle", id=1, active=None, compacted=None)
    made.run("INSERT INTO messages_fts (rowid, content) VALUES (1, 'needle')")
    ask = Asked(made.done())
    assert ask(query="needle")["count"] == 1
    assert ask(session_id="a")["message_count"] == 1


def test_jobs_come_after_people_under_every_order(tmp_path: Path) -> None:
    """Spec 3.7, step 1."""
    made = Made(tmp_path / "home", OLD)
    made.session("job", "cron")
    made.say("job", "needle needle needle")
    made.session("person")
    made.say("person", "a needle among many other words")
    made.session("later job", "cron")
    made.say("later job", "needle")
    ask = Asked(made.done())
    for order in (None, "newest", "oldest"):
        rows: list[Json] = ask(query="needle", sort=order)["results"]
        assert rows[0]["session_id"] == "person", order
    assert condensed(ask(query="needle", limit=1))["results"][0]["source"] == "cli"


@pytest.mark.parametrize("deviation", Deviation)
def test_every_deviation_is_named_where_it_is_made_and_tested(deviation: Deviation) -> None:
    tests = Path(__file__).parent
    code = tests.parents[3] / "core" / "homes" / "hermes" / "recall"
    for folder in (code, tests):
        sources = [each for each in folder.glob("*.py") if each.stem != "deviations"]
        named = f"Deviation.{deviation.name}"
        assert any(named in each.read_text("utf-8") for each in sources), folder
