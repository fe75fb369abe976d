"""What changed in a home, as it happens: areas to look at again, never single files.

System events (watchfiles) tell it within a tenth of a second. A slow poll of names, sizes and times
stands below them: it finds what no event told (network and container mounts, field report D41)
and says so. A stamp decides what changed, so a read or a lock never counts (D43). ``state.db`` is
never opened here.
"""

from __future__ import annotations

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from core.areas import Area, areas_of, is_entered
from core.view import join

__all__ = [
    "Area",
    "Changed",
    "Event",
    "EventSource",
    "Mode",
    "Watcher",
    "areas_of",
    "events_arrive",
]


class Mode(StrEnum):
    """How changes are learnt: ``POLLING`` when the system reports none, or not all of them."""

    LIVE = "live"
    POLLING = "polling"


@dataclass(frozen=True, slots=True)
class Changed:
    """Areas that changed since the announcement before this one; never empty."""

    areas: frozenset[Area]


#: A path something happened to, and whether it was made or removed (not only modified).
Event = tuple[str, bool]
#: Watches folders (not what lies below them) until stopped: the events of each burst, or nothing
#: several times a second. Raises ``OSError`` or ``RuntimeError`` when the system cannot.
EventSource = Callable[[Sequence[str], threading.Event], Generator[Iterable[Event], None, None]]

#: Seconds: the longest burst told as one, the quiet that ends it, and how often silence is told.
BURST, QUIET, TICK = 0.5, 0.05, 0.1
#: Seconds between two announcements, and those an event may come later than the poll sees it.
PAUSE, GRACE = 0.3, 0.25
#: A poll may take this share of the time: a home of 50,000 records is polled less often.
POLL_SHARE, RESCAN_SHARE = 0.05, 0.25
#: Folders given to the system; a skill tree past it is only polled.
MAX_FOLDERS = 4096
#: Failures in a row before events count as refused: a folder may vanish between look and arming.
RETRIES = 3


def system_events(
    folders: Sequence[str], stop: threading.Event
) -> Generator[Iterable[Event], None, None]:
    """The events of the system, from watchfiles; see :data:`EventSource`."""
    from watchfiles import Change, watch

    batches = watch(
        *folders,
        watch_filter=None,
        debounce=int(BURST * 1000),
        step=int(QUIET * 1000),
        rust_timeout=int(TICK * 1000),
        yield_on_timeout=True,
        stop_event=stop,
        recursive=False,
        force_polling=False,
        ignore_permission_denied=True,
    )
    with contextlib.closing(batches):
        for batch in batches:
            yield {(path, change is not Change.modified) for change, path in batch}


