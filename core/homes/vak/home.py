"""Where a vak home keeps things: ledgers, note files, and the workspaces they belong to.

Lists are made from the folders, never from hashing (vak spec 1). Sub-homes of agents are the same
tree again below ``agents/<agent>/``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from core.homes.vak.fnv import workspace_hash
from core.homes.vak.ledgers import HEADER, Entry, lines, open_ledger, parse
from core.homes.vak.listing import Folder, LedgerFile, listed

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
    return [file for folder in ledger_folders(home, project) for file in folder.files]


def ledger_folders(home: Path, project: str | None = None) -> list[Folder]:
    """The folders that ledgers lie in, as they stand; those that did not change are the same
    objects as before."""
    found = []
    for agent, root in roots(home):
        sessions = root / SESSIONS
        lead = f"{AGENTS}/{agent}/" if agent else ""
        for name in _folders(sessions) if project is None else [project]:
            inside = f"{lead}{SESSIONS}/{name}"
            found.append(listed(f"{sessions}/{name}", inside, name, agent))
    return found


def encrypted(home: Path) -> list[tuple[str, str]]:
    """Conversations of the newest layout, which need a key: ``(project, session id)``."""
    return [(folder.project, name) for folder in ledger_folders(home) for name in folder.encrypted]


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
    found = [f"{folder} cannot be read: {reason}" for folder, reason in shut(home)]
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


def shut(home: Path, *kinds: str) -> list[tuple[str, str]]:
    """Folders that cannot be listed, with the reason: what lies in them is not known.

    ``kinds`` are those of :data:`SESSIONS` and so on that are looked at, all unless named.
    """
    found = []
    for agent, root in roots(home):
        lead = f"{AGENTS}/{agent}/" if agent else ""
        for kind in kinds or (SESSIONS, MEMORY, PROPOSALS):
            inside = (f"{kind}/{name}" for name in _folders(root / kind))
            for folder in (kind, *inside):
                reason = _why_shut(root / folder)
                if reason:
                    found.append((lead + folder, reason))
    if reason := _why_shut(home / AGENTS):
        found.append((AGENTS, reason))
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


def _there(path: Path) -> bool:
    return os.path.lexists(path)


def _folders(folder: Path) -> list[str]:
    """Names of the folders in a folder, sorted; none where it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _why_shut(folder: Path) -> str:
    """Why a folder that is there cannot be looked into, ``""`` if it can."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)
                break
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as problem:
        return (problem.strerror or str(problem)).lower()
    return ""
