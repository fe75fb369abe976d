"""What is stored of past conversations, field by field, whatever the kind of the home."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from core.desk.opening import Opened
from core.homes.base import Kind
from core.homes.hermes.sessions.opening import Database, reading
from core.homes.hermes.sessions.raw import raw_ids, raw_messages, raw_session

if TYPE_CHECKING:
    from core.homes.vak.store import Ledgers


class Rows(Protocol):
    """Sessions and messages under the names their agent gives their fields."""

    def columns(self, session_id: str) -> dict[str, Any] | None:
        """The fields of a session, ``None`` for one that is not there (any more)."""

    def provider(self, session_id: str) -> str:
        """Who served its model, ``""`` for unknown."""

    def messages(self, session_id: str, *, every: bool) -> Iterator[dict[str, Any]]:
        """Its messages in order: those the agent sees, or ``every`` one."""

    def stored(self, session_id: str) -> int:
        """How many messages it has, whatever the agent sees."""


@contextmanager
def stored_rows(opened: Opened) -> Iterator[Rows]:
    """The rows of the home, open for one use. Raises :class:`UnreadableError`."""
    if opened.found.kind is Kind.VAK:
        from core.homes.vak.store import Ledgers

        yield _LedgerRows(Ledgers(opened.found.home))
        return
    with reading(opened.found.home) as db:
        yield _DatabaseRows(db)


class _DatabaseRows:
    """Rows of ``state.db``. Raises ``sqlite3.Error``, which :func:`reading` turns."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def columns(self, session_id: str) -> dict[str, Any] | None:
        return raw_session(self._db, session_id)

    def provider(self, session_id: str) -> str:
        found = (self.columns(session_id) or {}).get("billing_provider")
        return found if isinstance(found, str) else ""

    def messages(self, session_id: str, *, every: bool) -> Iterator[dict[str, Any]]:
        return raw_messages(self._db, session_id, raw_ids(self._db, session_id, every=every))

    def stored(self, session_id: str) -> int:
        return len(raw_ids(self._db, session_id, every=True))


class _LedgerRows:
    """Entries of ledgers, and notes, which are sessions of one entry."""

    def __init__(self, ledgers: Ledgers) -> None:
        self._ledgers = ledgers

    def columns(self, session_id: str) -> dict[str, Any] | None:
        from core.homes.vak.raw import raw_session as columns_of

        session = self._ledgers.session(session_id)
        return columns_of(session) if session else None

    def provider(self, session_id: str) -> str:
        from core.homes.vak.noted import is_note
        from core.homes.vak.raw import provider_of

        if is_note(session_id):
            return ""
        return provider_of(self._ledgers.ledger(session_id).header)

    def messages(self, session_id: str, *, every: bool) -> Iterator[dict[str, Any]]:
        from core.homes.vak.noted import MESSAGE_ID, is_note
        from core.homes.vak.raw import raw_entries, raw_note

        if is_note(session_id):
            found = self._ledgers.messages([MESSAGE_ID], session_id, sys.maxsize)
            return map(raw_note, found)
        return raw_entries(self._ledgers.ledger(session_id), every=every)

    def stored(self, session_id: str) -> int:
        return len(self._ledgers.outline(session_id))
