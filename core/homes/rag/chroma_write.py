"""Statuses of an existing Chroma store, changed by chromadb itself in a child process.

Needs the extra ``chroma``. Texts are never changed: those need numbers of the store's own model.
"""

from __future__ import annotations

import errno
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from core.errors import UnreadableError
from core.homes.rag.chroma import ChromaReader
from core.homes.rag.nodes import Metadata, Node, Scalar, decode, encode
from core.homes.rag.store import moved, record_of
from core.model import Node as FileNode

#: Seconds a change may take, the start of chromadb included.
WAIT = 120.0


def is_installed() -> bool:
    """Whether chromadb is there, without importing it."""
    return importlib.util.find_spec("chromadb") is not None


class ChromaStore(ChromaReader):
    """A Chroma store whose metadata can be changed. ``python`` is an interpreter with chromadb."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        super().__init__(folder)
        self._python = python

    def put(self, path: str, before: FileNode | None, after: FileNode | None) -> None:
        """See :class:`core.records.Records`. A row is never made or removed here."""
        collection, name = record_of(self.file, path) or ("", "")
        if before is None or after is None:
            raise OSError(errno.EPERM, "Notes are never removed, only their status changes", path)
        found, wanted = self.get(collection, name), decode(collection, name, after.data)
        if found is None or encode(found) != before.data:
            raise moved(path)
        if found.document != wanted.document:
            raise OSError(errno.EPERM, "Texts of a Chroma store are not changed", path)
        self.update(collection, [(wanted, changed(found.metadata, wanted.metadata))])

    def update(self, collection: str, updates: Iterable[tuple[Node, Metadata]]) -> None:
        """Merge metadata into nodes; ``None`` takes a key away. Raises :class:`UnreadableError`."""
        asked = {
            "folder": str(self.folder),
            "collection": collection,
            "updates": [[node.id, dict(keys)] for node, keys in updates],
        }
        script = Path(__file__).with_name("chroma_child.py")
        try:
            done = subprocess.run(
                [self._python, "-I", str(script)],
                input=json.dumps(asked),
                capture_output=True,
                text=True,
                timeout=WAIT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise UnreadableError(f"chromadb did not end: {problem}", "Try again") from problem
        if done.returncode or json.loads(done.stdout or "{}") != {"ok": True}:
            said = (_last_line(done.stderr.splitlines()) or "it said nothing")[:300]
            raise UnreadableError(f"chromadb could not change the store: {said}", "Try again")


def changed(before: Metadata, after: Metadata) -> Metadata:
    """The keys that differ, with their new values; ``None`` for those that go."""
    keys: dict[str, Scalar] = {
        key: value for key, value in after.items() if before.get(key) != value
    }
    return keys | dict.fromkeys(before.keys() - after.keys())


def _last_line(lines: Sequence[str]) -> str:
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
