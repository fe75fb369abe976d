"""The home a commit works on, with signoff's own folder beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from core import locks
from core.files import Writer, private_folder
from core.records import Mounted, Records
from core.steps import RowFormat
from core.view import Disk, sha256

#: How an agent's locks are held: the files, and seconds for all; gives the folders made for them.
Holding = Callable[[Sequence[Path], float], AbstractContextManager[frozenset[Path]]]


@dataclass(frozen=True, slots=True)
class Ground:
    """``root``: the home's real path. ``state``: signoff's own folder (journal, locks).

    ``roots``: folders outside the home that plans may write to; ``holding``: how the agent's locks
    are held. ``rows``: how the agent writes
    its row files. ``records`` are the rows of its database, where it has one.
    """

    root: Path
    profile: str
    state: Path
    rows: RowFormat
    roots: tuple[Path, ...] = ()
    holding: Holding = locks.hold
    records: Records | None = None

    @property
    def lock(self) -> Path:
        """signoff's own lock for this home."""
        name = str(self.root).encode("utf-8", "surrogateescape")
        return self.state / "locks" / sha256(name)

    @contextmanager
    def held(self, patience: float = locks.PATIENCE) -> Iterator[None]:
        """Hold signoff's own lock during the block. Raises as :func:`core.locks.hold`."""
        private_folder(self.state)
        private_folder(self.lock.parent)
        with locks.hold([self.lock], patience):
            yield

    def reaching(self, roots: Iterable[str]) -> Ground:
        """The same home with further folders outside it that may be written to."""
        return replace(self, roots=(*self.roots, *map(Path, roots)))

    def disk(self) -> Disk:
        """The home as it stands."""
        return Mounted(self.root, self.records) if self.records else Disk(self.root)

    def writer(self, tag: str) -> Writer:
        """The writer of one journal entry."""
        return Writer(self.root, self.roots, tag, self.records)
