"""Code and wiki pages into a store (specs, memory-rag 9): resumed where they were ended, and the
old collection in place until the new one is whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.errors import NotFoundError
from core.homes.rag import walking
from core.homes.rag.building import Build, Ingested, add_in_place
from core.homes.rag.chunks import code_pieces, wiki_pieces
from core.homes.rag.nodes import (
    ACTIVE,
    Layer,
    Node,
    collection_of,
    node_id,
    project_of,
    scrubbed,
    stamp,
)
from core.homes.rag.own import OwnStore
from core.homes.rag.store import Vector
from core.homes.rag.walking import Found

#: Characters of a file that are taken.
LONGEST_FILE = 200_000
#: Pieces, and characters, written at a time; and pieces where each needs numbers, which takes long.
_PIECES, _CHARACTERS, _NUMBERED = 500, 4_000_000, 64


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingest is."""

    files: int
    of_files: int
    pieces: int


@dataclass(frozen=True, slots=True)
class Embed:
    """Numbers for texts about to be stored; ``name`` is the embedder's, ``""`` for none."""

    name: str
    make: Callable[[Sequence[Node]], Sequence[Vector]]

    def __call__(self, nodes: Sequence[Node]) -> Sequence[Vector]:
        return self.make(nodes)


#: Search by words alone.
NO_VECTORS = Embed("", lambda nodes: ())
Tell = Callable[[Progress], None]


def ingest_code(
    store: OwnStore,
    root: Path,
    project: str,
    *,
    cap: int,
    skip_json: Sequence[str] = (),
    rebuild: bool = True,
    embed: Embed = NO_VECTORS,
    tell: Tell = lambda _: None,
) -> Ingested:
    """Every file of code below ``root`` in pieces.

    Without ``rebuild`` pieces of files that are gone stay. Raises :class:`NotFoundError` where
    there is nothing to take: then nothing changes.
    """
    found = list(walking.code_files(root, skip_json))
    if not found:
        raise NotFoundError(f"There is no code below {root}", "Nothing was changed")
    collection = collection_of(project, Layer.CODE)

    def pieces(file: Found, number: int) -> Iterator[Node]:
        text = _text(file)
        for piece in code_pieces(text, cap) if text.strip() else ():
            name = node_id("code", file.path, str(number), piece)
            yield _node(store, collection, Layer.CODE, name, file.path, piece)
            number += 1

    return _run(store, collection, f"code {cap}", root, found, pieces, rebuild, embed, tell)


def ingest_wiki(
    store: OwnStore,
    folder: Path,
    project: str,
    *,
    empty: bool = False,
    embed: Embed = NO_VECTORS,
    tell: Tell = lambda _: None,
) -> Ingested:
    """Every page (``*.md``) below ``folder``, cut at its headings.

    Raises :class:`NotFoundError` where there is no page: then nothing changes. With ``empty`` that
    is as good as any.
    """
    found = list(walking.pages(folder))
    if not found and not empty:
        raise NotFoundError(f"There is no wiki page below {folder}", "Nothing was changed")
    collection = collection_of(project, Layer.WIKI)

    def pieces(file: Found, _number: int) -> Iterator[Node]:
        for place, (title, piece) in enumerate(wiki_pieces(_text(file))):
            name = node_id("wiki", file.path, str(place), piece)
            yield _node(
                store,
                collection,
                Layer.WIKI,
                name,
                file.path,
                piece,
                section=title,
                chunk_index=place,
            )

    return _run(store, collection, "wiki", folder, found, pieces, True, embed, tell)


def _run(
    store: OwnStore,
    collection: str,
    recipe: str,
    root: Path,
    found: Sequence[Found],
    pieces: Callable[[Found, int], Iterator[Node]],
    rebuild: bool,
    embed: Embed,
    tell: Tell,
) -> Ingested:
    # Half of it with the numbers of one embedder, half with another's: that is no collection.
    made_by = f"{recipe} by {embed.name}" if embed.name else recipe
    build = Build(store, collection, f"{made_by} {os.path.abspath(root)}") if rebuild else None
    state = build.state if build else {}
    files, count = int(state.get("files", 0)), int(state.get("pieces", 0))
    if build and files and state.get("digest") != digest(found[:files]):
        # Something before the place it got to is not what it was.
        build.restart()
        files = count = 0
    resumed = files
    waiting: list[Node] = []

    def write() -> None:
        if build:
            now = {"files": files, "pieces": count, "digest": digest(found[:files])}
            build.add(waiting, now, embed(waiting))
        else:
            add_in_place(store, waiting, embed(waiting))
        waiting.clear()
        tell(Progress(files, len(found), count))

    characters, most = 0, _NUMBERED if embed.name else _PIECES
    for file in found[files:]:
        for node in pieces(file, count):
            waiting.append(node)
            count += 1
            characters += len(node.document)
        files += 1
        if len(waiting) >= most or characters >= _CHARACTERS:
            write()
            characters = 0
    write()
    event = f"ingest_{recipe.split()[0]}"
    if build:
        build.finish(count, event, f"{files} files, {count} pieces")
    else:
        store.log(project_of(collection), event, f"{files} files, {count} pieces")
    return Ingested(project_of(collection), collection, files, count, resumed)


def digest(found: Sequence[Found]) -> str:
    """A short text that tells two lists of files apart: names, sizes and times."""
    hashed = hashlib.sha256()
    for file in found:
        hashed.update(f"{file.path}\0{file.size}\0{file.changed}\0".encode("utf-8", "replace"))
    return hashed.hexdigest()


def _text(file: Found) -> str:
    """The beginning of a file as text, bad bytes replaced; ``""`` for one that went away."""
    try:
        with open(file.full, "rb") as stream:
            # A character has four bytes at most.
            data = stream.read(4 * LONGEST_FILE)
    except OSError:
        return ""
    if b"\0" in data:
        return ""
    return scrubbed(data.decode("utf-8", "replace")[:LONGEST_FILE])


def _node(
    store: OwnStore,
    collection: str,
    layer: Layer,
    name: str,
    path: str,
    text: str,
    **more: str | int,
) -> Node:
    metadata = {
        "status": ACTIVE,
        "source": f"ingest_{layer}",
        "created": stamp(store.clock()),
        "layer": str(layer),
        "path": path,
        **more,
    }
    return Node(collection, name, text, metadata)
