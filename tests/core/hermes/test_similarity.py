"""The bounds of core.homes.hermes.patching.similarity against difflib itself."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.patching.similarity import Yardstick, lengths_may_reach

#: Few letters make common stretches; past 200 characters difflib drops the popular ones.
TEXTS = st.one_of(st.text("abc -", max_size=30), st.text("ab", max_size=260), st.text(max_size=12))
THRESHOLDS = st.sampled_from([0.5, 0.7, 0.8])


def test_common_counts_the_longest_common_subsequence() -> None:
    assert Yardstick("read the gauge").common("rd te gage") == 10
    assert Yardstick("abc").common("cba") == 1
    assert Yardstick("").common("abc") == 0


def test_common_is_exact_past_one_machine_word() -> None:
    assert Yardstick("ab" * 100).common("b" * 150) == 100


@given(TEXTS, TEXTS, THRESHOLDS)
def test_both_orders_answer_as_difflib_does(first: str, second: str, threshold: float) -> None:
    yardstick = Yardstick(first)
    forward = SequenceMatcher(None, first, second).ratio() >= threshold
    backward = SequenceMatcher(None, second, first).ratio() >= threshold
    assert yardstick.reaches(second, threshold) is forward
    assert yardstick.reached_from(second, threshold) is backward


@given(TEXTS, TEXTS)
def test_no_block_count_of_difflib_exceeds_the_common_subsequence(first: str, second: str) -> None:
    blocks = SequenceMatcher(None, first, second).get_matching_blocks()
    assert sum(block.size for block in blocks) <= Yardstick(first).common(second)


@pytest.mark.parametrize(
    ("lengths", "threshold", "open_"),
    [
        ((0, 0), 0.8, True),  # difflib calls two empty texts equal
        ((0, 1), 0.5, False),
        ((2, 3), 0.8, True),  # 2 * 2 / 5 is the threshold itself
        ((2, 4), 0.8, False),
        ((1, 3), 0.5, True),
    ],
)
def test_lengths_alone_can_settle_it(
    lengths: tuple[int, int], threshold: float, open_: bool
) -> None:
    assert lengths_may_reach(*lengths, threshold) is open_
