"""How quick this machine is right now: what speed in a test is measured against."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Steps of a plain loop.
STEPS = 500_000


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The quickest of some runs of ``work``."""
    took = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        took.append(time.perf_counter() - start)
    return min(took)


def yardstick() -> float:
    """Seconds of a loop of :data:`STEPS` steps: about 20 ms on a quiet machine of 2024."""

    def loop() -> None:
        for _ in range(STEPS):
            pass

    return seconds(loop)
