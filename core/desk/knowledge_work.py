"""The longer works on a knowledge store: ingest, merge, export, restore, compare, statuses."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from core.desk import history, knowledge
from core.desk.knowledge import Shelf
from core.errors import NotFoundError, SignoffError, UnreadableError, UsageError
from core.homes.rag import comparing, exporting, ingest, merge, restoring
from core.homes.rag.building import Ingested
from core.homes.rag.chroma_write import ChromaStore
from core.homes.rag.comparing import Compared, Stamped
from core.homes.rag.embedding import check_address, embedder_for
from core.homes.rag.exporting import Exported
from core.homes.rag.ingest import Tell
from core.homes.rag.merge import Merge, Rewrite
from core.homes.rag.nodes import Layer, collection_of
from core.homes.rag.own import OwnStore
from core.homes.rag.restoring import Restored
from core.homes.rag.statuses import Place
from core.homes.rag.store import Store, Vector
from core.model import Change, Receipt
from core.plan import Plan, bind
from core.view import View

_BY_ITS_OWN_SERVER = (
    "The pages are written; a Chroma store finds them once its own server takes the wiki in"
)

# -- ingest ----------------------------------------------------------------------------------------


def ingest_code(
    shelf: Shelf,
    root: Path,
    project: str = "",
    *,
    rebuild: bool = True,
    tell: Tell = lambda _: None,
) -> Ingested:
    """Take the code below ``root`` in; the project is the folder's name unless one is given.

    Raises :class:`NotFoundError` where there is none, :class:`UsageError`, :class:`EmbeddingError`.
    """
    folder = _folder(root)
    return ingest.ingest_code(
        shelf.own,
        folder,
        project.strip() or folder.name,
        cap=shelf.rag.chunk_cap,
        skip_json=shelf.rag.skip_json,
        rebuild=rebuild,
        embed=knowledge.embed(shelf),
        tell=tell,
    )


def ingest_wiki(
    shelf: Shelf, folder: Path, project: str = "", *, tell: Tell = lambda _: None
) -> Ingested:
    """Take the wiki pages below ``folder`` in. Raises as :func:`ingest_code`."""
    place = _folder(folder)
    name = project.strip() or place.name
    return ingest.ingest_wiki(shelf.own, place, name, embed=knowledge.embed(shelf), tell=tell)


def _folder(path: Path) -> Path:
    folder = Path(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise NotFoundError(f"There is no folder {path}", "Nothing was changed")
    return folder


# -- merge -----------------------------------------------------------------------------------------


def plan_merge(shelf: Shelf, project: str) -> tuple[Merge, Plan]:
    """What merging the staged notes of a project into its wiki would do, as a plan.

    A model is asked for a rewrite only where ``ollama`` was chosen as embedder. Raises
    :class:`UsageError` for a project that is no folder's name, or a wiki root whose own folder is
    not there.
    """
    root = shelf.rag.wiki_root
    folder = merge.wiki_folder(root, project)
    if folder is None:
        raise UsageError(f"{project!r} is no name for a wiki's folder", "Name another --project")
    if not root.parent.is_dir():
        raise UsageError(
            f"There is no folder {root.parent} for wikis",
            "Make it, or name another in HERMES_RAG_WIKI_ROOT",
        )
    collection = collection_of(project, Layer.MEMORY)
    staged = [node for node in shelf.store.nodes(collection, live=True) if node.staged]
    view, place = View(shelf.source), Place(shelf.store.file, collection)
    found = merge.plan_merge(view, place, folder, root, staged, _editor(shelf))
    return found, bind(view, "merge", project, found.outcome)


def merge_token(plan: Plan) -> str:
    """A short text that stands for exactly this merge: what it read and what it writes."""
    digest = hashlib.sha256(plan.seal.encode())
    for change in plan.changes:
        if isinstance(change, Change) and change.after is not None:
            digest.update(change.path.encode("utf-8", "replace") + b"\0" + change.after.data)
    return digest.hexdigest()[:12]


def carry_out_merge(shelf: Shelf, found: Merge, plan: Plan, note: str = "") -> tuple[Receipt, str]:
    """Commit a merge as it was shown, then take the wiki in anew; the second is why that failed.

    Raises as :func:`core.desk.knowledge.carry_out`.
    """
    receipt = knowledge.carry_out(shelf, plan, note)
    if not receipt.ok or not plan.changes:
        return receipt, ""
    if not isinstance(shelf.store, OwnStore):
        return receipt, _BY_ITS_OWN_SERVER
    try:
        ingest_wiki(shelf, found.folder, plan.subject)
    except SignoffError as problem:
        return receipt, f"The pages are written, but not searched yet: {problem.message}"
    return receipt, ""


def undo(
    shelf: Shelf, numbers: Sequence[int] = (), note: str = "", *, bulk: int | None = None
) -> Iterator[Receipt]:
    """Take decisions on this store back, or what stands of a ``bulk`` step; pages of a merge that
    went are found no more.

    Raises as :func:`core.desk.history.undo_each`.
    """
    if bulk is None:
        receipts = history.undo_each(shelf, numbers, note)
    else:
        receipts = history.undo_bulk(shelf, bulk, note)
    return (_after_undo(shelf, receipt) for receipt in receipts)


def _after_undo(shelf: Shelf, receipt: Receipt) -> Receipt:
    pages = [path for path in receipt.changed if path.startswith("/")]
    folder = merge.wiki_folder(shelf.rag.wiki_root, receipt.subject)
    if receipt.ok and pages and folder is not None and isinstance(shelf.store, OwnStore):
        try:
            make = knowledge.embed(shelf)
            ingest.ingest_wiki(shelf.store, folder, receipt.subject, empty=True, embed=make)
        except SignoffError as problem:
            # It is taken back all the same.
            said = f"{receipt.message}; its pages are searched as they were: {problem.message}"
            return replace(receipt, message=said)
    return receipt


def _editor(shelf: Shelf) -> Rewrite | None:
    if shelf.rag.embedder != "ollama":
        return None
    check_address(shelf.rag)
    from core.homes.rag.ollama import Ollama

    server = Ollama(shelf.rag.ollama_url, shelf.rag.embed_model)
    return lambda page, notes: server.rewrite(shelf.rag.editor_model, page, notes)


# -- export, restore, compare ----------------------------------------------------------------------


def export(shelf: Shelf, file: Path, *, vectors: bool = True) -> Exported:
    """Write the whole store to a file. Raises :class:`UsageError`, :class:`UnreadableError`."""
    try:
        return exporting.export(shelf.store, file, shelf.rag, shelf.clock(), vectors=vectors)
    except OSError as problem:
        raise UnreadableError(
            f"{file} cannot be written: {problem.strerror or problem}", "Name another file"
        ) from problem


def restore(shelf: Shelf, file: Path, *, force: bool = False) -> Restored:
    """Write an export into the store of ``shelf``, or nothing of it.

    Raises :class:`UnreadableError` for a file that is no whole export,
    :class:`NotRestoredError` for one that is refused.
    """
    store, found = shelf.own, restoring.read_export(file)
    restoring.check(store, found, shelf.rag.embed_model, force=force)
    anew: dict[str, Sequence[Vector]] = {}
    if found.vectors is None and embedder_for(shelf.rag) is not None:
        make = knowledge.embed(shelf)
        anew = {name: make(list(nodes.values())) for name, nodes in found.nodes.items()}
    return restoring.restore(store, found, shelf.rag.embed_model, force=force, re_embedded=anew)


def compare(
    shelf: Shelf, a: Path, b: Path, *, collection: str | None = None, query: str = "", top: int = 3
) -> Compared:
    """Hold two stores side by side. Raises :class:`NotFoundError` where there is none."""
    return comparing.compare(
        _existing(shelf, a), _existing(shelf, b), collection, query, max(1, top)
    )


def _existing(shelf: Shelf, folder: Path) -> Store:
    store = knowledge.store_in(Path(os.path.realpath(folder)), shelf.clock)
    if not os.path.isfile(store.folder / store.file):
        raise NotFoundError(f"There is no note store in {folder}", "Name another")
    return store


def migrate_status(shelf: Shelf, *, apply: bool) -> Stamped:
    """Give every node without a status one; without ``apply`` only say how many there are.

    Raises :class:`UsageError` for a Chroma store that can only be read.
    """
    store = shelf.store
    if not apply or isinstance(store, OwnStore):
        return comparing.migrate_status(store, apply=apply)
    if not isinstance(store, ChromaStore):
        raise UsageError(
            f"{store.folder} is a Chroma store, which is only read here",
            "Install signoff with the extra `chroma`",
        )
    before = comparing.migrate_status(store, apply=False)
    for name in store.collections():
        updates = [pair for pair in comparing.unstamped(store) if pair[0].collection == name]
        if updates:
            store.update(name, updates)
    return Stamped(before.stamped, before.total, True)
