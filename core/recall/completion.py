"""Completing the filters of a query as it is typed: names first, then the values known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.recall.filters import NAMES

#: Values that are always there to be offered.
_ALWAYS: Mapping[str, Sequence[str]] = {
    "role": ("user", "assistant", "tool", "system"),
    "after": ("today", "yesterday", "7d", "30d"),
    "before": ("today", "yesterday", "7d", "30d"),
}
_LISTS = ("source", "role")
_AT_END = re.compile(r'(?P<name>[a-z]+):(?P<value>"[^"]*|[^\s"]*)$|[^\s"]*$')


def completions(text: str, cursor: int, known: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What the word that ends at ``cursor`` may become, best first; whole words, quoted if needed.

    ``known`` maps a filter to the values seen (``{"source": ["cli", "cron"], "in": [...]}``). A
    word of one letter or more becomes the names of filters; after a colon the values follow, first
    those that begin with what is typed, then those that hold it. A value already whole offers
    nothing. Put one in with :func:`complete`.
    """
    typed = _AT_END.search(text[:cursor])
    if typed is None or not typed.group():
        return ()
    name = typed["name"]
    if name is None:
        word = typed.group()
        return tuple(f"{other}:" for other in NAMES if other.startswith(word))
    if name not in NAMES:
        return ()
    value = typed["value"].lstrip('"')
    before, comma, part = value.rpartition(",") if name in _LISTS else ("", "", value)
    values = list(dict.fromkeys([*known.get(name, ()), *_ALWAYS.get(name, ())]))
    wanted = part.lower()
    first = [other for other in values if other.lower().startswith(wanted)]
    others = [other for other in values if wanted in other.lower() and other not in first]
    offered = [other for other in first + others if other.lower() != wanted]
    return tuple(f"{name}:{_quoted(before + comma + other)}" for other in offered)


def complete(text: str, cursor: int, choice: str) -> tuple[str, int]:
    """``text`` with the word that ends at ``cursor`` replaced by ``choice``, and the new cursor.

    A blank follows a whole filter, none a name that still needs its value.
    """
    typed = _AT_END.search(text[:cursor])
    start = typed.start() if typed else cursor
    rest = text[cursor:]
    blank = "" if choice.endswith(":") or rest.startswith(" ") else " "
    return f"{text[:start]}{choice}{blank}{rest}", start + len(choice) + len(blank)


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value
