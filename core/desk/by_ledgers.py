"""People's search over the ledgers of a vak home."""

from __future__ import annotations

import sqlite3
import time

from core.conversations import Cancelled, Engine, Found, Hit, Order, Visibility
from core.desk.indexing import index_folder, index_of
from core.desk.opening import Opened
from core.desk.past import past
from core.homes.vak import transcript
from core.homes.vak.index import catalogue, people
from core.homes.vak.searching import LONGEST, Search
from core.homes.vak.store import lately
from core.homes.vak.times import nanoseconds
from core.recall.query import Query, matches


def search(
    opened: Opened,
    query: Query,
    order: Order,
    limit: int,
    *,
    seconds: float,
    cancelled: Cancelled | None = None,
) -> Found:
    """The answer to a query that was read; filters without words list sessions."""
    if query.is_empty:
        return _listed(opened, query, limit)
    asked = Search(
        opened.found.home,
        lately(opened.found.home),
        query,
        order,
        limit,
        nanoseconds(opened.clock()),
        time.monotonic() + seconds,
        cancelled,
    )
    return _by_index(opened, asked) or asked.found(asked.scanned(), Engine.SCAN)


def _by_index(opened: Opened, asked: Search) -> Found | None:
    index = index_of(opened)
    try:
        with catalogue.reading(index_folder(opened)) as known:
            if known is None or not people.is_ready(known, index):
                return None
            found = people.by_index(asked, known, index)
    except sqlite3.Error:
        return None
    if found is None:
        return None
    return asked.found(
        found.said,
        Engine.INDEX,
        tools=found.tools,
        corrected=found.corrected,
        is_whole=found.is_whole,
    )


def matches_in(opened: Opened, query: Query, session_id: str) -> tuple[int, ...]:
    """Every message of a session that answers, in order."""
    conversations = past(opened)
    ids = [mark.id for mark in conversations.outline(session_id) if mark.role != transcript.SYSTEM]
    found = conversations.messages(ids, session_id, LONGEST)
    return tuple(message.id for message in found if matches(query, message.text))


def _listed(opened: Opened, query: Query, limit: int) -> Found:
    listing = past(opened).listing(query.filters, limit)
    hits = tuple(
        Hit(
            each.id,
            each.root_id,
            1,
            transcript.SYSTEM,
            each.last_active,
            each.title,
            each.source,
            Visibility.LIVE,
            each.preview,
        )
        for each in listing.sessions
    )
    return Found(
        query.text,
        query.effective,
        Engine.SCAN,
        hits,
        listing.total,
        hidden_sources=listing.hidden,
        note="; ".join(query.notes),
    )
