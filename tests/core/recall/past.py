"""Conversations held in memory, for the tests of what is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.conversations import Mark, Message, Session, Visibility
from core.recall.export import Document, Part, part

AT = 1_783_069_200.0  # 2026-07-03T09:00:00Z


def said(number: int, role: str, text: str, **more: object) -> Message:
    """A message of session ``s`` a second after the one before it."""
    whole = Message(number, "s", role, text, AT + number, len(text))
    return replace(whole, **more)  # type: ignore[arg-type]


@dataclass
class Kept:
    """The three calls an export makes of a home's conversations; counts the longest answer."""

    rows: Sequence[Message]
    most: int = 0

    def outline(self, session_id: str) -> tuple[Mark, ...]:
        return tuple(
            Mark(row.id, row.role, row.at, row.visibility)
            for row in self.rows
            if row.session_id == session_id
        )

    def messages(self, ids: Sequence[int], session_id: str, longest: int) -> tuple[Message, ...]:
        known = {row.id: row for row in self.rows if row.session_id == session_id}
        found = [known[number] for number in ids if number in known]
        cut = [
            replace(row, text=row.text[:longest], whole=len(row.text) <= longest) for row in found
        ]
        self.most = max(self.most, sum(len(row.text) for row in cut))
        return tuple(cut)


def piece(rows: Sequence[Message], session_id: str = "s", *, every: bool = False) -> Part:
    """Those of ``rows`` that belong to a session, as a part of a document."""
    return part(Kept(rows), session_id, every=every, hide=lambda row: row)


def document(*rows: Message, every: bool = False, **more: object) -> Document:
    """A document of one session that holds ``rows``."""
    session = Session("s", "cli", title="Kiln notes", started_at=AT, messages=len(rows))
    return Document(
        replace(session, **more),  # type: ignore[arg-type]
        (piece(rows, every=every),),
        "openrouter",
        labelled=every,
    )


UNDONE, SUMMARISED = Visibility.UNDONE, Visibility.SUMMARISED
