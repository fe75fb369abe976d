"""The numbers of a Chroma store: from its queue, and from the files of its nearest-neighbour index.

Layout of chromadb 1.5.9 (specs, memory-rag 12). A file of another version is refused, not guessed.
"""

from __future__ import annotations

import io
import pickle
import sqlite3
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from core.errors import UnreadableError

_VERSION = 1
#: int32 version; level-0 offset, capacity, count, element size, label offset, data offset.
_HEADER = struct.Struct("<i6Q")
_UPDATE, _DELETE = 1, 3


def vectors(db: sqlite3.Connection, folder: Path, collection: str) -> dict[str, Sequence[float]]:
    """``id -> numbers`` of one collection. Raises :class:`UnreadableError`, ``OSError``."""
    row = db.execute(
        "SELECT c.id, c.dimension, s.id FROM collections c LEFT JOIN segments s"
        " ON s.collection = c.id AND s.scope = 'VECTOR' WHERE c.name = ?",
        (collection,),
    ).fetchone()
    if row is None:
        return {}
    number, dimension, segment = row
    found = _from_files(folder / str(segment), int(dimension or 0)) if segment else {}
    for name, operation, data in db.execute(
        "SELECT id, operation, vector FROM embeddings_queue WHERE topic LIKE ? ORDER BY seq_id",
        (f"%/{number}",),
    ):
        if operation == _DELETE:
            found.pop(name, None)
        elif data is not None:
            found[name] = array("f", data)
    return found


def _from_files(folder: Path, dimension: int) -> dict[str, Sequence[float]]:
    index = folder / "index_metadata.pickle"
    if not index.exists():
        return {}
    labels = _labels(index.read_bytes())
    header = (folder / "header.bin").read_bytes()
    if len(header) < _HEADER.size:
        raise _unknown(folder, "its header is too short")
    version, _, _, count, size, label_at, data_at = _HEADER.unpack_from(header)
    if version != _VERSION:
        raise _unknown(folder, f"version {version}")
    data = (folder / "data_level0.bin").read_bytes()
    if data_at + 4 * dimension > size or label_at + 8 > size or count * size > len(data):
        raise _unknown(folder, "its sizes do not fit together")
    by_label = {}
    for place in range(count):
        start = place * size
        (label,) = struct.unpack_from("<Q", data, start + label_at)
        numbers = data[start + data_at : start + data_at + 4 * dimension]
        by_label[label] = array("f", numbers)
    return {name: by_label[label] for name, label in labels.items() if label in by_label}


def _labels(data: bytes) -> dict[str, int]:
    try:
        found = _Plain(io.BytesIO(data)).load()
        labels = found["label_to_id"] if isinstance(found, dict) else None
    except (pickle.UnpicklingError, EOFError, KeyError, ValueError, IndexError) as problem:
        raise _unknown(Path("index_metadata.pickle"), str(problem)) from problem
    if not isinstance(labels, dict):
        raise _unknown(Path("index_metadata.pickle"), "it has no labels")
    return {str(name): int(label) for label, name in labels.items()}


class _Plain(pickle.Unpickler):
    """Takes texts, numbers, lists and dictionaries; anything else is refused."""

    def find_class(self, module: str, name: str, /) -> NoReturn:
        raise pickle.UnpicklingError(f"it names {module}.{name}")

    def persistent_load(self, pid: Any, /) -> NoReturn:
        raise pickle.UnpicklingError("it names something outside")


def _unknown(place: Path, why: str) -> UnreadableError:
    return UnreadableError(
        f"The vectors in {place} are of a kind that signoff does not know ({why})",
        "Texts and statuses can be read all the same: export with --no-vectors",
    )
