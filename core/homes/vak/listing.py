"""The ledgers of a folder as they lie there now; what did not change is the same object again.

A search as one types looks at thousands of files: what a file is called is worked out once, its
state is asked of the system every time.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from core.homes.vak.ledgers import SUFFIX

#: Folders that are remembered.
_MOST = 4_096
_PLACE = attrgetter("place")
_SEGMENT = "seg-"
_KNOWN: OrderedDict[str, tuple[dict[str, LedgerFile], Folder]] = OrderedDict()


class LedgerFile(NamedTuple):
    """One ledger as it lies there; a tuple, since a home has thousands.

    ``identity`` tells any two states of it apart: device, number, bytes, and the nanoseconds of its
    two times. ``place`` is where it is, ``file`` its path in the home, ``project`` the folder named
    by its workspace's hash, ``agent`` the sub-home it lies in.
    """

    place: str
    file: str
    session_id: str
    project: str
    agent: str
    identity: tuple[int, int, int, int, int]

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.place)

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.identity[2]

    @property
    def touched(self) -> int:
        """When anything of it last changed, in nanoseconds since 1970; nobody can set that."""
        return self.identity[4]


class Folder(NamedTuple):
    """A workspace's folder: its ledgers by name, and the names of those that need a key."""

    project: str
    files: tuple[LedgerFile, ...]
    encrypted: tuple[str, ...]


def listed(place: str, inside: str, project: str, agent: str) -> Folder:
    """The ledgers of the folder at ``place``, which is ``inside`` the home; none where it cannot
    be listed. The same object as before where no file of it changed; never raises."""
    known, before = _KNOWN.get(place, ({}, None))
    found: dict[str, LedgerFile] = {}
    folders: list[str] = []
    changed = before is None
    try:
        with os.scandir(place) as entries:
            for entry in entries:
                name = entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                    continue
                if not name.endswith(SUFFIX) or name == SUFFIX:
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                identity = (
                    status.st_dev,
                    status.st_ino,
                    status.st_size,
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                )
                file = known.get(name)
                if file is not None and file.identity == identity and file.agent == agent:
                    found[name] = file
                elif stat.S_ISREG(status.st_mode):
                    stem = name[: -len(SUFFIX)]
                    path = f"{inside}/{name}"
                    found[name] = LedgerFile(entry.path, path, stem, project, agent, identity)
                    changed = True
    except OSError:
        found, folders = {}, []
    sealed = tuple(name for name in sorted(folders) if _is_sealed(f"{place}/{name}"))
    if (
        before is not None
        and not changed
        and len(found) == len(before.files)
        and sealed == before.encrypted
    ):
        return before
    folder = Folder(project, tuple(sorted(found.values(), key=_PLACE)), sealed)
    _KNOWN[place] = found, folder
    while len(_KNOWN) > _MOST:
        _KNOWN.popitem(last=False)
    return folder


def _is_sealed(folder: str) -> bool:
    try:
        return any(part.startswith(_SEGMENT) for part in os.listdir(folder))
    except OSError:
        return False
