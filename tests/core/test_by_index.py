"""What the index finds, the home confirms: the same sessions as without it, people first."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.conversations import Engine, Filters, Found, Order
from core.desk import by_index, indexing, origins
from core.desk.opening import Opened
from core.desk.searching import Request, matches_in, read_query, search
from core.recall.index import Category, Index
from core.recall.query import parse
from tests.core.desks import open_on
from tests.core.hermes.sessions.homes import AT, change, insert, make_home

CRONS, PEOPLE = 60, 3


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Scheduled runs that say a word again and again, and three people who say it once."""
    home = make_home(tmp_path / "home")
    jobs = [{"id": f"job{n}", "source": "cron"} for n in range(CRONS)]
    insert(home, "sessions", *jobs, *({"id": f"person{n}"} for n in range(PEOPLE)))
    said = [
        {"session_id": f"job{n}", "content": "harbour " * 3, "timestamp": AT + n}
        for n in range(CRONS)
        for _ in range(9)
    ]
    people = [
        {"session_id": f"person{n}", "content": "the harbour, " + "far from here, " * 40}
        for n in range(PEOPLE)
    ]
    insert(home, "messages", *people, *said)
    return home


def ask(
    home: Path, tmp_path: Path, limit: int, order: Order, *, on: bool, text: str = "harbour"
) -> Found:
    desk = open_on(home, tmp_path / "state", search_index=on)
    if on:
        assert indexing.update(
            desk, indexing.index_of(desk), progress=lambda *_: None, cancelled=lambda: False
        )
    found = search(desk, Request(text, UTC, Filters(), order, limit))
    assert found.engine is (Engine.INDEX if on else Engine.DATABASE)
    return found


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("limit", [2, 20, CRONS + PEOPLE, 200])
def test_with_the_index_and_without(home: Path, tmp_path: Path, limit: int, order: Order) -> None:
    with_index = ask(home, tmp_path, limit, order, on=True).hits
    without = ask(home, tmp_path, limit, order, on=False).hits
    assert len(with_index) == len(without) == min(limit, CRONS + PEOPLE)
    for hits in (with_index, without):
        people = [hit.session_id for hit in hits[:PEOPLE]]
        assert all(each.startswith("person") for each in people)
        assert all(hit.source == "cron" for hit in hits[PEOPLE:])
    if order is not Order.RANKED:
        assert [hit.message_id for hit in with_index] == [hit.message_id for hit in without]


def known(index: Index) -> set[int]:
    """What people said, as the index has it."""
    query = parse("harbour", now=datetime(2026, 11, 29, tzinfo=UTC))
    found = index.search(query, (Category.SAID,), 1_000)
    assert found is not None
    return {hit.id for hit in found.hits}


def test_what_the_home_no_longer_holds_is_not_shown(home: Path, tmp_path: Path) -> None:
    ask(home, tmp_path, 20, Order.RANKED, on=True)
    change(home, "DELETE FROM messages WHERE session_id = 'person1'")
    hits = ask(home, tmp_path, 20, Order.RANKED, on=True).hits
    assert [hit.session_id for hit in hits[:2]] == ["person0", "person2"]
    assert hits[2].source == "cron"


def test_what_the_home_no_longer_holds_is_dropped_from_the_index(
    home: Path, tmp_path: Path
) -> None:
    """A message deleted since: no hit, and the next time the index is fed it forgets it."""
    assert len(ask(home, tmp_path, 50, Order.RANKED, on=True).hits) == 50
    change(home, "DELETE FROM messages WHERE id = 2")
    desk = open_on(home, tmp_path / "state")
    index = indexing.index_of(desk)
    found = search(desk, Request("harbour", UTC, limit=5))
    assert {hit.message_id for hit in found.hits} >= {1, 3}
    assert 2 in index.missing
    assert 2 in known(index)
    indexing.update(desk, index, progress=lambda *_: None, cancelled=lambda: False)
    assert not index.missing
    assert known(index) == set(range(1, PEOPLE + 1)) - {2}


def test_what_a_filter_leaves_out_is_not_dropped(home: Path, tmp_path: Path) -> None:
    ask(home, tmp_path, 50, Order.RANKED, on=True)
    desk = open_on(home, tmp_path / "state")
    index = indexing.index_of(desk)
    before = known(index)
    search(desk, Request("harbour", UTC, Filters(title="no such title")))
    search(desk, Request("harbour after:2999-01-01", UTC))
    indexing.update(desk, index, progress=lambda *_: None, cancelled=lambda: False)
    assert not index.missing
    assert known(index) == before


