"""What the doctor says of the knowledge store: whether it is there and readable, and by which
settings it works."""

from __future__ import annotations

from core.desk import knowledge
from core.desk.check import Check
from core.desk.knowledge_board import beside
from core.desk.opening import Opened
from core.errors import SignoffError
from core.homes.rag import chroma_write, schema
from core.homes.rag.embedding import embedder_for
from core.homes.rag.own import OwnStore


def checks(opened: Opened) -> list[Check]:
    """The store that goes with a home, and every setting with its value and source."""
    shelf = beside(opened)
    store = shelf.store
    found = [Check("knowledge", False, warning) for warning in knowledge.warnings(shelf)]
    if not (store.folder / store.file).exists():
        found.append(Check("knowledge", None, f"no notes are kept in {store.folder} yet"))
    else:
        found.append(_contents(shelf))
    try:
        embedder = embedder_for(shelf.rag)
        how = f"words and meaning ({embedder.name})" if embedder else "words"
        found.append(Check("knowledge", None, f"notes are found by {how}"))
    except SignoffError as problem:
        found.append(Check("knowledge", False, problem.message))
    if isinstance(store, OwnStore) and not schema.has_full_text():
        found.append(Check("knowledge", False, "this SQLite has no full text: search is slow"))
    found += [
        Check("setting", None, f"{each.name} = {each.value or '(empty)'} ({each.origin})")
        for each in shelf.rag.told
    ]
    return found


def _contents(shelf: knowledge.Shelf) -> Check:
    store = shelf.store
    kind = "signoff's own" if store.kind == "signoff" else "Chroma"
    if store.kind == "chroma" and not chroma_write.is_installed():
        kind = "Chroma, read-only without the extra `chroma`"
    try:
        layers = store.collections()
        count = sum(store.count(name) for name in layers)
    except SignoffError as problem:
        return Check("knowledge", False, problem.message)
    return Check("knowledge", True, f"{store.folder} ({kind}): {count:,} nodes")
