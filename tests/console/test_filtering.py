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
        # What only looks like a word of ours is text: addresses, half-typed words.
        ("https://example.org", Wanted(Filter(text="https://example.org"))),
        ("status: one", Wanted(Filter(text="status: one"))),
        ("is:odd", Wanted(Filter(text="is:odd"))),
    ],
)
def test_a_line_is_what_it_says(line: str, wanted: Wanted) -> None:
    assert parse(line) == wanted


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("status:old", "There is no status 'old'"),
        ("subsystem:x", "There is no subsystem 'x'"),
        ("age:long", "'long' is no length of time"),
    ],
)
def test_a_value_that_names_nothing_is_said(line: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse(line)
