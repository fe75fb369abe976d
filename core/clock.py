"""The only place that reads the time."""

from __future__ import annotations

from datetime import UTC, datetime

from core.errors import UsageError


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
