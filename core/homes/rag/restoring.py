"""An export back into a store: everything is checked first, then written as one (specs 11)."""

from __future__ import annotations

import json
import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import SignoffError, UnreadableError
from core.homes.rag import schema
from core.homes.rag.building import forget
from core.homes.rag.exporting import FORMAT, numbers_name
from core.homes.rag.nodes import Metadata, Node, flat, oldest_first, project_of, scrubbed
from core.homes.rag.own import OwnStore
from core.homes.rag.own_rows import insert, make, number_of, put_vectors
from core.homes.rag.store import Vector


class NotRestoredError(SignoffError):
    """An export that is not restored as things stand; nothing was written."""

    title = "Not restored"
    code = "not_restored"


@dataclass(slots=True)
class Export:
    """A file that was read whole. ``vectors`` is ``None`` where no numbers lie beside it."""

    model: str
    has_vectors: bool
    collections: dict[str, Metadata] = field(default_factory=dict)
    nodes: dict[str, dict[str, Node]] = field(default_factory=dict)
    vectors: dict[str, dict[str, Vector]] | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """What was written, and what a person should know."""

    collections: Mapping[str, int]
    vectors: int
    warnings: tuple[str, ...] = ()


def read_export(file: Path) -> Export:
    """The export in ``file`` with its numbers. Raises :class:`UnreadableError`."""
    found: Export | None = None
    counts: dict[str, int] = {}
    for place, body in _lines(file):
        where = f"line {place} of {file.name}"
        kind = body.get("kind")
        if kind == "header":
            if found is not None:
                raise _broken(f"{where} is a second header")
            found, counts = _header(body, where)
        elif kind != "node":
            raise _broken(f"{where} is of an unknown kind {kind!r}")
        elif found is None:
            raise _broken(f"{where} stands before the header")
        else:
            node = _node(body, where)
            there = found.nodes.setdefault(node.collection, {})
            if node.id in there:
                raise _broken(f"{where} has an id of an earlier line")
            there[node.id] = node
            found.collections.setdefault(node.collection, {})
    if found is None:
        raise _broken(f"{file.name} has no header")
    for name, count in counts.items():
        if count != len(found.nodes.get(name, {})):
            held = len(found.nodes.get(name, {}))
            raise _broken(f"{file.name} says {count} nodes of {name} and holds {held}: it was cut")
    beside = next((each for each in _numbers_files(file) if each.is_file()), None)
    if beside is not None:
        found.vectors = _read_vectors(beside, found.model)
    return found


def restore(
    store: OwnStore,
    export: Export,
    current_model: str,
    *,
    force: bool = False,
    re_embedded: Mapping[str, Sequence[Vector]] | None = None,
) -> Restored:
    """Write an export as one transaction, or nothing of it.

    ``re_embedded``: numbers made anew where the export has none. Raises
    :class:`NotRestoredError`, :class:`UnreadableError`.
    """
    check(store, export, current_model, force=force)
    warnings = []
    if export.vectors is not None:
        vectors = {name: list(found.values()) for name, found in export.vectors.items()}
    else:
        vectors = {name: list(found) for name, found in (re_embedded or {}).items()}
        if any(vectors.values()):
            warnings.append("The export had no numbers: they were made anew")
        else:
            warnings.append("The export had no numbers: the store is searched by words")
    written = 0
    with schema.writing(store.folder) as db:
        for name, metadata in export.collections.items():
            old = number_of(db, name)
            if old is not None:
                if not force and db.execute(f"SELECT 1 FROM nodes_{old} LIMIT 1").fetchone():
                    raise _holds(name)
                forget(db, old)
            number = make(db, name, ready=True, metadata=metadata)
            nodes = export.nodes.get(name, {})
            # The order they came in, as far as their times tell it.
            insert(db, number, oldest_first(nodes.values()))
            kept = [each for each in vectors.get(name, ()) if each.id in nodes]
            put_vectors(db, number, kept)
            written += len(kept)
            row = (store.clock().timestamp(), project_of(name), "restore", f"{len(nodes)} nodes")
            db.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
    counts = {name: len(export.nodes.get(name, {})) for name in export.collections}
    return Restored(counts, written, tuple(warnings))


