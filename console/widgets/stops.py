"""Stops of a text: what findings are about, walked one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from console.render.line import Line
from console.widgets.hits import Hit


class Stops:
    """The spots of lines in order; none of them is current until the first step."""

    def __init__(self) -> None:
        self._stops: list[Hit] = []
        self._at: int | None = None

    def set(self, lines: Sequence[Line], *, keep: bool) -> None:
        """Take the stops of ``lines``; ``keep`` stays at the current one by its number."""
        old, self._stops = (
            self._stops,
            [
                Hit(number, start, end)
                for number, line in enumerate(lines)
                for start, end in line.spots
            ],
        )
        if not keep or len(old) != len(self._stops):
            self._at = None

    def __bool__(self) -> bool:
        return bool(self._stops)

    @property
    def current(self) -> Hit | None:
        """The stop the person went to last."""
        return None if self._at is None else self._stops[self._at]

    def step(self, by: int, top: int) -> None:
        """Go to the next (1) or the previous (-1), round at the end; first to one from ``top``."""
        if self._at is not None:
            self._at = (self._at + by) % len(self._stops)
            return
        below = (number for number, stop in enumerate(self._stops) if stop.line >= top)
        first = next(below, 0)
        self._at = first if by > 0 else (first - 1) % len(self._stops)
