"""How soon a change of a home is told: within a second, in a storm as well (field report R16)."""

from __future__ import annotations

import os
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from core.areas import Area
from tests.core.watching import replace, watching

#: Seconds within which a change must be told.
PROMISE = 1.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for folder in ("pending/memory", "memories"):
        (tmp_path / folder).mkdir(parents=True)
    return tmp_path


def test_a_change_is_told_within_a_second(home: Path) -> None:
    folder = home / "pending/memory"
    with watching(home) as live:
        staged = partial((folder / "a.json").write_text, "{}")
        assert live.expect(staged, Area.QUEUE) < PROMISE
        assert (
            live.expect(partial(replace, home / "memories/MEMORY.md", "x"), Area.MEMORY) < PROMISE
        )

        def recreate() -> None:
            (folder / "a.json").unlink()
            folder.rmdir()
            folder.mkdir()

        live.expect(recreate, Area.QUEUE)
        for name in (b"b.json", b"caf\xe9.json"):
            made = partial((folder / os.fsdecode(name)).write_text, "{}")
            assert live.expect(made, Area.QUEUE) < PROMISE


def test_a_storm_is_told_early_and_again_and_again(home: Path) -> None:
    with watching(home) as live:
        begun = time.monotonic()
        for number in range(2000):
            (home / f"pending/memory/{number:08x}.json").write_text("{}")
            if number % 50 == 0:
                time.sleep(0.08)  # long enough to end a burst
        live.all_told(1.0)
        times = [at for at, _ in live.told]
        assert times[0] - begun < PROMISE
        assert all(0.25 < later - sooner < 1.5 * PROMISE for sooner, later in pairwise(times))
