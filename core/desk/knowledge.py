"""The knowledge store: what the surfaces ask of it, and decisions on its notes as plans."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from core.commit import commit
from core.desk.opening import Opened
from core.errors import NotFoundError, UsageError
from core.ground import Ground
from core.homes.base import CHROMA_STORE, Discovery, Kind
from core.homes.hermes.skills import usage
from core.homes.rag import chroma_write, learning, projects, statuses, surroundings
from core.homes.rag.chroma import ChromaReader
from core.homes.rag.embedding import Embedder, embedder_for
from core.homes.rag.ingest import NO_VECTORS, Embed
from core.homes.rag.learning import KIND, Learnt
from core.homes.rag.nodes import (
    SHORT,
    Layer,
    Node,
    Resolved,
    collection_of,
    oldest_first,
    project_of,
    scrubbed,
    slug,
)
from core.homes.rag.own import OwnStore
from core.homes.rag.ranking import Engine, Searcher
from core.homes.rag.recall import AUTO, LONGEST_QUERY, TOPS, Recalled, Tops, asked
from core.homes.rag.recall import recall as answer
from core.homes.rag.settings import RagSettings, read_settings
from core.homes.rag.stats import Stats
from core.homes.rag.stats import stats as count
from core.homes.rag.statuses import Place
from core.homes.rag.store import Vector
from core.model import Outcome, Receipt
from core.plan import Plan, bind
from core.records import Mounted
from core.secrets_in_text import assigned, issued
from core.settings import Settings
from core.view import Source, View

AnyStore = OwnStore | ChromaReader
_NARROWED = "by meaning only among what the words found: there is too much to compare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf(Opened):
    """A note store opened as a home: its notes are records of it, its decisions in the journal.

    ``rag`` are the settings of the store, ``user_home`` the person's own folder.
    """

    store: AnyStore
    rag: RagSettings
    user_home: Path

    @property
    def source(self) -> Source:
        """The store's folder with its notes."""
        return Mounted(self.found.home, self.store)

    def ground(self) -> Ground:
        """What a commit works on: the notes, and the wiki pages they are merged into."""
        return Ground(
            self.found.home,
            self.found.profile,
            self.state,
            usage,
            (self.rag.wiki_root,),
            records=self.store,
        )

    @property
    def own(self) -> OwnStore:
        """The store, if it is signoff's own. Raises :class:`UsageError` for another."""
        if isinstance(self.store, OwnStore):
            return self.store
        raise UsageError(
            f"{self.store.folder} is a Chroma store: texts are not written there, they need"
            " numbers of its own model",
            "Bring a copy over with `signoff knowledge export` and `restore`",
        )


def open_store(
    *,
    store: str | None,
    environ: Mapping[str, str],
    user_home: Path,
    state: Path,
    settings: Settings,
    clock: Callable[[], datetime],
) -> Shelf:
    """The store that ``--store``, the environment or the default names; it need not be there.

    With a ``chroma.sqlite3`` in its folder it is a Chroma store, else signoff's own.
    Raises :class:`UsageError` for an empty name.
    """
    if store is not None and not store.strip():
        raise UsageError("--store names no folder", "Name a folder, new or with a store in it")
    rag = read_settings(environ, user_home, store)
    folder = Path(os.path.realpath(rag.store))
    rag = replace(rag, store=folder, wiki_root=Path(os.path.realpath(rag.wiki_root)))
    found = Discovery(folder, Kind.RAG, "default", folder)
    return Shelf(
        found,
        state,
        settings,
        environ,
        clock,
        store=store_in(folder, clock),
        rag=rag,
        user_home=user_home,
    )


def store_in(folder: Path, clock: Callable[[], datetime]) -> AnyStore:
    """The store of a folder, by what lies in it."""
    if not os.path.isfile(folder / CHROMA_STORE):
        return OwnStore(folder, clock)
    if chroma_write.is_installed():
        return chroma_write.ChromaStore(folder)
    return ChromaReader(folder)


# -- which project ---------------------------------------------------------------------------------


def project_of_folder(shelf: Shelf, name: str, folder: Path) -> str:
    """The project meant: ``name``, else that of a folder by the projects file."""
    found = projects.read_projects(shelf.rag.projects_file, shelf.user_home)
    return projects.project_for(name, folder, found)


def all_projects(shelf: Shelf) -> dict[str, dict[str, int]]:
    """``slug -> layer -> nodes`` of everything in the store."""
    found: dict[str, dict[str, int]] = {}
    for name in shelf.store.collections():
        if project := project_of(name):
            found.setdefault(project, {})[name.rpartition("__")[2]] = shelf.store.count(name)
    return found


# -- asking ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What ``recall`` found, by which engine, and what there is to say about that."""

    recalled: Recalled
    engine: Engine
    note: str


