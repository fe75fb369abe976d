"""What time does to one skill: the curator's rules as a pure function, and their forecast.

hermes-agent 0.19.0, ``apply_automatic_transitions``, executed; the newest rules add one step for
bundled skills. Thresholds are inclusive: exactly 30 days old is stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from core.homes.hermes.curator.moments import counter, created, last_activity

ACTIVE, STALE, ARCHIVED = "active", "stale", "archived"
_NEVER = datetime.min.replace(tzinfo=UTC)
_ALWAYS = datetime.max.replace(tzinfo=UTC)


class Rule(StrEnum):
    """Which rule decided. Only the last four change a state; the two before start a clock."""

    PINNED = "pinned"
    CRON = "cron"
    GRACE = "never_used_grace"
    ODD_COUNTER = "odd_counter"
    GONE = "says_archived"
    KEPT = "kept"
    FIRST_SIGHT = "first_sight"
    REANCHOR = "clock_restarted"
    ARCHIVED = "archive_age"
    STALE = "stale_age"
    USED_AGAIN = "used_again"
    GRACE_BACK = "never_used_reactivated"


@dataclass(frozen=True, slots=True)
class Limits:
    """The two thresholds, in days."""

    stale_after_days: int
    archive_after_days: int


@dataclass(frozen=True, slots=True)
class Decision:
    """What one pass does with a skill: the rule, and the new state (``None``: none).

    ``anchor`` is where its clock started, by the field ``anchor_from`` (``"now"``: nothing could
    be read); ``None`` where the rule does not look at it.
    """

    rule: Rule
    to: str | None = None
    anchor: datetime | None = None
    anchor_from: str = ""


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a skill becomes stale and is archived if nobody touches it; ``None``: never.

    The next run of the curator after that moment does it; one that is due for the archive is never
    made stale before.
    """

    stale_on: datetime | None = None
    archive_on: datetime | None = None


def decide(
    row: Mapping[str, Any] | None,
    now: datetime,
    limits: Limits,
    *,
    cron: bool = False,
    reanchor: bool = False,
) -> Decision:
    """The decision on a candidate with this row (``None``: none, or one that is no object).

    ``cron``: a scheduled job uses it. ``reanchor``: newest rules, and the skill is bundled.
    A counter that is no number ends the agent's whole pass; here it only keeps this skill.
    """
    if row is not None and row.get("pinned"):
        return Decision(Rule.PINNED)
    if cron:
        return Decision(Rule.CRON)
    if row is None:
        return Decision(Rule.FIRST_SIGHT)
    anchor, field = anchor_of(row, now)
    uses = counter(row.get("use_count"))
    if uses is None:
        return Decision(Rule.ODD_COUNTER, None, anchor, field)
    if reanchor and not uses and last_activity(row) is None and not row.get("first_seen_at"):
        return Decision(Rule.REANCHOR, None, anchor, field)
    stale, archive = _cutoff(now, limits.stale_after_days), _cutoff(now, limits.archive_after_days)
    state = row.get("state", ACTIVE)
    if not uses and anchor > stale:
        if state == STALE:
            return Decision(Rule.GRACE_BACK, ACTIVE, anchor, field)
        return Decision(Rule.GRACE, None, anchor, field)
    if anchor <= archive and state != ARCHIVED:
        return Decision(Rule.ARCHIVED, ARCHIVED, anchor, field)
    if anchor <= stale and state == ACTIVE:
        return Decision(Rule.STALE, STALE, anchor, field)
    if anchor > stale and state == STALE:
        return Decision(Rule.USED_AGAIN, ACTIVE, anchor, field)
    return Decision(Rule.GONE if state == ARCHIVED else Rule.KEPT, None, anchor, field)


def forecast(row: Mapping[str, Any], now: datetime, limits: Limits) -> Forecast:
    """When the thresholds are met, of a skill that nothing protects."""
    state = row.get("state", ACTIVE)
    uses = counter(row.get("use_count"))
    anchor, field = anchor_of(row, now)
    if state == ARCHIVED or uses is None or field == "now":
        return Forecast()
    stale = _later(anchor, limits.stale_after_days)
    archive = _later(anchor, limits.archive_after_days)
    if not uses and archive is not None:
        archive = None if stale is None else max(archive, stale)
    early = stale is not None and (archive is None or max(stale, now) < archive)
    return Forecast(stale if early and _is_fresh(state, anchor, now, limits) else None, archive)


def anchor_of(row: Mapping[str, Any], now: datetime) -> tuple[datetime, str]:
    """Where the clock of a row started, and the field that says so."""
    used = last_activity(row)
    if used is not None:
        return used
    made = created(row)
    return (made, "created_at") if made is not None else (now, "now")


def _is_fresh(state: object, anchor: datetime, now: datetime, limits: Limits) -> bool:
    """Whether the skill is active, or will be after the next pass."""
    if state == STALE:
        return anchor > _cutoff(now, limits.stale_after_days)
    return bool(state == ACTIVE)


def _cutoff(now: datetime, days: int) -> datetime:
    """``now`` less ``days``; past the calendar everything, or nothing, is older."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return _NEVER if days > 0 else _ALWAYS


def _later(anchor: datetime, days: int) -> datetime | None:
    try:
        return anchor + timedelta(days=days)
    except OverflowError:
        return None
