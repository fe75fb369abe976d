"""Where a vak home keeps things: ledgers, note files, and the workspaces they belong to.

Lists are made from the folders, never from hashing (vak spec 1). Sub-homes of agents are the same
tree again below ``agents/<agent>/``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.homes.vak.fnv import workspace_hash
from core.homes.vak.ledgers import HEADER, SUFFIX, Entry, lines, open_ledger, parse

SESSIONS, MEMORY, PROPOSALS, SKILLS, AGENTS = (
    "sessions",
    "memory",
    "skill-proposals",
    "skills",
    "agents",
)
NOTES, PROFILE_FOLDER, PROFILE_NOTES = "MEMORY.md", "user", "USER.md"
PROFILE_FILE = f"{MEMORY}/{PROFILE_FOLDER}/{PROFILE_NOTES}"
#: Lines looked at for a header: it is the first that can be read.
_HEADER_WITHIN = 50


class LedgerFile(NamedTuple):
    """One ledger as it lies there; a tuple, since a home has thousands.

    ``identity`` tells any two states of it apart: device, number, bytes, and the nanoseconds of its
    two times. ``place`` is where it is, ``file`` its path in the home, ``project`` the folder named
    by its workspace's hash, ``agent`` the sub-home it lies in.
    """

    place: str
    file: str
    session_id: str
    project: str
    agent: str
    identity: tuple[int, int, int, int, int]

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.place)

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.identity[2]

    @property
    def touched(self) -> int:
        """When anything of it last changed, in nanoseconds since 1970; nobody can set that."""
        return self.identity[4]


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace of the home. ``path`` is what its ledgers say, ``""`` if none does.

    ``moved``: the folder is not called by the hash of that path (a moved workspace, or vak before
    2.0).
    """

    project: str
    path: str
    moved: bool


def roots(home: Path) -> list[tuple[str, Path]]:
    """The home itself, under the agent ``""``, and its sub-homes by agent."""
    agents = home / AGENTS
    return [("", home), *((name, agents / name) for name in _folders(agents))]


def ledger_files(home: Path, project: str | None = None) -> list[LedgerFile]:
    """Every ledger, of one workspace's folder or of all, in a fixed order; links are left out."""
    found: list[LedgerFile] = []
    for agent, root in roots(home):
        sessions = root / SESSIONS
        for folder in _folders(sessions) if project is None else [project]:
            found += _ledgers(home, agent, sessions / folder, folder)
    return found


def encrypted(home: Path) -> list[tuple[str, str]]:
    """Conversations of the newest layout, which need a key: ``(project, session id)``."""
    found = []
    for _, root in roots(home):
        sessions = root / SESSIONS
        for project in _folders(sessions):
            for name in _folders(sessions / project):
                inside = _names(sessions / project / name)
                if any(part.startswith("seg-") for part in inside):
                    found.append((project, name))
    return found


def workspaces(home: Path) -> list[Workspace]:
    """Every workspace that has ledgers, notes or proposals, by its folder's name."""
    projects: dict[str, None] = {}
    for _, root in roots(home):
        for kind in (SESSIONS, MEMORY, PROPOSALS):
            projects |= dict.fromkeys(_folders(root / kind))
    projects.pop(PROFILE_FOLDER, None)
    found = []
    for project in sorted(projects):
        path = workspace_path(home, project)
        found.append(Workspace(project, path, bool(path) and workspace_hash(path) != project))
    return found


def odd_layout(home: Path) -> list[str]:
    """What of the home cannot be read or is not where it should be, one sentence each."""
    found = []
    if sealed := encrypted(home):
        word = "ledger is" if len(sealed) == 1 else "ledgers are"
        found.append(f"{len(sealed)} {word} encrypted: only the agent has the key")
    if _there(home / "state.db") and not _there(home / MEMORY):
        found.append("Notes in state.db are of a layout that is not supported")
    found += [
        f"{SESSIONS}/{each.project} is not called by the hash of its workspace {each.path}"
        for each in workspaces(home)
        if each.moved
    ]
    return found


def workspace_path(home: Path, project: str) -> str:
    """The workspace a folder's ledgers name, ``""`` if none does."""
    headers = (header_of(file.path) for file in ledger_files(home, project))
    return next((cwd for header in headers if (cwd := cwd_of(header))), "")


def project_of(home: Path, named: str) -> str:
    """The folder of the workspace that ``named`` names: its hash, or its path."""
    is_hash = len(named) == 16 and set(named) <= set("0123456789abcdef")
    return named if is_hash else workspace_hash(named)


def header_of(path: Path) -> Entry | None:
    """The header of a ledger, if one of its first lines is one; ``None`` also where none can be
    read."""
    try:
        with open_ledger(path) as stream:
            for line in lines(stream):
                if line.ordinal >= _HEADER_WITHIN:
                    return None
                found = parse(line)
                if isinstance(found, Entry) and found.kind == HEADER:
                    return found
    except OSError:
        pass
    return None


def cwd_of(header: Entry | None) -> str:
    """The workspace a header names, ``""`` for none."""
    cwd = header.fields.get("cwd") if header else None
    return cwd if isinstance(cwd, str) else ""


def note_files(home: Path, project: str | None = None) -> list[str]:
    """The note files of one workspace or of all, then the profile, as paths of the home."""
    found = []
    for agent, root in roots(home):
        lead = f"{AGENTS}/{agent}/" if agent else ""
        for folder in _folders(root / MEMORY):
            file = f"{lead}{MEMORY}/{folder}/{NOTES}"
            if folder != PROFILE_FOLDER and project in (None, folder) and _there(home / file):
                found.append(file)
        if _there(home / lead / PROFILE_FILE):
            found.append(lead + PROFILE_FILE)
    return found


def _ledgers(home: Path, agent: str, folder: Path, project: str) -> Iterator[LedgerFile]:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    lead = f"{AGENTS}/{agent}/" if agent else ""
    for entry in listed:
        stem = entry.name.removesuffix(SUFFIX)
        if stem == entry.name or not stem:
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield LedgerFile(
                entry.path,
                f"{lead}{SESSIONS}/{project}/{entry.name}",
                stem,
                project,
                agent,
                (
                    status.st_dev,
                    status.st_ino,
                    status.st_size,
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                ),
            )


def _there(path: Path) -> bool:
    return os.path.lexists(path)


def _folders(folder: Path) -> list[str]:
    """Names of the folders in a folder, sorted; none where it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
