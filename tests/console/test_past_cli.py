"""``sessions``, ``read``, ``stats``, ``search`` on the conversations of the real agent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.conversations import Engine, Found
from core.desk import searching
from tests.console.plain import Cli
from tests.core.hermes.sessions.homes import fixture_home

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[Cli, str]:
    cli = Cli(tmp_path, monkeypatch, capsys)
    return cli, str(fixture_home(tmp_path / "past"))


def test_sessions_are_rows_with_the_agents_field_names(past: tuple[Cli, str]) -> None:
    cli, home = past
    answer = cli("--home", home, "sessions", "--limit", "500", "--json")
    assert answer.code == 0
    rows = answer.json["sessions"]
    assert answer.json["count"] == len(rows) == answer.json["total"]
    chain = next(row for row in rows if len(row["chain"]) == 3)
    # The chain of the fixture (spec, section 9): the root is listed, under its newest part.
    assert chain["chain"][0].endswith("d0d0d1")
    assert chain["session_id"].endswith("d0d0d3")
    assert answer.json["left_out"]["archived"] == 1
    assert not any(row["source"] in ("subagent", "tool", "kanban") for row in rows)


def test_read_shows_a_long_session_as_the_agent_does(past: tuple[Cli, str]) -> None:
    """30 messages are shown whole, 254 as the first 20 and the last 10 (spec, section 2.3)."""
    cli, home = past
    rows = cli("--home", home, "sessions", "--limit", "500", "--json").json["sessions"]
    long = max(rows, key=lambda row: row["message_count"])
    answer = cli("--home", home, "read", long["session_id"], "--json").json
    assert answer["message_count"] == 254
    assert answer["truncated"] is True
    assert len(answer["messages"]) == 30
    ids = [message["id"] for message in answer["messages"]]
    assert ids == sorted(ids)
    whole = cli("--home", home, "read", long["session_id"], "--all", "--json").json
    assert (len(whole["messages"]), whole["truncated"]) == (254, False)
    assert [m["id"] for m in whole["messages"]][:20] == ids[:20]


def test_read_around_a_message(past: tuple[Cli, str]) -> None:
    cli, home = past
    answer = cli(
        "--home", home, "read", "20260701_090000_a1b2c3", "--around", "3", "--window", "2", "--json"
    ).json
    assert [message["id"] for message in answer["messages"]] == [1, 2, 3, 4, 5]
    assert [m["id"] for m in answer["messages"] if m.get("anchor")] == [3]
    assert (answer["messages_before"], answer["messages_after"]) == (2, 2)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("read", "nosuch"), 3, "no session 'nosuch'"),
        (("read", "20260701_090000_a1b2c3", "--around", "99999"), 3, "not in this session"),
        (("read", "@session:other/20260701_090000_a1b2c3"), 3, "--profile other"),
        (("read", "2026"), 3, "Several sessions begin with"),
        (("search", "--after", "someday", "x"), 2, "is no time"),
    ],
)
def test_what_is_not_there_is_said(
    past: tuple[Cli, str], words: tuple[str, ...], code: int, says: str
) -> None:
    cli, home = past
    answer = cli("--home", home, *words)
    assert answer.code == code
    assert says in answer.err


def test_a_pasted_link_is_a_session(past: tuple[Cli, str]) -> None:
    cli, home = past
    answer = cli("--home", home, "read", "@session:default/20260701_090000_a1b2c3", "--json")
    assert answer.json["session_id"] == "20260701_090000_a1b2c3"


def test_a_pasted_link_into_another_profile_is_followed(past: tuple[Cli, str]) -> None:
    """Contract: SESSION may be a pasted ``@session:profile/id``."""
    cli, home = past
    fixture_home(Path(home) / "profiles" / "work")
    link = "@session:work/20260701_090000_a1b2c3"
    answer = cli("--home", home, "read", link, "--json").json
    assert (answer["profile"], answer["session_id"]) == ("work", "20260701_090000_a1b2c3")
    assert " --profile work read " in cli("--home", home, "read", link).out.replace("\n", " ")
    out = str(cli.folder / "out")
    done = cli("--home", home, "export", link, link, "--out", out, "--json").json
    assert {each["session_id"] for each in done["exported"]} == {"20260701_090000_a1b2c3"}
    assert done["profile"] == "work"
    # A profile that was named beats the link, and links into two profiles are no one's.
    for words in ((link, link.replace("work", "default")), (link,)):
        named = () if len(words) > 1 else ("--profile", "default")
        said = cli("--home", home, *named, "export", *words, "--out", out, "--json")
        assert (said.code, said.json["error"]["code"]) == (3, "not_found")


def test_stats_counts_what_the_agents_own_leaves_out(past: tuple[Cli, str]) -> None:
    """The agent's ``stats`` names 29 of 51 sessions (spec, section 4.2)."""
    cli, home = past
    answer = cli("--home", home, "stats", "--json").json
    assert (answer["sessions"], answer["archived"], answer["messages"]) == (52, 1, 1400)
    assert sum(answer["by_source"].values()) == 52
    assert answer["by_source"]["cron"] == 12
    assert answer["database_bytes"] == (Path(home) / "state.db").stat().st_size


