"""How long ago, in words short enough for a row."""

from __future__ import annotations

from datetime import datetime

from core.clock import is_date


def age(created_at: float | None, now: datetime) -> str:
    """``5m``, ``7h``, ``3d``, ``8w``; empty for no time, one off the calendar or one ahead."""
    return span(now.timestamp() - created_at) if is_date(created_at) else ""


def span(seconds: float) -> str:
    """A length of time in its largest unit; empty for a negative one."""
    if seconds < 0:
        return ""
    for unit, length in (("w", 604800), ("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= (2 * length if unit == "w" else length):
            return f"{int(seconds // length)}{unit}"
    return f"{int(seconds)}s"