def check(store: OwnStore, export: Export, current_model: str, *, force: bool) -> None:
    """Everything that refuses a restore. Raises :class:`NotRestoredError`."""
    if export.vectors is None and export.model != current_model:
        raise NotRestoredError(
            f"The export was made with the model {export.model!r} and has no numbers beside it;"
            f" the current one is {current_model!r}",
            "Set HERMES_RAG_EMBED_MODEL to that model, or put the numbers' file beside it",
        )
    if export.vectors is None and export.has_vectors and not force:
        raise NotRestoredError(
            "The export has numbers, but their file does not lie beside it",
            "Put it there, or say --force to go on without",
        )
    if force:
        return
    for name in export.collections:
        if store.count(name):
            raise _holds(name)
        if export.vectors is not None:
            missing = export.nodes.get(name, {}).keys() - export.vectors.get(name, {}).keys()
            if missing and export.vectors.get(name):
                raise NotRestoredError(
                    f"{len(missing)} nodes of {name} have no numbers in the numbers' file",
                    "Say --force to restore them without",
                )


def _holds(name: str) -> NotRestoredError:
    return NotRestoredError(
        f"The store holds nodes in {name} already", "Say --force to put the export in their place"
    )


def _numbers_files(file: Path) -> Iterator[Path]:
    """Where numbers may lie: our name, the one of the README, the one of older exports."""
    yield numbers_name(file)
    yield file.with_suffix(".embedding-numbers.jsonl")
    yield file.with_name(f"{file.name}.vectors.jsonl")
    yield file.with_suffix(".vectors.jsonl")


def _lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        with open(file, encoding="utf-8") as stream:
            for place, line in enumerate(stream, 1):
                if not line.strip():
                    continue
                body = json.loads(line)
                if not isinstance(body, dict):
                    raise _broken(f"line {place} of {file.name} is no object")
                yield place, body
    except OSError as problem:
        raise _broken(f"{file} cannot be read: {problem.strerror or problem}") from problem
    except (ValueError, RecursionError) as problem:
        raise _broken(f"{file.name} is no JSON, line by line ({problem})") from problem


def _header(body: dict[str, Any], where: str) -> tuple[Export, dict[str, int]]:
    version = body.get("hermes_rag_export")
    if version != FORMAT:
        raise _broken(f"{where} is of format {version!r}, not {FORMAT}")
    model, listed = body.get("embed_model", ""), body.get("collections", {})
    if not isinstance(model, str) or not isinstance(listed, dict):
        raise _broken(f"{where} is no header")
    found = Export(model, bool(body.get("vectors_included")))
    counts = {}
    for name, about in listed.items():
        if not isinstance(about, dict):
            raise _broken(f"{where} says nothing about {name}")
        try:
            found.collections[scrubbed(name)] = flat(about.get("metadata") or {})
        except ValueError as problem:
            raise _broken(f"{where}: {problem}") from problem
        count = about.get("count")
        if isinstance(count, int):
            counts[scrubbed(name)] = count
    return found, counts


def _node(body: dict[str, Any], where: str) -> Node:
    collection, name = body.get("collection"), body.get("id")
    document, metadata = body.get("document"), body.get("metadata")
    if not isinstance(collection, str) or not isinstance(name, str) or not collection or not name:
        raise _broken(f"{where} has no collection or id")
    if not isinstance(document, str | None):
        raise _broken(f"{where} has a document that is no text")
    try:
        kept = flat({} if metadata is None else metadata)
    except ValueError as problem:
        raise _broken(f"{where}: {problem}") from problem
    return Node(scrubbed(collection), scrubbed(name), scrubbed(document or ""), kept)


def _read_vectors(file: Path, model: str) -> dict[str, dict[str, Vector]]:
    found: dict[str, dict[str, Vector]] = {}
    for place, body in _lines(file):
        name, collection, numbers = body.get("id"), body.get("collection"), body.get("embedding")
        if not isinstance(name, str) or not isinstance(collection, str):
            raise _broken(f"line {place} of {file.name} has no id or collection")
        if not isinstance(numbers, list) or not all(
            isinstance(value, int | float) and math.isfinite(value) for value in numbers
        ):
            raise _broken(f"line {place} of {file.name} has no list of numbers")
        made_by = body.get("embedder")
        embedder = made_by if isinstance(made_by, str) and made_by else model
        found.setdefault(collection, {})[name] = Vector(name, embedder, array("f", numbers))
    return found


def _broken(why: str) -> UnreadableError:
    return UnreadableError(f"The export cannot be used: {why}", "Nothing was written")
