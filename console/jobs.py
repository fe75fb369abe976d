"""Work off the event loop: a thread computes, a message brings the result home.

A job never touches a widget. Jobs of a group run one after the other, and only the newest waits:
whatever comes in a storm, a group keeps one thread busy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump
from textual.worker import get_current_worker

T = TypeVar("T")


@dataclass(frozen=True)
class _Job:
    group: str
    work: Callable[[], Any]
    done: Callable[[Any], None]
    failed: Callable[[Exception], None]
    every: bool


@dataclass
class JobDone(Message):
    """A job's result."""

    job: _Job
    value: Any


@dataclass
class JobFailed(Message):
    """A job's exception."""

    job: _Job
    problem: Exception


class Jobs(MessagePump):
    """Gives a screen or the app jobs: results come home to ``done``, errors to ``failed``."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._busy_groups: set[str] = set()
        self._next_jobs: dict[str, _Job] = {}

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
        *,
        every: bool = False,
    ) -> None:
        """Run ``work`` in a thread, after the job of the same group that runs now.

        A newer job of the group makes the result void, unless ``every`` result counts.
        """
        job = _Job(group, work, done, failed, every)
        if group in self._busy_groups:
            self._next_jobs[group] = job
        else:
            self._run(job)

    def runs(self, group: str) -> bool:
        """Whether a job of the group runs now."""
        return group in self._busy_groups

    def _run(self, job: _Job) -> None:
        self._busy_groups.add(job.group)

        def run() -> None:
            worker = get_current_worker()
            try:
                value = job.work()
            except Exception as problem:
                self.post_message(JobFailed(job, problem))
                return
            if not worker.is_cancelled:
                self.post_message(JobDone(job, value))

        self.run_worker(run, group=job.group, thread=True, exit_on_error=False)  # type: ignore[attr-defined]

    def _ended(self, job: _Job) -> bool:
        """Start what waits behind ``job``; whether its result counts."""
        self._busy_groups.discard(job.group)
        newer = self._next_jobs.pop(job.group, None)
        if newer is not None:
            self._run(newer)
        return newer is None or job.every

    def on_job_done(self, message: JobDone) -> None:
        message.stop()
        if self._ended(message.job):
            message.job.done(message.value)

    def on_job_failed(self, message: JobFailed) -> None:
        message.stop()
        if self._ended(message.job):
            message.job.failed(message.problem)
