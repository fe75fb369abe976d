"""The dates of a usage row, read as the agent reads them.

hermes-agent 0.19.0, ``tools/skill_usage.py``: activity is the newest readable of three dates, a
date without an offset is UTC, an unreadable one is passed over; creation is no activity.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

ACTIVITY = ("last_used_at", "last_viewed_at", "last_patched_at")
COUNTERS = ("use_count", "view_count", "patch_count")


def moment(value: object) -> datetime | None:
    """The instant a date field names, ``None`` for nothing or what cannot be read."""
    if not value:
        return None
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def created(row: Mapping[str, Any]) -> datetime | None:
    """When the row was made; here the agent takes text only, no number that looks like a date."""
    value = row.get("created_at")
    return moment(value) if isinstance(value, str) else None


def last_activity(row: Mapping[str, Any]) -> tuple[datetime, str] | None:
    """The newest activity and the field that holds it; of two at one instant the first field."""
    values = [row.get(field) for field in ACTIVITY]
    try:
        return _newest(*values)
    except TypeError:
        # A list or an object stands where a date should.
        return _newest(*map(str, values))


@lru_cache(maxsize=8192, typed=True)
def _newest(*values: object) -> tuple[datetime, str] | None:
    found: tuple[datetime, str] | None = None
    for field, value in zip(ACTIVITY, values, strict=True):
        at = moment(value)
        if at is not None and (found is None or at > found[0]):
            found = (at, field)
    return found


def counter(value: object) -> int | None:
    """A counter as a number (nothing is 0, text of digits counts), ``None`` if it is none."""
    if type(value) is int:
        return value
    try:
        return int(value or 0)  # type: ignore[call-overload, no-any-return]
    except (TypeError, ValueError, OverflowError):
        return None
