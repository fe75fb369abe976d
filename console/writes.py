"""Decisions on their way to a home: one at a time, in order, never cancelled half way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from console.jobs import Jobs

if TYPE_CHECKING:
    from core.model import Receipt

Task = Callable[[], "Receipt"]
Done = Callable[[str, "Receipt"], None]


def remarked(receipt: Receipt, sentence: str) -> Receipt:
    """``receipt`` with what was found out after it."""
    return replace(receipt, next=f"{receipt.next} {sentence}".strip())


@dataclass(frozen=True)
class _Write:
    task: Task
    done: Done
    key: str


class Writes:
    """The queue of one console. ``settled`` hears of every receipt, ``problem`` of every bug."""

    def __init__(
        self,
        jobs: Jobs,
        settled: Callable[[Receipt], None],
        problem: Callable[[Exception], None],
    ) -> None:
        self._jobs = jobs
        self._settled = settled
        self._problem = problem
        self._waiting: deque[_Write] = deque()
        self._busy = False
        self._idle: list[Callable[[], None]] = []

    @property
    def waiting(self) -> int:
        """How many wait behind the one that is written now."""
        return len(self._waiting)

    @property
    def busy(self) -> bool:
        """Whether one is written right now."""
        return self._busy

    def holds(self, key: str) -> bool:
        """Whether a write of this key still waits."""
        return any(write.key == key for write in self._waiting)

    def add(self, task: Task, done: Done, key: str) -> None:
        """Queue a decision; ``done`` gets ``key`` and its receipt, whatever becomes of it."""
        self._waiting.append(_Write(task, done, key))
        self._next()

    def when_idle(self, call: Callable[[], None]) -> None:
        """Call once nothing is written and nothing waits: now, or after the last."""
        self._idle.append(call)
        self._next()

    def _next(self) -> None:
        if self._busy:
            return
        if not self._waiting:
            idle, self._idle = self._idle, []
            for call in idle:
                call()
            return
        self._busy = True
        write = self._waiting.popleft()

        def done(receipt: Receipt) -> None:
            self._busy = False
            write.done(write.key, receipt)
            self._settled(receipt)
            self._next()

        def failed(problem: Exception) -> None:
            self._busy = False
            write.done(write.key, self._refusal(write.key, problem))
            self._next()

        self._jobs.start_job("write", write.task, done, failed)

    def _refusal(self, key: str, problem: Exception) -> Receipt:
        from core.errors import SignoffError
        from core.model import Receipt

        if isinstance(problem, SignoffError):
            return Receipt(key, False, problem.code, f"{problem.message}. {problem.hint}")
        self._problem(problem)
        return Receipt(key, False, "unforeseen", "something went wrong inside signoff")
