"""Marks and snippets: every match, at its code points, and fast in the longest message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from core.recall import spans as marks
from core.recall.query import Query, matches, wanted
from core.recall.spans import snippet, spans
from tests.core.recall.strategies import CJK, WORDS, asked, queries, texts


def marked(query: str, text: str, limit: int = 100) -> list[str]:
    return [text[a:b] for a, b in spans(asked(query), text, limit)]


def test_every_match_is_marked_where_it_stands() -> None:
    text = (
        "Deploy: naïve, re-deploy\ndeployment of run.py and run py; nai\u0308ve 修改youer服务端 🚀"
    )
    assert marked("deploy", text) == ["Deploy", "deploy"]
    assert marked("deploy*", text) == ["Deploy", "deploy", "deployment"]
    assert marked("naive", text) == ["naïve", "nai\u0308ve"]
    assert marked("run.py", text) == ["run.py", "run py"]
    assert marked("youer 服务", text) == ["youer", "服务"]
    assert marked("改you*", text) == ["改youer"]
    assert marked("🚀", text) == ["🚀"]
    assert marked("deploy -naive", text) == ["Deploy", "deploy"]
    assert marked("source:cli", text) == []


def test_the_limit_counts_spans() -> None:
    assert marked("a", "a a a", 2) == ["a", "a"]
    assert marked("a", "a", 0) == []


def test_overlapping_matches_are_one_mark() -> None:
    assert marked('"a b" OR "b c"', "a b c") == ["a b c"]


def test_marks_do_not_depend_on_where_a_stretch_ends() -> None:
    edge = marks._STRETCH
    for before in range(edge - 12, edge + 2):
        text = "x" * (before - 1) + " deploy run.py 桂林" + " x" * 9
        assert marked("deploy", text) == ["deploy"]
        assert marked("ploy", text) == []
        assert marked('"deploy run.py 桂"', text) == ["deploy run.py 桂"]
        assert marked("林", text) == ["林"]


@given(texts(WORDS + CJK), queries(WORDS + CJK))
def test_something_is_marked_where_a_term_matches(text: str, query: str) -> None:
    read = asked(query)
    terms = wanted(read.terms)
    assert bool(spans(read, text, 100)) == any(
        matches(Query("", terms=term), text) for term in terms
    )
    for start, end in spans(read, text, 100):
        assert any(matches(Query("", terms=term), text[start:end]) for term in terms), text[
            start:end
        ]


def test_a_snippet_shows_where_the_words_stand_together() -> None:
    text = f"deploy {'x ' * 200}here the deploy failed again {'y ' * 200}"
    part, found = snippet(asked("deploy failed"), text, 60)
    assert len(part) == 60
    assert part in text
    assert [part[a:b] for a, b in found] == ["deploy", "failed"]


def test_a_snippet_without_a_match_is_the_beginning() -> None:
    assert snippet(asked("zebra"), "one two three", 7) == ("one two", ())
    assert snippet(asked("one"), "one two", 0) == ("", ())
    assert snippet(asked("one"), "", 10) == ("", ())


@given(texts(WORDS + CJK), queries(WORDS + CJK), st.integers(0, 40))
def test_a_snippet_is_a_slice_with_its_marks(text: str, query: str, width: int) -> None:
    part, found = snippet(asked(query), text, width)
    assert len(part) <= width
    assert part in text
    assert all(0 <= a < b <= len(part) for a, b in found)


def test_reading_stops_at_the_last_span_wanted() -> None:
    # A message of twelve million characters (issue 5): marks at its beginning cost its beginning.
    class Long(str):
        read = 0

        def __getitem__(self, part: object) -> str:
            cut = str.__getitem__(self, part)  # type: ignore[index]
            Long.read += len(cut)
            return cut

    text = Long("deploy failed; " * 800_000)
    assert len(spans(asked("deploy"), text, 100)) == 100
    assert Long.read < 1_000_000
