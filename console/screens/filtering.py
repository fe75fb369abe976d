"""The filter line of the queue: words of a person as what triage selects by."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.desk.decisions import length_of
from core.desk.triage import ALL, Filter
from core.errors import UsageError
from core.homes.hermes.status import Status

#: What people call an origin, as the queue shows it.
_ORIGINS = {"auto": "background_review", "chat": "assistant_tool", "you": "foreground"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are shown; ``asleep``: those that are snoozed, and only those."""

    rows: Filter = ALL
    asleep: bool = False


EVERYTHING = Wanted()


def parse(line: str) -> Wanted:
    """``status:stale target:memory origin:auto subsystem:skills age:14d is:snoozed words``.

    Words of no such form are looked for as one text. Raises :class:`UsageError` for a value that
    names nothing.
    """
    rows, asleep, text = ALL, False, []
    for word in line.split():
        name, colon, value = word.partition(":")
        if not colon or not value:
            text.append(word)
        elif name == "status":
            rows = replace(rows, status=_status(value))
        elif name == "target":
            rows = replace(rows, target=value)
        elif name == "origin":
            rows = replace(rows, origin=_ORIGINS.get(value, value))
        elif name == "subsystem":
            rows = replace(rows, subsystem=_subsystem(value))
        elif name == "age":
            rows = replace(rows, older_than=length_of(value))
        elif word == "is:snoozed":
            asleep = True
        else:
            text.append(word)
    return Wanted(replace(rows, text=" ".join(text)), asleep)


def _status(value: str) -> Status:
    try:
        return Status(value.replace("-", "_"))
    except ValueError:
        raise UsageError(
            f"There is no status {value!r}", f"Write one of {', '.join(Status)}"
        ) from None


def _subsystem(value: str) -> str:
    if value not in ("memory", "skills"):
        raise UsageError(f"There is no subsystem {value!r}", "Write memory or skills")
    return value
