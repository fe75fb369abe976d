"""What stands on disk where a ``state.db`` is, asked by ``stat`` alone: it is never opened here."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from core.errors import UnreadableError


@dataclass(frozen=True, slots=True)
class Ground:
    """A database file and the ones beside it.

    ``file`` is its device and inode, ``stamp`` its size and time of change (ns), ``log`` and
    ``journal`` the (size, time) of ``-wal`` and ``-journal`` (zeros for none). ``torn``: a log
    without its ``-shm``, as a crash or a copy leaves it; no change of it counts as one.
    """

    file: tuple[int, int]
    stamp: tuple[int, int]
    log: tuple[int, int]
    journal: tuple[int, int]
    torn: bool = field(compare=False)

    @property
    def still(self) -> bool:
        """Whether nothing is being written, as far as the files tell."""
        return not self.log[0] and not self.journal[0]

    @property
    def changed_at(self) -> float:
        """When any of the files was written last: seconds since 1970."""
        return max(self.stamp[1], self.log[1], self.journal[1]) / 1e9


def look(path: str) -> Ground | None:
    """What stands at ``path``; ``None`` for nothing.

    Raises :class:`UnreadableError` for a folder, a pipe and the like, and where the folder may not
    be entered.
    """
    name = os.path.basename(path)
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise UnreadableError(
            f"{name} cannot be read: {reason}", "Check who may read it and its folder"
        ) from problem
    if not stat.S_ISREG(found.st_mode):
        what = "it is a folder" if stat.S_ISDIR(found.st_mode) else "it is no regular file"
        raise UnreadableError(f"{name} cannot be read: {what}", "Move it away")
    log = _beside(f"{path}-wal")
    return Ground(
        (found.st_dev, found.st_ino),
        (found.st_size, found.st_mtime_ns),
        log if log[0] else (0, 0),
        _beside(f"{path}-journal"),
        bool(log[0]) and not os.path.exists(f"{path}-shm"),
    )


def _beside(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns
