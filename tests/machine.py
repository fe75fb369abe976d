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
    """Seconds of an empty loop of :data:`STEPS` steps: some milliseconds."""

    def loop() -> None:
        for _ in range(STEPS):
            pass

    return seconds(loop)
