"""An outline against the tuple of its marks: the same answers from either."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conversations import Mark, Visibility
from core.outline import ROLES, Outline

NAMES = (*ROLES, "", "developer", "7")
MARKS = st.builds(
    Mark,
    st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 60),
    st.sampled_from(NAMES),
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, 1.0, 2.0]),
    st.sampled_from(Visibility),
    st.just(0) | st.integers(-5, 60),
)
#: Ids are unique in a home.
CONVERSATIONS = st.lists(MARKS, max_size=40, unique_by=lambda mark: mark.id).map(tuple)
ANY = st.integers(-8, 70)


@given(CONVERSATIONS, st.slices(40))
def test_it_is_the_tuple_of_its_marks(marks: tuple[Mark, ...], part: slice) -> None:
    outline = Outline.of(marks)
    assert tuple(outline) == marks
    assert outline == marks
    assert outline == Outline.of(iter(marks))
    assert outline[part] == marks[part]
    assert list(reversed(outline)) == list(reversed(marks))
    assert [outline[-n] for n in range(1, len(marks) + 1)] == list(reversed(marks))
    assert all(mark in outline for mark in marks)
    assert Outline.of(outline) is outline


def test_what_is_not_there() -> None:
    outline = Outline.of([Mark(1, "user", 5.0, Visibility.LIVE)])
    assert Mark(1, "tool", 5.0, Visibility.LIVE) not in outline
    assert Mark(2, "user", 5.0, Visibility.LIVE) not in outline
    assert outline != ()
    assert outline != "x"
    assert Outline.of(()) == ()
    with pytest.raises(IndexError):
        outline[1]
    with pytest.raises(IndexError):
        outline[-2]


@given(CONVERSATIONS, CONVERSATIONS)
def test_it_is_equal_to_no_other(marks: tuple[Mark, ...], others: tuple[Mark, ...]) -> None:
    assert (Outline.of(marks) == Outline.of(others)) is (marks == others)
    assert (Outline.of(marks) == others) is (marks == others)


@given(CONVERSATIONS, st.lists(st.integers(0, 40), max_size=3))
def test_parts_in_a_row_are_one(marks: tuple[Mark, ...], cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(marks)]
    parts = [marks[a:b] for a, b in pairwise(bounds)]
    assert Outline.joined(map(Outline.of, parts)) == marks


@given(CONVERSATIONS, ANY)
def test_a_message_is_found_by_its_id(marks: tuple[Mark, ...], other: int) -> None:
    outline = Outline.of(marks)
    places = {mark.id: number for number, mark in enumerate(marks)}
    for message_id in (*places, other, -(2**70), 2**70):
        assert outline.number(message_id) == places.get(message_id)


@given(CONVERSATIONS, ANY)
def test_the_first_message_with_as_high_an_id(marks: tuple[Mark, ...], other: int) -> None:
    ascending = tuple(sorted(marks))
    after = sum(mark.id < other for mark in ascending)
    assert Outline.of(ascending).after(other) == after


@given(CONVERSATIONS, st.floats(-3, 3), st.sets(st.integers(0, 39)))
def test_the_first_message_as_late(marks: tuple[Mark, ...], at: float, some: set[int]) -> None:
    late = [n for n, mark in enumerate(marks) if mark.at is not None and mark.at >= at]
    outline = Outline.of(marks)
    assert outline.as_late(at) == (late[0] if late else None)
    assert outline.as_late(inf) is None
    numbers = sorted(number for number in some if number < len(marks))
    assert outline.as_late(at, numbers) == next(
        (place for place, number in enumerate(numbers) if number in late), None
    )


@given(
    CONVERSATIONS,
    st.none() | st.frozensets(st.sampled_from(NAMES)),
    st.sets(st.sampled_from(Visibility)),
    st.booleans(),
)
def test_some_of_them(
    marks: tuple[Mark, ...],
    roles: frozenset[str] | None,
    visibilities: set[Visibility],
    copies: bool,
) -> None:
    found = Outline.of(marks).select(roles=roles, visibilities=visibilities, copies=copies)
    assert list(found) == [
        number
        for number, mark in enumerate(marks)
        if (roles is None or mark.role in roles)
        and mark.visibility in visibilities
        and (copies or not mark.copy_of)
    ]


@given(CONVERSATIONS, st.integers(0, 40), st.integers(0, 40))
def test_how_many_are_hidden(marks: tuple[Mark, ...], start: int, end: int) -> None:
    outline, some = Outline.of(marks), marks[start:end]
    for visibility in Visibility:
        assert outline.seen(visibility, start, end) == sum(m.visibility is visibility for m in some)
    left = [mark for mark in some if mark.copy_of and mark.visibility is not Visibility.UNDONE]
    assert outline.copies(start, end) == len(left)


@given(CONVERSATIONS, st.dictionaries(st.integers(0, 39), st.integers(1, 9)))
def test_copies_are_named_later(marks: tuple[Mark, ...], copies: dict[int, int]) -> None:
    marks = tuple(mark._replace(copy_of=0) for mark in marks)
    copies = {number: first for number, first in copies.items() if number < len(marks)}
    assert Outline.of(marks).with_copies(copies) == tuple(
        mark._replace(copy_of=copies.get(number, 0)) for number, mark in enumerate(marks)
    )


@given(CONVERSATIONS, CONVERSATIONS, st.data())
def test_what_changed(marks: tuple[Mark, ...], more: tuple[Mark, ...], data: st.DataObject) -> None:
    """A conversation grew, messages were taken back, some are gone."""
    kept = [mark for mark in marks if data.draw(st.integers(0, 9))]
    turned = [mark._replace(visibility=data.draw(st.sampled_from(Visibility))) for mark in kept]
    known = {mark.id: mark for mark in marks}
    now = (*turned, *(mark for mark in more if mark.id not in known))
    fresh, other = Outline.of(marks).changes(Outline.of(now))
    assert fresh == [mark.id for mark in now if mark.id not in known]
    assert other == [
        mark.id
        for mark in now
        if mark.id in known and mark.visibility is not known[mark.id].visibility
    ]
