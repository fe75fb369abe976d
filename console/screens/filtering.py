"""The filter line of the queue: words of a person as what triage selects by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from console.render.queue import origin_word
from core.desk.decisions import length_of
from core.desk.triage import ALL, Filter
from core.errors import UsageError
from core.homes.hermes.status import Status

_NAMES = ("status", "target", "origin", "subsystem", "age")
#: What people call an origin, as the queue shows it.
_ORIGINS = {"auto": "background_review", "chat": "assistant_tool", "you": "foreground"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are shown; ``asleep``: those that are snoozed, and only those."""

    rows: Filter = ALL
    asleep: bool = False


EVERYTHING = Wanted()


def parse(line: str, targets: Collection[str], origins: Collection[str]) -> Wanted:
    """``status:stale target:memory origin:auto subsystem:skills age:14d is:snoozed words``.

    Words of no such form are looked for as one text; ``targets`` and ``origins`` are those of the
    queue. Raises :class:`UsageError` for a value that names nothing.
    """
    rows, asleep, text = ALL, False, []
    for word in line.split():
        name, colon, value = word.partition(":")
        if colon and not value and name in _NAMES:
            # Its value is still being typed.
            continue
        if not colon or not value:
            text.append(word)
        elif name == "status":
            status = _one_of("status", value.replace("-", "_"), tuple(Status))
            rows = replace(rows, status=Status(status))
        elif name == "target":
            rows = replace(rows, target=_one_of("target", value, targets))
        elif name == "origin":
            called = _ORIGINS | {origin_word(origin): origin for origin in origins}
            rows = replace(rows, origin=called[_one_of("origin", origin_word(value), called)])
        elif name == "subsystem":
            rows = replace(rows, subsystem=_one_of("subsystem", value, ("memory", "skills")))
        elif name == "age":
            rows = replace(rows, older_than=length_of(value))
        elif word == "is:snoozed":
            asleep = True
        else:
            text.append(word)
    return Wanted(replace(rows, text=" ".join(text)), asleep)


def _one_of(name: str, value: str, known: Collection[str]) -> str:
    """``value``, which is one of those ``known``."""
    if value not in known:
        raise UsageError(f"No {name} is called {value}", f"Write {', '.join(known)}")
    return value
