"""A desk over a generated past, with and without its index, and how long one asks it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from core.conversations import Found, Order
from core.desk import indexing
from core.desk.opening import Opened, open_home
from core.desk.searching import Request, search
from core.settings import Settings

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
#: Hits of a search, unless it says otherwise.
TOP = 50
#: What it takes to find, join and sort in one plain statement, by rank, by time, and by looking.
RANKED, NEWEST, LOOKED = (
    f"SELECT m.id, m.session_id, m.content, s.source FROM {tables} JOIN sessions s"
    f" ON s.id = m.session_id WHERE {where} AND m.role <> 'tool' ORDER BY {order} LIMIT {TOP}"
    for tables, where, order in (
        ("messages_fts f JOIN messages m ON m.id = f.rowid", "messages_fts MATCH ?", "f.rank"),
        (
            "messages_fts f JOIN messages m ON m.id = f.rowid",
            "messages_fts MATCH ?",
            "m.timestamp DESC",
        ),
        ("messages m", "m.content LIKE '%' || ? || '%'", "m.timestamp DESC"),
    )
)


def opened(home: Path, *, on: bool) -> Opened:
    """A desk whose state lies beside ``home``; ``on`` says whether it may use an index."""
    state = home.parent / "state"
    return open_home(
        home=str(home),
        kind="hermes",
        profile=None,
        environ={},
        user_home=state,
        state=state,
        settings=Settings(search_index=on),
        clock=lambda: NOW,
    )


def feed(desk: Opened) -> None:
    """Bring the index up to date."""
    assert indexing.update(
        desk, indexing.index_of(desk), progress=lambda *_: None, cancelled=lambda: False
    )


def find(desk: Opened, text: str, order: Order = Order.RANKED, limit: int = TOP) -> Found:
    """A search as a person asks it."""
    return search(desk, Request(text, UTC, order=order, limit=limit))


def best(work: Callable[[], object], rounds: int = 9) -> float:
    """Milliseconds of the quickest of some rounds, warm: what others do is left out."""
    work()
    return min(once(work) for _ in range(rounds))


def median(work: Callable[[], object], rounds: int = 15) -> float:
    """Milliseconds of the middle one of some rounds, warm."""
    work()
    return sorted(once(work) for _ in range(rounds))[rounds // 2]


def turns(*works: Callable[[], object], rounds: int = 15) -> list[float]:
    """:func:`best` of each of some works that take turns: what else the machine does meets all."""
    taken = [[once(work) for work in works] for _ in range(rounds + 1)]
    return [min(of_one) for of_one in zip(*taken[1:], strict=True)]


def beside(home: Path, sql: str, text: str, ours: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of ``ours``, and of one plain statement over the same file."""
    with closing(sqlite3.connect(f"file:{home / 'state.db'}?mode=ro", uri=True)) as db:
        mine, plain = turns(ours, lambda: db.execute(sql, (text,)).fetchall())
    return mine, plain


def once(work: Callable[[], object]) -> float:
    """Milliseconds of ``work``."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1_000
