"""Before and after as rows and as unified text: exact, and bounded on hostile input."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core import diff as subject
from core.diff import RowKind

HUGE = 10**9
LINES = st.sampled_from(
    ["a", "b", "b c", "", "\r", "x\r", "\u2028", "§", "the red fox", "the blue fox", "-- a", "@@"]
)
BODIES = st.tuples(st.lists(LINES, max_size=14), st.booleans()).map(
    lambda made: "\n".join(made[0]) + ("\n" if made[1] else "")
)


def apply(before: str, patch: str) -> str:
    """A tiny strict ``patch``: every context and removed line must stand where it is said."""
    old = before.split("\n")
    old = [f"{line}\n" for line in old[:-1]] + ([old[-1]] if old[-1] else [])
    made: list[str] = []
    at = 0
    lines = patch.split("\n")[2:-1]
    for index, line in enumerate(lines):
        if line.startswith("@@ "):
            header = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line)
            assert header
            start = int(header[1]) - (header[2] != "0")
            made += old[at:start]
            at = start
            assert len(made) == int(header[3]) - (header[4] != "0")
            continue
        if line.startswith("\\"):
            assert line == "\\ No newline at end of file"
            continue
        bare = lines[index + 1 : index + 2] == ["\\ No newline at end of file"]
        text = line[1:] + ("" if bare else "\n")
        assert line[0] in " -+"
        if line[0] in " -":
            assert old[at] == text
            at += 1
        if line[0] in " +":
            made.append(text)
    return "".join(made + old[at:])


def body(rows: list[subject.Row]) -> str:
    return "".join(row.text + ("\n" if row.newline else "") for row in rows)


@given(BODIES, BODIES)
@example("a", "a\n")
@example("", "\n")
@example("a\r\nb\r\n", "a\nb\n")
def test_the_unified_text_leads_from_before_to_after(before: str, after: str) -> None:
    patch = subject.unified(before, after, "p")
    assert (patch == "") == (before == after)
    assert apply(before, patch) == after
    assert apply(before, subject.unified(before, after, "p", context=0)) == after


@given(BODIES, BODIES)
def test_rows_with_all_context_hold_both_texts(before: str, after: str) -> None:
    hunks = subject.rows(before, after, context=HUGE)
    if before == after:
        assert hunks == ()
        return
    (hunk,) = hunks
    olds = [row for row in hunk.rows if row.old_no is not None]
    news = [row for row in hunk.rows if row.new_no is not None]
    assert (body(olds), body(news)) == (before, after)
    assert [row.old_no for row in olds] == list(range(1, hunk.old_count + 1))
    assert [row.new_no for row in news] == list(range(1, hunk.new_count + 1))
    pairs = subject.side_by_side(hunk)
    assert [old for old, _ in pairs if old] == olds
    assert [new for _, new in pairs if new] == news
    for old, new in pairs:
        kinds = (old and old.kind, new and new.kind)
        assert (RowKind.CHANGED_OLD in kinds) == (RowKind.CHANGED_NEW in kinds)
        assert (RowKind.SAME in kinds) == (old is new)


@given(st.text("ab \u0301漢é", max_size=12), st.text("ab \u0301漢é", max_size=12))
def test_outside_the_spans_paired_lines_are_the_same(before: str, after: str) -> None:
    for hunk in subject.rows(before, after):
        for old, new in subject.side_by_side(hunk):
            if old and new and old.kind is RowKind.CHANGED_OLD:
                assert outside(old) == outside(new)


def outside(row: subject.Row) -> str:
    """The text without its spans and without white space, which a span may take in."""
    kept = [char for at, char in enumerate(row.text) if not any(a <= at < b for a, b in row.spans)]
    return "".join("".join(kept).split())


def test_changed_words_are_marked() -> None:
    (hunk,) = subject.rows("Prefers tabs, 4 wide\n", "Prefers spaces, 2 wide\n")
    assert hunk.rows == (
        subject.Row(RowKind.CHANGED_OLD, 1, None, "Prefers tabs, 4 wide", ((8, 12), (14, 15))),
        subject.Row(RowKind.CHANGED_NEW, None, 1, "Prefers spaces, 2 wide", ((8, 14), (16, 17))),
    )
    assert hunk.words
    assert not hunk.coarse


@pytest.mark.parametrize(
    ("before", "after", "marked"),
    [
        pytest.param(
            "uses e\u0301te\u0301 here",
            "uses e\u0301te here",
            ["e\u0301te\u0301"],
            id="marks stay on their letter",
        ),
        pytest.param(
            "likes 👩\u200d💻 a lot",
            "likes 👩\u200d🔬 a lot",
            ["👩\u200d💻"],
            id="an emoji is one word",
        ),
        pytest.param(
            "漢字の本を読む", "漢字の木を読む", ["本"], id="each wide character is a word"
        ),
        pytest.param("one two three four", "one 2 3 four", ["two three"], id="neighbours join"),
        pytest.param(
            "if role != 'user' # x", "if role != 'user'\u202e # x", [], id="D-44 added override"
        ),
    ],
)
def test_word_bounds(before: str, after: str, marked: list[str]) -> None:
    old = subject.rows(before, after)[0].rows[0]
    assert [old.text[a:b] for a, b in old.spans] == marked


def test_a_hidden_character_is_a_changed_word() -> None:
    new = subject.rows("if role != 'user' # x", "if role != 'user'\u202e # x")[0].rows[1]
    assert [new.text[a:b] for a, b in new.spans] == ["\u202e"]  # D-44


def test_a_changed_line_finds_its_partner_past_a_new_one() -> None:
    (hunk,) = subject.rows("the red fox runs\n", "something else\nthe blue fox runs\n")
    assert [(row.kind, row.text) for row in hunk.rows] == [
        (RowKind.CHANGED_OLD, "the red fox runs"),
        (RowKind.ADDED, "something else"),
        (RowKind.CHANGED_NEW, "the blue fox runs"),
    ]
    old, added, new = hunk.rows
    assert subject.side_by_side(hunk) == ((None, added), (old, new))


def test_unlike_lines_are_no_pair() -> None:
    (hunk,) = subject.rows("alpha beta\n", "gamma delta\n")
    assert [row.kind for row in hunk.rows] == [RowKind.REMOVED, RowKind.ADDED]


def test_lines_end_at_line_feeds_only() -> None:
    (hunk,) = subject.rows("a\rb\u2028c\x0bd\x85e\nf\n", "a\rb\u2028c\x0bd\x85e\ng\n")
    assert [row.text for row in hunk.rows] == ["a\rb\u2028c\x0bd\x85e", "f", "g"]


def test_line_ends_alone_are_a_change() -> None:
    (hunk,) = subject.rows("a b\r\n", "a b\n")  # spec section 7, quirk 30
    assert [(row.text, row.spans) for row in hunk.rows] == [("a b\r", ((3, 4),)), ("a b", ())]


def test_a_missing_newline_is_said() -> None:
    (hunk,) = subject.rows("a\nb", "a\nb\n")
    assert [(row.kind, row.newline) for row in hunk.rows] == [
        (RowKind.SAME, True),
        (RowKind.CHANGED_OLD, False),
        (RowKind.CHANGED_NEW, True),
    ]
    assert subject.unified("a\nb", "a\nb\n", "m/M.md") == (
        "--- a/m/M.md\n+++ b/m/M.md\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"
    )


def test_hunks_part_where_the_context_does() -> None:
    before = "".join(f"{n}\n" for n in range(1, 21))
    after = before.replace("2\n", "two\n", 1).replace("\n9\n", "\nnine\n")
    assert [h.header for h in subject.rows(before, after)] == ["@@ -1,12 +1,12 @@"]
    assert [h.header for h in subject.rows(before, after, context=2)] == [
        "@@ -1,4 +1,4 @@",
        "@@ -7,5 +7,5 @@",
    ]
    assert [h.header for h in subject.rows(before, after, context=-1)] == [
        "@@ -2 +2 @@",
        "@@ -9 +9 @@",
    ]


def test_absent_files() -> None:
    assert subject.unified(None, "a\n", "p") == "--- /dev/null\n+++ b/p\n@@ -0,0 +1 @@\n+a\n"
    assert subject.unified("a\n", None, "p") == "--- a/p\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert subject.unified(None, "", "p") == "--- /dev/null\n+++ b/p\n"
    assert subject.unified(None, None, "p") == ""


def test_a_path_cannot_forge_a_line() -> None:
    patch = subject.unified("a\n", "b\n", "x\n+++ b/y")
    assert patch.split("\n")[:3] == ["--- a/x\\n+++ b/y", "+++ b/x\\n+++ b/y", "@@ -1 +1 @@"]


def test_bytes_that_are_no_text() -> None:
    assert subject.decode(b"\xef\xbb\xbfa\r\n") == "\ufeffa\r\n"  # D-49, D-48: nothing is touched
    assert subject.decode(b"caf\xe9") is None
    assert subject.unified_bytes(b"a\n", b"b\n", "p") == subject.unified("a\n", "b\n", "p")
    assert (
        subject.unified_bytes(b"\xff", b"a", "p")
        == "p: binary (1 byte) before, text (1 byte) after\n"
    )
    assert (
        subject.unified_bytes(None, b"\xff\xfe", "p")
        == "p: absent before, binary (2 bytes) after\n"
    )
    assert subject.unified_bytes(b"\xff", b"\xff", "p") == ""


# -- bounds ----------------------------------------------------------------------------------------

DICE = random.Random(7)


def prose(lines: int) -> list[str]:
    return [" ".join(f"w{DICE.randrange(3000)}" for _ in range(9)) for _ in range(lines)]


OLD, NEW = prose(5000), prose(5000)
EDITED = [f"{line} indeed" if at % 50 == 0 else line for at, line in enumerate(OLD)]
HOSTILE = {
    "changed": (OLD, EDITED),
    "different": (OLD, NEW),
    "reversed": (OLD, OLD[::-1]),
    "shuffled": (OLD, DICE.sample(OLD, len(OLD))),
    "every line": (OLD, [f"{line} indeed" for line in OLD]),
    "few words": (DICE.choices("abcdef", k=5000), DICE.choices("abcdef", k=5000)),
    "one line": ([" ".join(OLD)], [" ".join(NEW)]),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_big_and_hostile_texts_stay_right(case: str) -> None:
    before, after = ("\n".join(side) + "\n" for side in HOSTILE[case])
    patch = subject.unified(before, after, "p")
    assert apply(before, patch) == after
    assert subject.rows(before, after)


def test_what_was_left_out_is_flagged() -> None:
    few = ["\n".join(side) for side in HOSTILE["few words"]]
    assert any(hunk.coarse and not hunk.words for hunk in subject.rows(*few))
    long = "x " * subject.MAX_WORD_LINE
    (hunk,) = subject.rows(f"{long}a", f"{long}b")
    assert (hunk.words, hunk.coarse) == (False, False)
    assert [row.spans for row in hunk.rows] == [(), ()]
    edited = subject.rows("\n".join(OLD), "\n".join(EDITED))
    assert len(edited) == 100
    assert all(hunk.words and not hunk.coarse for hunk in edited)
    every = subject.rows("\n".join(OLD), "\n".join(HOSTILE["every line"][1]))[0]
    assert not every.words
    assert every.rows[0].kind is RowKind.CHANGED_OLD


def test_lines_that_differ_much_are_paired_when_asked() -> None:
    """S7-04: of an entry that is replaced the lost words are wanted however few are left."""
    before, after = "keeps X; wants B; owns C\n", "wants B2\n"
    (plain,) = subject.rows(before, after)
    assert [row.kind for row in plain.rows] == [RowKind.REMOVED, RowKind.ADDED]
    (hunk,) = subject.rows(before, after, alike=0.0)
    old, new = hunk.rows
    assert (old.kind, new.kind) == (RowKind.CHANGED_OLD, RowKind.CHANGED_NEW)
    assert [old.text[a:b] for a, b in old.spans] == ["keeps X; ", "B; owns C"]
    assert [new.text[a:b] for a, b in new.spans] == ["B2"]


def test_lines_with_nothing_in_common_are_never_paired() -> None:
    (hunk,) = subject.rows("alpha beta\n", "gamma\n", alike=0.0)
    assert [row.kind for row in hunk.rows] == [RowKind.REMOVED, RowKind.ADDED]
