"""Profiles of a Hermes home: which of them is meant, and where its root lies.

Rules of hermes-agent 0.19.0: the flag first, then a home that already lies under ``profiles/``,
then the sticky file ``active_profile`` of the root. Unlike a bare agent process, which ignores the
sticky file, signoff always honours it and says so.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from core.errors import NotFoundError

DEFAULT = "default"
#: The name shown for a folder inside the platform's default home that is no profile of it.
CUSTOM = "custom"
RESERVED = frozenset({"hermes", "test", "tmp", "root", "sudo"})
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
#: Bytes of ``active_profile`` that are looked at; a name has 64.
_STICKY_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Choice:
    """The home that opens, its profile's name, and the root that holds all profiles."""

    home: Path
    profile: str
    root: Path


def choose_profile(home: Path, flag: str | None, native: Path) -> Choice:
    """Which profile of ``home`` is meant. ``native`` is the platform's default home.

    Raises :class:`NotFoundError` naming those that exist, for a flag or a sticky file that names
    none.
    """
    root = profiles_root(home, native)
    sticky = ""
    if flag is None and home.parent.name != "profiles":
        sticky = _sticky(root)
    if flag is None and sticky in ("", DEFAULT):
        return Choice(home, _name(home, root), root)
    name = (flag if flag is not None else sticky).strip().lower()
    if name == DEFAULT:
        return Choice(root, DEFAULT, root)
    folder = root / "profiles" / name
    if is_profile_name(name) and folder.is_dir():
        return Choice(folder, name, root)
    hint = f"Its profiles are: {', '.join(profiles(root))}"
    if flag is None:
        raise NotFoundError(
            f"{root / 'active_profile'} names the profile {sticky!r}, which does not exist", hint
        )
    raise NotFoundError(f"There is no profile {flag!r} in {root}", hint)


def profiles_root(home: Path, native: Path) -> Path:
    """The folder whose ``profiles/`` counts: the default home around it, or the grandparent."""
    if Path(os.path.realpath(home)).is_relative_to(os.path.realpath(native)):
        return native
    return home.parent.parent if home.parent.name == "profiles" else home


def profiles(root: Path) -> tuple[str, ...]:
    """The names of a root's profiles, ``default`` first."""
    try:
        with os.scandir(root / "profiles") as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        names = []
    return (DEFAULT, *sorted(filter(is_profile_name, names)))


def is_profile_name(name: str) -> bool:
    """Whether the agent would accept ``name`` for a folder under ``profiles/``."""
    return bool(_NAME.fullmatch(name)) and name not in RESERVED | {DEFAULT}


def _name(home: Path, root: Path) -> str:
    if os.path.realpath(home) == os.path.realpath(root):
        return DEFAULT
    return home.name if home.parent.name == "profiles" else CUSTOM


def _sticky(root: Path) -> str:
    path = root / "active_profile"
    try:
        # Asked first: opening a pipe of that name would wait for ever.
        if not path.is_file():
            return ""
        with path.open("rb") as stream:
            return stream.read(_STICKY_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
