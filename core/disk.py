"""The folder of a home as a source of reads: one look at a time, no link followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from core.model import Node, NodeKind

#: A memory or skill file past this many bytes is unreadable: no agent writes one.
MAX_BYTES = 64 * 1024 * 1024


class Listing(NamedTuple):
    """Names in a folder, in the file system's order; which are folders, and which regular files."""

    names: tuple[str, ...]
    folders: Sequence[str]
    files: Sequence[str]


class Disk:
    """The home's folder. ``root`` is resolved once, so a link swapped later changes nothing."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        self._below = os.path.join(str(self.root), "")

    def absolute(self, path: str) -> str:
        """Where ``path`` stands on this machine."""
        if not path:
            return str(self.root)
        return path if path.startswith("/") else self._below + path

    def relative(self, path: str) -> str:
        root = str(self.root)
        if path.startswith(".."):
            path = os.path.normpath(os.path.join(root, path))
        if path == root:
            return ""
        return path[len(root) + 1 :] if path.startswith(root + "/") else path

    def node(self, path: str, *, data: bool) -> Node | None:
        full = self.absolute(path)
        try:
            status = os.lstat(full)
        except (FileNotFoundError, NotADirectoryError):
            return None
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISDIR(status.st_mode):
            return Node(NodeKind.DIR, mode=mode)
        if stat.S_ISLNK(status.st_mode):
            return Node(NodeKind.LINK, os.fsencode(os.readlink(full)))
        if not stat.S_ISREG(status.st_mode):
            return Node(NodeKind.OTHER, mode=mode)
        return _read_file(full) if data else Node(NodeKind.FILE, b"", mode)

    def file(self, path: str) -> Node | None:
        """What :meth:`node` says of a file that stood there a moment ago, with its bytes."""
        try:
            return _read_file(self.absolute(path))
        except OSError:
            # It is another thing by now, or gone.
            return self.node(path, data=True)

    def names(self, path: str) -> tuple[str, ...]:
        return tuple(os.listdir(self.absolute(path)))

    def listing(self, path: str) -> Listing:
        """A folder in one pass, nothing in it looked at alone. Raises ``OSError``."""
        names, folders, files = [], [], []
        with os.scandir(self.absolute(path)) as entries:
            for entry in entries:
                names.append(entry.name)
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
        return Listing(tuple(names), folders, files)


def _read_file(full: str) -> Node:
    # O_NONBLOCK: a file swapped for a pipe between the look and the open must not hang us.
    handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("no regular file any more")
        if status.st_size > MAX_BYTES:
            raise OSError("larger than 64 MiB")
        chunks = []
        while chunk := os.read(handle, status.st_size + 1):
            chunks.append(chunk)
        return Node(NodeKind.FILE, b"".join(chunks), stat.S_IMODE(status.st_mode))
    finally:
        os.close(handle)
