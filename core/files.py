"""The only writer: puts nodes in place durably, never outside the home, never half.

A file is written beside its real target and renamed over it, so a reader sees the old bytes or the
new. Temporary names carry the journal entry's number: after a crash they are known and removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from core.errors import SignoffError
from core.model import Change, Move, Node, NodeKind
from core.records import Mounted, Records
from core.view import Disk, View

#: Files a person may have linked anywhere (dotfiles): the link is followed wherever it leads.
FOLLOWED = frozenset({"config.yaml", "memories/MEMORY.md", "memories/USER.md"})
#: Folders of a home that may themselves be links made by the person.
FOLDERS = ("memories", "pending/memory", "pending/skills", "skills")


class OutsideError(SignoffError):
    """A path that would leave the home."""

    title = "Outside the home"
    code = "path_escape"


class Writer:
    """Writes under one home. ``roots`` are further folders it may write to (external skills).

    ``tag`` names temporary files: ``.signoff-<tag>-<n>.tmp``, beside the file they become.
    ``records`` are the rows of the home's database: they are written there.
    """

    def __init__(
        self,
        root: Path,
        roots: Sequence[Path] = (),
        tag: str = "0",
        records: Records | None = None,
    ) -> None:
        self.disk = Mounted(root, records) if records else Disk(root)
        self._records = records
        folders = (*(self.disk.root / folder for folder in FOLDERS), *roots)
        self._roots = (self.disk.root, *(Path(os.path.realpath(folder)) for folder in folders))
        self._tag = tag

    def current(self, path: str, *, follow: bool) -> Node | None:
        """What stands at ``path`` now; with ``follow`` a link to a file counts as that file.

        Raises ``OSError`` when it cannot be read.
        """
        node = self.disk.node(path, data=True)
        if follow and node is not None and node.kind is NodeKind.LINK:
            target = View(self.disk).resolve(path)
            led = self.disk.node(target, data=True) if target is not None else None
            return led if led is not None and led.kind is NodeKind.FILE else node
        return node

    def check(self, change: Change | Move) -> None:
        """Raises :class:`OutsideError` when making ``change`` would leave the home."""
        if self._of_records(change.path):
            return
        if isinstance(change, Move):
            self._place(change.path, follow=False)
            self._place(change.to, follow=False)
        else:
            after = change.after
            self._place(change.path, follow=after is not None and after.kind is NodeKind.FILE)

    def put(self, change: Change, number: int) -> None:
        """Make ``change.path`` what ``change.after`` says. Raises ``OSError``."""
        if self._records is not None and self._records.holds(change.path):
            self._records.put(change.path, change.before, change.after)
        elif change.after is None:
            self._remove(self._place(change.path, follow=False), change.before)
        elif change.after.kind is NodeKind.DIR:
            self._folder(self._place(change.path, follow=False), change.after)
        elif change.after.kind is NodeKind.LINK:
            place = self._place(change.path, follow=False)
            os.symlink(os.fsdecode(change.after.data), place)
            _sync_folder(place.parent)
        else:
            place = self._place(change.path, follow=True)
            self._write(place, change.after, self.temporary(place, number))

    def move(self, move: Move) -> None:
        """Rename a folder; never over something. Raises ``OSError``."""
        source = self._place(move.path, follow=False)
        target = self._place(move.to, follow=False)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
        os.rename(source, target)
        _sync_folder(source.parent)
        _sync_folder(target.parent)

    def temporary(self, place: Path, number: int) -> Path:
        """The temporary name that becomes ``place``."""
        return place.with_name(f".signoff-{self._tag}-{number}.tmp")

    def sweep(self, change: Change, number: int) -> None:
        """Remove what a crash may have left of writing ``change``."""
        if self._of_records(change.path):
            return
        with contextlib.suppress(OSError, OutsideError):
            os.unlink(self.temporary(self._place(change.path, follow=True), number))

    def _of_records(self, path: str) -> bool:
        return self._records is not None and self._records.holds(path)

    def _place(self, path: str, *, follow: bool) -> Path:
        full = self.disk.absolute(path)
        if not _allowed(full):
            raise OutsideError("A path the system does not allow", "Nothing was written")
        if follow and os.path.islink(full):
            real = os.path.realpath(full)
            if path in FOLLOWED:
                return Path(real)
        else:
            real = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
        if ".." in path.split("/") or not any(_inside(real, root) for root in self._roots):
            raise OutsideError(f"{path} leads outside the home", "Nothing was written")
        return Path(real)

    def _write(self, place: Path, node: Node, temporary: Path) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(temporary, flags, 0o600)
        try:
            try:
                _write_all(handle, node.data)
                _keep_owner(handle, place)
                os.fchmod(handle, node.mode)
                os.fsync(handle)
            finally:
                os.close(handle)
            try:
                os.replace(temporary, place)
            except OSError as problem:
                # A file mounted on its own (containers) cannot be renamed over.
                if problem.errno not in (errno.EXDEV, errno.EBUSY):
                    raise
                _overwrite(place, node)
                os.unlink(temporary)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(place.parent)

    def _folder(self, place: Path, node: Node) -> None:
        try:
            os.mkdir(place, node.mode)
            _sync_folder(place.parent)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(place).st_mode):
                raise
        if stat.S_IMODE(os.lstat(place).st_mode) != node.mode:
            os.chmod(place, node.mode)

    def _remove(self, place: Path, before: Node | None) -> None:
        if before is not None and before.kind is NodeKind.DIR:
            os.rmdir(place)
        else:
            os.unlink(place)
        _sync_folder(place.parent)


def private_folder(path: Path) -> Path:
    """Make signoff's own folder, mode 0700; one made by hand keeps its mode. Raises ``OSError``."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    return path


def _inside(path: str, root: Path) -> bool:
    return path == str(root) or path.startswith(str(root).rstrip("/") + "/")


def _allowed(path: str) -> bool:
    """Whether the system has such a path at all: no NUL, no half characters."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _keep_owner(handle: int, place: Path) -> None:
    """Give the new file the old one's owner and group, where the system allows it."""
    with contextlib.suppress(OSError):
        old, new = os.stat(place), os.fstat(handle)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            os.fchown(handle, old.st_uid, old.st_gid)


def _overwrite(place: Path, node: Node) -> None:
    """Write into the file itself; when that fails, its old bytes are put back as far as it goes."""
    handle = os.open(place, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        before = os.pread(handle, os.fstat(handle).st_size, 0)
        try:
            _fill(handle, node.data)
            os.fchmod(handle, node.mode)
        except OSError:
            with contextlib.suppress(OSError):
                _fill(handle, before)
            raise
    finally:
        os.close(handle)


def _fill(handle: int, data: bytes) -> None:
    os.lseek(handle, 0, os.SEEK_SET)
    _write_all(handle, data)
    os.ftruncate(handle, len(data))
    os.fsync(handle)


def _sync_folder(folder: Path) -> None:
    """Make a rename in ``folder`` last; file systems that cannot sync a folder are let be."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
