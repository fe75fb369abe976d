"""What a slow job wants to show: in its own mode, once that is in front, and never lost."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from console.screens.room import Room
from console.screens.sheet import Sheet
from console.widgets.bars import Notice
from tests.console.pilots import MEMORY_MODE, SESSIONS_MODE, SKILLS_MODE, Console, open_console
from tests.console.pilots import sample as sample_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample_home(tmp_path)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Holds what `H` of Skills and `o` of Memory look up until it is set."""
    from console.screens.sessions_past import where_said
    from console.screens.skills_history import history_of

    opened = threading.Event()

    def slow_history(*given: object) -> object:
        assert opened.wait(60)
        return history_of(*given)  # type: ignore[arg-type]

    def slow_origin(*given: object) -> object:
        assert opened.wait(60)
        return where_said(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("console.screens.skills.history_of", slow_history)
    monkeypatch.setattr("console.screens.sessions_past.where_said", slow_origin)
    yield opened
    opened.set()


@asynccontextmanager
async def skills_asked(home: Path) -> AsyncIterator[Console]:
    """Skills, and its page of the curator asked for."""
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        await console.pilot.press("H")
        yield console


def title(console: Console) -> str:
    """What the sheet in front is called; ``""`` for a mode."""
    screen = console.app.screen
    return str(screen._box.border_title) if isinstance(screen, Sheet) else ""


def notice(console: Console) -> str:
    found = console.app.screen.query_one(Notice)
    return str(found.render()) if found.display else ""


def mode(console: Console) -> str:
    screen = console.app.screen
    return screen.MODE if isinstance(screen, Room) else ""


async def test_a_sheet_waits_for_its_mode(home: Path, gate: threading.Event) -> None:
    """It opened over whatever mode was in front."""
    async with skills_asked(home) as console:
        await console.pilot.press("1")
        assert (mode(console), notice(console)) == ("review", "")
        gate.set()
        await console.settle()
        assert mode(console) == "review"
        assert notice(console) == "! Skills has an answer: 3 shows it."
        await console.press(MEMORY_MODE)
        assert notice(console) == "! Skills has an answer: 3 shows it."
        await console.press(SKILLS_MODE)
        assert title(console) == "The curator"
        await console.press("escape", "1")
        assert (mode(console), notice(console)) == ("review", "")
        await console.press(SKILLS_MODE)
        assert title(console) == "", "it is shown once"


async def test_a_sheet_waits_for_the_sheet_before_it(home: Path, gate: threading.Event) -> None:
    async with skills_asked(home) as console:
        await console.pilot.press("question_mark")
        gate.set()
        await console.settle()
        assert title(console) == "Keys in Skills"
        await console.pilot.resize_terminal(80, 24)
        await console.settle()
        assert title(console) == "Keys in Skills"
        await console.press("escape")
        assert title(console) == "The curator"
        await console.pilot.resize_terminal(140, 42)
        await console.settle()
        assert title(console) == "The curator"
        await console.press("escape")
        assert mode(console) == "skills"


async def test_what_waits_survives_a_resize_meanwhile(home: Path, gate: threading.Event) -> None:
    async with skills_asked(home) as console:
        await console.pilot.press("1")
        await console.pilot.resize_terminal(80, 24)
        gate.set()
        await console.settle()
        assert notice(console) == "! Skills has an answer: 3 shows it."
        await console.pilot.resize_terminal(60, 20)
        await console.settle()
        await console.press(SKILLS_MODE)
        assert title(console) == "The curator"


async def test_a_key_that_leads_elsewhere_takes_nobody_along(
    home: Path, gate: threading.Event
) -> None:
    """`o` in Memory goes to Sessions: not while the person is in the middle of something else."""
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, "j")
        await console.pilot.press("o", "1")
        gate.set()
        await console.settle()
        assert mode(console) == "review"
        assert notice(console) == "! Memory has an answer: 4 shows it."
        await console.press(MEMORY_MODE)
        said = console.app.screen.query_one("FlashLine").render()
        assert (mode(console), str(said)) in (
            ("sessions", ""),
            ("memory", "No conversation that is kept says this"),
        )
        assert notice(console) == ""


async def test_a_problem_of_a_job_waits_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = threading.Event()

    def failing(*_given: object) -> object:
        assert opened.wait(60)
        raise ValueError("no such thing")

    monkeypatch.setattr("console.screens.skills.history_of", failing)
    async with skills_asked(home) as console:
        await console.pilot.press(SESSIONS_MODE)
        opened.set()
        await console.settle()
        assert mode(console) == "sessions"
        await console.press(SKILLS_MODE)
        assert title(console) == "Problem"