def recall(
    shelf: Shelf,
    query: str,
    project: str,
    *,
    layer: str = AUTO,
    tops: Tops = TOPS,
) -> Answer:
    """What the store has on ``query``. The question is a line of our own store's log.

    Raises :class:`UsageError` for an embedder that is not allowed.
    """
    query = asked(scrubbed(query))
    searcher = Searcher(shelf.store, query, embedder_for(shelf.rag))
    found = answer(
        shelf.store,
        searcher,
        query,
        project,
        layer=layer,
        tops=tops,
        max_chars=shelf.rag.max_chars,
    )
    if isinstance(shelf.store, OwnStore):
        shelf.store.log(slug(project), "recall", query[:LONGEST_QUERY])
    note = searcher.note or (_NARROWED if searcher.narrowed else "")
    return Answer(found, searcher.engine, note)


def notes(
    shelf: Shelf, project: str, layer: Layer, *, status: str | None = None, limit: int | None = None
) -> list[Node]:
    """The nodes of a layer, the newest first; ``status`` is a word, or ``live``."""
    collection = collection_of(project, layer)
    wanted = -1 if limit is None else limit
    return shelf.store.newest(collection, status=status or "", limit=wanted)


def note(shelf: Shelf, project: str, written: str) -> Node:
    """One note by its id or the beginning of it. Raises as :func:`name_of`."""
    name = name_of(shelf, project, written)
    node = shelf.store.get(collection_of(project, Layer.MEMORY), name)
    if node is None:
        raise NotFoundError(f"The note {name} is gone", "See `signoff knowledge nodes`")
    return node


def chain(shelf: Shelf, node: Node) -> list[Node]:
    """A note and those that took its place, one after the other."""
    place = Place(shelf.store.file, node.collection)
    return statuses.chain(View(shelf.source, recording=False), place, node.id)


def timeline(shelf: Shelf, node: Node) -> list[Node]:
    """A note's past and future: those it took the place of, itself, those that took its place."""
    replaced, after = shelf.store.replaced(node.collection), chain(shelf, node)
    seen, before, names = {each.id for each in after}, list[Node](), [node.id]
    while names:
        for name in replaced.get(names.pop(), ()):
            if name not in seen and (each := shelf.store.get(node.collection, name)) is not None:
                seen.add(name)
                before.append(each)
                names.append(name)
    return [*oldest_first(before), *after]


def stats(shelf: Shelf, project: str) -> Stats:
    """The counts of a project."""
    return count(shelf.store, project, shelf.rag.threshold)


def warnings(shelf: Shelf) -> tuple[str, ...]:
    """What a person should know: about the place of the store, and settings that are no use."""
    problems = [f"{each.problem}; {each.value} is used" for each in shelf.rag.told if each.problem]
    return (*surroundings.warnings(shelf.store.folder), *problems)


# -- learning --------------------------------------------------------------------------------------


def learn(
    shelf: Shelf,
    text: str,
    project: str,
    *,
    kind: str = KIND,
    supersedes: str = "",
    client: str = "",
) -> tuple[Learnt, Receipt | None]:
    """Store a note; the receipt is that of marking the one it takes the place of, if any.

    Which note ``supersedes`` names is found out first; none or several: the new one is stored and
    nothing is marked. Raises :class:`UsageError` for a blank text, :class:`EmbeddingError` before
    anything is stored.
    """
    store, node = shelf.own, learning.note_of(text, project, kind, shelf.clock(), client)
    if supersedes and not supersedes.strip():
        raise UsageError("supersedes names no note", "Give the id that `recall` shows")
    old = store.resolve(node.collection, supersedes.strip()) if supersedes else Resolved(None)
    embedder = embedder_for(shelf.rag)
    vectors = _vectors(embedder, [node]) if embedder else []
    stored = store.learn(node, shelf.rag.memory_cap)
    receipt, replaced, unmatched = None, "", ""
    if stored.was is None:
        if vectors:
            store.keep_vectors(node.collection, vectors)
        if old.id:
            plan = _plan(shelf, "supersede", node.collection, old.id, node.id)
            receipt = carry_out(shelf, plan, f"learnt by {client}" if client else "")
            replaced, unmatched = (
                (old.id, "") if receipt.ok else ("", f"not marked: {receipt.message}")
            )
        elif supersedes:
            unmatched = old.why
    return (
        Learnt(
            id=stored.id,
            project=project,
            was=stored.was,
            replaced=replaced,
            unmatched=unmatched,
            archived=stored.archived,
            staged=store.staged(node.collection),
            threshold=shelf.rag.threshold,
        ),
        receipt,
    )


def secrets(text: str) -> tuple[str, ...]:
    """Kinds of passwords and keys that a text seems to hold."""
    return tuple(dict.fromkeys(each.kind for each in (*issued(text), *assigned(text))))


