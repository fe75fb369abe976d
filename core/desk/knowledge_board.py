"""What a screen over a note store shows: its projects, one of them in numbers, a layer's nodes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.desk import knowledge
from core.desk.knowledge import Shelf
from core.desk.opening import Opened
from core.errors import SignoffError
from core.homes.base import Kind
from core.homes.rag import chroma_write, projects
from core.homes.rag.embedding import embedder_for
from core.homes.rag.nodes import GLOBAL, Layer, Node, collection_of, slug
from core.homes.rag.own import OwnStore
from core.homes.rag.stats import Stats


@dataclass(frozen=True, slots=True)
class Project:
    """A project of a store. ``layers`` counts nodes of any status, ``staged`` notes to merge.

    ``due``: so many are staged that a merge is called for.
    """

    name: str
    layers: Mapping[str, int]
    staged: int
    due: bool

    @property
    def shared(self) -> bool:
        """Whether its notes are those of every project."""
        return self.name == GLOBAL


@dataclass(frozen=True, slots=True)
class Page:
    """A project in numbers. ``statuses`` counts its notes by status, ``wiki`` is where it merges.

    ``cap`` is how many notes stay live, ``threshold`` from how many on a merge is due. ``warnings``
    are about the store.
    """

    stats: Stats
    statuses: Mapping[str, int]
    cap: int
    threshold: int
    wiki: Path
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """Why notes' statuses cannot be changed, and why none can be learnt; ``""`` where they can."""

    deciding: str
    learning: str


@dataclass(frozen=True, slots=True)
class Overview:
    """A store as a whole. ``there``: whether it was made yet. ``here`` is the project one is in."""

    folder: Path
    kind: str
    there: bool
    projects: tuple[Project, ...]
    limits: Limits
    how: str
    here: str


def beside(opened: Opened) -> Shelf:
    """The store that goes with a home: itself, else the one the environment or the default names.

    It need not be there.
    """
    return knowledge.open_store(
        store=str(opened.found.home) if opened.found.kind is Kind.RAG else None,
        environ=opened.environ,
        user_home=Path(opened.environ.get("HOME") or os.path.expanduser("~")),
        state=opened.state,
        settings=opened.settings,
        clock=opened.clock,
    )


def overview(shelf: Shelf, folder: Path) -> Overview:
    """The projects of a store, notes of every project last; ``folder`` is where one stands.

    Raises :class:`UnreadableError`.
    """
    found = [_project(shelf, *each) for each in knowledge.all_projects(shelf).items()]
    found.sort(key=lambda project: (project.shared, project.name))
    return Overview(
        folder=shelf.store.folder,
        kind=shelf.store.kind,
        there=(shelf.store.folder / shelf.store.file).exists(),
        projects=tuple(found),
        limits=limits(shelf),
        how=how_asked(shelf),
        here=knowledge.project_of_folder(shelf, "", folder),
    )


def page(shelf: Shelf, project: str) -> Page:
    """A project in numbers. Raises :class:`UnreadableError`."""
    return Page(
        stats=knowledge.stats(shelf, project),
        statuses=shelf.store.statuses(collection_of(project, Layer.MEMORY)),
        cap=shelf.rag.memory_cap,
        threshold=shelf.rag.threshold,
        wiki=shelf.rag.wiki_root / typed(shelf, project),
        warnings=knowledge.warnings(shelf),
    )


def listing(shelf: Shelf, project: str, layer: Layer, limit: int) -> tuple[list[Node], int]:
    """The newest nodes of a layer, and how many it has. Raises :class:`UnreadableError`."""
    total = shelf.store.count(collection_of(project, layer))
    return knowledge.notes(shelf, project, layer, limit=limit), total


def again(shelf: Shelf, nodes: Iterable[Node]) -> list[Node]:
    """``nodes`` as they stand now; those that went are left out. Asks and logs no question."""
    found = (shelf.store.get(node.collection, node.id) for node in nodes)
    return [node for node in found if node is not None]


def live_notes(shelf: Shelf, project: str, but: str) -> Sequence[Node]:
    """The live notes of a project, newest first, without the one with the id ``but``."""
    found = knowledge.notes(shelf, project, Layer.MEMORY, status="live")
    return [node for node in found if node.id != but]


def typed(shelf: Shelf, project: str) -> str:
    """The name a project's wiki lies under: as the projects file or a folder spells it.

    A store knows projects by their slugs only.
    """
    found = projects.read_projects(shelf.rag.projects_file, shelf.user_home)
    names = [each.project for each in found]
    with contextlib.suppress(OSError):
        names += sorted(each.name for each in shelf.rag.wiki_root.iterdir() if each.is_dir())
    return next((name for name in names if slug(name) == project), project)


def limits(shelf: Shelf) -> Limits:
    """What cannot be done to a store, in words."""
    if isinstance(shelf.store, OwnStore):
        return Limits("", "")
    learning = "No note is learnt into a Chroma store: a text needs numbers of its own model there"
    if isinstance(shelf.store, chroma_write.ChromaStore):
        return Limits("", learning)
    deciding = "The Chroma store is only read: changes need signoff with the extra `chroma`"
    return Limits(deciding, learning)


def how_asked(shelf: Shelf) -> str:
    """By what a question is answered, in words."""
    try:
        embedder = embedder_for(shelf.rag)
    except SignoffError as problem:
        return f"words alone: {problem.message}"
    return f"words and meaning ({embedder.name})" if embedder else "words"


def _project(shelf: Shelf, name: str, layers: Mapping[str, int]) -> Project:
    staged = shelf.store.staged(collection_of(name, Layer.MEMORY))
    return Project(name, layers, staged, staged >= shelf.rag.threshold > 0)
