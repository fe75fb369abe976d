"""An opened home: everything the rest of the desk needs, fixed once at start."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.desk import kinds
from core.errors import NoHomeError, StateError
from core.ground import Ground
from core.homes.base import Discovery, Kind, discover
from core.homes.hermes.config import Config, managed_folder
from core.homes.hermes.pending import Proposal, Queue
from core.homes.hermes.proposals import Judging, Pins
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.journal import Journal
from core.recover import settle
from core.settings import Settings
from core.view import Disk, Source, View


@dataclass(frozen=True, slots=True)
class Opened:
    """One home, one person's settings, one journal. ``state`` is signoff's own folder.

    ``clock`` tells the time (UTC); ``rules`` is ``auto``, ``0.19`` or ``newest``. ``since`` is when
    a person began to look at it (Unix nanoseconds of the system), 0 where nobody does.
    """

    found: Discovery
    state: Path
    settings: Settings
    environ: Mapping[str, str]
    clock: Callable[[], datetime]
    rules: str = "auto"
    since: int = 0

    @property
    def journal(self) -> Journal:
        """The journal in signoff's own folder."""
        return Journal(self.state)

    @property
    def source(self) -> Source:
        """The home as it stands on disk."""
        return Disk(self.found.home)

    def config(self) -> Config:
        """The home's config as it stands."""
        return self.judging().config(View(self.source))

    def queue(
        self,
        *,
        ids: frozenset[str] | None = None,
        known: Mapping[str, Proposal] | None = None,
        source: Source | None = None,
    ) -> Queue:
        """What waits, or would on ``source``; see :func:`core.desk.kinds.read_queue`."""
        where, outside = source or self.source, self.waiting_folder()
        return kinds.read_queue(self.found.kind, where, ids=ids, known=known, waiting=outside)

    def waiting_folder(self) -> str:
        """The folder outside the home where notes for it wait; ``""`` for none."""
        return kinds.waiting_of(self.found.kind, self.state, self.found.home)

    def rules_word(self) -> str:
        """Whose rules proposals are judged by, in a word."""
        return str(self.home_rules()) if self.found.kind is Kind.HERMES else str(self.found.kind)

    def home_rules(self) -> Rules:
        """The rules in force for the home as a whole."""
        view, judging = View(self.source), self.judging()
        return judging.rules_of(view, judging.config(view), None)

    def ground(self) -> Ground:
        """What a commit works on: the home, and the folders outside it that its config names."""
        named = (*self.config().external_dirs, self.waiting_folder())
        outside = (Path(path) for path in named if path.startswith("/"))
        held = kinds.holding(self.found.kind)
        return Ground(
            self.found.home, self.found.profile, self.state, usage, tuple(outside), holding=held
        )

    def judging(self, *, as_agent: bool = False) -> Judging:
        """How proposals are judged now."""
        base = Judging(
            now=self.clock(),
            environ=self.environ,
            managed=managed_folder(self.environ),
            rules=self.rules,
            as_agent=as_agent,
            guards_off=self.settings.guards_off,
            pins={} if as_agent else self.pins(),
        )
        return kinds.judging(self.found.kind, self.found.home, base)

    def pins(self) -> Mapping[str, Pins]:
        """What was pinned at first sight; nothing when the journal cannot be read."""
        try:
            return self.journal.pins(str(self.found.home))
        except StateError:
            return {}

    def check_state(self) -> None:
        """Make ready for a decision: the journal can be written, what did not end is settled.

        Raises :class:`StateError` when a decision could not be journalled now.
        """
        # Pinning nothing opens the journal for writing, and makes it where there is none yet.
        self.journal.pin(str(self.found.home), "", {}, self.clock())
        settle(self.ground(), self.journal)

    def state_trouble(self) -> str:
        """Why a decision could not be journalled, ``""`` if it could; makes and writes nothing."""
        try:
            self.journal.entries(limit=1)
        except StateError as problem:
            return problem.message
        place = self.journal.path
        if os.path.lexists(place):
            # SQLite keeps a file beside it, links followed, while it writes.
            folder = Path(os.path.realpath(place)).parent
            writable = os.access(place, os.W_OK) and _takes_files(folder)
        else:
            while not os.path.lexists(place):
                place = place.parent
            writable = _takes_files(place)
        return "" if writable else f"The journal {self.journal.path} cannot be written"


def _takes_files(folder: Path) -> bool:
    return os.path.isdir(folder) and os.access(folder, os.W_OK | os.X_OK)


def open_home(
    *,
    home: str | None,
    kind: str | None,
    profile: str | None,
    environ: Mapping[str, str],
    user_home: Path,
    state: Path,
    settings: Settings,
    clock: Callable[[], datetime],
    rules: str = "auto",
    store: Callable[[Path], Opened] | None = None,
) -> Opened:
    """Find the home and open it; ``store`` opens it if it is a note store, which reviews nothing.

    Raises :class:`NoHomeError` (none found, or one of a kind this version does not review) and
    :class:`NotFoundError` (no such profile).
    """
    found = discover(home, kind, profile, environ, user_home)
    if found.kind not in kinds.REVIEWED:
        if store is not None:
            return store(found.home)
        raise NoHomeError(
            f"{found.home} is a note store: no proposals wait in one",
            "See `signoff knowledge`, or name an agent's home with --home",
        )
    return Opened(found, state, settings, environ, clock, rules)
