"""People's search: what the agent's own tool loses is found (issue: sessions, "It shows" 2)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.conversations import Engine, Filters, Found, Order, Visibility
from core.desk.searching import Request, search
from core.errors import NotFoundError
from core.homes.hermes.sessions import catalogue, fulltext
from core.homes.hermes.sessions.catalogue import Catalogue
from core.homes.hermes.sessions.opening import Database
from tests.core.desks import open_on
from tests.core.hermes.sessions.homes import (
    AT,
    change,
    drop_full_text,
    fixture_home,
    insert,
    listing,
    make_home,
)

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def ask(home: Path, tmp_path: Path, text: str, **changes: object) -> Found:
    request = Request(text, UTC)
    return search(open_on(home, tmp_path / "state"), replace(request, **changes))  # type: ignore[arg-type]


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    """One message for each query that the agent's tool loses."""
    home = make_home(tmp_path / "home")
    insert(home, "sessions", {"id": "s1"}, {"id": "job", "source": "cron"})
    said = [
        "well it's broken again",
        "look at gateway/run.py, line 4",
        "the load is at 50% now",
        "give it a #tag please",
        "start it with --flag twice",
        "the word `backtick` is quoted",
        "我们明天部署新版本",
        "the printer is not working",
        "修改youer服务端的配置",
    ]
    rows = [{"session_id": "s1", "content": text} for text in said]
    insert(home, "messages", *rows)
    insert(
        home, "messages", {"session_id": "s1", "role": "tool", "content": "only outputword here"}
    )
    return home


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("it's", 1),
        ("gateway/run.py", 2),
        ("50%", 3),
        ("#tag", 4),
        ("--flag", 5),
        ("`backtick`", 6),
        ("部署", 7),
        ("not working", 8),
        ("youer", 9),
    ],
)
def test_what_the_agents_tool_loses_is_found(
    traps: Path, tmp_path: Path, query: str, message: int
) -> None:
    found = ask(traps, tmp_path, query)
    assert [hit.message_id for hit in found.hits] == [message]


def test_a_word_only_in_tool_output_is_counted_and_one_key_away(
    traps: Path, tmp_path: Path
) -> None:
    """Reports #83170, #86290: absence that is none."""
    found = ask(traps, tmp_path, "outputword")
    assert (found.hits, found.tool_output) == ((), 1)
    found = ask(traps, tmp_path, "outputword", filters=Filters(with_tool_output=True))
    assert [hit.message_id for hit in found.hits] == [10]
    assert [hit.message_id for hit in ask(traps, tmp_path, "outputword role:tool").hits] == [10]


def test_a_thousand_cron_rows_starve_no_interactive_hit(traps: Path, tmp_path: Path) -> None:
    """Report #71418: the agent takes 300 rows before it demotes cron."""
    flood = [{"session_id": "job", "content": "harbour"} for _ in range(1_000)]
    insert(traps, "messages", *flood)
    long = "harbour " + "of many other words that make it rank worse than all of these " * 20
    insert(traps, "messages", {"session_id": "s1", "content": long})
    found = ask(traps, tmp_path, "harbour", limit=1)
    assert [(hit.session_id, hit.source) for hit in found.hits] == [("s1", "cli")]
    both = ask(traps, tmp_path, "harbour")
    assert [hit.session_id for hit in both.hits] == ["s1", "job"]
    assert both.hits[1].more == 999


def test_rows_taken_back_are_counted_and_shown_on_request(traps: Path, tmp_path: Path) -> None:
    change(traps, "UPDATE messages SET active = 0 WHERE id = 1")
    found = ask(traps, tmp_path, "broken")
    assert (found.hits, found.undone) == ((), 1)
    found = ask(traps, tmp_path, "broken", filters=Filters(with_undone=True))
    assert found.hits[0].visibility is Visibility.UNDONE


def test_a_hit_in_a_compacted_part_names_the_part_that_owns_it(tmp_path: Path) -> None:
    """Reports #13840, #99568: history lost after compaction. The fixture's chain d0d0."""
    home = fixture_home(tmp_path / "home")
    change(home, "UPDATE messages SET content = 'the ledgerneedle' WHERE id = 300")
    found = ask(home, tmp_path, "ledgerneedle")
    assert len(found.hits) == 1
    hit = found.hits[0]
    assert hit.message_id == 300
    summarised = ask(home, tmp_path, "in:20260707_090000_1b1b01 the")
    assert {hit.visibility for hit in summarised.hits} <= {Visibility.LIVE, Visibility.SUMMARISED}


