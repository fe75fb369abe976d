"""The query lexer against ``sanitizer.json`` (0.19.0 executed, newer rules as described)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.recall import lexer
from core.homes.hermes.recall.tool import explain
from core.homes.hermes.rules import Rules
from tests.core.hermes.recall.calls import Json, oracle

CASES = oracle("sanitizer.json")


def test_the_oracle_is_whole() -> None:
    assert len(CASES) == 63


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["input"])[:30])
def test_the_text_that_is_asked(case: Json) -> None:
    assert lexer.effective(case["input"], Rules.V0_19) == case["output"]
    newer = case.get("newer_output", case["output"])
    assert lexer.effective(case["input"], Rules.NEWEST) == newer


def test_a_phrase_cut_by_the_limit_is_no_phrase_any_more() -> None:
    """Spec 3.2: a phrase cut by the 2,048 limit loses its closing quote."""
    query = "a" * 2040 + ' "cut phrase"'
    assert lexer.effective(query, Rules.V0_19) == "a" * 2040 + "  cut ph"


def test_a_percent_sign_stays_beside_chinese_text_only_outside_of_quotes() -> None:
    """Spec 3.2, step 2: kept when the text holds CJK; quoted text is set aside before."""
    assert lexer.effective("100%确定", Rules.NEWEST) == "100%确定"
    assert lexer.effective('100% "确定"', Rules.NEWEST) == '100  "确定"'


def test_explain_reads_the_stripped_query() -> None:
    assert explain("  not working ", Rules.V0_19) == "working"
    assert explain(" * ", Rules.NEWEST) == ""


@given(st.text(), st.sampled_from(Rules))
def test_reading_twice_adds_nothing_to_plain_words(query: str, rules: Rules) -> None:
    plain = " ".join(part for part in query.split() if part.isalpha() and part.isascii())
    once = lexer.effective(plain, rules)
    if not any(map(lexer.is_operator, once.split())):
        assert lexer.effective(once, rules) == once
