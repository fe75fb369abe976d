"""Labelling a long queue: steady per record, the first rows at once, a change touches its rows only.

Ratios within one run, so that a slow machine fails nothing; CI has twice the slack of the goal.
``make bench`` prints the seconds and holds them to their targets.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.desk import review
from core.desk.opening import Opened, open_home
from core.homes.hermes import proposals
from core.homes.hermes.pending import Proposal
from core.homes.hermes.proposals import Judging, plan_approval
from core.plan import Plan
from core.settings import Settings
from core.view import View
from tests.perf.queues import SKILLS, make_home

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SHORT, LONG, FIRST = 500, 10_000, 50
#: Time a record at LONG against SHORT, and to the first rows against the whole: the goals.
STEADY, AT_ONCE = 2.0, 0.10
SLACK = 2.0
SECONDS = {SHORT: 1.0, LONG: 20.0}


@dataclass(frozen=True)
class Run:
    """Seconds of one labelling of a whole queue."""

    records: int
    reading: float
    first: float
    total: float

    @property
    def each(self) -> float:
        return (self.reading + self.total) / self.records


def opened_at(home: Path, state: Path) -> Opened:
    return open_home(
        home=str(home),
        kind=None,
        profile=None,
        environ={},
        user_home=state,
        state=state,
        settings=Settings(),
        clock=lambda: NOW,
    )


def label(opened: Opened) -> Run:
    board = review.Board(opened)
    started = time.perf_counter()
    board.read()
    read = time.perf_counter()
    first = 0.0
    for number, _ in enumerate(board.labels(), 1):
        if number == FIRST:
            first = time.perf_counter() - read
    return Run(len(board.queue.proposals), read - started, first, time.perf_counter() - read)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Run]:
    """One labelling of each queue; a first one of the short queue warms up."""
    found = {}
    for records in (SHORT, LONG):
        folder = tmp_path_factory.mktemp("perf")
        opened = opened_at(make_home(folder / "home", records), folder / "state")
        if records == SHORT:
            label(opened)
        found[records] = label(opened)
    return found


def test_steady_and_at_once(runs: dict[int, Run]) -> None:
    assert {records: run.records for records, run in runs.items()} == {SHORT: SHORT, LONG: LONG}
    assert runs[LONG].each <= STEADY * SLACK * runs[SHORT].each
    assert runs[LONG].first <= AT_ONCE * SLACK * runs[LONG].total


@pytest.mark.bench
def test_seconds(runs: dict[int, Run]) -> None:
    for records, run in runs.items():
        print(
            f"\n{records:>6} records: read {run.reading:.2f} s, first {FIRST} labels"
            f" {run.first * 1000:.0f} ms, all {run.total:.2f} s, {run.each * 1e6:.0f} µs each"
        )
        assert run.reading + run.total < SECONDS[records]
    assert runs[LONG].each <= STEADY * runs[SHORT].each
    assert runs[LONG].first <= AT_ONCE * runs[LONG].total


# -- a refresh -------------------------------------------------------------------------------------


class Counter:
    """Counts which records are judged."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.files: list[str] = []
        patch.setattr(proposals, "plan_approval", self)

    def __call__(self, view: View, proposal: Proposal, judging: Judging) -> Plan:
        self.files.append(proposal.file)
        return plan_approval(view, proposal, judging)

    def judged(self, board: review.Board) -> set[str]:
        """The records a refresh of ``board`` judges."""
        self.files.clear()
        board.read()
        list(board.labels())
        assert len(self.files) == len(set(self.files))
        return set(self.files)


@pytest.fixture
def board(tmp_path: Path) -> review.Board:
    opened = opened_at(make_home(tmp_path / "home", 200), tmp_path / "state")
    return review.Board(opened)


def readers(board: review.Board, *paths: str) -> set[str]:
    """The records whose labels depend on the content of ``paths``."""
    return {
        label.proposal.file
        for label in board.labels()
        if any(fact.kind in ("file", "node") and fact.key in paths for fact in label.facts)
    }


def test_a_changed_file_is_judged_again_by_its_readers_only(
    board: review.Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Counter(monkeypatch)
    assert len(count.judged(board)) == 200
    assert count.judged(board) == set()
    for number in range(0, SKILLS, 7):
        file = next((tmp_path / "home/skills").glob(f"*/skill-{number}/SKILL.md"))
        expected = readers(board, str(file.relative_to(tmp_path / "home")))
        file.write_text(file.read_text() + "\nOne more line.\n")
        assert count.judged(board) == expected
    memory = tmp_path / "home/memories/MEMORY.md"
    expected = readers(board, "memories/MEMORY.md")
    assert 60 < len(expected) <= 100
    memory.write_text(memory.read_text() + "\n§\nOne more.")
    assert count.judged(board) == expected
    record = tmp_path / "home/pending/skills/00000001.json"
    record.write_text(record.read_text() + "\n")
    assert count.judged(board) == {"pending/skills/00000001.json"}
    record.unlink()
    assert count.judged(board) == set()
    assert len(board.queue.proposals) == 199


def test_a_pass_that_stops_half_way_loses_nothing(
    board: review.Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A queue that changes while it is judged is judged again from its start."""
    count = Counter(monkeypatch)
    assert len(count.judged(board)) == 200
    next(board.labels())
    assert count.judged(board) == set()


def test_rivals_are_counted_as_they_are_named(board: review.Board) -> None:
    board.read()
    labels = list(board.labels())
    named = {file: len(others) for file, others in review.rivals(labels).items()}
    assert review.rival_counts(labels) == named
    assert {0} < set(named.values())


def test_what_nobody_read_is_judged_by_nobody(
    board: review.Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = Counter(monkeypatch)
    count.judged(board)
    (tmp_path / "home/sessions").mkdir()
    (tmp_path / "home/sessions/new.txt").write_text("unrelated")
    (tmp_path / "home/skills/ops/skill-0/references/notes.md").write_text("unread")
    assert count.judged(board) == set()
