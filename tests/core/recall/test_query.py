"""The people's query language: what is understood, what runs, and that it is the truth of FTS5."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conversations import Filters
from core.recall.completion import complete, completions
from core.recall.query import LONGEST, All, Either, Term, fts, matches, parse, respelled, wanted
from core.recall.words import flat, is_cjk, words
from tests.core.recall.strategies import NOW, asked, queries, texts


def finds(text: str, table: str = "unicode61", *, query: str) -> bool:
    """Whether FTS5 finds ``text`` by what we hand it for ``query``."""
    database = sqlite3.connect(":memory:")
    try:
        database.execute(f"CREATE VIRTUAL TABLE t USING fts5(content, tokenize='{table}')")
        database.execute("INSERT INTO t VALUES (?)", (text,))
        rows = database.execute("SELECT 1 FROM t WHERE t MATCH ?", (fts(asked(query)),))
        return rows.fetchone() is not None
    finally:
        database.close()


# The traps of issue 5 and of the table in spec 3.2: each query finds the text it was copied from.
TRAPS = (
    ("it's", "and it's done", "it's", False),
    ("gateway/run.py", "see gateway/run.py:12", "gateway/run.py", False),
    ("50%", "at 50% load", "50", False),
    ("#tag", "a #tag here", "tag", False),
    ("--flag", "pass --flag to it", "flag", True),
    ("`", "run `make test` now", "`", True),
    ("`make test`", "run `make test` now", "make test", True),
    ("not working", "it is not working", "not working", False),
    ("what did we do?", "so what did we do? nothing", "what did we do", False),
    ("user@example.com", "mail user@example.com today", "user@example.com", False),
    ("C++", "in C++ and C", "C", False),
    ("foo AND OR bar", "foo bar", "foo bar", True),
    ('"unterminated', "unterminated", "unterminated", True),
    ("a.b.c.", "a.b.c.", "a.b.c", False),
    ("trail-", "trail-", "trail", False),
    ("-dash lead", "lead", "lead NOT dash", False),
    ("hello AND", "hello", "hello", True),
    ("AND AND AND", "and and and", '"AND" "AND" "AND"', True),
    ("and then", "and then", "and then", False),
    ("NEAR(a b, 5)", "near a b 5", '"NEAR(a" b 5', False),
    ("content:deploy", "content: deploy", '"content:deploy"', False),
    ("100%确定", "我100%确定", '"100%确定"', False),
    ("foo--bar", "foo--bar", "foo--bar", False),
    ("file.*", "file.*", "file", False),
    ("(a OR b) AND c", "b c", "(a OR b) c", False),
    ("x AND NOT y", "x", "x NOT y", False),
    ("a OR b -c", "a c", "a OR b NOT c", False),
    ("x :)", "x", "x", False),
    ("🚀", "lift-off 🚀", "🚀", False),
)


@pytest.mark.parametrize(("query", "text", "effective", "literally"), TRAPS)
def test_punctuation_finds_the_text_it_came_from(
    query: str, text: str, effective: str, literally: bool
) -> None:
    read = asked(query)
    assert (read.effective, read.literally) == (effective, literally)
    assert matches(read, text)


@pytest.mark.parametrize(("query", "text"), [(q, t) for q, t, _, _ in TRAPS if q not in "`🚀"])
def test_the_database_finds_them_too(query: str, text: str) -> None:
    table = "trigram" if is_cjk(query) else "unicode61"
    assert finds(text, table, query=query)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("deploy", "deployed"),
        ("run.py", "run the py"),
        ("a NOT b", "a b"),
        ("a OR (b c)", "b"),
        ('"one two"', "two one"),
        ("桂林", "桂花树林"),
        ("strasse", "straße"),
        ("🚀", "rocket"),
    ],
)
def test_what_does_not_answer(query: str, text: str) -> None:
    assert not matches(asked(query), text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("naive", "naïve"),
        ("NAÏVE", "nai\u0308ve"),
        ("Straße", "STRAßE"),
        ("σοφος", "ΣΟΦΟΣ"),
        ("istanbul", "İstanbul"),
        ("youer", "修改youer服务端"),
        ("桂林", "去桂林市"),
        ("服务端 修改", "修改youer服务端"),
        ("deploy*", "redeploy deployment"),
        ('"run the de"*', "run the deploy"),
    ],
)
def test_folding(query: str, text: str) -> None:
    # Spec 1.5 and 3.4: case and marks fold, CJK is found in the middle of a run.
    assert matches(asked(query), text)


def test_the_boolean_form() -> None:
    a, b, c = (Term((word,)) for word in "abc")
    assert asked("a OR b c").terms == Either((a, All((b, c))))
    assert asked("a b -c").terms == All((a, b), (c,))
    assert asked("(a OR b) c").terms == All((Either((a, b)), c))
    assert asked("NOT (a OR b) c").terms == All((c,), (Either((a, b)),))
    assert asked('"a b*" c*').terms == All((Term(("a", "b")), Term(("c",), prefix=True)))
    assert wanted(asked("a (b OR c) -x").terms) == (a, b, c)


@pytest.mark.parametrize(
    "query", ["-a", "NOT a", "a OR NOT b", "(NOT a) b", "a NOT NOT b", "a ( )"]
)
def test_what_makes_no_sense_is_read_word_by_word(query: str) -> None:
    read = asked(query)
    assert read.literally
    assert read.terms in (asked("a").terms, asked("a b").terms)


def test_filters() -> None:
    zone = timezone(timedelta(hours=2))
    read = parse(
        'source:cli,Cron role:user after:2026-11-01 after:30d before:2026-11-29T10:30 title:"a b" x',
        now=NOW,
        zone=zone,
    )
    assert read.filters == Filters(
        sources=("cli", "cron"),
        roles=("user",),
        after=1761948000.0 + 365 * 86400,  # 2026-11-01 00:00 +02:00, tighter than 30 days
        before=1764405000.0 + 365 * 86400,  # 2026-11-29 10:30 +02:00
        title="a b",
    )
    assert read.notes == ()
    assert read.effective == (
        'x source:cli,Cron role:user after:2026-11-01 after:30d before:2026-11-29T10:30 title:"a b"'
    )


def test_ages_and_zones() -> None:
    now = NOW.timestamp()
    assert asked("after:7d").filters.after == now - 7 * 86400
    assert asked("after:12h").filters.after == now - 12 * 3600
    assert asked("after:yesterday").filters.after == now - 36 * 3600
    assert asked("after:2026-11-30T12:00Z").filters.after == now
    assert asked('after:"2026-11-30 12:00"').filters.after == now


@pytest.fixture(params=["named", "this machine's"])
def berlin(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tzinfo | None]:
    """Summer is from 29 March to 25 October 2026 there."""
    if request.param == "named":
        yield ZoneInfo("Europe/Berlin")
        return
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield None
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("2026-03-28", "2026-03-28T00:00+01:00"),
        ("2026-03-29", "2026-03-29T00:00+01:00"),
        ("2026-03-30", "2026-03-30T00:00+02:00"),
        ("2026-03-29T04:00", "2026-03-29T04:00+02:00"),
        ("2026-10-25", "2026-10-25T00:00+02:00"),
        ("2026-10-26", "2026-10-26T00:00+01:00"),
        ("2026-10-25T04:00", "2026-10-25T04:00+01:00"),
        ("2026-07-01", "2026-07-01T00:00+02:00"),
        ("2026-12-01", "2026-12-01T00:00+01:00"),
    ],
)
def test_a_day_begins_as_it_did_there_then(berlin: tzinfo | None, value: str, meant: str) -> None:
    """Whether it is summer when the query is read makes no difference."""
    for now in (datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC)):
        read = parse(f"after:{value} before:{value}", now=now, zone=berlin)
        assert read.filters.after == datetime.fromisoformat(meant).timestamp()
        assert read.filters.before == read.filters.after


@pytest.mark.parametrize(
    ("now", "today", "yesterday"),
    [
        ("2026-03-29T12:00+02:00", "2026-03-29T00:00+01:00", "2026-03-28T00:00+01:00"),
        ("2026-03-30T00:30+02:00", "2026-03-30T00:00+02:00", "2026-03-29T00:00+01:00"),
        ("2026-10-25T12:00+01:00", "2026-10-25T00:00+02:00", "2026-10-24T00:00+02:00"),
        ("2026-10-26T00:30+01:00", "2026-10-26T00:00+01:00", "2026-10-25T00:00+02:00"),
    ],
)
def test_today_begins_at_midnight_there(
    berlin: tzinfo | None, now: str, today: str, yesterday: str
) -> None:
    at = datetime.fromisoformat(now)
    for value, meant in (("today", today), ("yesterday", yesterday)):
        read = parse(f"after:{value}", now=at, zone=berlin)
        assert read.filters.after == datetime.fromisoformat(meant).timestamp()


def test_in_is_a_link_an_id_or_a_workspace() -> None:
    one = "20260714_090000_7b7b01"
    assert asked(f"in:@session:work/{one}").filters == Filters(session_id=one)
    assert asked(f"in:{one}").filters == Filters(session_id=one)
    assert asked("in:20260714").filters == Filters(session_id="20260714")
    assert asked("in:signoff").filters == Filters(workspace="signoff")
    assert asked("in:~/work/20260714").filters == Filters(workspace="~/work/20260714")


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("after:soon x", "after:soon is no date"),
        ("before:99999-01-01 x", "before:99999-01-01 is no date"),
        ("after:999999w x", "after:999999w is no date"),
        ("source: x", "source: needs a value"),
        ("-source:cron x", "-source:cron is left out"),
        ("after:1d before:2d x", "Nothing lies between"),
        ("x " * LONGEST, "Only the first 2,048 characters"),
    ],
)
def test_a_bad_filter_is_a_note(query: str, note: str) -> None:
    read = asked(query)
    assert any(said.startswith(note) for said in read.notes)
    assert matches(read, "x")


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("frmo:cron", "source:cron"),
        ("from:cron", "source:cron"),
        ("soruce:cli", "source:cli"),
        ("(soruce:cli)", "source:cli"),
        ("sources:cli", "source:cli"),
        ("Source:cli", "source:cli"),
        ("-rloe:user", "role:user"),
        ('titel:"a b"', "title:"),
        ("since:7d", "after:7d"),
        ("befroe:7d", "before:7d"),
        ("project:signoff", "in:signoff"),
    ],
)
def test_a_mistyped_filter_is_searched_as_words_and_said(query: str, meant: str) -> None:
    """Found by a newcomer: ``soruce:cli`` was read as a phrase, without a word about it."""
    read = asked(query)
    name = query.strip("(-").partition(":")[0]
    said = f"No filter is called {name}:, so it was searched as words. Did you mean {meant}?"
    assert read.notes == (said,)
    assert read.filters == Filters()
    assert read.terms is not None
    assert name in read.effective


@pytest.mark.parametrize(
    "word",
    [
        "http://x", "file.py:12", "TODO:", "todo:later", "soruce://x", "host:8080", "note:this",
        "title", "int:4", "10:30", "@session:default/x", "mailto:a@b.c", "std::sort", "status:ok",
        '"soruce:cli"', "resource:pods", ":from", "file:///etc", "code:7", "::",
    ],
)  # fmt: skip
def test_a_word_with_a_colon_is_a_word(word: str) -> None:
    read = asked(word)
    assert read.notes == ()
    assert read.filters == Filters()
    assert matches(read, f"see {word.strip(chr(34))} there")


def test_tool_output_is_let_in_by_its_role() -> None:
    assert asked("role:tool x").filters.with_tool_output


def test_respelling() -> None:
    read = respelled(asked('depoly run "depoly now" -depoly'), {"depoly": ("deploy", "deploys")})
    assert read.effective == '(deploy OR deploys) run "deploy now" NOT depoly'
    assert matches(read, "run deploys, deploy now")


def test_an_empty_query_matches_all() -> None:
    read = asked("  () source:cli ")
    assert read.is_empty
    assert matches(read, "anything")
    assert fts(read) == '""'


@given(st.text())
def test_reading_never_fails(text: str) -> None:
    read = asked(text)
    assert asked(read.effective).terms == read.terms
    finds("anything", query=text)
    finds("anything", "trigram", query=text)


@given(st.lists(st.sampled_from(['"', "(", ")", "-", "*", "AND", "OR", "NOT", "a", "after:", " "])))
def test_what_runs_reads_back_the_same(parts: list[str]) -> None:
    read = asked("".join(parts))
    again = asked(read.effective)
    assert (again.terms, again.symbols) == (read.terms, read.symbols)
    assert again.effective == read.effective
    finds("a", query="".join(parts))


@given(texts(), queries())
def test_matches_is_what_the_database_finds(text: str, query: str) -> None:
    read = asked(query)
    if read.terms is not None:
        assert matches(read, text) == finds(text, query=query)


def test_words_are_the_databases_words() -> None:
    # Latin, Greek and Cyrillic, letter by letter; two marks on one letter fold here, not there,
    # and Ϳ is younger than the tables of unicode61.
    letters = [chr(point) for point in range(0x80, 0x528) if chr(point).isalpha()]
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(content)")
    database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    database.executemany("INSERT INTO t VALUES (?)", ((f"q{letter}q",) for letter in letters))
    stored = dict(database.execute("SELECT doc, term FROM v"))
    database.close()
    differ = [
        letter
        for row, letter in enumerate(letters, 1)
        if words(f"q{letter}q") != (stored[row],)
        and ord(letter) not in (0x37F, *range(0x1D5, 0x232))
    ]
    assert differ == []


@given(st.text(alphabet="aB1é桂林 ._'\u0308-", max_size=40))
def test_flat_is_the_words_between_single_spaces(text: str) -> None:
    assert tuple(flat(text).split()) == words(text)
    assert not re.search(r"  |^\S|\S$", flat(text))


# -- completion --------------------------------------------------------------------------------

KNOWN = {"source": ("cli", "cron", "telegram"), "in": ("/work/my app",)}


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("deploy so", ("source:",)),
        ("source:c", ("source:cli", "source:cron")),
        ("source:gram", ("source:telegram",)),
        ("source:cli,te", ("source:cli,telegram",)),
        ("source:cli", ()),
        ("role:", ("role:user", "role:assistant", "role:tool", "role:system")),
        ("in:my", ('in:"/work/my app"',)),
        ('in:"/work/my', ('in:"/work/my app"',)),
        ("deploy ", ()),
        ("", ()),
        ("foo:b", ()),
    ],
)
def test_completions(text: str, offered: tuple[str, ...]) -> None:
    assert completions(text, len(text), KNOWN) == offered


def test_completing_keeps_what_follows() -> None:
    assert complete("a so b", 4, "source:") == ("a source: b", 9)
    assert complete("a source:c", 10, "source:cli") == ("a source:cli ", 13)


@given(st.text(max_size=30), st.integers(0, 30))
def test_completing_never_fails(text: str, cursor: int) -> None:
    for choice in completions(text, cursor, KNOWN):
        assert choice in complete(text, cursor, choice)[0]
