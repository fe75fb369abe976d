"""People's search beside the agent's own function, on the same database, in one run, warm.

The agent's calls are timed inside its process (``session_search`` of hermes-agent 0.19.0, ten
results, its most), signoff's in this one (fifty hits). In CI the ratios have twice the slack of the
goals of issue 5, at 25,563 messages; ``make bench`` prints the table at 250,000.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.conversations import Order
from tests.interop.peer import VARIABLE, Peer
from tests.perf.desks import TOP, feed, find, once, opened
from tests.perf.pasts import CHINESE, COMMON, NOWHERE, RARE, make_past

pytestmark = [pytest.mark.peer, pytest.mark.timeout(300)]

DRIVER = Path(__file__).with_name("speed_driver.py")
SMALL, LARGE = 25_563, 250_000
SLACK = 2.0
#: Results the agent gives at most.
ITS_MOST = 10


@dataclass(frozen=True)
class Asked:
    """A search, as both sides are asked it; ``goals`` are the times faster it is to be, with the
    index and without, at 25,563 and at 250,000 messages (0 for none)."""

    text: str
    order: Order = Order.RANKED
    hits: int = TOP
    goals: tuple[tuple[float, float], tuple[float, float]] = ((0, 0), (0, 0))


#: Where the issue names no goal at 25,563, what is a fair part of the one at 250,000.
ASKED = {
    "common word": Asked(COMMON, goals=((6, 3), (20, 2))),
    "newest": Asked(COMMON, Order.NEWEST, ITS_MOST, ((10, 20), (20, 20))),
    "rare word": Asked(RARE),
    "two characters": Asked(CHINESE, goals=((8, 0), (20, 0))),
    "zero hits": Asked(NOWHERE),
}


@dataclass(frozen=True)
class Row:
    """Milliseconds: the agent's, ours with the index, ours without."""

    agent: float
    index: float
    bare: float

    def __str__(self) -> str:
        return (
            f"agent {self.agent:9.2f} ms   index {self.index:8.2f} ms"
            f" ({self.agent / self.index:6.1f} times)   without {self.bare:8.2f} ms"
            f" ({self.agent / self.bare:6.1f} times)"
        )


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    peer = Peer(python, tmp_path_factory.mktemp("speed"), DRIVER)
    yield peer
    peer.close()


def measured(agent: Peer, home: Path, rounds: int) -> dict[str, Row]:
    """The table. The sides take turns, so that what else the machine does meets all of them; the
    first round warms up, the quickest of the others counts."""
    with_index, without = opened(home, on=True), opened(home, on=False)
    feed(with_index)
    rows = {}
    for name, asked in ASKED.items():
        call = {"query": asked.text, "limit": ITS_MOST}
        if asked.order is Order.NEWEST:
            call["sort"] = "newest"
        taken: list[tuple[float, float, float]] = []
        for _ in range(rounds + 1):
            said = agent.call("timed", path=str(home / "state.db"), call=call)
            assert said["count"] == (0 if asked.text == NOWHERE else ITS_MOST)
            ours = [
                once(lambda desk=desk, asked=asked: find(desk, asked.text, asked.order, asked.hits))  # type: ignore[misc]
                for desk in (with_index, without)
            ]
            taken.append((said["took"], ours[0], ours[1]))
        rows[name] = Row(*map(min, zip(*taken[1:], strict=True)))
        print(f"{name:16} {rows[name]}")
    return rows


def short_of(rows: dict[str, Row], size: int, slack: float) -> list[str]:
    found = []
    for name, asked in ASKED.items():
        by_index, bare = asked.goals[size]
        row = rows[name]
        if row.agent < by_index / slack * row.index or row.agent < bare / slack * row.bare:
            found.append(f"{name}: {row}")
    return found


def test_search_is_faster_than_the_agents(agent: Peer, tmp_path: Path) -> None:
    home = make_past(tmp_path / "home", SMALL).parent
    rows = measured(agent, home, 9)
    assert not short_of(rows, 0, SLACK)
    assert rows["zero hits"].index < rows["common word"].agent / 10 * SLACK


@pytest.mark.bench
@pytest.mark.timeout(1_200)
def test_bench_beside_the_agent(agent: Peer, tmp_path: Path) -> None:
    short: list[str] = []
    for size, count in enumerate((SMALL, LARGE)):
        home = make_past(tmp_path / str(count), count).parent
        print(f"\n{count:,} messages")
        rows = measured(agent, home, 15)
        short += short_of(rows, size, 1.0)
    assert not short
    assert rows["common word"].index < 10
    assert rows["zero hits"].index < 5
