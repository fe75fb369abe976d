"""Which items of two sequences are the same, in bounded time.

Items that occur once on both sides are anchors, kept in the longest order both sides share
(patience diff); between them runs Myers' greedy shortest edit script (E. W. Myers, "An O(ND)
Difference Algorithm and Its Variations", 1986). Both sides may be hostile, so steps are counted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

#: ``(old, new, size)``: this many items from ``old`` on equal those from ``new`` on.
Block = tuple[int, int, int]
#: Anchors are looked for again between anchors, this deep.
MAX_DEPTH = 8


def blocks(
    old: Sequence[str], new: Sequence[str], steps: int
) -> tuple[list[Block], set[tuple[int, int]]]:
    """Equal blocks in order, and where the stretches start that were too costly to compare."""
    found: list[Block] = []
    coarse: set[tuple[int, int]] = set()
    todo = [(0, len(old), 0, len(new), 0)]
    while todo:
        a, b, c, d, depth = todo.pop()
        size = 0
        while a + size < b and c + size < d and old[a + size] == new[c + size]:
            size += 1
        if size:
            found.append((a, c, size))
            a, c = a + size, c + size
        size = 0
        while a < b - size and c < d - size and old[b - size - 1] == new[d - size - 1]:
            size += 1
        if size:
            b, d = b - size, d - size
            found.append((b, d, size))
        if a == b or c == d:
            continue
        anchors = _anchors(old[a:b], new[c:d]) if depth < MAX_DEPTH else []
        if anchors:
            origin = a, c
            for i, j in [*anchors, (b - a, d - c)]:
                stop = origin[0] + i, origin[1] + j
                todo.append((a, stop[0], c, stop[1], depth + 1))
                a, c = stop
            continue
        script, steps = shortest(old[a:b], new[c:d], steps)
        if script is None:
            coarse.add((a, c))
            continue
        found += [(a + i, c + j, 1) for i, j in script]
    return sorted(found), coarse


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Lines that occur once on both sides, in the longest order both sides share (patience)."""
    in_old, in_new = Counter(old), Counter(new)
    at_new = {line: j for j, line in enumerate(new) if in_new[line] == 1}
    tops: list[int] = []
    piles: list[tuple[int, int]] = []
    below: dict[tuple[int, int], tuple[int, int] | None] = {}
    for i, line in enumerate(old):
        if in_old[line] != 1 or line not in at_new:
            continue
        j = at_new[line]
        pile = bisect_left(tops, j)
        below[i, j] = piles[pile - 1] if pile else None
        tops[pile : pile + 1] = [j]
        piles[pile : pile + 1] = [(i, j)]
    found: list[tuple[int, int]] = []
    step = piles[-1] if piles else None
    while step is not None:
        found.append(step)
        step = below[step]
    return found[::-1]


def shortest(
    old: Sequence[str], new: Sequence[str], steps: int
) -> tuple[list[tuple[int, int]] | None, int]:
    """Myers' greedy edit script: the pairs it keeps and the steps left; ``None`` if too costly."""
    common = (Counter(old) & Counter(new)).total()
    least = len(old) + len(new) - 2 * common
    if not common:
        return [], steps
    if least * least // 2 > steps:
        return None, steps
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for d in range(len(old) + len(new) + 1):
        trace.append(furthest.copy())
        steps -= d + 1
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and furthest[k - 1] < furthest[k + 1])
            x = start = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            furthest[k] = x
            steps -= x - start
            if x >= len(old) and x - k >= len(new):
                return _kept(trace, x, x - k), max(steps, 0)
        if steps < 0:
            break
    return None, 0


def _kept(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for d in range(len(trace) - 1, -1, -1):
        furthest, k = trace[d], x - y
        down = k == -d or (k != d and furthest[k - 1] < furthest[k + 1])
        back = k + 1 if down else k - 1
        while x > furthest[back] and y > furthest[back] - back:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        x, y = furthest[back], furthest[back] - back
    return pairs[::-1]
