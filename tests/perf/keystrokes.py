"""A person who types in the search bar of the console: from the key to the painted hits."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from unittest import mock

from textual.events import Key

from tests.console.pilots import DEADLINE, SESSIONS_MODE, Console, open_console

#: Seconds between two keys of a quick typist.
BETWEEN = 0.15


async def typed(home: Path, word: str) -> list[float]:
    """Milliseconds from each key of ``word`` until its hits were drawn, the first two keys apart:
    they begin the search, and load what it needs."""
    with mock.patch.dict(os.environ, {"HOME": str(home.parent)}):
        async with open_console(home, size=(140, 42)) as console:
            await console.press(SESSIONS_MODE, "slash", *word[:2])
            return [
                await _painted(console, letter, word[: place + 1])
                for place, letter in enumerate(word)
                if place >= 2
            ]


async def _painted(console: Console, letter: str, line: str) -> float:
    await asyncio.sleep(BETWEEN)
    room, painted = console.sessions, asyncio.Event()
    end = time.monotonic() + DEADLINE
    begun = time.perf_counter()
    console.app.post_message(Key(letter, letter))
    while room._results is None or room._results.text != line:
        assert time.monotonic() < end, f"no hits for {line!r}"
        await asyncio.sleep(0.001)
    room.call_after_refresh(painted.set)
    await painted.wait()
    return (time.perf_counter() - begun) * 1_000
