"""A note as a conversation of one message, so that a hit on it opens what it says."""

from __future__ import annotations

from pathlib import Path

from core.conversations import Mark, Message, Session, Visibility
from core.homes.vak.recall.documents import CURATED, Document
from core.homes.vak.recall.search import Request, notes
from core.homes.vak.times import seconds

#: Where a note was said, and the number of its one message.
SOURCE, MESSAGE_ID = "notes", 1


def is_note(session_id: str) -> bool:
    """Whether an id is one that recall gives a note: ``memory/…`` or ``profile/…``."""
    tier, slash, _ = session_id.partition("/")
    return bool(slash) and tier in CURATED


def find(home: Path, session_id: str) -> Document | None:
    """The note of that id."""
    if not is_note(session_id):
        return None
    return next((each for each in notes(home, Request("")) if each.session_id == session_id), None)


def session(note: Document) -> Session:
    """The note as a session."""
    at = seconds(note.at)
    title = note.text.partition("]")[0].lstrip("[")
    key = note.session_id
    return Session(
        key, SOURCE, title, at, last_active=at, messages=1, root_id=key, chain=(key,),
        preview=" ".join(note.text.split())[:120],
    )  # fmt: skip


def mark(note: Document) -> Mark:
    """Its one message in an outline."""
    return Mark(MESSAGE_ID, note.role, seconds(note.at), Visibility.LIVE)


def message(note: Document, longest: int) -> Message:
    """Its one message, cut at ``longest`` characters."""
    text = note.text
    return Message(
        MESSAGE_ID,
        note.session_id,
        note.role,
        text[:longest],
        seconds(note.at),
        len(text),
        len(text) <= longest,
        notes=("note",),
    )
