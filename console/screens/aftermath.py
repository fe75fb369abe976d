"""Rows that a decision left without a way to land: said, for nobody sees a row change by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from console.render.queue import QueueItem
from console.screens.batch import Batch

#: What can land, as far as is known.
_COULD = ("ready", "attention")
_NOW = {
    "over_budget": "would not fit any more",
    "stale": "can no longer apply",
    "noop": "would change nothing any more",
    "ambiguous": "is ambiguous now",
}
#: Characters of a row's own words that name it in a sentence.
NAMED = 24


@dataclass(frozen=True, slots=True)
class Aftermath:
    """A run of decisions that is through: what could land before it began.

    ``at``: ``time.monotonic()`` at its end; a reading that began later shows what it did.
    """

    batch: Batch
    newcomers: int
    could: frozenset[str]
    at: float

    def lost(self, rows: Mapping[str, QueueItem]) -> str:
        """Which of the ``rows`` could land and cannot now, in words; ``""`` if none is."""
        gone = [
            row
            for key in self.could
            if (row := rows.get(key)) and not row.fate and row.status not in (*_COULD, "")
        ]
        if not gone:
            return ""
        if len(gone) > 1:
            return f"{len(gone):,} others would not land any more"
        (row,) = gone
        word = row.status.replace("_", " ")
        return f"{_named(row)} {_NOW.get(row.status, f'is {word} now')}"


def could_land(rows: Mapping[str, QueueItem]) -> frozenset[str]:
    """The rows that would land as things stand."""
    return frozenset(key for key, row in rows.items() if row.status in _COULD and not row.fate)


def _named(row: QueueItem) -> str:
    said = " ".join(row.summary.split())
    return f"“{said}”" if len(said) <= NAMED else f"“{said[: NAMED - 1].rstrip()}…”"
