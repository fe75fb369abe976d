"""Ledgers as an export has them: every entry with every field, as the agent wrote it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations import Message, Session, Visibility
from core.homes.vak.ledgers import Entry, Ledger
from core.homes.vak.tree import visibilities


def raw_session(session: Session) -> dict[str, Any]:
    """What is known of a session; its header is the first of its entries."""
    return {
        "id": session.id,
        "source": session.source,
        "workspace": session.workspace,
        "model": session.model,
        "parent_session_id": session.parent_id or None,
        "started_at": session.started_at,
        "last_active": session.last_active,
        "message_count": session.messages,
    }


def raw_entries(ledger: Ledger, *, every: bool = False) -> Iterator[dict[str, Any]]:
    """What the agent still sees, or ``every`` line, in the order of the file.

    A line that is no entry is an object of its own, which says why: ``{line, unreadable, text}``.
    """
    seen = visibilities(ledger)
    found: list[tuple[int, dict[str, Any]]] = [
        (entry.line.number, dict(entry.fields))
        for entry in ledger.entries
        if every or seen[entry.line.number] is Visibility.LIVE
    ]
    for each in ledger.skipped:
        text = each.line.data.decode("utf-8", "replace")
        told = {"line": each.line.number, "unreadable": each.reason, "text": text}
        found.append((each.line.number, told))
    found.sort(key=lambda pair: pair[0])
    return (fields for _, fields in found)


def raw_note(message: Message) -> dict[str, Any]:
    """A note that recall found, as the one entry of a session."""
    return {"role": message.role, "text": message.text, "at": message.at}


def provider_of(header: Entry | None) -> str:
    """Who served the model, as the frozen contract names it; ``""`` for none."""
    contract = header.fields.get("contract") if header else None
    found = contract.get("provider") if isinstance(contract, dict) else None
    return found if isinstance(found, str) else ""
