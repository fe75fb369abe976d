"""Where a patch's old text is found: specs/hermes-approval-memory.md, 3.5.

Cases named ``patch-…`` are answers of hermes-agent 0.19.0 recorded in approval.json.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.patching.matching import closest_lines, find, fold, fold_offsets

PROBE = """---
name: probe
description: Use when probing.
version: 1.0.0
---

# Probe

## Steps
1. Open the valve.
2. Read the gauge.
3. Close the valve.

```sh
for g in $(tidectl list); do
    tidectl ping "$g"
done
```

Note — use “smart” quotes… here.
"""


def found(text: str, old: str) -> tuple[str, list[str]] | None:
    """The strategy and the texts under its spans."""
    match = find(text, old)
    if match is None:
        return None
    return match.strategy, [text[start:end] for start, end in match.spans]


@pytest.mark.parametrize(
    ("old", "strategy", "under"),
    [
        pytest.param("2. Read the gauge.", "exact", "2. Read the gauge.", id="patch-exact"),
        pytest.param(
            "  1. Open the valve.  \n  2. Read the gauge.",
            "line_trimmed",
            "1. Open the valve.\n2. Read the gauge.",
            id="patch-line-trimmed",
        ),
        pytest.param(
            "1. Open the valve.\\n2. Read the gauge.",
            "escape_normalized",
            "1. Open the valve.\n2. Read the gauge.",
            id="patch-escape-normalized",
        ),
        pytest.param(
            "1. Open the valves.\n2. Something entirely different\n3. Close the valves.",
            "context_aware",
            "1. Open the valve.\n2. Read the gauge.\n3. Close the valve.",
            id="patch-context-aware",
        ),
        pytest.param(
            "Read  \t the gauge", "whitespace_normalized", "Read the gauge", id="3.5 strategy 3"
        ),
        pytest.param(
            '-- use "smart" quotes...',
            "unicode_normalized",
            "— use “smart” quotes…",
            id="3.5 strategy 7",
        ),
        pytest.param(
            '```sh\nfor g in $(tidectl list)\n    tidectl pong "$g"\ndone\n```',
            "block_anchor",
            '```sh\nfor g in $(tidectl list); do\n    tidectl ping "$g"\ndone\n```',
            id="3.5 strategy 8",
        ),
    ],
)
def test_each_strategy_finds_its_place(old: str, strategy: str, under: str) -> None:
    assert found(PROBE, old) == (strategy, [under])


def test_nothing_is_found() -> None:
    """Oracle case patch-no-match, and a text longer than the file."""
    assert find(PROBE, "6. Paint the hull red.") is None
    assert find("a\nb", "c\nd\ne\nf") is None
    assert find("", "a") is None
    assert find(PROBE, "") is None


def test_exact_spans_do_not_overlap() -> None:
    match = find("aaaaa", "aa")
    assert match is not None
    assert match.spans == ((0, 2), (2, 4))


def test_line_windows_may_overlap() -> None:
    match = find(" x\n x\n x", "x \nx ")
    assert match is not None
    assert (match.strategy, match.spans) == ("line_trimmed", ((0, 5), (3, 8)))


@pytest.mark.parametrize(
    ("text", "old", "under"),
    [
        ("a    b c", "\tb c", "    b c"),  # a run belongs to the span that begins with it
        ("a    b c", "b  c", "   b c"),  # else all but its first space goes to what follows
        ("a\t\tb c", "b  c", "b c"),  # without a space the whole run is the collapsed one
        ("a\t \tb c", "b  c", "\tb c"),
        ("a b   c", "a  b ", "a b   "),  # at the right end the whole run
        ("a b   ", "a  b ", "a b "),  # but only one space of it where the text ends
        ("a b\t\t", "a  b ", "a b\t\t"),
        ("x   y  a b", "a  b", " a b"),  # behind several runs
    ],
)
def test_runs_of_blanks_map_back_as_in_the_agent(text: str, old: str, under: str) -> None:
    """hermes-agent 0.19.0, executed by tests/interop/test_matching.py."""
    assert found(text, old) == ("whitespace_normalized", [under])


def test_a_folded_match_that_starts_inside_a_character_is_lost() -> None:
    """``—`` folds to two hyphens: of the two matches only the one at its start has a place."""
    assert found("—x", "–") == ("unicode_normalized", ["—"])
    assert find("—x", "-x") is None


def test_one_block_needs_half_and_several_need_more() -> None:
    block = "begin\n{}\nend"
    near = block.format("abcdefgh")
    old = block.format("abcdeXYZ")  # 5 of 8 alike: 0.625
    assert found(near, old) == ("block_anchor", [near])
    other = block.format("12345678")
    # Refused as a block, the anchors alone are two lines of three: context_aware takes both.
    assert found(f"{near}\n{other}", old) == ("context_aware", [near, other])
    nearer = block.format("abcdefgZ")  # 6 of 8 alike: 0.75
    assert found(f"{nearer}\n{other}", old) == ("block_anchor", [nearer])


def test_the_order_of_the_two_texts_matters_as_in_the_agent() -> None:
    """difflib's ratio is 0.875 one way and 0.75 the other; 0.67 and 0.33 for the blocks."""
    assert found("cbbcbaaa", "cbbcaaba") == ("context_aware", ["cbbcbaaa"])
    assert find("cbbcaaba", "cbbcbaaa") is None
    assert found("k\nbca\nm", "k\naba\nm") == ("block_anchor", ["k\nbca\nm"])
    assert found("k\naba\nm", "k\nbca\nm") == ("context_aware", ["k\naba\nm"])


@pytest.mark.parametrize(
    ("kept", "length", "others", "strategy"),
    [
        (10, 20, 0, "block_anchor"),  # 0.50, alone
        (12, 25, 0, "context_aware"),  # 0.48
        (14, 20, 1, "block_anchor"),  # 0.70, one of two
        (17, 25, 1, "context_aware"),  # 0.68
    ],
)
def test_block_thresholds(kept: int, length: int, others: int, strategy: str) -> None:
    """3.5 strategy 8: >= 0.50 with one candidate, >= 0.70 with several."""
    middle = "abcdefghijklmnopqrstuvwxy"[:length]
    near = middle[:kept] + "-" * (length - kept)
    text = "\n".join(f"begin\n{line}\nend" for line in [near, *["="] * others])
    match = find(text, f"begin\n{middle}\nend")
    assert match is not None
    assert match.strategy == strategy


def test_a_final_line_end_makes_any_blank_line_half_a_match() -> None:
    """context_aware counts the empty line after the last LF: a wrong place, as in the agent."""
    assert found("alpha\n\nbeta", "nothing like it\n") == ("context_aware", ["alpha\n"])


@given(st.text("ab -—…“\n", max_size=20))
def test_fold_offsets_say_where_each_character_went(text: str) -> None:
    offsets = fold_offsets(text)
    assert offsets[-1] == len(fold(text))
    assert [fold(text)[a:b] for a, b in pairwise(offsets)] == [
        fold(character) for character in text
    ]


@pytest.mark.parametrize(
    ("old", "numbers"),
    [
        ("2. Read the gauges.", (11,)),
        ("\n\n  close THE valve\nand more", (12, 10)),
        ("6. Paint hulls red.", ()),
        ("\n", ()),
    ],
)
def test_closest_lines(old: str, numbers: tuple[int, ...]) -> None:
    assert closest_lines(PROBE, old) == numbers
