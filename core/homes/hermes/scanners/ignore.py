"""Which files of a skill the agent's scanner leaves out: ``.skillignore`` and its twin.

Measured on hermes-agent 0.19.0. It looks like gitignore and is less: no exceptions, ``*`` also
crosses ``/``, case counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

IGNORE_FILES = (".skillignore", ".clawhubignore")
#: Scanned whatever the lists say, in any folder of the skill.
ALWAYS_SCANNED = "SKILL.md"


@dataclass(frozen=True, slots=True)
class _Rule:
    """One line: ``/`` in front ties it to the skill's root, ``/`` at the end takes no wildcards."""

    path: str
    rooted: bool
    plain: bool

    def matches(self, path: str) -> bool:
        if self.plain:
            below = f"/{path}/"
            return below.startswith(f"/{self.path}/") or (
                not self.rooted and f"/{self.path}/" in below
            )
        if fnmatchcase(path, self.path):
            return True
        if self.rooted:
            return False
        parts = path.split("/")
        names = parts[-1:] if "/" in self.path else parts
        return path.startswith(f"{self.path}/") or any(
            fnmatchcase(part, self.path) for part in names
        )


def load_ignore(lists: Mapping[str, str | None]) -> Callable[[str], bool]:
    """A test for paths inside the skill. ``lists``: the text of each list, ``None``: unreadable.

    The lists themselves are always left out.
    """
    rules = [
        rule
        for text in lists.values()
        for line in (text or "").splitlines()
        if (rule := _rule(line.strip()))
    ]

    def ignored(path: str) -> bool:
        base = path.rpartition("/")[2]
        if base == ALWAYS_SCANNED:
            return False
        return base in IGNORE_FILES or any(rule.matches(path) for rule in rules)

    return ignored


def _rule(line: str) -> _Rule | None:
    path = line.strip("/")
    if not path or line.startswith("#"):
        return None
    return _Rule(path, rooted=line.startswith("/"), plain=line.endswith("/"))
