"""What lies in the archive: every package, by the folder it lies in, copies told apart.

hermes-agent 0.19.0 stamps a copy whose place is taken (``name-YYYYMMDDHHMMSS``); its model moved
some by hand as ``name-YYYYMMDD-HHMMSS``, which it then does not find (field report D22). It takes
any folder of the archive for a package, also ``references`` inside one (R07).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from core.homes.hermes.curator.moments import moment
from core.homes.hermes.curator.transitions import ARCHIVED
from core.homes.hermes.skills.rules import SKILL_FILE, SUPPORT_FOLDERS
from core.homes.hermes.skills.tree import ARCHIVE, EXCLUDED, has_skill_file, read_declared
from core.model import NodeKind
from core.view import View, join, name

#: Folders below each other in the archive past which it is not entered.
MAX_DEPTH = 10
_STAMP = re.compile(r"(.+)-(\d{8})-?(\d{6})", re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Package:
    """One package. ``folder`` is its path below the archive, ``name`` what its head says.

    ``base`` is the folder's own name without a stamp: where it goes back to. ``stamp`` is when it
    was archived, by its folder's name.
    """

    folder: str
    name: str
    base: str
    stamp: datetime | None

    @property
    def path(self) -> str:
        """Its path in the home."""
        return join(ARCHIVE, self.folder)

    def archived_at(self, rows: Mapping[str, Any]) -> datetime | None:
        """When it was archived: by its stamp, else by its row, ``None`` if neither says."""
        if self.stamp is not None:
            return self.stamp
        for key in (self.name, self.base):
            row = rows.get(key)
            if isinstance(row, dict) and row.get("state") == ARCHIVED:
                return moment(row.get("archived_at"))
        return None


def read_packages(view: View) -> tuple[Package, ...]:
    """Every package, sorted by folder; not recorded."""
    quiet = view.quiet()
    return view.shared("archive-packages", lambda _: _packages(quiet))


def archived_at(
    package: Package, packages: Iterable[Package], rows: Mapping[str, Any]
) -> datetime | None:
    """:meth:`Package.archived_at`, but a row tells of the last copy alone.

    The first copy of a name has no stamp; once another lies beside it, the row's time is of that.
    """
    at = package.archived_at(rows)
    if package.stamp is None and at is not None:
        stamps = [each.stamp for each in packages if each.base == package.base and each.stamp]
        if stamps and max(stamps) >= at.replace(microsecond=0):
            return None
    return at


def newer_copies(
    package: Package, packages: Iterable[Package], rows: Mapping[str, Any]
) -> tuple[Package, ...]:
    """Those of ``packages`` that were archived after ``package``, the newest first."""
    others = tuple(packages)
    at = archived_at(package, others, rows)
    found = [
        (each.stamp, each) for each in others if each.stamp and (at is None or each.stamp > at)
    ]
    return tuple(each for _, each in sorted(found, key=lambda one: one[0], reverse=True))


def leftovers(view: View) -> tuple[str, ...]:
    """What lies in the archive and is in no package: files, and folders without any."""
    held = {package.folder.partition("/")[0] for package in read_packages(view)}
    return tuple(entry for entry in sorted(view.quiet().names(ARCHIVE)) if entry not in held)


def find_package(view: View, token: str) -> tuple[Package, ...]:
    """The package ``token`` means first, then the other copies it could mean; recorded.

    A folder that is listed is meant by its path, below the archive or in the home; else ``token``
    is a name, and the newest copy comes first: one whose folder has exactly that name, then stamped
    ones, the newest first.
    """
    folders = json.loads(view.ask("archive-package", token, _folders))
    by_folder = _index(view)
    return tuple(by_folder[folder][0] for folder in folders)


def _folders(view: View, token: str) -> str:
    return json.dumps([package.folder for package in _meant(_index(view), token)])


def _index(view: View) -> Mapping[str, list[Package]]:
    """Packages by folder, by name and by where they go back to; by folder there is only one."""
    return view.shared("archive-index", lambda quiet: _indexed(read_packages(quiet)))


def _indexed(packages: tuple[Package, ...]) -> dict[str, list[Package]]:
    found: dict[str, list[Package]] = {package.folder: [package] for package in packages}
    for package in packages:
        for key in {package.name, package.base}:
            copies = found.setdefault(key, [])
            if package not in copies:
                copies.append(package)
    return found


def _meant(index: Mapping[str, list[Package]], token: str) -> list[Package]:
    whole = token.strip("/")
    inside = whole.removeprefix(f"{ARCHIVE}/")
    exact = _at(index, inside)
    if inside != whole and not exact:
        # A path of the home means what lies there, and nothing else of that name.
        return []
    exact = exact or _at(index, whole.removeprefix(f"{name(ARCHIVE)}/"))
    wanted = exact[0].base if exact else token
    copies = [p for p in index.get(wanted, []) if wanted in (p.base, p.name) and p not in exact]
    return exact + sorted(copies, key=lambda package: _rank(package, wanted))


def _at(index: Mapping[str, list[Package]], folder: str) -> list[Package]:
    return [package for package in index.get(folder, []) if package.folder == folder]


def _rank(package: Package, wanted: str) -> tuple[bool, bool, float, str]:
    stamp = package.stamp.timestamp() if package.stamp else 0.0
    return package.base != wanted, package.stamp is not None, -stamp, package.folder


def _packages(view: View) -> tuple[Package, ...]:
    found: list[Package] = []
    todo = [("", 0)]
    while todo:
        folder, depth = todo.pop()
        path = join(ARCHIVE, folder)
        is_package = bool(folder) and has_skill_file(view, path)
        if is_package:
            found.append(_package(view, folder))
        skipped = EXCLUDED | SUPPORT_FOLDERS if is_package else EXCLUDED
        if depth < MAX_DEPTH:
            todo += [
                (join(folder, child), depth + 1)
                for child in view.names(path)
                if child not in skipped and view.kind(join(path, child)) is NodeKind.DIR
            ]
    return tuple(sorted(found, key=lambda package: package.folder))


def _package(view: View, folder: str) -> Package:
    own, path = name(folder), join(ARCHIVE, folder)
    declared = read_declared(view, path)
    base, stamp = _split(own)
    if declared == own and stamp is not None:
        head = view.read(join(path, SKILL_FILE)).data or b""
        if os.fsencode(own) in head:
            # The head says those digits itself: they are a part of the name.
            return Package(folder, own, own, None)
        declared = base
    return Package(folder, declared, base, stamp)


def _split(own: str) -> tuple[str, datetime | None]:
    match = _STAMP.fullmatch(own)
    if match is None:
        return own, None
    try:
        stamp = datetime.strptime(match[2] + match[3], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return own, None
    return match[1], stamp
