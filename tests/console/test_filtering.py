"""The filter line of the queue, as a person types it."""

from __future__ import annotations

import pytest

from console.screens.filtering import EVERYTHING, Wanted, parse
from core.desk.triage import Filter
from core.errors import UsageError
from core.homes.hermes.status import Status


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("", EVERYTHING),
        ("   ", EVERYTHING),
        ("dark mode", Wanted(Filter(text="dark mode"))),
        ("status:stale", Wanted(Filter(status=Status.STALE))),
        ("status:over-budget", Wanted(Filter(status=Status.OVER_BUDGET))),
        ("target:memory origin:auto", Wanted(Filter(target="memory", origin="background_review"))),
        ("origin:cron", Wanted(Filter(origin="cron"))),
        ("subsystem:skills age:2h", Wanted(Filter(subsystem="skills", older_than=7200.0))),
        ("is:snoozed tea", Wanted(Filter(text="tea"), asleep=True)),
        # What only looks like a word of ours is text: addresses.
        ("https://example.org", Wanted(Filter(text="https://example.org"))),
        # A value that is still being typed leaves nothing out.
        ("status: one", Wanted(Filter(text="one"))),
        ("target:", EVERYTHING),
        ("is:odd", Wanted(Filter(text="is:odd"))),
    ],
)
def test_a_line_is_what_it_says(line: str, wanted: Wanted) -> None:
    assert parse(line, ("memory",), ("cron",)) == wanted


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("status:old", "No status is called old"),
        ("subsystem:x", "No subsystem is called x"),
        ("target:skill(s)", r"No target is called skill\(s\)"),
        ("origin:you,me", "No origin is called you,me"),
        ("age:long", "'long' is no length of time"),
    ],
)
def test_a_value_that_names_nothing_is_said(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(line, ("memory", "deploy"), ())
