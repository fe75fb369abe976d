"""What a plan says it does, and the same said of what was done."""

from __future__ import annotations

import pytest

from core.tense import in_past

_PAIRS = [
    ("Archives support-reply as .archive/x.", "Archived support-reply as .archive/x."),
    ("Rewrites SKILL.md of kiln.", "Rewrote SKILL.md of kiln."),
    (
        "Archives skills/a as skills/.archive/a and restores b in its place.",
        "Archived skills/a as skills/.archive/a and restored b in its place.",
    ),
    (
        "Adds 1 entry, removes 2 entries in USER.md; it then holds 509 of 1,375 characters.",
        "Added 1 entry, removed 2 entries in USER.md; it then held 509 of 1,375 characters.",
    ),
    (
        "Entry 2 of MEMORY.md is forgotten: “a door is changed. It then holds a lot”."
        " It then holds 90 of 2,200 characters.",
        "Entry 2 of MEMORY.md was forgotten: “a door is changed. It then holds a lot”."
        " It then held 90 of 2,200 characters.",
    ),
    ("USER.md gets entry 4.", "USER.md got entry 4."),
    ("Entry 3 of USER.md becomes number 1: “x”.", "Entry 3 of USER.md became number 1: “x”."),
    (
        "Entry 1 of USER.md says so already, so entry 2 goes.",
        "Entry 1 of USER.md says so already, so entry 2 went.",
    ),
    (
        "The gate of memory is turned on: what the agent writes there waits for approval",
        "The gate of memory was turned on: what the agent writes there waits for approval",
    ),
    ("Entry 7 (approve 3f8a1c20) is taken back", "Entry 7 (approve 3f8a1c20) was taken back"),
    ("USER.md would stay as it is, byte for byte.", "USER.md stayed as it was, byte for byte."),
]
#: States, refusals, and what says the past already.
_AS_THEY_ARE = [
    "USER.md already holds this text.",
    "kiln is pinned: the curator leaves it where it is.",
    "The curator does not run by itself.",
    "A run of the curator: 2 archived.",
    "Removed: 1 lock.",
    "Additions are fine.",
]


@pytest.mark.parametrize(("plan", "said"), _PAIRS)
def test_what_was_done_is_said_in_the_past(plan: str, said: str) -> None:
    assert in_past(plan) == said


@pytest.mark.parametrize("said", [*_AS_THEY_ARE, *(done for _, done in _PAIRS)])
def test_what_is_no_forecast_stays_as_it_is(said: str) -> None:
    assert in_past(said) == said