def events_arrive(folder: Path, patience: float = 1.0) -> bool:
    """Whether the system tells of a change made here, within ``patience`` seconds.

    The change is setting the folder's mode to what it is. A writer on another machine may still
    go untold: only :attr:`Watcher.mode` learns that.
    """
    stop, deadline = threading.Event(), time.monotonic() + patience
    try:
        with contextlib.closing(system_events([str(folder)], stop)) as batches:
            next(batches)
            os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode))
            for batch in batches:
                if batch or time.monotonic() > deadline:
                    return bool(batch)
    except (OSError, RuntimeError):
        pass
    return False


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder that is watched, and the path of a home its content stands for."""

    root: str
    prefix: str


@dataclass(slots=True)
class _Scan:
    """One look at everything that matters.

    ``stamps``: a number per path that changes with it. ``folders``: what to watch, with device and
    inode. ``around``: paths outside them whose coming and going matters. ``seconds`` it took.
    """

    stamps: dict[str, int] = field(default_factory=dict)
    folders: dict[str, tuple[int, int]] = field(default_factory=dict)
    around: set[str] = field(default_factory=set)
    seconds: float = 0.0


class Watcher:
    """Changes of one home. Made in one step with a first look, so nothing after it is missed.

    ``extra`` are folders elsewhere with the path of a home their content stands for: an external
    skill folder with ``"skills"``, a note store with ``""``. ``poll`` is in seconds. One thread
    runs :meth:`changes`; ``mode`` may be read from any.
    """

    def __init__(
        self,
        root: Path,
        *,
        stop: threading.Event,
        poll: float = 5.0,
        extra: Sequence[tuple[Path, str]] = (),
        source: EventSource = system_events,
    ) -> None:
        places = [(root, ""), *extra]
        found = {os.path.abspath(folder): prefix for folder, prefix in places}
        self._places = [_Place(folder, found[folder]) for folder in sorted(found, reverse=True)]
        self._stop, self._poll, self._source = stop, poll, source
        self._refused = self._rearm = self._asked = False
        self._failures = 0
        self._deaf: set[str] = set()
        self._suspects: set[str] = set()
        self._due: set[Area] = set()
        self._judged_at, self._told_at = 0.0, -PAUSE
        self._scan = _look(self._places)
        self._set_poll()

    @property
    def mode(self) -> Mode:
        """``POLLING`` while events are refused, or missed in a folder that has had none since."""
        return Mode.POLLING if self._refused or self._deaf else Mode.LIVE

    def changes(self) -> Iterator[Changed]:
        """Wait for changes and tell them, until ``stop`` is set (then it ends within 0.5 s).

        A change is told about 0.1 s after it when all is quiet and within 1 s in a storm, at most
        three times a second. Nothing is raised for folders that vanish or cannot be read.
        """
        while not self._stop.is_set():
            # Whatever happened while nothing was armed shows in a look right after arming.
            self._asked, self._rearm = True, False
            with contextlib.closing(self._batches()) as batches:
                for batch in batches:
                    for path, replaced in batch:
                        self._note(path, replaced)
                    self._keep_up()
                    if self._is_ripe():
                        areas, self._due = frozenset(self._due), set()
                        self._told_at = time.monotonic()
                        yield Changed(areas)
                    if self._rearm:
                        break

    def _batches(self) -> Generator[Iterable[Event], None, None]:
        """Bursts of events; nothing but ticks once the system refuses to tell any."""
        folders = _watchable(self._scan.folders)
        try:
            with contextlib.closing(self._source(folders, self._stop)) as told:
                for batch in told:
                    self._refused, self._failures = False, 0
                    yield batch
        except (OSError, RuntimeError):
            # watchfiles also gives up at a name that is not UTF-8: arming again mends that.
            self._asked = True
        self._failures += 1
        self._refused = self._failures > RETRIES
        while not self._stop.wait(TICK):
            yield ()

    # -- events ----------------------------------------------------------------------------

    def _note(self, path: str, replaced: bool) -> None:
        """Compare the one path an event names, or look at everything when a folder moved."""
        folder = os.path.dirname(path)
        self._deaf -= {path, folder}
        self._suspects -= {path, folder}
        if path in self._scan.folders or path in self._scan.around:
            self._suspects.clear()
            self._rearm = self._rearm or (replaced and path in self._scan.folders)
            self._asked = True
            return
        inside = self._inside(path)
        if inside is None:
            return
        status = _status(path, follow=False)
        is_folder = status is not None and stat.S_ISDIR(status.st_mode)
        is_link = status is not None and stat.S_ISLNK(status.st_mode)
        if (is_folder or is_link) and _matters(inside):
            self._asked = True
        elif areas := areas_of(inside):
            self._compare(path, _stamp(path, status), areas)

    def _compare(self, path: str, stamp: int | None, areas: frozenset[Area]) -> None:
        stamps = self._scan.stamps
        if stamps.get(path) == stamp:
            return
        self._due |= areas
        if stamp is None:
            del stamps[path]
        else:
            stamps[path] = stamp

    def _inside(self, path: str) -> str | None:
        for place in self._places:
            if path.startswith(place.root + "/"):
                return join(place.prefix, path[len(place.root) + 1 :])
        return None

    # -- polls -----------------------------------------------------------------------------

    def _keep_up(self) -> None:
        now = time.monotonic()
        if self._suspects and now >= self._judged_at:
            self._deaf |= self._suspects
            self._suspects.clear()
        if self._asked and now >= self._asked_from:
            self._look_again()
        elif now >= self._poll_at:
            self._poll_once()

    def _look_again(self) -> set[str]:
        """Look at everything, note what is due; returns the paths that changed."""
        old, new = self._scan, _look(self._places)
        changed = {path for path, _ in old.stamps.items() ^ new.stamps.items()}
        for path in changed:
            self._due |= areas_of(self._inside(path) or "")
        broken = self._failures > 0 and not self._refused
        self._rearm = self._rearm or broken or old.folders != new.folders
        self._scan, self._asked = new, False
        self._deaf &= new.folders.keys()
        self._set_poll()
        return changed

    def _poll_once(self) -> None:
        """Look unasked: what shows only now had better be told by an event within ``GRACE``."""
        changed = self._look_again()
        self._rearm = self._rearm or self._refused
        if changed and not self._suspects:
            self._judged_at = time.monotonic() + GRACE
        for path in changed:
            folder = os.path.dirname(path)
            while folder not in self._scan.folders and folder != os.path.dirname(folder):
                folder = os.path.dirname(folder)
            self._suspects.add(folder)

    def _set_poll(self) -> None:
        now, seconds = time.monotonic(), self._scan.seconds
        self._asked_from = now + seconds / RESCAN_SHARE
        self._poll_at = now + max(self._poll, seconds / POLL_SHARE)

    def _is_ripe(self) -> bool:
        late = time.monotonic() - self._told_at
        return bool(self._due) and not self._suspects and late >= PAUSE


def _matters(inside: str) -> bool:
    return is_entered(inside) or bool(areas_of(inside))


def _look(places: Iterable[_Place]) -> _Scan:
    """Names, times and sizes of everything that matters; what cannot be read is left out."""
    begun, scan = time.monotonic(), _Scan()
    for place in places:
        _anchor(scan, place.root)
        if os.path.islink(place.root):
            _anchor(scan, os.path.realpath(place.root))
        _walk(scan, place)
    scan.seconds = time.monotonic() - begun
    return scan


def _walk(scan: _Scan, place: _Place) -> None:
    seen: set[tuple[int, int]] = set()
    todo, links = [(place.root, place.prefix)], list[tuple[str, str]]()
    while todo or links:
        # Links last: of two ways to one folder, the same one is taken every time.
        folder, inside = (todo or links).pop()
        try:
            status = os.stat(folder)
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError:
            continue
        identity = (status.st_dev, status.st_ino)
        if identity in seen:
            continue
        seen.add(identity)
        scan.folders[folder] = identity
        for entry in entries:
            below = join(inside, entry.name)
            areas, enters = areas_of(below), is_entered(below)
            if not areas and not enters:
                continue
            is_link = entry.is_symlink()
            if is_link:
                _anchor(scan, os.path.realpath(entry.path))
            if areas and (stamp := _stamp(entry.path, _entry_status(entry))) is not None:
                scan.stamps[entry.path] = stamp
            if enters and _is_folder(entry):
                (links if is_link else todo).append((entry.path, below))


def _anchor(scan: _Scan, path: str) -> None:
    """Watch the nearest folder above ``path`` that exists, for its coming and going."""
    scan.around.add(path)
    folder = os.path.dirname(path)
    while (status := _status(folder)) is None and folder != os.path.dirname(folder):
        scan.around.add(folder)
        folder = os.path.dirname(folder)
    if status is not None:
        scan.folders.setdefault(folder, (status.st_dev, status.st_ino))


def _watchable(folders: Iterable[str]) -> list[str]:
    """Those the system can be given: named in UTF-8, and not too many."""
    return [folder for folder in folders if _is_utf8(folder)][:MAX_FOLDERS]


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _status(path: str, *, follow: bool = True) -> os.stat_result | None:
    try:
        return os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError):
        return None


def _entry_status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat()
    except OSError:
        return _status(entry.path, follow=False)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _stamp(path: str, status: os.stat_result | None) -> int | None:
    """A number that tells two states of a path apart; one number a path keeps 50,000 of them small.

    An empty ``-wal`` is the same as none: opening a database to read leaves one behind.
    """
    if status is None or (status.st_size == 0 and path.endswith("-wal")):
        return None
    if stat.S_ISDIR(status.st_mode):
        return hash((status.st_mode, status.st_ino))
    return hash((status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns))
