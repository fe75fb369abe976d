"""Which project a folder belongs to (specs, memory-rag 7): the longest path of a small file.

The file looks like YAML and is read by its own simple rules; a broken one is never an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PATHS = ("path", "prefix", "dir", "root")
_NAMES = ("project", "name", "slug")
#: A projects file past this many bytes is none.
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One project of the file: the folder (absolute, ``~`` expanded) and its name."""

    path: str
    project: str


def read_projects(file: Path, user_home: Path) -> tuple[Entry, ...]:
    """The entries of the projects file, longest path first; none where it cannot be read."""
    try:
        with open(file, "rb") as stream:
            data = stream.read(_LARGEST + 1)
    except (OSError, ValueError):
        return ()
    if len(data) > _LARGEST:
        return ()
    found = list(_entries(data.decode("utf-8", "replace"), user_home))
    return tuple(sorted(found, key=lambda entry: len(entry.path), reverse=True))


def _entries(text: str, user_home: Path) -> Iterator[Entry]:
    path = project = ""
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("#"):
            continue
        if line.startswith("- ") or line == "-":
            path = project = ""
            line = line[1:].strip()
        key, colon, value = line.partition(":")
        value = value.strip().strip("\"'")
        if not colon or not value:
            continue
        key = key.strip().lower()
        if key in _PATHS:
            path = _expanded(value, user_home)
        elif key in _NAMES:
            project = value
        if path and project:
            yield Entry(path, project)
            path = project = ""


def _expanded(value: str, user_home: Path) -> str:
    tilde = value == "~" or value.startswith("~/")
    return os.path.normpath(f"{user_home}{value[1:]}" if tilde else value)


def project_for(name: str, folder: Path, entries: tuple[Entry, ...]) -> str:
    """The project meant: ``name`` if one is given, else that of ``folder`` by the entries.

    Paths are compared part by part, links not followed; without a match it is the folder's name.
    """
    if name.strip():
        return name.strip()
    entry = entry_of(folder, entries)
    return entry.project if entry else folder.name


def entry_of(folder: Path, entries: tuple[Entry, ...]) -> Entry | None:
    """The entry with the longest path that ``folder`` is or lies below."""
    parts = Path(os.path.normpath(folder)).parts
    for entry in entries:
        above = Path(entry.path).parts
        if parts[: len(above)] == above:
            return entry
    return None
