"""The newer agent's limits of a search: a time before or after, and sessions to leave out.

Source: as described (specs, hermes-sessions 2 and 3.3, 3.7); what counts as a time, from the
published description of the tool: an ISO date or time (UTC unless it says otherwise), or a number
of hours, days or weeks back from now.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from core.homes.hermes.recall.store import Store

#: Ids of ``exclude_session_ids`` that are looked at.
MOST_EXCLUDED = 20

_BACK = re.compile(r"(\d+)\s*([hdw])", re.IGNORECASE)
_SECONDS = {"h": 3_600, "d": 86_400, "w": 604_800}


def moment(value: Any, now: datetime) -> int | None:
    """A bound in whole seconds since 1970; nothing for nothing. Raises ``ValueError`` with the
    tool's words."""
    text = "" if value is None else str(value).strip()
    if not text:
        return None
    if back := _BACK.fullmatch(text):
        return int(now.timestamp()) - int(back[1]) * _SECONDS[back[2].lower()]
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(
            f"invalid time bound: {value!r} (expected ISO date/datetime like 2026-07-01, or a "
            "relative duration like 7d, 24h, 2w)"
        ) from None
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())


def within(started_at: Any, after: int | None, before: int | None) -> bool:
    """Whether a session began inside the bounds; one that began at no time is outside of any."""
    if after is None and before is None:
        return True
    try:
        start = int(float(started_at))
    except (TypeError, ValueError, OverflowError):
        return False
    return (after is None or start >= after) and (before is None or start < before)


def excluded(store: Store, value: Any) -> frozenset[Any]:
    """The sessions that ``exclude_session_ids`` names, and the roots of their families."""
    given = [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else []
    named = [each.strip() for each in given if isinstance(each, str) and each.strip()]
    ids = list(dict.fromkeys(named))[:MOST_EXCLUDED]
    return frozenset(ids) | {store.root(each) for each in ids}
