"""The past: list, hits, conversation and what opens from it. Each docstring says what to see."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.console.pilots import SESSIONS_MODE, Console
from tests.snapshots.conftest import LARGE, MIDDLE, SMALL, Shoot

PAST = Path(__file__).parents[1] / "data/hermes-sessions/state.db"
SIZES = pytest.mark.parametrize("size", [SMALL, (140, 42), LARGE], ids=["small", "middle", "large"])


@pytest.fixture
def agent(home: Path) -> Path:
    """The past of the real agent's fixture: 52 sessions, 12 of cron."""
    shutil.copy(PAST, home / "state.db")
    return home


async def chain(console: Console) -> None:
    """The end of the first part of a chain."""
    await console.press("j", "j", "enter")
    read = console.sessions._read
    assert read is not None
    console.sessions.transcript.go_to(read.outline[9].id, center=True)
    await console.settle()


@SIZES
def test_sessions(shoot: Shoot, size: tuple[int, int]) -> None:
    """People's sessions, counts, what is not shown with its key; the first conversation beside."""
    assert shoot(SESSIONS_MODE, size=size)


@SIZES
def test_sessions_searched(shoot: Shoot, agent: Path, size: tuple[int, int]) -> None:
    """Hits by session, matches marked on both sides, what is left out above, the engine below."""
    assert shoot(SESSIONS_MODE, "slash", *"deploy", "enter", size=size)


def test_sessions_inside(shoot: Shoot) -> None:
    """A boundary of compaction in words, a summary named by who wrote it, a difference in colour."""
    assert shoot(SESSIONS_MODE, chain, size=(100, 40))


def test_sessions_hit_in_tool_output(shoot: Shoot) -> None:
    """On a small screen ``n`` shows the conversation; the fold with the match is opened."""
    assert shoot(
        SESSIONS_MODE, "slash", *"PREVIEW", "underscore", *"TTL", "enter", "t", "n", size=SMALL
    )


def test_sessions_family(shoot: Shoot) -> None:
    """The tree with what each is to the one above; the one that is read has a sign."""
    assert shoot(SESSIONS_MODE, "j", "j", "f")


def test_sessions_completion(shoot: Shoot) -> None:
    """The line below the search offers sources."""
    assert shoot(SESSIONS_MODE, "slash", *"source", "tab", size=MIDDLE)


def test_sessions_nothing_found(shoot: Shoot) -> None:
    """Why, and which key shows more."""
    assert shoot(SESSIONS_MODE, "slash", *"PREVIEW", "underscore", *"TTL")


def test_sessions_without_a_database(shoot: Shoot, home: Path) -> None:
    """A sentence and what happens next, in place of everything."""
    (home / "state.db").unlink()
    assert shoot(SESSIONS_MODE, size=SMALL)


def test_sessions_in_contrast(shoot: Shoot) -> None:
    """The cursor, matches and roles are told apart by signs and words."""
    assert shoot(SESSIONS_MODE, "slash", *"canary", "enter", theme="contrast")
