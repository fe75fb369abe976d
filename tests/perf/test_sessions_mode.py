"""What the Sessions mode costs depends on the screen, not on the past: ratios within one run."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter

import pytest

from console.render.sessions import Facets, SessionItem
from console.sample import write_sample
from console.screens.sessions_past import list_page
from console.widgets.rows import RowList
from core.homes.hermes.sessions.catalogue import SETTLED
from tests.console.pilots import NOW, SESSIONS_MODE, open_console, start_of

FEW, MANY = 500, 50_000


def best(work: Callable[[], object], times: int = 7) -> float:
    """Seconds of the quickest of some runs."""
    costs = []
    for _ in range(times):
        begun = perf_counter()
        work()
        costs.append(perf_counter() - begun)
    return min(costs)


def keys(rows: RowList[SessionItem]) -> None:
    """Thirty rows down and up, each drawn in full."""
    for step in (rows.action_cursor_down,) * 30 + (rows.action_cursor_up,) * 30:
        step()
        for y in range(rows.size.height - 2):
            rows.render_line(y)


def home_of(folder: Path, count: int) -> Path:
    """A home with so many conversations of one message each, untouched for a while."""
    home = write_sample(folder / f"home-{count}", NOW)
    base = NOW.timestamp() - 86_400 * 30
    with closing(sqlite3.connect(home / "state.db")) as db:
        db.execute("DELETE FROM messages")
        db.execute("DELETE FROM sessions")
        db.executemany(
            "INSERT INTO sessions (id, source, title, started_at, message_count)"
            " VALUES (?, 'cli', ?, ?, 1)",
            ((f"20260101_{n:06}", f"Topic {n}", base + n) for n in range(count)),
        )
        db.executemany(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)",
            ((f"20260101_{n:06}", f"question {n}", base + n) for n in range(count)),
        )
        db.commit()
    old = os.stat(home / "state.db").st_mtime - 10 * SETTLED
    os.utime(home / "state.db", (old, old))
    return home


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    folder = tmp_path_factory.mktemp("past")
    return {count: home_of(folder, count) for count in (FEW, MANY)}


def test_the_list_read_again_costs_at_most_four_times_with_50_000(homes: dict[int, Path]) -> None:
    """The first page of the same length; what is known of the past is kept while it rests."""
    costs = []
    for home in homes.values():
        opened = start_of(home)()
        page = list_page(opened, Facets(), FEW)
        again = partial(list_page, opened, Facets(), FEW, tuple(page.by_source))
        costs.append(best(again))
    assert costs[1] <= 4 * costs[0]


async def test_a_key_in_50_000_sessions_costs_at_most_twice_one_in_500(
    homes: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = []
    for home in homes.values():
        monkeypatch.setenv("HOME", str(home.parent))
        async with open_console(home, size=(140, 42)) as console:
            await console.press(SESSIONS_MODE)
            rows = console.sessions.rows
            costs.append(best(partial(keys, rows)))
            await console.settle()
            if len(costs) == 2:
                await console.press("end")
                assert len(rows.items) > FEW, "the end of the list reads on"
    assert costs[1] <= 2 * costs[0]