def test_search_says_what_it_did(past: tuple[Cli, str]) -> None:
    cli, home = past
    answer = cli("--home", home, "search", "docker", "--json").json
    hit = answer["hits"][0]
    assert set(hit) >= {
        "session_id", "title", "source", "when", "role", "message_id", "visibility", "snippet",
        "more_in_session",
    }  # fmt: skip
    assert answer["engine"] in ("index", "database", "scan")
    assert set(answer["left_out"]) >= {"hidden_sources", "tool_output"}
    said = cli("--home", home, "search", "--", "--flag")
    assert said.code == 0
    assert "read word by word" in said.out


def test_a_mistyped_filter_is_said(past: tuple[Cli, str]) -> None:
    cli, home = past
    note = "No filter is called soruce:, so it was searched as words. Did you mean source:cli?"
    assert cli("--home", home, "search", "docker soruce:cli", "--json").json["note"] == note
    assert note in " ".join(cli("--home", home, "search", "docker soruce:cli").out.split())


@pytest.mark.parametrize(
    ("engine", "is_whole", "said"),
    [
        (Engine.INDEX, True, "7 sessions"),
        (Engine.INDEX, False, "about 7 sessions"),
        (Engine.DATABASE, False, "at least 7 sessions"),
    ],
)
def test_a_total_claims_no_more_than_is_known(
    past: tuple[Cli, str],
    monkeypatch: pytest.MonkeyPatch,
    engine: Engine,
    is_whole: bool,
    said: str,
) -> None:
    """What the index counts and nobody looked at may have been taken back."""
    cli, home = past
    found = Found("x", "x", engine, total_sessions=7, is_whole=is_whole)
    monkeypatch.setattr(searching, "search", lambda *_: found)
    lines = cli("--home", home, "search", "x").out.split("\n")
    assert f"{said}, 7 of them not shown: --limit 7 · answered by the {engine}" in lines
    assert cli("--home", home, "search", "x", "--json").json["total_is_exact"] is is_whole


def test_a_hit_without_a_title_is_called_by_how_it_began(past: tuple[Cli, str]) -> None:
    """As the console calls it, and as `sessions` does."""
    cli, home = past
    rows = cli("--home", home, "sessions", "--limit", "500", "--json").json["sessions"]
    row = next(row for row in rows if not row["title"] and len(row["preview"].split()) > 3)
    words = " ".join(row["preview"].split()[:3])
    said = cli("--home", home, "search", f'"{words}" in:{row["session_id"]}').out
    assert any(line.startswith(words) for line in said.split("\n"))


def test_nothing_hostile_reaches_the_terminal(past: tuple[Cli, str]) -> None:
    """Terminal sequences in tool output: session ``Log Forensics``."""
    cli, home = past
    rows = cli("--home", home, "sessions", "--limit", "500", "--json").json["sessions"]
    for row in rows:
        out = cli("--home", home, "read", row["session_id"], "--all").out
        assert not FORBIDDEN.search(re.sub("\x1b\\[[0-9;]*m", "", out)), row["session_id"]


def test_no_database_is_an_empty_past(past: tuple[Cli, str], tmp_path: Path) -> None:
    """An agent that has not spoken yet is no failure; its own tool answers nothing as well."""
    cli, _ = past
    home = str(tmp_path / "empty")
    (tmp_path / "empty" / "memories").mkdir(parents=True)
    why = "There is no state.db yet: the agent makes it with its first conversation"
    for words in (("sessions",), ("stats",), ("search", "kiln")):
        answer = cli("--home", home, *words)
        assert answer.code == 0
        assert why in " ".join((answer.out + answer.err).split())
    assert cli("--home", home, "sessions", "--json").json["sessions"] == []
    counted = cli("--home", home, "stats", "--json").json
    assert (counted["sessions"], counted["messages"], counted["database_bytes"]) == (0, 0, 0)
    found = cli("--home", home, "search", "kiln", "--json").json
    assert (found["hits"], found["total_sessions"]) == ([], 0)
    assert cli("--home", home, "read", "20260101_000000").code == 3


def test_an_empty_database_is_said_by_the_search_as_by_the_rest(past: tuple[Cli, str]) -> None:
    """Found by a tester: a ``state.db`` of no bytes, which the agent makes before its tables."""
    cli, home = past
    (Path(home) / "state.db").write_bytes(b"")
    listed = cli("--home", home, "sessions", "--json").json["error"]
    assert listed["message"].endswith("its tables are of no kind that signoff knows")
    assert cli("--home", home, "search", "words", "--json").json["error"] == listed
