"""Points in time as vak writes them: RFC 3339, kept to the nanosecond."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))",
    re.ASCII,
)
_EPOCH = date(1970, 1, 1).toordinal()
#: Seconds of the first and last moment that has a date.
_FIRST = (1 - _EPOCH) * 86_400
_LAST = (date.max.toordinal() + 1 - _EPOCH) * 86_400 - 1
SECOND = 1_000_000_000
HOUR = 3_600 * SECOND


def parse_time(text: str) -> int | None:
    """Nanoseconds since 1970 (UTC), ``None`` for what is no RFC 3339 time with an offset."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups()[:6])
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None
    # 60 is a leap second.
    if hour > 23 or minute > 59 or second > 60:
        return None
    away = 0
    if found[8]:
        if int(found[9]) > 23 or int(found[10]) > 59:
            return None
        away = int(found[9]) * 3_600 + int(found[10]) * 60
        away = away if found[8] == "+" else -away
    whole = days * 86_400 + hour * 3_600 + minute * 60 + second - away
    if not _FIRST <= whole <= _LAST:
        return None
    return whole * SECOND + int((found[7] or "0")[:9].ljust(9, "0"))


def seconds(at: int) -> float:
    """Nanoseconds as seconds."""
    return at / SECOND


def nanoseconds(now: datetime) -> int:
    """A moment as nanoseconds since 1970."""
    past = now - datetime(1970, 1, 1, tzinfo=UTC)
    return (past.days * 86_400 + past.seconds) * SECOND + past.microseconds * 1_000


def written(at: int) -> str:
    """Nanoseconds since 1970 as RFC 3339 in UTC, with as many digits as they need."""
    whole, rest = divmod(at, SECOND)
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=whole)
    digits = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0") + f"{digits}Z"
