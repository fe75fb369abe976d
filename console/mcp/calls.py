"""One line for every call of a tool and its answer, in signoff's own folder.

Not the journal: that holds decisions, and a search must not stand between a person and the undo
of the newest one. ``mcp.jsonl`` is mode 0600, and begun anew (one older is kept) past a size.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.errors import StateError
from core.files import private_folder

FILE, OLDER = "mcp.jsonl", "mcp.1.jsonl"
_LOCK = "mcp.lock"
#: Bytes of the file past which a new one is begun; characters of one text in a line, of a list.
LARGEST, LONGEST, MOST = 4 * 1024 * 1024, 300, 20
_DEEPEST = 4


class Calls:
    """The lines of every client together. Raises :class:`StateError` when none can be written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.path = folder / FILE

    def check(self) -> None:
        """Raise unless a line could be written now."""
        with self._open():
            pass

    def write(self, line: Mapping[str, object]) -> None:
        """Append ``line``, its long texts shortened."""
        data = (json.dumps(shortened(line), ensure_ascii=True, default=str) + "\n").encode()
        with self._open() as handle:
            os.write(handle, data)

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        flags = os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            private_folder(self._folder)
            with contextlib.ExitStack() as held:
                lock = os.open(self._folder / _LOCK, os.O_RDWR | flags, 0o600)
                held.callback(os.close, lock)
                fcntl.flock(lock, fcntl.LOCK_EX)
                with contextlib.suppress(FileNotFoundError):
                    if os.lstat(self.path).st_size > LARGEST:
                        os.replace(self.path, self._folder / OLDER)
                handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | flags, 0o600)
                held.callback(os.close, handle)
                yield handle
        except OSError as problem:
            raise StateError(
                f"The log of calls {self.path} cannot be written ({problem.strerror})",
                "Nothing was done; free or repair that folder",
            ) from problem


def shortened(value: object, depth: int = 0) -> object:
    """``value`` with long texts, long lists and deep nesting cut."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return "…"
        items = list(value.items())[:MOST]
        return {str(key)[:LONGEST]: shortened(each, depth + 1) for key, each in items}
    if isinstance(value, list | tuple):
        return "…" if depth >= _DEEPEST else [shortened(each, depth + 1) for each in value[:MOST]]
    return value
