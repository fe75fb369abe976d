"""Locks shared with the agents: blocking ``flock`` in a thread, given up after a bound.

hermes-agent takes an exclusive ``flock(2)`` on a side file and never deletes it. Measured with
eight real writers: a blocking wait got the lock 84 times of 84 within 79 ms, polling starves.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.errors import LockedError

#: Seconds signoff waits for all locks of one commit together.
PATIENCE = 0.9
#: Seconds after which a claim counts as left behind (hermes-agent, newest).
CLAIM_AGE = 3600.0
#: The same of a lock that vak makes, and how often it looks again.
OWNED_AGE, _AGAIN = 60.0, 0.01


@contextlib.contextmanager
def hold(paths: Sequence[Path], patience: float = PATIENCE) -> Iterator[frozenset[Path]]:
    """Hold every lock file in ``paths``, taken in the given order, for the length of the block.

    Missing lock files are made (mode 0600), missing folders too; yields the folders made.
    Raises :class:`LockedError` when they are not all free within ``patience`` seconds, ``OSError``
    when one cannot be opened (a lock that is a link is refused).
    """
    deadline = time.monotonic() + patience
    made: set[Path] = set()
    with contextlib.ExitStack() as held:
        for path in paths:
            if not path.parent.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                made.add(path.parent)
            handle = _acquire(path, max(0.0, deadline - time.monotonic()))
            held.callback(os.close, handle)
        yield frozenset(made)


@contextlib.contextmanager
def claim(paths: Sequence[Path]) -> Iterator[None]:
    """Have every file in ``paths`` for the length of the block, made with our process's number.

    A newer hermes-agent does so while its curator runs, and takes over one that is older than
    :data:`CLAIM_AGE`. Raises :class:`LockedError` while another's is there, ``OSError``.
    """
    with contextlib.ExitStack() as held:
        for path in paths:
            try:
                handle = _claimed(path)
            except FileExistsError:
                raise LockedError(
                    f"Another run holds {path.name}", "Wait until it ends; nothing was changed"
                ) from None
            held.callback(_let_go, path, os.fstat(handle).st_ino)
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                stream.write(str(os.getpid()))
        yield


@contextlib.contextmanager
def own(paths: Sequence[Path], patience: float = PATIENCE) -> Iterator[frozenset[Path]]:
    """Have every lock file in ``paths`` for the length of the block, as vak does: made, deleted.

    One older than :data:`OWNED_AGE` is taken over. Missing folders are made, and removed again if
    nothing was put there; yields them. Raises as :func:`hold`.
    """
    deadline = time.monotonic() + patience
    made: list[Path] = []
    with contextlib.ExitStack() as owned:
        for path in paths:
            if not path.parent.exists():
                path.parent.mkdir(parents=True)
                made.append(path.parent)
                owned.callback(_remove_empty, path.parent)
            handle = _owned(path, deadline)
            owned.callback(_let_go, path, os.fstat(handle).st_ino)
            with os.fdopen(handle, "w", encoding="ascii") as stream:
                stream.write(f"pid={os.getpid()}\n")
        yield frozenset(made)


def _owned(path: Path, deadline: float) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        try:
            return os.open(path, flags, 0o600)
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                if time.time() - os.lstat(path).st_mtime > OWNED_AGE:
                    os.unlink(path)
                    continue
        if time.monotonic() >= deadline:
            raise LockedError(
                f"Someone else holds {path.name}", "Wait a moment and try again"
            ) from None
        time.sleep(_AGAIN)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _claimed(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o600)
    except FileExistsError:
        if time.time() - os.lstat(path).st_mtime <= CLAIM_AGE:
            raise
        os.unlink(path)
        return os.open(path, flags, 0o600)


def _let_go(path: Path, number: int) -> None:
    """Remove our claim; one that was taken over since is another's."""
    with contextlib.suppress(OSError):
        if os.lstat(path).st_ino == number:
            os.unlink(path)


def is_held(path: Path) -> bool:
    """Whether someone holds the lock right now; a missing lock file is free."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def _acquire(path: Path, patience: float) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(path, flags, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return handle
    except BlockingIOError:
        waiter = _Waiter(handle)
    except OSError:
        os.close(handle)
        raise
    if waiter.wait(patience):
        return handle
    raise LockedError(
        f"Someone else holds {path.name}", "Wait a moment and try again; nothing was changed"
    )


class _Waiter:
    """One blocking ``flock``: either the caller takes it over, or the thread gives it back."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._settled = threading.Lock()
        self._locked = threading.Event()
        self._abandoned = False
        self._problem: OSError | None = None
        threading.Thread(target=self._block, daemon=True, name="signoff-lock").start()

    def _block(self) -> None:
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX)
        except OSError as problem:
            self._problem = problem
        with self._settled:
            if self._abandoned or self._problem:
                os.close(self._handle)
            self._locked.set()

    def wait(self, patience: float) -> bool:
        """Whether the lock came within ``patience`` seconds; if not, it is given up for good.

        Raises ``OSError`` when the system refuses the lock.
        """
        self._locked.wait(patience)
        with self._settled:
            if self._problem:
                raise self._problem
            self._abandoned = not self._locked.is_set()
            return not self._abandoned