def _structure(text: str) -> str:
    return "\0json:" + json.dumps([{"type": "text", "text": text}])


@pytest.mark.parametrize("scan", [False, True])
@pytest.mark.parametrize(
    "query", ["配置", "我们的配置", '"配 置"', "配置 OR 桂林", "配置 -swarm", "置"]
)
def test_two_characters_are_found_wherever_they_stand(
    tmp_path: Path, query: str, scan: bool
) -> None:
    """Spec 1.4, 3.4: a run of them is one word to ``unicode61``, and two are no trigram; JSON
    escapes them in structures and in calls, where the full text and SQLite see none."""
    home = make_home(tmp_path / "home")
    calls = [{"function": {"name": "terminal", "arguments": json.dumps({"at": "我们的配置"})}}]
    said: list[dict[str, object]] = [
        {"content": "请看我们的配置"},
        {"content": _structure("我们的配置 and a picture")},
        {"content": "", "role": "assistant", "tool_calls": json.dumps(calls)},
        {"content": "配 and 置 are in it, 我们的 too"},
        {"content": "我们的配置 for the swarm, concatenated"},
        {"content": "nothing of it"},
    ]
    for number, each in enumerate(said):
        insert(home, "sessions", {"id": f"s{number}"})
        insert(home, "messages", {"session_id": f"s{number}"} | each)
    if scan:
        with closing(sqlite3.connect(home / "state.db", isolation_level=None)) as db:
            drop_full_text(db)
    found = ask(home, tmp_path, query)
    expected = {"置": {1, 2, 3, 4, 5}, "配置 -swarm": {1, 2, 3}}.get(query, {1, 2, 3, 5})
    assert {hit.message_id for hit in found.hits} == expected
    assert found.is_whole


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("first line\nkiln", "kiln"),
        ("bricks—kiln", "kiln"),
        ("the Öffnung", "öffnung"),
        ("sehr naïve", "naïve"),
    ],
)
@pytest.mark.parametrize("calls", [True, False])
def test_a_word_that_json_hides_is_found(
    traps: Path, tmp_path: Path, text: str, word: str, calls: bool
) -> None:
    """Spec 1.4: structures and calls are stored as ASCII JSON, where a word stands behind an
    escape. That a tool's answer says it as well is no reason to stop."""
    called = [{"function": {"name": "terminal", "arguments": json.dumps({"text": text})}}]
    row: dict[str, object] = {"content": _structure(text)}
    if calls:
        row = {"role": "assistant", "content": "", "tool_calls": json.dumps(called)}
    tool = {"session_id": "s1", "role": "tool", "content": word}
    insert(traps, "messages", tool, row | {"session_id": "s1"})
    inside = {"session_id": "s1", "content": _structure(f"x{word}x")}
    insert(traps, "messages", inside)
    found = ask(traps, tmp_path, word)
    assert [hit.message_id for hit in found.hits] == [12]
    assert found.tool_output == 1


@pytest.mark.parametrize(
    ("query", "messages"),
    [
        ("cat -部署", {11}),
        ("cat OR 部署", {7, 11}),
        ("🙂", {12}),
        ('"カ・タ"', {13}),
    ],
)
def test_what_only_a_look_at_every_text_finds(
    traps: Path, tmp_path: Path, query: str, messages: set[int]
) -> None:
    """What a structure of a tool says of it must not end the search: found by comparing."""
    for number, text in enumerate(("a cat", "smile 🙂", "カ タ")):
        insert(traps, "sessions", {"id": f"t{number}"})
        insert(traps, "messages", {"session_id": f"t{number}", "content": text})
    everything = _structure("cat 🙂 カ・タ 部署")
    insert(traps, "messages", {"session_id": "s1", "role": "tool", "content": everything})
    found = {hit.message_id for hit in ask(traps, tmp_path, query).hits}
    assert found == messages


def test_looking_two_characters_up_leaves_nothing_behind(traps: Path, tmp_path: Path) -> None:
    before = listing(traps)
    assert ask(traps, tmp_path, "部署").hits
    assert listing(traps) == before


