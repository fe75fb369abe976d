"""Work off the event loop: a thread computes, a message brings the result home.

A job never touches a widget. A late result of an exclusive group is dropped by its generation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump
from textual.worker import get_current_worker

T = TypeVar("T")


@dataclass
class JobDone(Message):
    """A job's result, for the handler it names."""

    group: str
    generation: int
    handler: Callable[[Any], None]
    value: Any


@dataclass
class JobFailed(Message):
    """A job's exception, for the handler it names."""

    group: str
    generation: int
    handler: Callable[[Exception], None]
    problem: Exception


class Jobs(MessagePump):
    """Gives a screen or the app jobs: results come home to ``done``, errors to ``failed``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._generations: Counter[str] = Counter()

    async def _dispatch_message(self, message: Message) -> None:
        """Hand an error of a handler to the app and go on; Textual would end this pump with it."""
        try:
            await super()._dispatch_message(message)
        except Exception as problem:
            self.app._handle_exception(problem)

    def start_job(
        self,
        group: str,
        work: Callable[[], T],
        done: Callable[[T], None],
        failed: Callable[[Exception], None],
    ) -> None:
        """Run ``work`` in a thread; a newer job of the same group makes this one's result void."""
        self._generations[group] += 1
        generation = self._generations[group]

        def run() -> None:
            worker = get_current_worker()
            try:
                value = work()
            except Exception as problem:
                self.post_message(JobFailed(group, generation, failed, problem))
                return
            if not worker.is_cancelled:
                self.post_message(JobDone(group, generation, done, value))

        self.run_worker(run, group=group, thread=True, exit_on_error=False)  # type: ignore[attr-defined]

    def _is_newest(self, group: str, generation: int) -> bool:
        """Whether no newer job of the group was started."""
        return self._generations[group] == generation

    def on_job_done(self, message: JobDone) -> None:
        message.stop()
        if self._is_newest(message.group, message.generation):
            message.handler(message.value)

    def on_job_failed(self, message: JobFailed) -> None:
        message.stop()
        if self._is_newest(message.group, message.generation):
            message.handler(message.problem)
