"""The folder of an index: who may write, what it was built from, whether its files are whole."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import importlib.util
import json
import os
import shutil
import stat
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

#: Raised when what is in the index, or how a message becomes words, changes.
FORMAT = 3
MESSAGES, VOCABULARY = "messages", "words"
_ABOUT, _LOCK, _META = "about.json", "lock", "meta.json"
#: The files of a segment: tantivy makes all of them, even where they are empty.
_ENDINGS = ("term", "idx", "pos", "fast", "fieldnorm", "store")
#: A footer tantivy puts under every file of a segment: JSON, its length, this number.
_MAGIC = 1337
_CHUNK = 1 << 20


class IndexTroubleError(Exception):
    """tantivy, or the disk under it, could not do its work; the message says why."""


@functools.cache
def available() -> bool:
    """Whether tantivy can be imported; it is not until something needs it."""
    return importlib.util.find_spec("tantivy") is not None


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Turn whatever tantivy raises into :class:`IndexTroubleError`."""
    try:
        yield
    except (ValueError, OSError, RuntimeError, MemoryError, ImportError) as problem:
        raise IndexTroubleError(str(problem) or type(problem).__name__) from problem
    except BaseException as problem:
        # A panic of Rust code is no Exception, so that nobody catches it by accident.
        if type(problem).__name__ != "PanicException":
            raise
        raise IndexTroubleError("a file of it is damaged") from problem


@dataclass(frozen=True, slots=True)
class About:
    """What is known of an index without opening it. ``library`` is the version that wrote it."""

    identity: str
    library: str
    format: int = FORMAT
    through: int = 0
    documents: int = 0
    total: int = 0
    complete: bool = False


def read_about(folder: Path) -> About | None:
    """What ``folder`` says of its index, ``None`` when there is none.

    Raises :class:`IndexTroubleError` when it cannot be read.
    """
    with guarded():
        try:
            data = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        try:
            return About(**data)
        except TypeError as problem:
            raise ValueError("its description is damaged") from problem


def write_about(folder: Path, about: About) -> None:
    """Replace the description in one step."""
    new = folder / f"{_ABOUT}.new"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(asdict(about), file)
    os.replace(new, folder / _ABOUT)


def signature(folder: Path) -> tuple[int, ...] | None:
    """Differs after every commit of any process; cheap. ``None`` where there is no index."""
    try:
        about = os.stat(folder / _ABOUT)
        meta = os.stat(folder / MESSAGES / _META)
    except OSError:
        return None
    return (about.st_ino, about.st_mtime_ns, meta.st_ino, meta.st_mtime_ns)


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[bool]:
    """Hold the index for writing, of all threads and processes one; false when another does."""
    make_folder(folder)
    path = folder / _LOCK
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        # Whoever held it may have deleted the folder, and this lock file with it.
        yield path.exists() and os.path.samestat(os.fstat(handle), os.stat(path))
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make ``folder`` and those above it, for this user only."""
    # One by one: ``parents=True`` would leave those above to the process's own umask.
    for each in (*reversed(folder.parents), folder):
        if each is folder or not each.exists():
            each.mkdir(mode=0o700, exist_ok=True)
    if stat.S_IMODE(folder.stat().st_mode) != 0o700:
        folder.chmod(0o700)


def clear(folder: Path) -> None:
    """Delete the index but the lock; the caller holds it."""
    (folder / _ABOUT).unlink(missing_ok=True)
    for name in (MESSAGES, VOCABULARY):
        shutil.rmtree(folder / name, ignore_errors=True)


def remove(folder: Path) -> None:
    """Delete the folder itself; the caller holds the lock."""
    shutil.rmtree(folder, ignore_errors=True)


def close_to_others(folder: Path) -> None:
    """Take everyone else's rights from what tantivy wrote under the process's own umask."""
    for name in (MESSAGES, VOCABULARY):
        with contextlib.suppress(FileNotFoundError):
            for entry in os.scandir(folder / name):
                # Merges delete files while we look at them.
                with contextlib.suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mode & 0o077:
                        os.chmod(entry.path, 0o600)


def size(folder: Path) -> int:
    """Bytes of the index."""
    total = 0
    for name in (MESSAGES, VOCABULARY):
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder / name):
                with contextlib.suppress(FileNotFoundError):
                    total += entry.stat(follow_symlinks=False).st_size
    return total


def damaged(folder: Path, sound: set[str]) -> str:
    """The first file that is missing or whose check sum is wrong, or ``""``.

    Only files that belong to the index: a killed build leaves others, unfinished. Those in
    ``sound`` are not read again, since a file is never changed once it is written.
    """
    for name in (MESSAGES, VOCABULARY):
        try:
            expected = _expected(folder / name)
        except (OSError, ValueError, KeyError, TypeError):
            return f"{name}/{_META}"
        for path in expected:
            if path.name in sound:
                continue
            if not _is_whole(path):
                return f"{name}/{path.name}"
            sound.add(path.name)
    return ""


def _expected(folder: Path) -> list[Path]:
    meta = json.loads((folder / _META).read_text(encoding="utf-8"))
    found = []
    for segment in meta["segments"]:
        stem = segment["segment_id"].replace("-", "")
        found += [folder / f"{stem}.{ending}" for ending in _ENDINGS]
        if segment["deletes"]:
            found.append(folder / f"{stem}.{segment['deletes']['opstamp']}.del")
    return found


def _is_whole(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        if end < 8:
            return False
        file.seek(end - 8)
        tail = file.read(8)
        length = int.from_bytes(tail[:4], "little")
        body = end - 8 - length
        if int.from_bytes(tail[4:], "little") != _MAGIC or body < 0:
            return False
        file.seek(body)
        try:
            wanted = json.loads(file.read(length))["crc"]
        except (ValueError, KeyError, TypeError):
            return False
        file.seek(0)
        found = 0
        while body > 0 and (chunk := file.read(min(_CHUNK, body))):
            found = zlib.crc32(chunk, found)
            body -= len(chunk)
        return bool(found == wanted)
