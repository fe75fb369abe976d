"""``signoff recall``: the tool's answers on the command line (contract, row ``recall``)."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.recall.profiles import Profiles
from core.homes.hermes.recall.tool import recall
from core.homes.hermes.rules import Rules
from tests.console.plain import DATA, NOW, Cli
from tests.core.hermes.sessions.homes import change, fixture_home

MARATHON = "20260713_090000_6a6a01"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.setenv("TZ", "UTC")
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    """A home that holds only the database of the real agent."""
    home = cli.copy("hermes-sessions")
    (home / "schema-0.19.sql").unlink()
    return home


def answer(home: Path, rules: Rules = Rules.V0_19, **arguments: Any) -> Any:
    """The tool's answer in this zone, as JSON reads it."""
    profiles = Profiles(home)
    said = recall(home, arguments, rules=rules, now=NOW, profiles=profiles, zone=None)
    return json.loads(json.dumps(said))


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "deploy", "limit": "many"},
        {"query": "deploy", "limit": "-4", "sort": "newest", "role_filter": "tool"},
        {"query": ""},
        {"session_id": MARATHON},
        {"session_id": f"default/{MARATHON}", "around_message_id": "905", "window": "wide"},
        {"query": "deploy", "current_session_id": "20260717_090000_abcdef"},
        {"query": "Archived Draft", "profile": "default"},
        {},
    ],
)
@pytest.mark.parametrize("rules", Rules)
def test_json_is_the_tools_answer_and_nothing_else(
    cli: Cli, home: Path, arguments: dict[str, str], rules: Rules
) -> None:
    options = [
        word for name, value in arguments.items() for word in (f"--{name.replace('_', '-')}", value)
    ]
    said = cli("recall", *options, "--rules", str(rules), "--json", home=home)
    assert (said.code, said.err) == (0, "")
    assert said.json == answer(home, rules, **arguments)


def test_the_newer_arguments(cli: Cli, home: Path) -> None:
    words = ["recall", "--query", "deploy", "--detail", "full", "--after", "2026-07-05"]
    words += ["--before", "2026-07-16", "--limit", "10", "--rules", "newest", "--json"]
    excluded = ["20260710_090000_3d3d01", "20260715_110000_8c8c05"]
    asked = {"query": "deploy", "detail": "full", "after": "2026-07-05", "before": "2026-07-16"}
    whole = answer(home, Rules.NEWEST, **asked, limit=10)
    assert set(excluded) <= {result["session_id"] for result in whole["results"]}
    assert cli(*words, home=home).json == whole
    less = answer(home, Rules.NEWEST, **asked, limit=10, exclude_session_ids=excluded)
    for given in (
        ["--exclude-session-ids", ",".join(excluded)],
        ["--exclude-session-ids", json.dumps(excluded)],
        [word for each in excluded for word in ("--exclude-session-ids", each)],
    ):
        assert cli(*words, *given, home=home).json == less


def test_an_answer_without_success_leaves_with_one(cli: Cli, home: Path) -> None:
    said = cli("recall", "--session-id", "nope", "--rules", "0.19", "--json", home=home)
    assert said.code == 1
    assert said.json == {"error": "session_id not found: nope", "success": False}
    said = cli("recall", "--profile", "ghost", home=home)
    assert (said.code, said.out) == (1, "")
    assert said.err == "signoff: profile 'ghost': profile 'ghost' does not exist.\n"


def test_the_rules_in_force_are_those_of_the_home(cli: Cli, home: Path) -> None:
    (home / "config.yaml").write_text("_config_version: 34\n")
    assert "link" in cli("recall", "--session-id", MARATHON, "--json", home=home).json
    (home / "config.yaml").write_text("_config_version: 33\n")
    assert "link" not in cli("recall", "--session-id", MARATHON, "--json", home=home).json
    newest = cli("recall", "--session-id", MARATHON, "--rules", "newest", "--json", home=home)
    assert newest.json["link"] == f"@session:default/{MARATHON}"


@pytest.mark.parametrize(
    ("query", "rules", "effective"),
    [
        (" not working ", "0.19", "working"),
        ("it's", "0.19", "it's"),
        ("it's", "newest", "it s"),
        ("桂林-城市*", "0.19", '"桂林-城市"*'),
        ("* * *", "newest", ""),
    ],
)
def test_explain(cli: Cli, home: Path, query: str, rules: str, effective: str) -> None:
    """Contract: what the lexer made of the stripped query, whatever route then runs."""
    words = ["recall", "--query", query, "--rules", rules, "--explain"]
    assert cli(*words, "--json", home=home).json["effective_query"] == effective
    assert f"Asked for: {effective or '(nothing)'}" in cli(*words, home=home).out


