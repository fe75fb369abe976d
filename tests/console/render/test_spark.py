"""Uses over time: spread between counts, never more than was counted."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.render.spark import NONE, bars, rates

times = st.lists(
    st.tuples(st.floats(0, 1000, allow_nan=False), st.integers(0, 500)), min_size=2, max_size=9
)


def test_what_was_used_between_two_counts_is_spread_evenly() -> None:
    assert rates([(0.0, 0), (50.0, 10)], 0.0, 100.0, 10) == pytest.approx([2.0] * 5 + [0.0] * 5)


def test_a_count_that_went_back_is_none() -> None:
    assert rates([(0.0, 5), (50.0, 1), (100.0, 3)], 0.0, 100.0, 2) == pytest.approx([0.0, 2.0])


def test_two_counts_of_one_moment_stand_in_its_stretch() -> None:
    assert rates([(10.0, 0), (10.0, 4)], 0.0, 100.0, 10) == (0, 4, *[0] * 8)


def test_no_time_has_no_stretches() -> None:
    assert rates([(0.0, 0), (1.0, 1)], 5.0, 5.0, 10) == ()


def test_bars_go_up_to_the_most_and_nothing_is_a_dot() -> None:
    assert bars((0.0, 1.0, 7.0)) == f"{NONE}▂▇"
    assert bars((0.0, 0.0)) == NONE * 2
    assert bars(()) == ""


@given(times, st.integers(1, 60))
def test_as_much_is_drawn_as_was_counted(found: list[tuple[float, int]], cells: int) -> None:
    points = sorted(found)
    start, end = points[0][0], points[-1][0]
    drawn = rates(points, start, end, cells)
    if end > start:
        gained = sum(max(0, b[1] - a[1]) for a, b in pairwise(points))
        assert len(bars(drawn)) == cells
        assert sum(drawn) == pytest.approx(gained, rel=1e-6, abs=1e-6)