def test_without_full_text_every_message_is_looked_at_and_said(traps: Path, tmp_path: Path) -> None:
    """Spec, section 7 case 14: FTS5 not compiled in, or dropped by a repair."""
    with closing(sqlite3.connect(traps / "state.db", isolation_level=None)) as db:
        drop_full_text(db)
    found = ask(traps, tmp_path, "not working")
    assert [hit.message_id for hit in found.hits] == [8]
    assert found.engine is Engine.SCAN
    assert found.note == "the database has no full text"


def test_what_was_found_until_time_was_up_is_shown(
    traps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was lost, and the search failed: what it had found could not be read any more."""
    whole = fulltext.scan

    def slow(db: Database, order: Order, pieces: Sequence[str]) -> Iterator[list[int]]:
        yield from whole(db, order, pieces)
        db._end = 0.0
        db.rows("SELECT 1")

    monkeypatch.setattr(fulltext, "scan", slow)
    found = ask(traps, tmp_path, "#")
    assert [hit.message_id for hit in found.hits] == [4]
    assert (found.note, found.is_whole) == (
        "not everything was looked at: it took too long", False,
    )  # fmt: skip


def test_a_damaged_index_is_gone_around_and_said(traps: Path, tmp_path: Path) -> None:
    change(traps, "DELETE FROM messages_fts_data WHERE id > 10")
    found = ask(traps, tmp_path, "printer")
    assert [hit.message_id for hit in found.hits] == [8]
    assert found.engine is Engine.SCAN
    assert "damaged" in found.note


def test_a_title_stands_first_and_at_its_best_message(tmp_path: Path) -> None:
    home = fixture_home(tmp_path / "home")
    found = ask(home, tmp_path, "deploy pipeline fix")
    assert [hit.title for hit in found.hits][:3] == [
        "Deploy Pipeline Fix #3",
        "Deploy Pipeline Fix #2",
        "Deploy Pipeline Fix",
    ]
    assert all(hit.in_title for hit in found.hits[:3])


def test_filters_narrow_and_in_takes_a_pasted_link(traps: Path, tmp_path: Path) -> None:
    insert(
        traps,
        "sessions",
        {"id": "20260701_090000_abcdef", "source": "telegram", "cwd": "/srv/tides"},
    )
    insert(
        traps,
        "messages",
        {
            "session_id": "20260701_090000_abcdef",
            "content": "printer ink",
            "timestamp": AT - 900_000,
        },
    )
    both = {hit.session_id for hit in ask(traps, tmp_path, "printer").hits}
    assert both == {"s1", "20260701_090000_abcdef"}
    narrowed = {
        "source:telegram": {"20260701_090000_abcdef"},
        "in:@session:default/20260701_090000_abcdef": {"20260701_090000_abcdef"},
        "in:tides": {"20260701_090000_abcdef"},
        "after:7d": {"s1"},
        "before:7d": {"20260701_090000_abcdef"},
        "role:assistant": set(),
    }
    for words, expected in narrowed.items():
        found = {hit.session_id for hit in ask(traps, tmp_path, f"printer {words}").hits}
        assert found == expected, words
    with pytest.raises(NotFoundError):
        ask(traps, tmp_path, "printer in:29991231_000000_000000")


def test_a_source_is_found_in_any_case(traps: Path, tmp_path: Path) -> None:
    """A home may spell it as it likes: ``source:cli`` passed over what was stored as ``CLI``."""
    insert(traps, "sessions", {"id": "s2", "source": "CLI", "title": "printer talk"})
    insert(traps, "messages", {"session_id": "s2", "content": "a printer"})
    for words in ("printer source:cli", "printer source:CLI", "source:Cli"):
        assert {hit.session_id for hit in ask(traps, tmp_path, words).hits} == {"s1", "s2"}, words
    found = ask(traps, tmp_path, "printer", filters=Filters(sources=("CLI",)))
    assert {hit.session_id for hit in found.hits} == {"s1", "s2"}


def test_a_mistyped_filter_is_said(traps: Path, tmp_path: Path) -> None:
    found = ask(traps, tmp_path, "printer soruce:cli")
    assert found.effective == 'printer "soruce:cli"'
    assert found.note.endswith("Did you mean source:cli?")


def test_workspaces_are_read_once_while_nothing_changes(
    traps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They stand behind the prompts: 150 ms at 50,000 sessions, with every key."""
    insert(traps, "sessions", {"id": "s2", "cwd": "/srv/Tides"})
    insert(traps, "messages", {"session_id": "s2", "content": "a printer"})
    os.utime(traps / "state.db", (1, 1))
    read: list[Catalogue] = []
    whole = catalogue.with_texts

    def reading_all(db: Database, before: Catalogue) -> Catalogue:
        read.append(before)
        return whole(db, before)

    monkeypatch.setattr(catalogue, "with_texts", reading_all)
    for _ in range(3):
        assert [hit.session_id for hit in ask(traps, tmp_path, "printer in:tides").hits] == ["s2"]
    assert len(read) == 1
    change(traps, "UPDATE sessions SET cwd = '/srv/tides/low' WHERE id = 's1'")
    found = ask(traps, tmp_path, "printer in:tides")
    assert {hit.session_id for hit in found.hits} == {"s1", "s2"}


def test_newest_comes_first_by_time(traps: Path, tmp_path: Path) -> None:
    insert(traps, "sessions", {"id": "s2"}, {"id": "s3"})
    insert(traps, "messages", {"session_id": "s2", "content": "printer printer printer"})
    insert(
        traps, "messages", {"session_id": "s3", "content": "a printer, and a lot of other words"}
    )
    newest = ask(traps, tmp_path, "printer", order=Order.NEWEST)
    assert [hit.session_id for hit in newest.hits] == ["s3", "s2", "s1"]
    oldest = ask(traps, tmp_path, "printer", order=Order.OLDEST)
    assert [hit.session_id for hit in oldest.hits] == ["s1", "s2", "s3"]


def test_filters_alone_list_sessions(tmp_path: Path) -> None:
    home = fixture_home(tmp_path / "home")
    found = ask(home, tmp_path, "source:telegram", limit=50)
    assert {hit.source for hit in found.hits} == {"telegram"}
    assert found.total_sessions == len(found.hits)


def test_a_query_that_does_not_parse_is_read_word_by_word_and_said(
    traps: Path, tmp_path: Path
) -> None:
    found = ask(traps, tmp_path, "printer AND OR working")
    assert found.literally
    assert found.effective == "printer working"
    assert [hit.message_id for hit in found.hits] == [8]


def test_marks_stand_on_the_words(traps: Path, tmp_path: Path) -> None:
    hit = ask(traps, tmp_path, "printer working").hits[0]
    assert [hit.snippet[start:end] for start, end in hit.spans] == ["printer", "working"]


def test_a_count_that_is_not_whole_says_so(tmp_path: Path) -> None:
    """Found by a tester: 40,000 sessions say a word, and the answer said 105."""
    home = make_home(tmp_path / "home")
    insert(home, "sessions", *({"id": f"s{n}"} for n in range(3_000)))
    insert(home, "messages", *({"session_id": f"s{n}", "content": "kiln"} for n in range(3_000)))
    found = ask(home, tmp_path, "kiln", limit=5)
    assert not found.is_whole
    assert len(found.hits) == 5 <= found.total_sessions < 3_000
    few = ask(home, tmp_path, "in:s7 kiln", limit=5)
    assert (few.total_sessions, few.is_whole) == (0, True)


def test_hidden_sessions_that_are_asked_for_take_no_place_of_people(tmp_path: Path) -> None:
    """Newest first a walk stops early; it took three hidden sessions for all three people."""
    home = make_home(tmp_path / "home")
    crons, people = 40, 3
    insert(home, "sessions", *({"id": f"person{n}"} for n in range(people)))
    insert(home, "sessions", *({"id": f"job{n}", "source": "cron"} for n in range(crons)))
    insert(home, "sessions", *({"id": f"tool{n}", "source": "tool"} for n in range(people)))
    said = [f"person{n}" for n in range(people)] * 30 + [f"job{n}" for n in range(crons)] * 30
    said += [f"tool{n}" for n in range(people)]
    insert(home, "messages", *({"session_id": each, "content": "kiln"} for each in said))
    desk = open_on(home, tmp_path / "state")
    request = Request("kiln", UTC, Filters(with_hidden=True), Order.NEWEST, limit=10)
    found = search(desk, request)
    assert [hit.session_id for hit in found.hits[:6]] == [
        "tool2", "tool1", "tool0", "person2", "person1", "person0",
    ]  # fmt: skip
