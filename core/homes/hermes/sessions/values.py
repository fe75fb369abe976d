"""Values of a row as they should be, whatever type SQLite kept: any column may hold anything."""

from __future__ import annotations

import math
from collections.abc import Iterable

from core.homes.hermes.sessions.opening import decoded

#: Made once: these are asked for every row.
_NUMBER = (int, float)


def word(value: object) -> str:
    """Text; ``""`` for NULL."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return decoded(value) if isinstance(value, bytes) else str(value)


def number(value: object) -> float | None:
    """A finite number, or ``None``."""
    if isinstance(value, _NUMBER):
        try:
            found = float(value)
        except OverflowError:
            return None
        return found if math.isfinite(found) else None
    return None


def count(value: object) -> int:
    """A whole number of things; 0 for what is none."""
    found = number(value)
    return max(0, int(found)) if found is not None else 0


def flag(value: object) -> bool:
    """Whether a 0/1 column is set; NULL and anything odd is not."""
    return isinstance(value, _NUMBER) and value == 1


def live(active: object) -> bool:
    """Whether ``active`` says the agent still sees it: old files hold NULL for yes."""
    return active is None or not isinstance(active, _NUMBER) or active != 0


def chosen(names: Iterable[str], columns: frozenset[str], table: str) -> str:
    """A list of columns for a SELECT, NULL for those that ``table`` does not have."""
    return ", ".join(
        f'{table}."{name}"' if name in columns else f"NULL AS {name}" for name in names
    )
