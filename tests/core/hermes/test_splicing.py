"""What a patch makes of a file: specs/hermes-approval-memory.md, 3.5.

Cases named ``patch-…`` are answers of hermes-agent 0.19.0 recorded in approval.json; the others
were taken from it by tests/interop/test_matching.py.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.patching.splicing import splice

STEPS = "## Steps\n1. Open the valve.\n2. Read the gauge.\n3. Close the valve.\n"


def patched(text: str, old: str, new: str, *, replace_all: bool = False) -> str:
    """The text after a patch that must be accepted."""
    done = splice(text, old, new, replace_all=replace_all)
    assert done.category == "ok", done.message
    return done.text


@pytest.mark.parametrize(
    ("old", "new", "after"),
    [
        pytest.param(
            "2. Read the gauge.",
            "2. Read the gauge twice.",
            "## Steps\n1. Open the valve.\n2. Read the gauge twice.\n3. Close the valve.\n",
            id="patch-exact",
        ),
        pytest.param(
            "  1. Open the valve.  \n  2. Read the gauge.",
            "1. Open the valve slowly.\n2. Read the gauge.",
            "## Steps\n1. Open the valve slowly.\n2. Read the gauge.\n3. Close the valve.\n",
            id="patch-line-trimmed",
        ),
        pytest.param(
            "1. Open the valve.\\n2. Read the gauge.",
            "1. Open.\n2. Read.",
            "## Steps\n1. Open.\n2. Read.\n3. Close the valve.\n",
            id="patch-escape-normalized",
        ),
        pytest.param(
            "1. Open the valves.\n2. Something entirely different\n3. Close the valves.",
            "X\nY\nZ",
            "## Steps\nX\nY\nZ\n",
            id="patch-context-aware",
        ),
    ],
)
def test_accepted(old: str, new: str, after: str) -> None:
    assert patched(STEPS, old, new) == after


def test_no_match_names_the_closest_lines() -> None:
    done = splice(STEPS, "2. Read the gauge of the port tank", "x", replace_all=False)
    assert (done.category, done.text, done.match) == ("patch_no_match", STEPS, None)
    assert "closest is line 3, “2. Read the gauge.”" in done.message


def test_no_match_with_nothing_close() -> None:
    """Oracle case patch-no-match."""
    done = splice(STEPS, "6. Paint hulls red.", "x", replace_all=False)
    assert (done.category, done.text, done.match) == ("patch_no_match", STEPS, None)
    assert "no line is close" in done.message


def test_a_quoted_line_is_short_and_safe_to_draw() -> None:
    text = "open the valve\x1b[31m \u202e now " + "w " * 60
    message = splice(text, "open the valve now w", "x", replace_all=False).message
    assert "\x1b" not in message
    assert "\u202e" not in message
    assert "…” " not in message
    assert "…”" in message
    assert len(message) < 140


def test_an_empty_old_text_matches_nothing() -> None:
    assert splice(STEPS, "", "x", replace_all=True).category == "patch_no_match"


def test_identical_is_refused_before_anything_is_searched() -> None:
    done = splice(STEPS, "nowhere", "nowhere", replace_all=False)
    assert (done.category, done.text, done.match) == ("patch_identical", STEPS, None)


def test_several_places_are_refused_unless_all_are_wanted() -> None:
    """R04: the agent's preview shows every occurrence replaced, its apply refuses."""
    done = splice(STEPS, "valve", "gate", replace_all=False)
    assert (done.category, done.text) == ("patch_ambiguous", STEPS)
    assert done.match is not None
    assert len(done.match.spans) == 2
    assert patched(STEPS, "valve", "gate", replace_all=True) == STEPS.replace("valve", "gate")


def test_escape_drift_is_refused() -> None:
    """Oracle case patch-escape-drift."""
    text = "1. Open.\n2. Read the gauge's.\n"
    done = splice(text, "2. Read the gauge\\'s.", "2. Read the gauge\\'s dial.", replace_all=False)
    assert (done.category, done.text) == ("patch_escape_drift", text)


def test_a_backslash_quote_only_in_the_new_text_is_no_drift() -> None:
    assert patched("say it's", "say  it's", "say it\\'s") == "say it\\'s"


def test_a_backslash_quote_the_file_has_is_no_drift() -> None:
    assert patched('say  \\"it', 'say \\"it', 'tell \\"it') == 'tell \\"it'


def test_spelled_out_controls_become_real_where_the_region_has_them() -> None:
    """Also for exact matches (3.5)."""
    assert patched("a\tb", "a\tb", "a\\tc\\r") == "a\tc\\r"
    assert patched("a b", "a b", "a\\tc") == "a\\tc"
    assert patched("a\r\nb", "a\nb", "c\\r\nd") == "c\r\nd"


def test_new_text_takes_the_indentation_of_the_file() -> None:
    text = "do:\n    one\n    two\n"
    assert patched(text, "  one\n  two", "  one\n    deep\n\nflat") == (
        "do:\n    one\n      deep\n\n    flat\n"
    )


def test_a_line_of_blanks_keeps_them() -> None:
    assert patched("do:\n    one", "\tone", "\tone\n \t\n\ttwo") == "do:\n    one\n \t\n    two"


def test_each_place_gets_its_own_indentation() -> None:
    assert patched("  a \n\ta ", "a  ", "b\nc", replace_all=True) == "  b\n  c\n\tb\n\tc"


def test_the_files_typography_stays_where_the_texts_agree() -> None:
    text = "Note — use “smart” quotes… here."
    assert (
        patched(text, '-- use "smart" quotes...', '-- use "clever" quotes...')
        == "Note — use “clever” quotes… here."
    )


def test_typography_is_given_up_when_the_region_is_wider_than_the_old_text() -> None:
    """Two places: their joined text is not the old text, so the new one goes in as it is."""
    assert patched("a — b\na — b", "a -- b", "c -- d", replace_all=True) == "c -- d\nc -- d"


def test_an_agreement_inside_a_dash_repeats_the_beginning_as_in_the_agent() -> None:
    """A fault of hermes-agent 0.19.0, kept: approving would write exactly this."""
    assert patched("a—b", "a--b", "a-x-b") == "a—xa—b"


def test_overlapping_places_are_cut_with_stale_offsets_as_in_the_agent() -> None:
    """The window at 0 ends inside what the window at 3 already replaced."""
    assert patched(" x\n x\n x", "x \nx ", "y", replace_all=True) == " y"


@given(
    st.text("ab \t\n'\"\\-—", max_size=30),
    st.text("ab \t\n'\"\\-—", max_size=8),
    st.text("ab \t\n'\"\\-—", max_size=8),
    st.booleans(),
)
def test_a_refusal_leaves_the_text_alone(text: str, old: str, new: str, replace_all: bool) -> None:
    done = splice(text, old, new, replace_all=replace_all)
    if done.category != "ok":
        assert done.text == text
    else:
        assert done.match is not None
        assert done.match.spans
