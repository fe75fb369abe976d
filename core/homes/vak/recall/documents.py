"""What recall searches: one document for a message, one for a note."""

from __future__ import annotations

from dataclasses import dataclass

from core.homes.vak.ledgers import MESSAGE, Entry
from core.homes.vak.whitespace import trim

MEMORY, PROFILE = "memory", "profile"
CURATED = frozenset({MEMORY, PROFILE})


@dataclass(frozen=True, slots=True)
class Document:
    """A message or a note. ``at`` is in nanoseconds since 1970; ``line`` is the message's.

    ``project`` is the hash of the workspace, empty for notes and where only one is searched.
    """

    session_id: str
    entry_id: str
    at: int
    role: str
    text: str
    project: str = ""
    line: int = 0

    @property
    def is_curated(self) -> bool:
        """Whether it is a note of either tier."""
        return self.role in CURATED


def said(entry: Entry) -> str:
    """The text of an entry that recall searches, ``""`` for none (vak spec 4).

    Newer agents leave out what the runtime wrote and search what a person typed before it was
    expanded.
    """
    if entry.kind != MESSAGE or entry.meta.get("control"):
        return ""
    typed = entry.meta.get("typed")
    text = typed if isinstance(typed, str) else entry.text
    return text if trim(text) else ""
