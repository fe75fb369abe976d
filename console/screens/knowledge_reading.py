"""Reading the note store for its screen: all of it off the event loop."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from console.live import Live
from console.render.knowledge import KnowledgeItem
from console.screens.knowledge_rows import hit_items, node_items, project_page

if TYPE_CHECKING:
    from console.render.knowledge_pages import ProjectPage
    from core.desk.knowledge import Answer, Shelf
    from core.desk.knowledge_board import Overview
    from core.desk.opening import Opened

#: Nodes of a layer that are listed: more than anyone pages through.
LIMIT = 2000


@dataclass(frozen=True, slots=True)
class Place:
    """What is on screen: a project (``""`` for all of them), a layer of it, or an answer."""

    project: str = ""
    layer: str = "memory"
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """A store as it was read. ``items`` are of ``place``, ``total`` how many it has."""

    place: Place
    shelf: Shelf
    live: Live | None
    seen: Overview
    items: Sequence[KnowledgeItem] = ()
    total: int = 0


def read(
    opened: Opened,
    shelf: Shelf | None,
    live: Live | None,
    stop: threading.Event | None,
    place: Place,
) -> Read:
    """Read what ``place`` shows; the store is opened first, and watched until ``stop`` is set.

    Raises :class:`UnreadableError`.
    """
    from core.desk.knowledge_board import again, beside, listing, overview
    from core.homes.rag.nodes import Layer

    if shelf is None or not (shelf.store.folder / shelf.store.file).exists():
        shelf = beside(opened)
    if live is None and stop is not None:
        # Before anything is read: no change falls between the two.
        live = Live(shelf, stop)
    seen, now = overview(shelf, _here()), opened.clock()
    if place.answer is not None:
        nodes = again(shelf, [hit.node for hit in place.answer.recalled.hits])
        items = hit_items(place.answer, nodes, place.project, now)
        return Read(place, shelf, live, seen, items, len(items))
    if not place.project:
        return Read(place, shelf, live, seen)
    found, total = listing(shelf, place.project, Layer(place.layer), LIMIT)
    return Read(place, shelf, live, seen, node_items(found, now), total)


def page_of(shelf: Shelf, seen: Overview, project: str) -> ProjectPage:
    """A project in full. Raises :class:`UnreadableError`."""
    from core.desk.knowledge_board import page

    return project_page(page(shelf, project), seen)


def chain_of(shelf: Shelf, item: KnowledgeItem) -> list[KnowledgeItem]:
    """The notes before and after one, itself among them. Raises :class:`UnreadableError`."""
    from core.desk.knowledge import timeline

    node = shelf.store.get(item.key.partition("/")[0], item.id)
    return [] if node is None else node_items(timeline(shelf, node), shelf.clock())


def ask(shelf: Shelf, query: str, project: str) -> Answer:
    """What the store has on a question. Raises :class:`UsageError`, :class:`UnreadableError`."""
    from core.desk.knowledge import recall
    from core.homes.rag.recall import Tops

    return recall(shelf, query, project, tops=Tops(ASKED, ASKED, ASKED))


#: Hits of each layer.
ASKED = 10


def by(answer: Answer) -> str:
    """By which kind of search an answer was found."""
    from core.homes.rag.ranking import Engine

    return "words and meaning" if answer.engine is Engine.FUSED else "words"


def asides(answer: Answer) -> str:
    """What an answer says beside its hits: layers that are not there, or cannot be asked."""
    from core.homes.rag.recall import line

    hits = {line(hit) for hit in answer.recalled.hits}
    lines = [each for each in answer.recalled.lines[1:] if each not in hits]
    return "  ".join(each.strip("[]") for each in lines)


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:
        # The folder one stands in is gone.
        return Path("/")
