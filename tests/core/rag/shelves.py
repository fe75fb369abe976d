"""Note stores opened as homes, for the tests of the knowledge half."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.desk import knowledge
from core.desk.knowledge import Shelf
from core.homes.rag import chroma_write
from core.homes.rag.learning import Learnt
from core.homes.rag.nodes import Layer, Node, collection_of
from core.settings import Settings

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
SIX_HOURS = "the queue drops jobs older than six hours"
#: The id that the original gives :data:`SIX_HOURS` (specs, memory-rag 3).
SIX_HOURS_ID = "a2c03c47-4f25-aac0-559a-4d9bc0ee330d"


@dataclass
class Clock:
    """A clock that goes on a second with every look."""

    at: datetime = NOW

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


def shelf_in(folder: Path, *, store: str = "store", **environ: str) -> Shelf:
    """The store ``folder/store`` with its wikis, settings and journal beside it."""
    named = {
        "HERMES_RAG_STORE": str(folder / store),
        "HERMES_RAG_WIKI_ROOT": str(folder / "wikis"),
        "HERMES_RAG_PROJECTS_FILE": str(folder / "projects.yaml"),
    }
    return knowledge.open_store(
        store=None,
        environ=named | environ,
        user_home=folder,
        state=folder / "state",
        settings=Settings(),
        clock=Clock(),
    )


def learn(shelf: Shelf, text: str, project: str = "api", **more: str) -> Learnt:
    """Learn a text; what came of it."""
    return knowledge.learn(shelf, text, project, **more)[0]


def note(shelf: Shelf, name: str, project: str = "api") -> Node:
    """A note that must be there."""
    found = shelf.store.get(collection_of(project, Layer.MEMORY), name)
    assert found is not None
    return found


def statuses(shelf: Shelf, project: str = "api") -> dict[str, str]:
    """``text -> status`` of every note."""
    found = shelf.store.nodes(collection_of(project, Layer.MEMORY))
    return {node.document: node.status for node in found}


#: Does to the tables what chromadb does; fails where a note is retired for that reason.
_CHILD = """
import json, sqlite3, sys
asked = json.load(sys.stdin)
if asked["updates"][0][1].get("retired_reason") == "fail":
    sys.exit("chromadb said no")
db = sqlite3.connect(asked["folder"] + "/chroma.sqlite3")
for name, keys in asked["updates"]:
    (row,) = db.execute("SELECT id FROM embeddings WHERE embedding_id = ?", (name,)).fetchone()
    for key, value in keys.items():
        db.execute("DELETE FROM embedding_metadata WHERE id = ? AND key = ?", (row, key))
        if value is not None:
            db.execute(
                "INSERT INTO embedding_metadata (id, key, string_value) VALUES (?, ?, ?)",
                (row, key, value),
            )
db.commit()
print('{"ok": true}')
"""


def use_child(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Chroma stores changed without chromadb, by a child that is written to ``folder``.

    The real one changes a store in ``make interop``.
    """
    child = folder / "child" / "chroma_child.py"
    child.parent.mkdir()
    child.write_text(_CHILD)
    monkeypatch.setattr(chroma_write, "__file__", str(child.with_name("chroma_write.py")))
    monkeypatch.setattr(chroma_write, "is_installed", lambda: True)
