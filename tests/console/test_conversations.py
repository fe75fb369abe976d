"""What is read of a conversation when it is opened: all parts of a chain as one."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC
from pathlib import Path

import pytest

from console.screens.sessions_conversation import Conversation, open_conversation
from core.desk.opening import Opened
from core.desk.past import past
from core.desk.searching import Request, read_query
from core.homes.hermes.sessions.catalogue import SETTLED
from tests.console.pilots import sample, start_of

PAST = Path(__file__).parents[1] / "data/hermes-sessions/state.db"
#: A session that compaction cut twice.
CHAIN = ("20260702_080000_d0d0d1", "20260702_113000_d0d0d2", "20260702_180000_d0d0d3")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The sample home with the past of the real agent's fixture, at rest."""
    home = sample(tmp_path)
    shutil.copy(PAST, home / "state.db")
    rest(home)
    return home


@pytest.fixture
def desk(home: Path) -> Opened:
    return start_of(home)()


def rest(home: Path) -> None:
    old = os.stat(home / "state.db").st_mtime - 10 * SETTLED
    os.utime(home / "state.db", (old, old))


def read(
    desk: Opened, key: str, words: str = "", known: Conversation | None = None
) -> Conversation:
    query = read_query(desk, Request(words, UTC)) if words else None
    found = open_conversation(desk, key, query, lambda: False, known)
    assert found is not None
    return found


@pytest.mark.parametrize("asked", CHAIN)
def test_the_parts_of_a_chain_are_one_conversation(home: Path, desk: Opened, asked: str) -> None:
    with closing(sqlite3.connect(f"file:{home / 'state.db'}?immutable=1", uri=True)) as db:
        sql = "SELECT id, session_id FROM messages WHERE session_id IN (?, ?, ?) ORDER BY id"
        owners = dict(db.execute(sql, CHAIN).fetchall())
    assert set(owners.values()) == set(CHAIN)
    found = read(desk, asked)
    assert (found.asked, found.parts) == (asked, CHAIN)
    assert [mark.id for mark in found.outline] == list(owners)
    assert found.outline == [mark for part in CHAIN for mark in past(desk).outline(part)]
    assert {mark.id: found.texts.owner(mark.id) for mark in found.outline} == owners
    assert found.texts.owner(10**9) == CHAIN[-1], "one that came since it was read"
    firsts = [next(id_ for id_ in owners if owners[id_] == part) for part in CHAIN]
    assert [found.texts.first_of(part) for part in CHAIN] == firsts
    assert found.texts.first_of("another") is None
    assert list(found.dividers)[:2] == firsts[1:]
    texts = found.texts([firsts[2], firsts[0]], 99)
    assert sorted(text.session_id for text in texts) == [CHAIN[0], CHAIN[2]]


def test_another_search_in_it_reads_it_once(home: Path, desk: Opened) -> None:
    first = read(desk, CHAIN[0])
    found = read(desk, CHAIN[2], "the", first)
    assert found.outline is first.outline
    assert found.dividers is first.dividers
    assert (found.asked, first.hits) == (CHAIN[2], ())
    assert found.hits == read(desk, CHAIN[2], "the").hits != ()
    assert read(desk, "20260714_090000_7b7b01", "the", first).outline is not first.outline


def test_it_is_read_again_when_the_past_changed(home: Path, desk: Opened) -> None:
    first = read(desk, CHAIN[0])
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', 'x', 9)",
            (CHAIN[2],),
        )
        db.commit()
    found = read(desk, CHAIN[0], known=first)
    assert len(found.outline) == len(first.outline) + 1
