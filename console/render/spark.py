"""Uses over time as a line of bars, from the few moments at which somebody counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

_BARS = "▁▂▃▄▅▆▇"
#: What stands for a stretch without any use; it needs no colour to look empty.
NONE = "·"


def rates(
    points: Sequence[tuple[float, int]], start: float, end: float, cells: int
) -> tuple[float, ...]:
    """Uses in each of ``cells`` equal stretches from ``start`` to ``end``.

    ``points`` are times and counts so far, in order; what was used between two of them is spread
    evenly. A count that went back counts as none.
    """
    if end <= start or cells < 1:
        return ()
    found = [0.0] * cells
    step = (end - start) / cells
    for (begin, before), (until, after) in pairwise(points):
        gained = max(0, after - before)
        if not gained:
            continue
        first = min(cells - 1, max(0, int((begin - start) / step)))
        last = min(cells - 1, max(first, int((until - start) / step)))
        if until > begin:
            for cell in range(first, last + 1):
                left, right = start + cell * step, start + (cell + 1) * step
                shared = max(0.0, min(until, right) - max(begin, left))
                found[cell] += gained * shared / (until - begin)
        else:
            found[last] += gained
    return tuple(found)


def bars(values: Sequence[float]) -> str:
    """A bar for each value, the highest full; a dot for nothing."""
    most = max(values, default=0.0)
    if most <= 0:
        return NONE * len(values)
    steps = len(_BARS)
    return "".join(
        _BARS[min(steps - 1, int(value / most * steps))] if value > 0 else NONE for value in values
    )
