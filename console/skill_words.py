"""What becomes of a skill next, in the words that every surface uses."""

from __future__ import annotations

from datetime import datetime
from math import ceil, inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.desk.skill_table import Row

_DAY = 86400
_BECOMES = {"stale": "stale now", "archived": "archive now", "active": "active again"}


def ahead(at: datetime, now: datetime) -> int:
    """Whole days until ``at``, a day that has begun counted; 0 for now and before."""
    return max(0, ceil((at - now).total_seconds() / _DAY))


def next_of(row: Row, now: datetime) -> tuple[str, float]:
    """What becomes of a skill in a word or two, and in how many seconds at the earliest.

    What the next run does to it comes before what time does to it later.
    """
    if row.becomes:
        return _BECOMES.get(row.becomes, f"{row.becomes} now"), 0.0
    for word, at in (("stale", row.forecast.stale_on), ("archive", row.forecast.archive_on)):
        if at is not None:
            days = ahead(at, now)
            # Due already, and yet this run leaves it: something else holds it.
            due = max(1.0, (at - now).total_seconds())
            return f"{word} in {days}d" if days else "next run", due
    if row.skill.pinned:
        return "pinned", inf
    return ("kept by a job" if row.skill.jobs else "stays"), inf