def test_what_a_person_reads(cli: Cli, home: Path) -> None:
    said = cli("recall", "--query", "kubernetes", "--limit", "1", "--rules", "0.19", home=home)
    assert said.code == 0
    assert "Deploy Pipeline Fix #2" in said.out
    assert "20260705_101500_b2c3d4 · cli · July 05, 2026" in said.out
    assert ">>>kubernetes<<< rollout" in said.out
    assert "recall --session-id 20260705_101500_b2c3d4 --around-message-id 47" in said.out
    said = cli("recall", "--session-id", MARATHON, "--around-message-id", "905", home=home)
    assert "Refactor Marathon" in said.out
    assert "→ 905 assistant" in said.out
    assert "Session has 254 messages" in cli("recall", "--session-id", MARATHON, home=home).out
    assert "Showing 3 most recent sessions." in cli("recall", home=home).out
    assert "No matching sessions found." in cli("recall", "--query", "qqqnot", home=home).out


def test_nothing_of_a_session_reaches_the_terminal_raw(cli: Cli, home: Path) -> None:
    """Message 4e4e01 has escapes in its tool output, parts without text, and no content."""
    bad = "\x1b]0;owned\x07\u202eevil"
    db = sqlite3.connect(home / "state.db")
    db.execute("UPDATE messages SET content = ? WHERE id = 905", (f"needle {bad}",))
    db.execute("UPDATE sessions SET title = ? WHERE id = ?", (bad, MARATHON))
    db.commit()
    db.close()
    for words in (
        ["--query", "needle"],
        ["--session-id", MARATHON, "--around-message-id", "905"],
        ["--session-id", "20260711_090000_4e4e01"],
        ["--limit", "10"],
        ["--session-id", bad],
    ):
        said = cli("recall", *words, home=home)
        assert not set("\x1b\x07\u202e") & set(said.out + said.err), words


def test_json_has_no_number_that_is_none(cli: Cli, home: Path) -> None:
    """Contract: never NaN; the agent can have stored an infinite time or such an argument."""
    db = sqlite3.connect(home / "state.db")
    db.execute(
        "UPDATE messages SET timestamp = 9e999, tool_calls = '[{\"a\": NaN}]' WHERE id = 905"
    )
    db.commit()
    db.close()
    words = ["--session-id", MARATHON, "--around-message-id", "905", "--window", "1", "--json"]
    said = cli("recall", *words, home=home)
    assert said.json["messages"][1]["timestamp"] is None
    assert said.json["messages"][1]["tool_calls"] == [{"a": None}]


def test_a_home_without_a_database(cli: Cli) -> None:
    home = cli.folder / "fresh"
    (home / "memories").mkdir(parents=True)
    said = cli("recall", "--query", "deploy", "--json", home=home)
    assert (said.code, said.json["count"]) == (0, 0)
    assert [path.name for path in home.iterdir()] == ["memories"]


def test_the_database_is_left_as_it_was(cli: Cli, home: Path) -> None:
    before = (DATA / "hermes-sessions" / "state.db").read_bytes()
    cli("recall", "--query", "deploy", home=home)
    assert [path.name for path in home.iterdir()] == ["state.db"]
    assert (home / "state.db").read_bytes() == before


def test_a_relative_bound_counts_from_the_fixed_now(cli: Cli, home: Path) -> None:
    days = (NOW - datetime(2026, 7, 16, tzinfo=UTC)).days + 1
    words = ["recall", "--query", "deploy", "--rules", "newest", "--limit", "10", "--json"]
    since = cli(*words, "--after", f"{days}d", home=home).json["results"]
    assert since
    assert len(since) < len(cli(*words, home=home).json["results"])
    assert cli(*words, "--after", "1d", home=home).json["count"] == 0
    said = cli(*words, "--after", "soon", home=home)
    assert (said.code, said.json["success"]) == (1, False)


@pytest.mark.parametrize(
    ("prepare", "newest"),
    [
        ((), False),
        (("UPDATE schema_version SET version = 30",), True),
        (("DELETE FROM schema_version",), True),
    ],
)
def test_the_rules_of_a_home_that_has_nothing_but_its_database(
    cli: Cli, tmp_path: Path, prepare: tuple[str, ...], newest: bool
) -> None:
    """The contract: the rules in force for the home, newest when unknown. Only those give links."""
    home = fixture_home(tmp_path / "bare")
    change(home, *prepare)
    answer = cli("recall", "--session-id", MARATHON, "--json", home=home)
    assert ("link" in answer.json) is newest
