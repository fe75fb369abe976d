"""Making a home where nothing stands yet: all of it, or nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from core.errors import SignoffError


class OccupiedError(SignoffError):
    """The place for a new home is a file, or a folder with something in it."""

    title = "Not an empty folder"
    code = "occupied"


class UnwritableError(SignoffError):
    """The system refused the folder or one of its files."""

    title = "Cannot write there"
    code = "unwritable"


def fill(into: Path, files: Mapping[str, bytes], folders: Iterable[str] = ()) -> Path:
    """Write ``files`` and empty ``folders`` (paths with ``/``) into a new or empty folder.

    Folders get mode 0700, files 0600, as the agent keeps them. Returns ``into``. Raises
    :class:`OccupiedError` before anything is written; :class:`UnwritableError` after taking back
    what was.
    """
    made: list[Path] = []
    try:
        _claim(into, made)
        for folder in folders:
            _folder(into, into / folder, made)
        for path, data in files.items():
            _folder(into, (into / path).parent, made)
            _file(into / path, data, made)
    except OSError as problem:
        _take_back(made)
        reason = (problem.strerror or str(problem)).lower()
        raise UnwritableError(
            f"{into} cannot be filled: {reason}", "Name a folder you may write to"
        ) from problem
    return into


def _claim(into: Path, made: list[Path]) -> None:
    if into.is_dir():
        if any(into.iterdir()):
            raise OccupiedError(f"{into} is not empty", "Name a new folder or an empty one")
        into.chmod(0o700)
        return
    if os.path.lexists(into):
        raise OccupiedError(f"{into} is not a folder", "Name a new folder or an empty one")
    into.parent.mkdir(parents=True, exist_ok=True)
    into.mkdir(mode=0o700)
    made.append(into)


def _folder(into: Path, folder: Path, made: list[Path]) -> None:
    if folder == into or folder.is_dir():
        return
    _folder(into, folder.parent, made)
    folder.mkdir(mode=0o700)
    made.append(folder)


def _file(path: Path, data: bytes, made: list[Path]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    made.append(path)
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)


def _take_back(made: list[Path]) -> None:
    for path in reversed(made):
        with contextlib.suppress(OSError):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
