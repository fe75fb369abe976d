"""The only place that reads the time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.clock import now
from core.errors import UsageError


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-29T12:00:00+00:00", datetime(2026, 11, 29, 12, tzinfo=UTC)),
        ("2026-11-29T12:00:00Z", datetime(2026, 11, 29, 12, tzinfo=UTC)),
        ("2026-11-29T12:00:00", datetime(2026, 11, 29, 12, tzinfo=UTC)),
        ("2026-11-29T13:30:00+01:30", datetime(2026, 11, 29, 12, tzinfo=UTC)),
        ("2026-11-29", datetime(2026, 11, 29, tzinfo=UTC)),
        ("2026-11-29T12:00:00.250000-05:00", datetime(2026, 11, 29, 17, 0, 0, 250000, UTC)),
    ],
)
def test_a_fixed_time_is_that_moment_in_utc(text: str, moment: datetime) -> None:
    found = now(text)
    assert found == moment
    assert found.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-13-01",
        "1764417600",
        "0001-01-01T00:00:00+05:00",
        "9999-12-31T23:00:00-05:00",
    ],
)
def test_a_text_that_is_no_time(text: str) -> None:
    with pytest.raises(UsageError, match="is no time") as caught:
        now(text)
    assert repr(text) in caught.value.message


def test_the_time_itself() -> None:
    before = datetime.now(UTC)
    assert before <= now() <= datetime.now(UTC)
    assert now().tzinfo is UTC
