"""Search by words, or by words and meaning where an embedder is at hand; and which one answered."""

from __future__ import annotations

import heapq
import importlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from core.errors import EmbeddingError
from core.homes.rag import lexical
from core.homes.rag.embedding import Embedder, similarity
from core.homes.rag.nodes import Layer, Node
from core.homes.rag.store import Store, Vector

#: Texts whose numbers are all compared, without numpy and with it; past that only those of the
#: texts that the words found.
MOST_ALONE, MOST = 2_000, 20_000
#: Texts that the words bring to be ranked by meaning then.
_CANDIDATES = 200


class Engine(StrEnum):
    """How an answer was found."""

    LEXICAL = "lexical"
    FUSED = "fused"


class Searcher:
    """One question on one store. ``engine`` and ``note`` tell afterwards how it was answered.

    An embedder that fails is said in ``note``, and the words answer alone.
    """

    def __init__(self, store: Store, query: str, embedder: Embedder | None = None) -> None:
        self._store, self._embedder = store, embedder
        self._query, self._text = lexical.parse(query), query
        self._numbers: Sequence[float] | None = None
        self.engine = Engine.LEXICAL
        self.note = ""
        #: Whether meaning was looked for only in what the words found.
        self.narrowed = False

    def __call__(self, collection: str, layer: Layer, limit: int) -> list[Node]:
        """The best live nodes of a collection.

        Notes and pages are ranked by meaning, what the words found fills up; in code, where names
        matter, both ranks are fused.
        """
        if not self._embedder or self.note:
            return self._store.search(collection, self._query, limit)
        found = self._store.search(collection, self._query, _CANDIDATES)
        near = self._near(collection, found, 3 * limit)
        if not near:
            return found[:limit]
        self.engine = Engine.FUSED
        if layer is Layer.CODE:
            return lexical.fused([found, near], limit)
        return lexical.distinct([*near, *found], limit)

    def _near(self, collection: str, found: Sequence[Node], limit: int) -> list[Node]:
        assert self._embedder is not None
        numpy, names = _numpy(), None
        if self._store.numbered(collection) > (MOST_ALONE if numpy is None else MOST):
            names = [node.id for node in found]
        vectors = self._usable(collection, names)
        if not vectors:
            return []
        if names is not None:
            self.narrowed = True
        try:
            if self._numbers is None:
                (self._numbers,) = self._embedder.embed([self._text])
        except EmbeddingError as problem:
            self.note = f"by words alone: {problem.message}"
            return []
        asked = self._numbers
        vectors = [each for each in vectors if len(each.values) == len(asked)]
        best = _best(numpy, asked, vectors, limit)
        nodes = (self._store.get(collection, name) for name in best)
        return [node for node in nodes if node is not None]

    def _usable(self, collection: str, names: Sequence[str] | None) -> list[Vector]:
        assert self._embedder is not None
        # A Chroma store does not say who made its numbers; their length tells ours apart.
        known = ("", self._embedder.name, self._embedder.name.partition(":")[2])
        found = self._store.vectors(collection, live=True, names=names)
        return [each for each in found if each.embedder in known]


def _best(numpy: Any, asked: Sequence[float], vectors: Sequence[Vector], limit: int) -> list[str]:
    if numpy is None:
        scored = ((similarity(asked, each.values), each.id) for each in vectors)
        return [name for _, name in heapq.nlargest(limit, scored)]
    if not vectors:
        return []
    table = numpy.array([each.values for each in vectors], dtype="float32")
    wanted = numpy.array(asked, dtype="float32")
    sizes = numpy.linalg.norm(table, axis=1) * numpy.linalg.norm(wanted)
    scores = table @ wanted / numpy.maximum(sizes, 1e-12)
    return [vectors[int(at)].id for at in numpy.argsort(-scores)[:limit]]


def _numpy() -> Any:
    """numpy, if the extra that has it is installed."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None
