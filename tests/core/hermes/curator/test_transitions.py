"""The rules of time, as properties: what is forecast is what is decided, to the second."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.curator.transitions import Limits, Rule, decide, forecast
from tests.core.hermes.curator.homes import NOW, row

LIMITS = Limits(30, 90)
SECOND = timedelta(seconds=1)
dates = st.one_of(
    st.none(),
    st.sampled_from(["", "x", 5]),
    st.integers(-900, 900).map(lambda days: (NOW - timedelta(days=days)).isoformat()),
    st.integers(-(10**8), 10**8).map(lambda s: (NOW - timedelta(seconds=s)).isoformat()),
)
rows_ = st.fixed_dictionaries(
    {
        "use_count": st.sampled_from([0, 1, "3", None, "many"]),
        "state": st.sampled_from(["active", "stale", "archived", "odd", None]),
        "pinned": st.sampled_from([False, True, "false"]),
        "created_at": dates,
        "last_used_at": dates,
        "last_viewed_at": dates,
        "last_patched_at": dates,
    }
)
limits_ = st.builds(Limits, st.integers(-10, 400), st.integers(-10, 400))


@given(rows_, limits_)
def test_a_second_pass_at_the_same_instant_changes_nothing(
    found: dict[str, Any], limits: Limits
) -> None:
    """Spec 4.4, last line."""
    first = decide(found, NOW, limits)
    if first.to is not None:
        assert decide({**found, "state": first.to}, NOW, limits).to is None


@given(rows_, limits_)
def test_the_forecast_of_the_archive_is_when_it_is_decided(
    found: dict[str, Any], limits: Limits
) -> None:
    ahead = forecast(found, NOW, limits)
    if ahead.archive_on is None or found["pinned"]:
        return
    assert decide(found, ahead.archive_on, limits).rule is Rule.ARCHIVED
    assert decide(found, ahead.archive_on - SECOND, limits).rule is not Rule.ARCHIVED


@given(rows_, limits_)
def test_the_forecast_of_stale_is_when_it_is_decided(found: dict[str, Any], limits: Limits) -> None:
    ahead = forecast(found, NOW, limits)
    if ahead.stale_on is None or found["pinned"]:
        return
    fresh = {**found, "state": "active"}
    assert decide(fresh, max(ahead.stale_on, NOW), limits).rule is Rule.STALE
    assert decide(fresh, ahead.stale_on - SECOND, limits).to is None


@pytest.mark.parametrize(
    ("days", "rule", "to"),
    [(29, Rule.KEPT, None), (30, Rule.STALE, "stale"), (90, Rule.ARCHIVED, "archived")],
)
def test_the_boundaries_are_inclusive(days: int, rule: Rule, to: str | None) -> None:
    """Spec 4.4: exactly 30 days is stale, exactly 90 is archived."""
    used = (NOW - timedelta(days=days)).isoformat()
    found = decide(row(last_used_at=used), NOW, LIMITS)
    assert (found.rule, found.to, found.anchor_from) == (rule, to, "last_used_at")


def test_an_unknown_state_is_never_stale_but_archived() -> None:
    """Spec 4.4, consequences."""
    assert decide(row(state="odd"), NOW, LIMITS).to == "archived"
    young = row(state="odd", last_used_at=(NOW - timedelta(days=40)).isoformat())
    assert decide(young, NOW, LIMITS).to is None


def test_a_pin_of_text_is_a_pin() -> None:
    """Spec 3.2."""
    assert decide(row(pinned="false"), NOW, LIMITS).rule is Rule.PINNED


def test_a_threshold_past_the_calendar_never_comes() -> None:
    assert decide(row(), NOW, Limits(10**9, 10**9)).to is None
    assert forecast(row(), NOW, Limits(10**9, 10**9)).archive_on is None
    assert decide(row(), NOW, Limits(-(10**9), -(10**9))).to == "archived"


def test_newest_rules_restart_the_clock_of_a_bundled_skill_once() -> None:
    """Spec 4.4, 3b (issue 79295)."""
    never = row(use_count=0, last_used_at=None, created_at="2025-01-01T00:00:00+00:00")
    assert decide(never, NOW, LIMITS, reanchor=True).rule is Rule.REANCHOR
    seen = never | {"first_seen_at": datetime(2026, 1, 1, tzinfo=UTC).isoformat()}
    assert decide(seen, NOW, LIMITS, reanchor=True).rule is Rule.ARCHIVED
    assert decide(never, NOW, LIMITS).rule is Rule.ARCHIVED
