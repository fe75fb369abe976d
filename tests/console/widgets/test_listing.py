"""Cursor, marks and news of a list against a plain model of them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from console.widgets.listing import Listing


@dataclass(frozen=True)
class Row:
    key: str


def rows(keys: str) -> list[Row]:
    return [Row(key) for key in keys]


def filled(keys: str, cursor: int = 0) -> Listing[Row]:
    listing: Listing[Row] = Listing()
    listing.replace(rows(keys), 0)
    listing.move(cursor)
    return listing


KEYS = st.lists(st.sampled_from("abcdefgh"), unique=True).map("".join)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS),
        st.tuples(st.just("move"), st.integers(-3, 12)),
        st.tuples(st.just("mark"), st.sampled_from("abcdefgh")),
        st.tuples(st.just("unmark"), st.sampled_from("abcdefgh")),
        st.tuples(st.just("see"), st.sampled_from("abcdefgh")),
        st.tuples(st.just("invert"), st.none()),
    ),
    max_size=12,
)


@given(KEYS, STEPS)
def test_any_run_of_changes_and_moves_agrees_with_the_model(
    first: str, steps: list[tuple[str, str | int | None]]
) -> None:
    listing = filled(first)
    keys, cursor, marks, unseen = first, first[:1], set[str](), set[str]()
    for name, value in steps:
        if name == "set":
            new = str(value)
            below, above = keys[keys.find(cursor) :], keys[: keys.find(cursor)][::-1]
            kept = [key for key in (below + above if cursor else "") if key in new]
            place = min(keys.find(cursor) if cursor else 0, max(0, len(new) - 1))
            unseen = (unseen | (set(new) - set(keys))) & set(new)
            marks &= set(new)
            cursor = kept[0] if kept else new[place : place + 1]
            keys = new
            listing.replace(rows(new), 0)
        elif name == "move":
            listing.move(int(value or 0))
            if keys:
                cursor = keys[max(0, min(int(value or 0), len(keys) - 1))]
        elif name in ("mark", "unmark"):
            changed = listing.mark(str(value), name == "mark")
            assert changed == (str(value) in keys and (str(value) in marks) != (name == "mark"))
            if str(value) in keys:
                (marks.add if name == "mark" else marks.discard)(str(value))
        elif name == "see":
            listing.unseen.discard(str(value))
            unseen.discard(str(value))
        else:
            listing.invert()
            marks = set(keys) - marks
        assert (listing.key or "") == cursor
        assert listing.marked == tuple(key for key in keys if key in marks)
        assert listing.count == len(marks)
        assert listing.unseen == unseen


@given(KEYS.filter(bool), KEYS, st.data())
def test_the_held_item_is_found_again_or_its_heir(old: str, new: str, data: st.DataObject) -> None:
    held = data.draw(st.integers(0, len(old) - 1))
    at = filled(old).replace(rows(new), held)
    if old[held] in new:
        assert new[at] == old[held]
    elif heirs := [key for key in old[held:] + old[:held][::-1] if key in new]:
        assert new[at] == heirs[0]
    else:
        assert at == max(0, min(held, len(new) - 1))


def test_a_range_marks_what_the_cursor_passes_and_gives_it_back() -> None:
    listing = filled("abcdef", 2)
    listing.mark("a", True)
    listing.open_range()
    listing.move(4)
    assert (listing.marked, listing.count) == (("a", "c", "d", "e"), 4)
    listing.move(1)
    assert (listing.marked, listing.count) == (("a", "b", "c"), 3)
    listing.drop_range()
    assert (listing.marked, listing.count) == (("a",), 1)


def test_what_arrives_in_the_midst_of_a_range_is_not_marked() -> None:
    listing = filled("abcdef", 1)
    listing.open_range()
    listing.move(3)
    listing.replace(rows("xabycdef"), 0)
    assert "".join(listing.marked) == "bcd"
    listing.move(6)
    assert "".join(listing.marked) == "bcde", "the range goes on from the cursor"


def test_a_range_whose_cursor_is_gone_is_closed() -> None:
    listing = filled("abcdef", 1)
    listing.open_range()
    listing.move(3)
    listing.replace(rows("abcef"), 0)
    assert (listing.key, listing.marked, listing.in_range) == ("e", ("b", "c"), False)


def test_a_mark_that_left_does_not_come_back_with_its_key() -> None:
    listing = filled("abc")
    listing.mark("b", True)
    listing.replace(rows("ac"), 0)
    listing.replace(rows("abc"), 0)
    assert listing.marked == ()
    assert listing.unseen == {"b"}


def test_two_items_under_one_key_do_not_break_the_list() -> None:
    listing = filled("abab", 3)
    listing.mark("b", True)
    listing.replace(rows("bbaa"), 3)
    assert (listing.key, listing.marked) == ("b", ("b",))
