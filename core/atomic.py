"""Whole files of signoff's own making: a reader finds all of one, or what stood there before.

For exports, signoff's own state, and new records that are put before the person
(:mod:`core.desk.staging`). Whatever else lies in a home is written by :mod:`core.files` alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

#: What the system answers where a folder's file system has no second names for a file.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


@contextlib.contextmanager
def whole(path: Path, *, over: bool) -> Iterator[BinaryIO]:
    """A stream whose bytes become ``path`` (mode 0600, on disk) when the block ends well.

    With ``over`` it takes the place of what is there; a link is replaced, not followed. Without,
    raises ``FileExistsError`` when something is there by then. Raises ``OSError``.
    """
    temporary = path.with_name(f".signoff-{os.getpid()}-{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if over:
            os.replace(temporary, path)
        else:
            _appear(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    _sync_folder(path.parent)


def _appear(temporary: Path, path: Path) -> None:
    """Give the file its name unless something has that name already."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.rename(temporary, path)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
