"""Filters of a people's query: ``source:`` ``role:`` ``after:`` ``before:`` ``title:`` ``in:``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches

from core.conversations import Filters

#: Every filter, in the order they are offered.
NAMES = ("source", "role", "after", "before", "title", "in")
#: Words that are typed for one of them.
_MEANT: Mapping[str, str] = {
    **{name: name for name in NAMES},
    **dict.fromkeys(("from", "platform", "channel"), "source"),
    **dict.fromkeys(("by", "who"), "role"),
    "since": "after",
    **dict.fromkeys(("until", "till"), "before"),
    "name": "title",
    **dict.fromkeys(("workspace", "project", "folder", "session"), "in"),
}
#: Letters a word needs to be near another, and how near: a slip or two.
_LETTERS, _NEAR = 4, 0.75
_DURATION = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LINK = "@session:"
#: A session's id is told from a part of a workspace by its many digits.
_ID_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Clock:
    """The moment a query is read and the zone its naive times are meant in.

    ``None`` is the zone of this machine, which knows when its summer begins and ends; what
    ``datetime.astimezone()`` answers is an offset that holds today.
    """

    now: datetime
    zone: tzinfo | None = UTC


def apply(filters: Filters, name: str, value: str, clock: Clock) -> Filters | str:
    """``filters`` with one more filter, or a note in words why it cannot be used.

    ``source`` and ``role`` take several, by commas or repeated; ``role:tool`` lets tool output in.
    Of several ``after`` and ``before`` the tighter holds; ``title`` and ``in`` the last.
    """
    value = value.strip()
    if not value:
        return f"{name}: needs a value"
    if name == "source":
        return replace(filters, sources=_more(filters.sources, value))
    if name == "role":
        roles = _more(filters.roles, value)
        shown = filters.with_tool_output or "tool" in roles
        return replace(filters, roles=roles, with_tool_output=shown)
    if name == "title":
        return replace(filters, title=value)
    if name == "in":
        return _place(filters, value)
    at = moment(value, clock)
    if at is None:
        return f"{name}:{value} is no date (2026-07-01), time (2026-07-01T10:00) or age (7d, 12h)"
    if name == "after":
        return replace(filters, after=at if filters.after is None else max(at, filters.after))
    return replace(filters, before=at if filters.before is None else min(at, filters.before))


def meant(word: str) -> str:
    """The filter that a word before a colon may stand for, ``""`` for none: one in another case, by
    another name, or a slip away behind the first letter."""
    typed = word.lower()
    named = [each for each in _MEANT if len(each) >= _LETTERS and each[0] == typed[:1]]
    near = [typed] if typed in _MEANT else get_close_matches(typed, named, 1, _NEAR)
    return _MEANT[near[0]] if near else ""


def moment(value: str, clock: Clock) -> float | None:
    """Seconds since 1970 that ``value`` names, or ``None``.

    An ISO date (its midnight) or time, naive ones in the clock's zone; ``today``, ``yesterday``;
    or an age before now: ``90s 30m 5h 2d 1w``.
    """
    try:
        age = _DURATION.fullmatch(value.lower())
        if age:
            return (clock.now - timedelta(**{_UNITS[age[2]]: int(age[1])})).timestamp()
        days = {"today": 0, "yesterday": 1}.get(value.lower())
        if days is not None:
            today = clock.now.astimezone(clock.zone).replace(hour=0, minute=0, second=0)
            midnight = today.replace(microsecond=0, tzinfo=clock.zone) - timedelta(days=days)
            return midnight.timestamp()
        at = datetime.fromisoformat(value)
        return (at if at.tzinfo else at.replace(tzinfo=clock.zone)).timestamp()
    except (ValueError, OverflowError):
        return None


def _more(known: tuple[str, ...], value: str) -> tuple[str, ...]:
    named = [part.strip().lower() for part in value.split(",")]
    return tuple(dict.fromkeys([*known, *filter(None, named)]))


def _place(filters: Filters, value: str) -> Filters | str:
    if value.startswith(_LINK):
        session = value[len(_LINK) :].rpartition("/")[2]
        return replace(filters, session_id=session) if session else "in: names no session"
    digits = sum(char.isdigit() for char in value)
    if digits >= _ID_DIGITS and not any(char in "/\\~ " for char in value):
        return replace(filters, session_id=value)
    return replace(filters, workspace=value)
