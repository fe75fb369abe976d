"""The cursor and the view over items whose heights change under them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from console.widgets.paging import Paging, Spot

HEIGHTS = st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=4), min_size=1, max_size=12)
MOVES = st.lists(
    st.tuples(st.sampled_from(["move", "scroll", "leap", "go"]), st.integers(-40, 40)), max_size=20
)


def paging_of(heights: list[list[int]], view: int) -> Paging:
    paging = Paging(
        lambda place: len(heights[place]), lambda place, part: heights[place][part], height=view
    )
    paging.count = len(heights)
    paging.settle()
    return paging


def lines_of(heights: list[list[int]]) -> list[Spot]:
    return [
        Spot(place, part, line)
        for place, parts in enumerate(heights)
        for part, count in enumerate(parts)
        for line in range(count)
    ]


@given(HEIGHTS, st.integers(1, 15), MOVES)
def test_it_moves_as_over_one_list_of_lines(
    heights: list[list[int]], view: int, moves: list[tuple[str, int]]
) -> None:
    """The model: all lines in one list, the view clamped to them, the cursor always in view."""
    lines = lines_of(heights)
    paging, cursor, top = paging_of(heights, view), 0, 0
    most = max(0, len(lines) - view)
    for kind, by in moves:
        if kind == "move":
            cursor = max(0, min(cursor + by, len(lines) - 1))
            top = max(min(top, cursor), cursor - view + 1)
            paging.move(by)
        elif kind == "scroll":
            top = max(0, min(top + by, most))
            cursor = max(top, min(cursor, top + view - 1))
            paging.scroll(by)
        elif kind == "leap":
            row = cursor - top
            cursor = max(0, min(cursor + by, len(lines) - 1))
            top = cursor - row
            paging.leap(by)
        else:
            cursor = by % len(lines)
            top = cursor - view // 2
            paging.go(lines[cursor], centre=True)
        top = max(0, min(top, most))
        assert paging.frame() == lines[top : top + view], (kind, by)
        assert (paging.spot, paging.row) == (lines[cursor], cursor - top), (kind, by)


@given(HEIGHTS, HEIGHTS, st.integers(2, 15), st.integers(0, 100))
def test_the_cursor_keeps_its_row_when_other_items_change_their_heights(
    before: list[list[int]], after: list[list[int]], view: int, at: int
) -> None:
    heights = [list(parts) for parts in before]
    paging = paging_of(heights, view)
    lines = lines_of(before)
    spot = lines[at % len(lines)]
    paging.go(spot, centre=True)
    row = paging.row
    for place, parts in enumerate(after[: len(heights)]):
        if place != spot.place:
            heights[place] = parts
    paging.settle()
    assert paging.spot == spot
    there = lines_of(heights)
    most = max(0, len(there) - view)
    expected = max(0, min(there.index(spot) - row, most))
    assert paging.row == there.index(spot) - expected


def test_nothing_to_page_through() -> None:
    paging = Paging(lambda _: 1, lambda _, __: 1, height=5)
    for move in (paging.move, paging.scroll, paging.leap):
        move(3)
    paging.go(Spot(3, 0, 0))
    assert paging.frame() == []
    assert (paging.spot, paging.row) == (Spot(0, 0, 0), 0)
