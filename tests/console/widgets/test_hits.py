"""Hits against a plain search of each line."""

import re

from hypothesis import given
from hypothesis import strategies as st

from console.widgets.hits import Hit, Hits

LINES = st.lists(st.text(alphabet="aAbİ.ß ", max_size=8), max_size=6)


@given(LINES, st.text(alphabet="aAbİ.ß ", min_size=1, max_size=3), st.integers(0, 7))
def test_every_hit_of_every_line_is_found_once(lines: list[str], query: str, top: int) -> None:
    def folded(text: str) -> str:
        return "".join("i" if c == "İ" else c.lower() for c in text)

    expected = [
        Hit(number, found.start(), found.end())
        for number, line in enumerate(lines)
        for found in re.finditer(re.escape(folded(query)), folded(line))
    ]
    hits = Hits()
    hits.search(query, lines, top)
    assert hits.total == len(expected)
    within = [
        hit for number, line in enumerate(lines) for hit, _ in hits.within(number, 0, len(line))
    ]
    assert within == expected
    if expected:
        from_top = [hit for hit in expected if hit.line >= min(top, len(lines) - 1)]
        assert hits.current == (from_top or expected)[0]
        hits.step(-1)
        assert hits.current == expected[expected.index((from_top or expected)[0]) - 1]


def test_only_hits_that_touch_the_window_are_given() -> None:
    hits = Hits()
    hits.search("abc", ["xabcxabcxabc"], 0)
    assert [hit.start for hit, _ in hits.within(0, 3, 6)] == [1, 5]
    assert [hit.start for hit, _ in hits.within(0, 4, 5)] == []


def test_a_query_never_spans_two_lines() -> None:
    hits = Hits()
    hits.search("a\nb", ["a", "b"], 0)
    assert (hits.total, hits.number, hits.current) == (0, 0, None)


def test_the_number_stays_when_the_same_hits_are_in_other_lines() -> None:
    hits = Hits()
    hits.search("a", ["a", "a", "a"], 0)
    hits.step(1)
    hits.again(["x", "a a", "a"], 0)
    assert (hits.number, hits.total) == (2, 3)
    hits.again(["x", "a"], 0)
    assert (hits.number, hits.total) == (1, 1)
