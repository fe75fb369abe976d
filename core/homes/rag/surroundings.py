"""Where a store lies, and what is wrong with that: SQLite's locks need a local disk, and what a
store holds does not belong into a repository."""

from __future__ import annotations

import os
import re
from pathlib import Path

#: File systems of other machines, as the kernel names them.
_SHARED = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "beegfs")
)
_SHARED_BELOW = ("fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.ceph")
_OCTAL = re.compile(r"\\([0-7]{3})")


def warnings(folder: Path, mounts: Path = Path("/proc/self/mountinfo")) -> tuple[str, ...]:
    """What a person should know about the place of a store, as sentences without a full stop."""
    place = Path(os.path.realpath(folder))
    said = []
    kind = _file_system(place, mounts)
    if kind in _SHARED or kind.startswith(_SHARED_BELOW):
        said.append(
            f"The store {folder} lies on a shared file system ({kind}), where SQLite's locks do"
            " not hold: keep it on a local disk"
        )
    tree = next((each for each in (place, *place.parents) if (each / ".git").exists()), None)
    if tree is not None:
        said.append(
            f"The store {folder} lies inside the git tree {tree}: what it holds is private, keep"
            " it out of repositories"
        )
    return tuple(said)


def _file_system(place: Path, mounts: Path) -> str:
    """The kind of file system ``place`` lies on, ``""`` where the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    best, kind = -1, ""
    for line in lines:
        left, dash, right = line.partition(" - ")
        fields = left.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4]))
        # A later mount on the same point covers the earlier one.
        if place.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split(" ", 1)[0]
    return kind
