"""The other homes: the profiles of this root and what else was found, what waits there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from core.desk import kinds
from core.desk.opening import Opened
from core.desk.overview import oldest, trouble
from core.errors import NoHomeError
from core.homes.base import Discovery, Found, Kind, check_readable
from core.homes.hermes.home import DEFAULT, choose_profile, profiles
from core.view import Disk


@dataclass(frozen=True, slots=True)
class Place:
    """A home one can name. ``path`` is its real path, ``current`` says that it is the open one.

    ``root`` holds all profiles of a Hermes home.
    """

    path: Path
    kind: Kind
    profile: str
    root: Path
    current: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits in a home. ``waiting`` counts proposals, sleeping ones too.

    It is ``None`` where that is not known: ``trouble`` says why, a sentence each.
    """

    profile: str
    home: str
    waiting: int | None
    oldest_seconds: float | None
    trouble: tuple[str, ...] = ()


def places(opened: Opened) -> tuple[Place, ...]:
    """Every profile of this home's root, the default one first, then the other homes found.

    The open home stands among them, whatever its name. Only names are read.
    """
    found = opened.found
    listed = [
        Place(_real(path), found.kind, name, found.root, _real(path) == found.home)
        for name, path in _profiles(found.kind, found.root)
    ]
    if not any(place.current for place in listed):
        listed.append(Place(found.home, found.kind, found.profile, found.root, True))
    for other in found.others:
        path = _real(other.path)
        if all(place.path != path for place in listed):
            listed.append(Place(path, other.kind, DEFAULT, path))
    return tuple(listed)


def waiting_in(place: Place, now: datetime, state: Path | None = None) -> Waiting:
    """Count what waits in a home; nothing is judged, and what cannot be read is said.

    ``state`` is signoff's own folder: what waits there for the home counts too.
    """
    named = place.profile, str(place.path)
    if place.kind not in kinds.REVIEWED:
        return Waiting(*named, None, None, (f"{place.kind} homes cannot be reviewed yet",))
    if not os.path.isdir(place.path):
        return Waiting(*named, None, None, ("the folder is gone",))
    outside = kinds.waiting_of(place.kind, state, place.path) if state else ""
    queue = kinds.read_queue(place.kind, Disk(place.path), waiting=outside)
    if problems := trouble(queue):
        return Waiting(*named, None, None, problems)
    return Waiting(*named, len(queue.proposals), oldest(queue, now))


def all_profiles(opened: Opened) -> tuple[Waiting, ...]:
    """What waits in every profile of the home's root, the default one first."""
    kind, root, now = opened.found.kind, opened.found.root, opened.clock()
    return tuple(
        waiting_in(Place(path, kind, name, root), now) for name, path in _profiles(kind, root)
    )


def open_place(opened: Opened, place: Place) -> Opened:
    """Open another home with the same settings, journal and clock.

    Raises :class:`NoHomeError` for a home that is gone or of a kind this version does not review,
    and :class:`UnreadableError` for one that cannot be looked into.
    """
    if place.kind not in kinds.REVIEWED:
        raise NoHomeError(
            f"{place.path} is a {place.kind} home, which this version cannot review yet",
            "Choose a Hermes or a vak home",
        )
    if not os.path.isdir(place.path):
        raise NoHomeError(f"{place.path} is not there any more", "Choose another home")
    check_readable(place.path, listed=False)
    left = opened.found
    if place.root == left.root:
        found = Discovery(place.path, place.kind, place.profile, left.root, left.others)
    else:
        home, profile, root = place.path, DEFAULT, place.path
        if place.kind is Kind.HERMES:
            chosen = choose_profile(place.path, None, place.path)
            home, profile, root = _real(chosen.home), chosen.profile, chosen.root
        back = Found(left.home, left.kind, "left")
        others = (back, *(o for o in left.others if _real(o.path) != place.path))
        found = Discovery(home, place.kind, profile, root, others)
    return replace(opened, found=found)


def _profiles(kind: Kind, root: Path) -> Iterator[tuple[str, Path]]:
    if kind is not Kind.HERMES:
        yield DEFAULT, root
        return
    for name in profiles(root):
        yield name, root if name == DEFAULT else root / "profiles" / name


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))
