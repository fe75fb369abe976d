"""The ledgers of a folder as they lie there now; what did not change is the same object again.

A search as one types looks at thousands of files: what a file is called is worked out once, its
state is asked of the system every time.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from core.homes.vak.ledgers import SUFFIX

#: Folders that are remembered.
_MOST = 4_096
_PLACE = attrgetter("place")
_SEGMENT = "seg-"
#: Mode, device, number, bytes, and the nanoseconds of the two times.
_State = tuple[int, int, int, int, int, int]
_state = attrgetter("st_mode", "st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")


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


class _Known(NamedTuple):
    """A folder as it was listed, the state of everything in it then, and its own folders."""

    states: Mapping[str, _State] | None
    folders: Sequence[str]
    folder: Folder


_NOTHING = _Known(None, (), Folder("", (), ()))
_KNOWN: OrderedDict[tuple[str, str], _Known] = OrderedDict()


def listed(place: str, inside: str, project: str, agent: str) -> Folder:
    """The ledgers of the folder at ``place``, which is ``inside`` the home; none where it cannot
    be listed. The same object as before where no file of it changed; never raises."""
    known, states = _KNOWN.get((place, inside), _NOTHING), _states(place)
    if is_same := states == known.states:
        folders = known.folders
    else:
        folders = sorted(name for name, state in states.items() if stat.S_ISDIR(state[0]))
    # What lies in those is not told by their own state alone.
    sealed = tuple(name for name in folders if _is_sealed(f"{place}/{name}"))
    if is_same and sealed == known.folder.encrypted:
        return known.folder
    before = {file.file: file for file in known.folder.files}
    files = []
    for name, state in states.items():
        if name.endswith(SUFFIX) and name != SUFFIX and stat.S_ISREG(state[0]):
            stem, path = name[: -len(SUFFIX)], f"{inside}/{name}"
            file = LedgerFile(f"{place}/{name}", path, stem, project, agent, state[1:])
            files.append(before[path] if before.get(path) == file else file)
    folder = Folder(project, tuple(sorted(files, key=_PLACE)), sealed)
    _KNOWN[place, inside] = _Known(states, folders, folder)
    while len(_KNOWN) > _MOST:
        _KNOWN.popitem(last=False)
    return folder


def _states(place: str) -> dict[str, _State]:
    """``name -> state`` of everything in a folder."""
    found: dict[str, _State] = {}
    try:
        handle = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return found
    try:
        for name in os.listdir(handle):
            # By the folder's handle: asking by whole paths costs a fifth more.
            try:
                found[name] = _state(os.stat(name, dir_fd=handle, follow_symlinks=False))
            except OSError:
                continue
    except OSError:
        found.clear()
    finally:
        os.close(handle)
    return found


def _is_sealed(folder: str) -> bool:
    try:
        return any(part.startswith(_SEGMENT) for part in os.listdir(folder))
    except OSError:
        return False
