"""A watcher in its thread, for the tests of live changes: deadlines instead of sleeps."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path

from core.areas import Area
from core.watch import Event, EventSource, Watcher, system_events

#: Seconds after which a test gives up.
PATIENCE = 60.0
#: A poll that never comes in a test: what is told, events told.
NEVER = 600.0
#: Names no watcher may tell: approval spec 4.8 item 6, curator spec 2.9, vak spec 11.
IGNORED = [
    "pending/memory/a.json.tmp",
    "pending/memory/a.JSON",
    "pending/memory/a.json/inner.json",
    "pending/other/a.json",
    "memories/MEMORY.md.lock",
    "memories/MEMORY.md.bak.1790000000",
    "memories/.mem_k3jd.tmp",
    "memories/.signoff-12-0.tmp",
    "memories/MEMORY.md~",
    "memories/.MEMORY.md.swp",
    "skills/.usage.json.lock",
    "skills/.usage_8xk2.tmp",
    "skills/..curator_state_x.tmp",
    "skills/.locks/ab.lock",
    "skills/ops/deploy/.SKILL.md.tmp.x1",
    "skills/ops/deploy/SKILL.md.bak.1",
    "skills/ops/deploy/SKILL.md~",
    "skills/ops/deploy/#SKILL.md#",
    "skills/ops/deploy/4913",
    "skills/ops/deploy/.git/HEAD",
    "skills/ops/deploy/node_modules/x/readme.md",
    "memory/67b506f04aa724b1/MEMORY.lock",
    "memory/67b506f04aa724b1/MEMORY.tmp.77",
    "state.db-shm",
    "state.db-journal",
    "state.db.repair.lock",
    "usage.db",
    ".skills_prompt_snapshot.json",
    "sessions/sessions.json",
    "logs/agent.log",
]


class Live:
    """A watcher in its thread; what it told, with the time."""

    def __init__(self, watcher: Watcher, stop: threading.Event) -> None:
        self.watcher, self.stop = watcher, stop
        self.told: list[tuple[float, frozenset[Area]]] = []
        self.problem: BaseException | None = None
        self._news = threading.Condition()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            for change in self.watcher.changes():
                with self._news:
                    self.told.append((time.monotonic(), change.areas))
                    self._news.notify_all()
        except BaseException as problem:
            self.problem = problem

    def expect(self, act: Callable[[], object], *areas: Area) -> float:
        """Do ``act``; the seconds until all ``areas`` were told after it began."""
        begun, known = time.monotonic(), len(self.told)
        act()

        def done() -> bool:
            return set(areas) <= set().union(*(told for _, told in self.told[known:]))

        with self._news:
            assert self._news.wait_for(done, PATIENCE), f"told only {self.told[known:]}"
            return self.told[-1][0] - begun

    def all_told(self, seconds: float = 0.6) -> int:
        """How many were told, once none came for ``seconds``."""
        with self._news:
            while self._news.wait(seconds):
                pass
            return len(self.told)


@contextlib.contextmanager
def watching(
    root: Path,
    *,
    poll: float = NEVER,
    extra: Sequence[tuple[Path, str]] = (),
    source: EventSource = system_events,
) -> Iterator[Live]:
    stop = threading.Event()
    armed = threading.Event()

    def telling(
        folders: Sequence[str], stop: threading.Event
    ) -> Generator[Iterable[Event], None, None]:
        try:
            for batch in source(folders, stop):
                yield batch
                armed.set()
        finally:
            armed.set()

    live = Live(Watcher(root, stop=stop, poll=poll, extra=extra, source=telling), stop)
    armed.wait(PATIENCE)
    try:
        yield live
    finally:
        stop.set()
        live.thread.join(PATIENCE)
    assert not live.thread.is_alive()
    assert live.problem is None


def dead(folders: Sequence[str], stop: threading.Event) -> Generator[Iterable[Event], None, None]:
    """A mount that reports nothing (D41)."""
    while not stop.wait(0.05):
        yield ()


def until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return condition()


def replace(path: Path, text: str) -> None:
    """Write as the agents do: a temporary name beside it, renamed over it."""
    temporary = path.with_name(f".mem_{os.getpid()}.tmp")
    temporary.write_text(text)
    temporary.replace(path)


def inotify_handles() -> int:
    found = 0
    for handle in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found += "inotify" in os.readlink(f"/proc/self/fd/{handle}")
    return found