CALLS = (
    '[{"id": "call_7", "type": "function", "function": {"name": "skill_view",'
    ' "arguments": "{\\"name\\": \\"canary-deploy\\", \\"lines\\": [1, 9]}"}}]'
)


@pytest.mark.parametrize("on", [False, True])
def test_a_hit_in_a_call_reads_as_a_call(tmp_path: Path, on: bool) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", {"id": "s1"})
    insert(home, "messages", {"id": 1, "session_id": "s1", "role": "assistant", "content": "",
                              "tool_calls": CALLS, "timestamp": AT})  # fmt: skip
    (hit,) = ask(home, tmp_path, 5, Order.RANKED, on=on, text="canary-deploy").hits
    assert hit.snippet == "skill_view(name: canary-deploy, lines: [1, 9])"
    assert [hit.snippet[start:end] for start, end in hit.spans] == ["canary-deploy"]


def feed(home: Path, tmp_path: Path) -> Opened:
    """The home with an index that is up to date."""
    desk = open_on(home, tmp_path / "state")
    index = indexing.index_of(desk)
    assert indexing.update(desk, index, progress=lambda *_: None, cancelled=lambda: False)
    return desk


def test_a_database_restored_in_place_is_not_answered_from_the_old_index(
    home: Path, tmp_path: Path
) -> None:
    """Found by a tester: the same file, the same first message, other messages behind it."""
    desk = feed(home, tmp_path)
    change(home, "DELETE FROM messages WHERE id > 3")
    insert(home, "messages", *({"session_id": "person0", "content": "omega"} for _ in range(600)))
    change(home, "UPDATE messages SET id = id - 540 WHERE id > 540")
    found = search(desk, Request("omega", UTC))
    assert (found.engine, found.total_sessions) == (Engine.DATABASE, 1)
    found = search(feed(home, tmp_path), Request("omega", UTC))
    assert (found.engine, found.total_sessions) == (Engine.INDEX, 1)
    assert search(desk, Request("harbour", UTC)).total_sessions == PEOPLE


def test_marks_keep_no_text_and_go_with_the_index(home: Path, tmp_path: Path) -> None:
    desk = feed(home, tmp_path)
    marks = indexing.index_folder(desk).with_suffix(".seen.json")
    assert marks.stat().st_mode & 0o777 == 0o600
    assert b"harbour" not in marks.read_bytes()
    off = open_on(home, tmp_path / "state", search_index=False)
    index = indexing.index_of(off)
    indexing.update(off, index, progress=lambda *_: None, cancelled=lambda: False)
    assert not marks.exists()


def test_a_message_that_says_something_else_now_is_no_hit(home: Path, tmp_path: Path) -> None:
    """Found by a tester: the text of a message changed in place after it was indexed."""
    desk = feed(home, tmp_path)
    change(home, "UPDATE messages SET content = 'changed to kappa' WHERE id = 2")
    found = search(desk, Request("harbour", UTC, limit=5))
    assert found.engine is Engine.INDEX
    assert 2 not in {hit.message_id for hit in found.hits}
    feed(home, tmp_path)
    found = search(desk, Request("kappa", UTC, limit=5))
    assert [hit.message_id for hit in found.hits] == [2]


def test_a_session_whose_best_messages_were_undone_is_found_by_the_next(tmp_path: Path) -> None:
    """More candidates than are looked at one by one, and the first of a session do not count."""
    home = make_home(tmp_path / "home")
    sessions = [f"person{n}" for n in range(4)]
    insert(home, "sessions", *({"id": each} for each in sessions))
    undone = [
        {"session_id": each, "content": "harbour harbour", "active": 0}
        for each in sessions
        for _ in range(by_index.LOOKED)
    ]
    said = [
        {"session_id": each, "content": "the harbour, " + "far from here, " * 40}
        for each in sessions[:3]
    ]
    insert(home, "messages", *undone, *said)
    found = ask(home, tmp_path, 2, Order.RANKED, on=True)
    assert len(found.hits) == 2
    assert all("far from here" in hit.snippet and not hit.more for hit in found.hits)
    assert (found.total_sessions, found.undone) == (3, 4 * by_index.LOOKED)


