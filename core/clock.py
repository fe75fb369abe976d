"""The only place that reads the time, and where the calendar ends."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeGuard

from core.errors import UsageError

#: The first second past the calendar's last year: a later time is no time.
END_OF_TIME = 253402300800


def now(fixed: str | None = None) -> datetime:
    """The time in UTC; ``fixed`` (ISO 8601, UTC if it names no zone) stands for it in tests.

    Raises :class:`UsageError` for a text that is no time.
    """
    if fixed is None:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(fixed)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"--now {fixed!r} is no time", "Write it like 2026-11-29T12:00:00+00:00"
        ) from None


def is_date(created_at: float | None) -> TypeGuard[float]:
    """Whether a record's time lies in the calendar; others are shown as unknown."""
    return created_at is not None and 0 < created_at < END_OF_TIME
