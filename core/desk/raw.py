"""What stands in a record that is no proposal: its beginning, read without trusting it."""

from __future__ import annotations

import codecs
import os
import stat
from dataclasses import dataclass
from itertools import islice

from core.desk.opening import Opened
from core.model import NodeKind
from core.view import Disk

#: Bytes of a file, and names in a folder, that are read: enough to see what it is.
LIMIT, NAMES = 8_192, 200


@dataclass(frozen=True, slots=True)
class Raw:
    """``text`` is the beginning of a file, where a link leads, or the names in a folder, by line.

    Bytes that are no UTF-8 stand as ``\\xNN``. ``left`` is how much of it was not read: bytes of
    a file, names of a folder, where ``-1`` is "some". ``kind`` is ``None`` for what is gone.
    ``trouble`` says why nothing could be read.
    """

    kind: NodeKind | None
    text: str = ""
    left: int = 0
    trouble: str = ""


def raw(opened: Opened, file: str) -> Raw:
    """What stands at ``file``, as the queue lists it; links are not followed, no pipe is opened."""
    path = Disk(opened.found.home).absolute(file)
    try:
        return _look(path)
    except FileNotFoundError:
        return Raw(None, trouble="it is gone")
    except OSError as problem:
        return Raw(NodeKind.OTHER, trouble=(problem.strerror or "it cannot be opened").lower())


def _look(path: str) -> Raw:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return Raw(NodeKind.LINK, os.readlink(path))
    if stat.S_ISDIR(mode):
        with os.scandir(path) as entries:
            names = [entry.name for entry in islice(entries, NAMES + 1)]
        return Raw(NodeKind.DIR, "\n".join(sorted(names[:NAMES])), -(len(names) > NAMES))
    if not stat.S_ISREG(mode):
        return Raw(NodeKind.OTHER)
    return _beginning(path)


def _beginning(path: str) -> Raw:
    # As in core.view: a file swapped for a pipe between the look and the open must not hang us.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb", buffering=0) as stream:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            return Raw(NodeKind.OTHER)
        data = stream.read(LIMIT) or b""
    left = max(0, status.st_size - len(data))
    decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
    return Raw(NodeKind.FILE, decoder.decode(data, final=not left), left)