def test_messages_behind_those_looked_at_are_counted(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", *({"id": f"person{n}"} for n in range(5)))
    said = [
        {"session_id": f"person{n}", "content": "harbour", "timestamp": AT + n}
        for n in range(5)
        for _ in range(20)
    ]
    insert(home, "messages", *said)
    assert by_index.LOOKED < 5 * 20
    found = ask(home, tmp_path, 5, Order.RANKED, on=True)
    assert [hit.more for hit in found.hits] == [19] * 5
    few = ask(home, tmp_path, 3, Order.RANKED, on=True)
    assert [hit.more for hit in few.hits] == [19] * 3
    assert few.total_sessions == 5
    # Sessions of which nothing was looked at may have been taken back.
    assert not few.is_whole
    assert ask(home, tmp_path, 20, Order.RANKED, on=True).is_whole


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("order", Order)
def test_a_title_stands_at_its_best_hit_behind_those_looked_at(
    tmp_path: Path, order: Order, on: bool
) -> None:
    """It stood at the first message of its session, whatever that said."""
    home = make_home(tmp_path / "home")
    titled = [{"id": f"titled{n}", "title": f"Harbour {n}"} for n in range(3)]
    insert(home, "sessions", *titled, *({"id": f"s{n}"} for n in range(40)))
    loud = [{"session_id": f"s{n}", "content": "harbour " * 3} for n in range(40) for _ in range(9)]
    far = "the harbour, " + "far from here, " * 40
    said = [
        {"session_id": f"titled{n}", "content": content, "timestamp": AT + n}
        for n in range(3)
        for content in ("hello", far, "harbour " * 2, far)
    ]
    before, behind = (loud[:180], loud[180:]) if order is Order.RANKED else (loud, loud)
    insert(home, "messages", *before, *said, *behind)
    found = ask(home, tmp_path, 4, order, on=on)
    best = {Order.RANKED: 2, Order.NEWEST: 3, Order.OLDEST: 1}[order]
    assert [(hit.session_id, hit.message_id) for hit in found.hits[:3]] == [
        (f"titled{n}", len(before) + 4 * n + best + 1) for n in (2, 1, 0)
    ]
    assert all(hit.in_title and hit.says_it for hit in found.hits[:3])
    assert found.total_sessions <= 43


def test_a_title_is_counted_once(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", *({"id": f"s{n}", "title": f"Harbour {n}"} for n in range(5)))
    insert(
        home,
        "messages",
        *({"session_id": f"s{n}", "content": "harbour"} for n in range(5) for _ in range(20)),
    )
    assert ask(home, tmp_path, 2, Order.RANKED, on=True).total_sessions == 5


@pytest.mark.parametrize("order", Order)
def test_hidden_rows_of_cron_jobs_take_no_place_of_people(tmp_path: Path, order: Order) -> None:
    """Scaffolding that a cron job met says the word before people and often; it is asked for."""
    home = make_home(tmp_path / "home", version=25)
    insert(home, "sessions", *({"id": f"job{n}", "source": "cron"} for n in range(CRONS)))
    insert(home, "sessions", *({"id": f"person{n}"} for n in range(PEOPLE)))
    said: list[dict[str, object]] = []
    for n in range(CRONS):
        said += [
            {"session_id": f"job{n}", "content": text, "timestamp": AT + n, "display_kind": kind}
            for text, kind in (("a harbour", None), ("harbour", "hidden"), ("the harbour", None))
        ]
    people = [
        {"session_id": f"person{n}", "content": "the harbour, " + "far from here, " * 40}
        for n in range(PEOPLE)
    ]
    half = len(said) // 2
    insert(home, "messages", *said[:half], *people, *said[half:])
    desk = feed(home, tmp_path)
    request = Request("harbour", UTC, Filters(with_hidden=True), order, PEOPLE + 5)
    hits = search(desk, request).hits
    assert {hit.session_id for hit in hits[:PEOPLE]} == {f"person{n}" for n in range(PEOPLE)}
    if order is not Order.RANKED:
        without = search(open_on(home, tmp_path / "state", search_index=False), request).hits
        assert [hit.message_id for hit in hits] == [hit.message_id for hit in without]


def test_hidden_rows_of_cron_jobs_take_no_place_of_other_jobs(tmp_path: Path) -> None:
    """Found by a generated home: jobs came in the order of what is hidden in them first."""
    home = make_home(tmp_path / "home", version=25)
    insert(home, "sessions", *({"id": f"job{n}", "source": "cron"} for n in range(9)))
    said = [{"session_id": f"job{n}", "content": "harbour"} for n in range(9)] * by_index.LOOKED
    hidden = [each | {"display_kind": "hidden"} for each in said if each["session_id"] < "job4"]
    insert(home, "messages", *hidden)
    insert(home, "messages", *said)
    desk = feed(home, tmp_path)
    found = search(desk, Request("harbour", UTC, Filters(with_hidden=True), Order.NEWEST, limit=4))
    assert [hit.session_id for hit in found.hits] == ["job8", "job7", "job6", "job5"]


@pytest.mark.parametrize("order", [Order.NEWEST, Order.OLDEST])
def test_sessions_come_in_the_order_of_their_first_hits(tmp_path: Path, order: Order) -> None:
    """Found by a generated home: they came in the order of their last hits, behind those looked
    at one by one, so that a session with an early and a late hit was left out."""
    home = make_home(tmp_path / "home")
    insert(home, "sessions", *({"id": each} for each in "abc"))
    said = "a" * (by_index.LOOKED + 10) + "bcb"
    said = said if order is Order.OLDEST else said[::-1]
    insert(home, "messages", *({"session_id": each, "content": "harbour"} for each in said))
    desk = feed(home, tmp_path)
    found = search(desk, Request("harbour", UTC, order=order, limit=2))
    assert [hit.session_id for hit in found.hits] == ["a", "b"]


@pytest.mark.parametrize("column", ["source", "hidden"])
def test_what_was_said_in_a_session_that_moved_is_found_where_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """The agent gives a session another source when it is gone on with elsewhere."""
    home = make_home(tmp_path / "home", version=25)
    insert(home, "sessions", {"id": "s1"}, {"id": "s2", "hidden": 1}, {"id": "s3"})
    insert(home, "messages", *({"session_id": f"s{n}", "content": "old harbour"} for n in "123"))
    feed(home, tmp_path)
    monkeypatch.setattr(origins, "PAUSE", 0.0)
    if column == "source":
        change(home, "UPDATE sessions SET source = 'telegram' WHERE id <> 's3'")
        change(home, "UPDATE sessions SET source = 'subagent' WHERE id = 's3'")
    else:
        change(home, "UPDATE sessions SET hidden = (id = 's3')")
    desk, without = feed(home, tmp_path), open_on(home, tmp_path / "state", search_index=False)
    for filters in (Filters(), Filters(sources=("telegram",)), Filters(sources=("cli",))):
        request = Request("old harbour", UTC, filters, Order.OLDEST)
        found, wanted = search(desk, request), search(without, request)
        assert (found.engine, wanted.engine) == (Engine.INDEX, Engine.DATABASE)
        assert [hit.message_id for hit in found.hits] == [hit.message_id for hit in wanted.hits]
        assert filters.sources or found.hidden_sources == wanted.hidden_sources > 0


def test_an_index_that_is_far_behind_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by a tester: 2,500 messages were said since it was fed, and the first was not found."""
    monkeypatch.setattr(by_index, "NEWEST", 20)
    home = make_home(tmp_path / "home")
    insert(home, "sessions", {"id": "s1"}, {"id": "s2"})
    insert(home, "messages", {"session_id": "s1", "content": "harbour"})
    desk = feed(home, tmp_path)
    insert(home, "messages", {"session_id": "s2", "content": "the harbour"})
    for later, engine in ((19, Engine.INDEX), (1, Engine.DATABASE)):
        insert(home, "messages", *[{"session_id": "s1", "content": "nothing"}] * later)
        found = search(desk, Request("harbour", UTC, order=Order.NEWEST))
        assert (found.engine, [hit.message_id for hit in found.hits]) == (engine, [2, 1])


def test_what_was_said_just_now_is_found_as_it_is_spelled(tmp_path: Path) -> None:
    """Found by a tester: a new message said the word, and the answer was that nothing says it."""
    home = make_home(tmp_path / "home")
    insert(home, "sessions", {"id": "s1"}, {"id": "s2"})
    insert(home, "messages", *[{"session_id": "s1", "content": "the harbour"}] * 5)
    desk = feed(home, tmp_path)
    request = Request("harbor", UTC)
    assert search(desk, request).corrected == (("harbor", "harbour"),)
    insert(home, "messages", {"session_id": "s2", "content": "the harbor"})
    found = search(desk, request)
    assert ([hit.message_id for hit in found.hits], found.corrected) == ([6], ())
    assert matches_in(desk, read_query(desk, request), "s2") == (6,)


def test_what_was_said_just_now_and_is_left_out_is_counted(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home")
    insert(home, "sessions", {"id": "s1"}, {"id": "s2", "source": "subagent"})
    insert(home, "messages", {"session_id": "s1", "content": "the harbour"})
    desk = feed(home, tmp_path)
    insert(home, "messages", {"session_id": "s1", "content": "a quay", "role": "tool"},
           {"session_id": "s2", "content": "a quay"})  # fmt: skip
    found = search(desk, Request("quay", UTC))
    assert (found.engine, found.hits) == (Engine.INDEX, ())
    assert (found.tool_output, found.hidden_sources) == (1, 1)
