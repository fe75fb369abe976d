"""A console in a named state, compared with the picture kept of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.console.pilots import Console, console_on, sample

#: The sizes every main screen is kept at.
SMALL, MIDDLE, LARGE = (80, 24), (120, 36), (200, 50)
Step = str | Callable[[Console], Awaitable[None] | None]


class Shoot(Protocol):
    """Take the console through ``steps``; whether it looks as it did."""

    def __call__(
        self,
        *steps: Step,
        size: tuple[int, int] = MIDDLE,
        theme: str = "",
        home: Path | None = None,
    ) -> bool: ...


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The sample home, at a place that looks the same everywhere."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        "core.journal.actor", lambda: {"user": "sam", "terminal": "pts/1", "parent": "42 zsh"}
    )
    return sample(tmp_path)


@pytest.fixture
def shoot(snap_compare: Any, home: Path) -> Shoot:
    """Steps are keys, ``@id`` to put the cursor on a record, or anything to do."""

    def run(
        *steps: Step, size: tuple[int, int] = MIDDLE, theme: str = "", home: Path | None = home
    ) -> bool:
        assert home is not None
        app = console_on(home)

        async def before(pilot: Pilot[None]) -> None:
            console = Console(app, pilot, home)
            await console.settle()
            if theme:
                app.theme = f"signoff-{theme}"
            for step in steps:
                await _take(console, step)
            for field in app.screen.query(Input):
                field.cursor_blink = False
            await console.settle()

        return bool(snap_compare(app, terminal_size=size, run_before=before))

    return run


async def _take(console: Console, step: Step) -> None:
    if not isinstance(step, str):
        waiting = step(console)
        if waiting is not None:
            await waiting
    elif step.startswith("@"):
        await console.at(step[1:])
    else:
        await console.press(step)
