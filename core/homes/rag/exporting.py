"""A whole store as a text file, and its numbers beside it (specs, memory-rag 11)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from core import atomic
from core.errors import UnreadableError, UsageError
from core.homes.rag.nodes import stamp
from core.homes.rag.settings import RagSettings, without_user
from core.homes.rag.store import Store

FORMAT = 1
#: What the numbers' file is called: the export's whole name and this.
NUMBERS = ".embedding-numbers.jsonl"
#: Sizes of numbers that the header tells for each collection.
_SIZES = 5


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written: nodes a collection, and how many numbers (``None``: none were wanted)."""

    file: Path
    collections: dict[str, int]
    vectors: int | None
    numbers: Path | None = None


def export(
    store: Store, file: Path, settings: RagSettings, now: datetime, *, vectors: bool = True
) -> Exported:
    """Write every node to ``file`` (mode 0600), and their numbers beside it if there are any.

    A file that is there is replaced if it is an export. Raises :class:`UsageError` for any other,
    and without ``vectors`` where numbers of an older export lie beside it;
    :class:`UnreadableError`, ``OSError``.
    """
    _check_target(file)
    beside = numbers_name(file)
    names = list(store.collections())
    has_numbers = vectors and any(True for name in names for _ in islice(store.vectors(name), 1))
    if not has_numbers and beside.exists():
        raise UsageError(
            f"{beside.name} of an older export lies beside {file.name}, and would count as its own",
            "Move it away, or name another file",
        )
    counts = {name: store.count(name) for name in names}
    header = {
        "kind": "header",
        "hermes_rag_export": FORMAT,
        "created": stamp(now),
        "store": str(store.folder),
        "embed_model": settings.embed_model,
        "ollama_url": without_user(settings.ollama_url),
        "vectors_included": has_numbers,
        "collections": {
            name: {
                "count": counts[name],
                "metadata": dict(metadata),
                "embedding_list_sizes": _sizes(store, name) if has_numbers else [],
            }
            for name, metadata in store.collections().items()
        },
    }
    written, ollama = 0, f"ollama:{settings.embed_model}"
    if has_numbers:
        with atomic.whole(beside, over=True) as stream:
            for name in names:
                for each in store.vectors(name):
                    numbers = [float(value) for value in each.values]
                    line = {"id": each.id, "collection": name, "embedding": numbers}
                    # The format has one model for all; another one is named where it made any.
                    if each.embedder not in ("", settings.embed_model, ollama):
                        line["embedder"] = each.embedder
                    stream.write(_line(line))
                    written += 1
    with atomic.whole(file, over=True) as stream:
        stream.write(_line(header))
        for line in _nodes(store, names):
            stream.write(_line(line))
    return Exported(file, counts, written if vectors else None, beside if has_numbers else None)


def numbers_name(file: Path) -> Path:
    """Where the numbers of an export lie."""
    return file.with_name(file.name + NUMBERS)


def _nodes(store: Store, names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        for node in store.nodes(name, by_id=True):
            yield {
                "kind": "node",
                "collection": name,
                "id": node.id,
                "document": node.document,
                "metadata": dict(node.metadata),
            }


def _sizes(store: Store, collection: str) -> list[float]:
    first = islice(store.vectors(collection), _SIZES)
    return [round(math.sqrt(sum(v * v for v in each.values)), 4) for each in first]


def _line(body: dict[str, Any]) -> bytes:
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return f"{text}\n".encode()


def _check_target(file: Path) -> None:
    try:
        # Opening a pipe would wait for its writer.
        if file.exists() and not file.is_file():
            raise UsageError(f"{file} is there and is no file", "Name another")
        with open(file, "rb") as stream:
            first = stream.readline(1_000_000)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise UnreadableError(f"{file} cannot be written over: {problem}", "Name another") from None
    try:
        header = json.loads(first)
    except ValueError:
        header = None
    if not isinstance(header, dict) or "hermes_rag_export" not in header:
        raise UsageError(f"{file} is there and is no export", "Name another file")
