"""The profiles that a call may name, and the one it is made in.

Source: hermes-agent 0.19.0, executed (specs, hermes-sessions 1.1 and 2). Names are compared with
the agent's own set of reserved ones; its words are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.homes.hermes.home import DEFAULT, RESERVED

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


class ProfileError(Exception):
    """A name that is none, or of no profile; the text is the tool's reason."""


@dataclass(frozen=True, slots=True)
class Profiles:
    """``root`` holds them all; ``current`` is the name of the one that is open, ``custom`` for a
    home that is none of them."""

    root: Path
    current: str = DEFAULT

    def home(self, named: Any) -> Path:
        """The folder of a profile. Raises :class:`ProfileError`."""
        name = str(named).strip().lower()
        if name == DEFAULT:
            return self.root
        if not _NAME.fullmatch(name):
            raise ProfileError(
                f"Invalid profile name {name!r}. Must match [a-z0-9][a-z0-9_-]{{0,63}}"
            )
        if name in RESERVED:
            raise ProfileError(
                f"Profile name {name!r} is reserved — it collides with either the Hermes "
                "installation itself or a common system binary.  Pick a different name."
            )
        folder = self.root / "profiles" / name
        if not folder.is_dir():
            raise ProfileError(f"profile '{name}' does not exist")
        return folder

    def every(self) -> list[tuple[str, Path]]:
        """All of them with their folders: the root first, then by name."""
        folder = self.root / "profiles"
        named = (
            sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
        )
        return [
            (DEFAULT, self.root),
            *((each.name, each) for each in named if _NAME.fullmatch(each.name)),
        ]
