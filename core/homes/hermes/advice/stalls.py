"""Texts on which the agent's own scanner hangs: tiny to read, seconds or minutes to scan.

Measured on hermes-agent 0.19.0: "send" and 500 spaces take half a second, 1,000 take five and
4,000 four minutes, and the scan is repeated whenever the text is written or loaded. Some of its
patterns try every way to share out a run of blanks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from core.homes.hermes.advice.places import Place, quoted
from core.homes.hermes.scanners.memory import WINDOW
from core.model import Severity

#: Seconds from which a stall is worth a word.
WORTH = 0.5
#: Seconds for a way to share out blanks within a line, and over lines; only magnitudes count.
_STEP, _SHARE = 8e-9, 2e-8
_LONG = re.compile(r"\s{8}")
_BLANKS = re.compile(r"[^\S\n]+")
#: Words before a gap, and how far the gap after them reaches in the agent's patterns.
_STARTS = re.compile(r"(?:(?P<far>send|post|upload|transmit)|translate)(?P<run>\s+)", re.IGNORECASE)
_FAR, _NEAR = 2048, 512


def stalls(text: str) -> Iterator[Place]:
    """The place in ``text`` that costs the agent most, if it costs a time worth a word."""
    text = text[:WINDOW]
    if not _LONG.search(text):
        return
    runs = [found.span() for found in _BLANKS.finditer(text)]
    begins = [start for start, _ in runs]
    ways = [0, *accumulate((end - start) ** 2 // 2 for start, end in runs)]
    seconds, worst, place = 0.0, 0.0, None
    for found in _STARTS.finditer(text):
        first, after = found.span("run")
        reach = after + (_FAR if found["far"] else _NEAR)
        line_end = text.find("\n", after, reach)
        here = bisect_left(begins, first)
        there = bisect_left(begins, reach if line_end < 0 else line_end + 1)
        blanks = after - first
        cost = blanks * ((ways[there] - ways[here]) * _STEP + blanks * _SHARE)
        seconds += cost
        if cost > worst:
            worst, place = cost, found
    if place is not None and seconds >= WORTH:
        start, end = place.span()
        word = place[0].split()[0]
        how_long = "minutes" if seconds > 60 else "seconds"
        says = f"{quoted(word)} and {end - start - len(word):,} blanks keep it busy for {how_long}"
        yield Place(start, end, place[0], says, Severity.WARNING)
