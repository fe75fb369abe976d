"""Which files an ingest takes (specs, memory-rag 9)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.homes.rag.nodes import scrubbed

#: Folders and files of these names are never taken, nor what lies below them.
SKIPPED_PARTS = frozenset(
    (
        *(".git", ".venv", "venv", "__pycache__", ".pytest_cache", "node_modules", "dist"),
        *("build", "target", ".idea", ".vscode", "logs", ".hermes", "chroma"),
        *("chroma-agent-workflows", ".ollama"),
    )
)
#: Ends of names, in small letters. The original means ``.min.*`` and never meets them.
SKIPPED_ENDINGS = (
    *(".pyc", ".pyo", ".so", ".dylib", ".dll", ".exe", ".class", ".jar", ".png", ".jpg", ".jpeg"),
    *(".gif", ".ico", ".pdf", ".zip", ".tar", ".gz", ".whl", ".db", ".db-wal", ".db-shm"),
    *(".lock", ".log", ".map", ".svg", ".sqlite", ".sqlite3", ".min.js", ".min.css"),
    # What SQLite keeps beside a database: to open and close it takes SQLite's locks away.
    *(".sqlite-wal", ".sqlite-shm", ".sqlite3-wal", ".sqlite3-shm", "-journal"),
)
SKIPPED_NAMES = frozenset(
    (
        *("package-lock.json", "yarn.lock", "poetry.lock", "pdm.lock", "uv.lock"),
        "composer.lock",
    )
)
#: A ``.json`` with one of these in its path, in small letters, is data, no code.
SKIPPED_JSON = ("cache", "db/", "data/")


@dataclass(frozen=True, slots=True)
class Found:
    """A file to take: its path below the root with ``/``, where it is, size and time (ns)."""

    path: str
    full: str
    size: int
    changed: int


def code_files(root: Path, skip_json: Sequence[str] = ()) -> Iterator[Found]:
    """The files of code below ``root``, by their paths."""
    for found in _files(root):
        name = found.path.rsplit("/", 1)[-1].lower()
        is_data = name.endswith(".json") and (
            any(part in found.path.lower() for part in SKIPPED_JSON)
            or any(part in found.path for part in skip_json)
        )
        if name in SKIPPED_NAMES or name.endswith(SKIPPED_ENDINGS) or is_data:
            continue
        yield found


def pages(folder: Path) -> Iterator[Found]:
    """The wiki pages below ``folder``, by their paths."""
    return (found for found in _files(folder) if found.path.endswith(".md"))


def _files(root: Path) -> Iterator[Found]:
    top = os.path.realpath(root)
    found: list[tuple[tuple[str, ...], Found]] = []
    for folder, names, files in os.walk(top):
        names[:] = [name for name in names if name not in SKIPPED_PARTS]
        for name in files:
            full = os.path.join(folder, name)
            if name in SKIPPED_PARTS or not _inside(full, top):
                continue
            try:
                status = os.stat(full)
            except OSError:
                continue
            if stat.S_ISREG(status.st_mode):
                parts = Path(os.path.relpath(full, top)).parts
                path = scrubbed("/".join(parts))
                found.append((parts, Found(path, full, status.st_size, status.st_mtime_ns)))
    return (each for _, each in sorted(found, key=lambda pair: pair[0]))


def _inside(full: str, top: str) -> bool:
    """Whether a file lies below the root; a link that leads out of it is not taken."""
    return not os.path.islink(full) or os.path.realpath(full).startswith(top.rstrip("/") + "/")
