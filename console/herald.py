"""What the console says beside its screen: the terminal's title, and a bell for what is new."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from core import text

#: Cells of a title at most; terminals and bars cut it anyway.
TITLE = 60
#: Seconds without anything new after which the next one is a batch of its own.
BATCH = 2.0
# XTWINOPS keeps the title that was there and gives it back. A terminal that knows neither is left
# with an empty one, which its shell fills again; not with a count that grows old.
_KEEP, _SET, _GIVE_BACK = "\x1b[22;2t", "\x1b]2;{}\x07", "\x1b]2;\x07\x1b[23;2t"
_BELL = "\x07"


class Herald:
    """``title`` and ``bell`` say which of the two a person asked for."""

    def __init__(
        self, *, title: bool, bell: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._title = title
        self._bell = bell
        self._clock = clock
        self._shown = ""
        self._home = ""
        self._seen: set[str] = set()
        self._last: float | None = None

    def news(self, home: str, profile: str, waiting: str, records: Collection[str]) -> str:
        """What to write to the terminal once a queue was read, mostly nothing.

        ``waiting`` is the count in words; ``records`` are the files that wait. The first reading
        of a home rings for nothing, and a record that comes back for nothing either.
        """
        said = self._titled(f"signoff: {waiting} ({profile})") if self._title else ""
        first, self._home = home != self._home, home
        if first:
            self._seen = set()
        new = not self._seen.issuperset(records)
        self._seen.update(records)
        if first or not new:
            return said
        began, self._last = self._last, self._clock()
        rings = self._bell and (began is None or self._last - began > BATCH)
        return said + _BELL if rings else said

    def farewell(self) -> str:
        """What gives the terminal its title back; nothing if it was not taken."""
        return _GIVE_BACK if self._shown else ""

    def _titled(self, words: str) -> str:
        title = text.one_line(words, TITLE)
        if title == self._shown:
            return ""
        keep = "" if self._shown else _KEEP
        self._shown = title
        return keep + _SET.format(title)
