"""A bulk step decided one row a time, so that other work and the screen keep their turn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.model import Receipt


class Bulk:
    """``count`` decisions that ``start`` yields; each :meth:`step` makes the next one.

    ``waiting`` tells what waits when the last is through: what is not in ``known`` came meanwhile.
    """

    def __init__(
        self,
        start: Callable[[], Iterator[Receipt]],
        count: int,
        known: Collection[str],
        waiting: Callable[[], frozenset[str]],
    ) -> None:
        self._start = start
        self._left = count
        self._known = known
        self._waiting = waiting
        self._receipts: Iterator[Receipt] | None = None
        self._problem: Exception | None = None
        self.newcomers = 0

    def step(self) -> Receipt:
        """Decide the next row. What ends the step early is raised for every row left."""
        if self._problem is not None:
            raise self._problem
        try:
            if self._receipts is None:
                self._receipts = self._start()
            receipt = next(self._receipts)
            self._left -= 1
            if not self._left:
                self.newcomers = len(self._waiting() - set(self._known))
        except Exception as problem:
            self._problem = problem
            raise
        return receipt
