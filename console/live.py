"""A home watched from a thread: what changed is kept until the event loop takes it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.watch import Watcher


@dataclass
class HomeChanged(Message):
    """Something changed; what, lies with the watch. Only the last one in the queue counts."""

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, HomeChanged)


class Live:
    """The watch over one home; it ends when ``stop`` is set."""

    def __init__(self, opened: Opened, stop: threading.Event) -> None:
        self._watcher = _watcher(opened, stop)
        self._areas: set[str] = set()
        self._lock = threading.Lock()

    @property
    def mode(self) -> str:
        """How it watches, as the header says it."""
        return str(self._watcher.mode)

    def run(self, changed: Callable[[], object]) -> None:
        """Watch until stopped; ``changed`` is called whenever there is something to take."""
        for found in self._watcher.changes():
            with self._lock:
                self._areas |= {str(area) for area in found.areas}
            changed()

    def take(self) -> frozenset[str]:
        """The areas that changed since they were taken last."""
        with self._lock:
            areas, self._areas = frozenset(self._areas), set()
        return areas


def _watcher(opened: Opened, stop: threading.Event) -> Watcher:
    from core.watch import Watcher

    home = opened.found.home
    elsewhere = [(home / folder, "skills") for folder in opened.config().external_dirs]
    if waiting := opened.waiting_folder():
        elsewhere.append((Path(waiting), "pending"))
    return Watcher(home, stop=stop, extra=elsewhere)
