"""``recall``: what a store has on a question, in the stated shape (specs, memory-rag 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.errors import SignoffError
from core.homes.rag.nodes import GLOBAL, SHORT, Layer, Node, collection_of, one_line, slug
from core.homes.rag.store import Store

AUTO = "auto"
#: Hits of one layer at most, and characters of a question that are shown and logged.
MOST, LONGEST_QUERY = 20, 200
#: A question past this many characters is cut before it is looked at.
_ASKED = 4_000

#: How one collection is searched: collection, layer, how many.
Search = Callable[[str, Layer, int], Sequence[Node]]


@dataclass(frozen=True, slots=True)
class Tops:
    """How many hits each layer may bring."""

    wiki: int = 2
    code: int = 3
    memory: int = 1

    def of(self, layer: Layer) -> int:
        """How many hits one layer may bring, from 0 to the most there may be."""
        wanted = {Layer.WIKI: self.wiki, Layer.CODE: self.code, Layer.MEMORY: self.memory}
        return max(0, min(MOST, wanted[layer]))


TOPS = Tops()


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer. ``shared``: it came from the notes of every project."""

    node: Node
    layer: Layer
    text: str
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found: the lines of the answer, and the hits in their order."""

    project: str
    query: str
    lines: tuple[str, ...]
    hits: tuple[Hit, ...]

    @property
    def text(self) -> str:
        """The answer as it is given to the agent."""
        return "\n".join(self.lines)


def asked(query: str) -> str:
    """A question as far as it counts."""
    return query[:_ASKED]


def recall(
    store: Store,
    search: Search,
    query: str,
    project: str,
    *,
    layer: str = AUTO,
    tops: Tops = Tops(),
    max_chars: int = 600,
) -> Recalled:
    """Answer in the order wiki, code, memory, notes of every project; only what is live.

    One layer that fails says so in its place. A word for ``layer`` that is none gives the first
    line only, as the original does.
    """
    lines = [f"Recall [{project}] for: {query}"]
    hits: list[Hit] = []
    for each in (Layer.WIKI, Layer.CODE, Layer.MEMORY):
        if layer not in (AUTO, each):
            continue
        try:
            found = _hits(search, project, each, tops, max_chars, shared=False)
            if found:
                lines += map(line, found)
                hits += found
            else:
                lines += _nothing(store, project, each, tops)
        except SignoffError as problem:
            lines.append(f"[{each} unavailable: {one_line(problem.message, 200)}]")
    if layer in (AUTO, Layer.MEMORY) and slug(project) != GLOBAL:
        try:
            found = _hits(search, GLOBAL, Layer.MEMORY, tops, max_chars, shared=True)
        except SignoffError:
            # The notes of the project failed the same way, and said so.
            found = []
        lines += map(line, found)
        hits += found
    return Recalled(project, query, tuple(lines), tuple(hits))


def line(hit: Hit) -> str:
    """A hit as a line of the answer; only notes show their id."""
    # A file's name may hold a line end: it must not look like another hit.
    path = " ".join((hit.node.text("path") or str(hit.layer)).split("\n"))
    name = f" #{hit.node.id[:SHORT]}" if hit.layer is Layer.MEMORY else ""
    return f"{'[global] ' if hit.shared else ''}[{hit.layer} {path}{name}] {hit.text}"


def _hits(
    search: Search, project: str, layer: Layer, tops: Tops, max_chars: int, *, shared: bool
) -> list[Hit]:
    most = tops.of(layer)
    found = search(collection_of(project, layer), layer, most) if most else ()
    return [Hit(node, layer, one_line(node.document, max_chars), shared) for node in found]


def _nothing(store: Store, project: str, layer: Layer, tops: Tops) -> list[str]:
    if not tops.of(layer):
        return []
    if store.count(collection_of(project, layer)):
        return [f"[{layer}: no results]"]
    return [] if layer is Layer.MEMORY else [f"[{layer}: not built for {project}]"]