def embed(shelf: Shelf) -> Embed:
    """How texts that are about to be stored get their numbers; none without an embedder."""
    embedder = embedder_for(shelf.rag)
    if embedder is None:
        return NO_VECTORS
    return Embed(embedder.name, lambda nodes: _vectors(embedder, nodes))


def _vectors(embedder: Embedder, nodes: Sequence[Node]) -> list[Vector]:
    if not nodes:
        return []
    numbers = embedder.embed([node.document for node in nodes])
    return [Vector(n.id, embedder.name, v) for n, v in zip(nodes, numbers, strict=True)]


# -- decisions on notes ----------------------------------------------------------------------------


def retire(shelf: Shelf, project: str, written: str, reason: str = "") -> Plan:
    """Take a note out. Raises as :func:`name_of`."""
    collection = collection_of(project, Layer.MEMORY)
    return _plan(shelf, "retire", collection, name_of(shelf, project, written), reason)


def supersede(shelf: Shelf, project: str, written: str, by: str) -> Plan:
    """Say that another note took its place. Raises as :func:`name_of`."""
    collection = collection_of(project, Layer.MEMORY)
    successor = name_of(shelf, project, by)
    return _plan(shelf, "supersede", collection, name_of(shelf, project, written), successor)


def archive(shelf: Shelf, project: str, written: str) -> Plan:
    """Put a note away. Raises as :func:`name_of`."""
    collection = collection_of(project, Layer.MEMORY)
    return _plan(shelf, "archive", collection, name_of(shelf, project, written), "")


def reactivate(shelf: Shelf, project: str, written: str) -> Plan:
    """Make a note active again. Raises as :func:`name_of`."""
    collection = collection_of(project, Layer.MEMORY)
    return _plan(shelf, "reactivate", collection, name_of(shelf, project, written), "")


def carry_out(shelf: Shelf, plan: Plan, note: str = "") -> Receipt:
    """Commit a plan as it was shown, or nothing of it.

    A plan that changes nothing leaves no line in the journal. Raises :class:`StateError` when the
    journal cannot be used.
    """
    outcome = plan.outcome
    if outcome.lands and not plan.changes:
        return Receipt(plan.subject, True, outcome.category, outcome.message)
    if outcome.lands and isinstance(shelf.store, ChromaReader):
        _check_writable(shelf)
    shelf.check_state()
    return commit(plan, shelf.ground(), shelf.journal, now=shelf.clock(), note=note)


def name_of(shelf: Shelf, project: str, written: str) -> str:
    """The whole id that ``written`` is or begins. Raises :class:`NotFoundError` for none,
    :class:`AmbiguousError` with the candidates for several."""
    collection = collection_of(project, Layer.MEMORY)
    found = shelf.store.resolve(collection, scrubbed(written).strip().lstrip("#"))
    if found.id is not None:
        return found.id
    if found.candidates:
        listed = ", ".join(name[: SHORT + 5] for name in found.candidates[:8])
        raise AmbiguousError(
            f"no single memory note matches {written!r}; nothing changed", f"It may be {listed}"
        )
    raise NotFoundError(
        f"no single memory note matches {written!r} ({found.why}); nothing changed",
        _elsewhere(shelf, slug(project), written) or "See `signoff knowledge nodes`",
    )


def _elsewhere(shelf: Shelf, here: str, written: str) -> str:
    """Which other project has the note that is meant; ``""`` if none has."""
    for name in all_projects(shelf):
        collection = collection_of(name, Layer.MEMORY)
        found = shelf.store.resolve(collection, scrubbed(written).strip().lstrip("#"))
        if name != here and (found.id is not None or found.candidates):
            return f"{here} has none, but {name} has: --project {name}"
    return ""


class AmbiguousError(UsageError):
    """More than one note begins with what was written."""

    title = "Which note?"
    code = "ambiguous"
    exit_code = 1


def _plan(shelf: Shelf, verb: str, collection: str, name: str, value: str) -> Plan:
    view, place = View(shelf.source), Place(shelf.store.file, collection)
    outcome: Outcome
    if verb == "retire":
        outcome = statuses.retire(view, place, name, value)
    elif verb == "supersede":
        outcome = statuses.supersede(view, place, name, value)
    elif verb == "archive":
        outcome = statuses.archive(view, place, name)
    else:
        outcome = statuses.reactivate(view, place, name)
    return bind(view, verb, name[:SHORT], outcome)


def _check_writable(shelf: Shelf) -> None:
    if not isinstance(shelf.store, chroma_write.ChromaStore):
        raise UsageError(
            f"{shelf.store.folder} is a Chroma store, which is only read here",
            "Install signoff with the extra `chroma` to change statuses in it",
        )
