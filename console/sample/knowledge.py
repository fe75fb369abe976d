"""The note store beside the sample home: what its agent learnt about projects, made at copy time.

``knowledge.json`` tells notes, wiki pages and pieces of code, times as minutes before "now". The
sample is never the person's own store, so everything can be tried on it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Any

from core.files import private_folder
from core.homes.rag import settings
from core.homes.rag.building import add_in_place
from core.homes.rag.ingest import ingest_wiki
from core.homes.rag.learning import note_of
from core.homes.rag.nodes import (
    ARCHIVED,
    RETIRED,
    SUPERSEDED,
    Layer,
    Metadata,
    Node,
    collection_of,
    node_id,
    stamp,
)
from core.homes.rag.own import OwnStore

#: More notes than the sample has: none is archived for being one too many.
_CAP = 1000


def write_store(into: Path, now: datetime) -> dict[str, str]:
    """Write store, wikis and projects file into the folder ``into``, times relative to ``now``.

    Returns the settings that name them, as the environment holds them.
    """
    told = json.loads((resources.files(__package__) / "knowledge.json").read_text("utf-8"))
    folder, wikis = private_folder(into / "hermes-rag"), into / "wikis"
    at = [now]
    store = OwnStore(folder, lambda: at[0])
    names = {each["key"]: _note(each, now).id for each in told["notes"]}
    for each in sorted(told["notes"], key=lambda each: -each["minutes_ago"]):
        node = _note(each, now)
        at[0] = now - timedelta(minutes=each["minutes_ago"])
        metadata = {**node.metadata, **_fate(each, names)}
        store.learn(Node(node.collection, node.id, node.document, metadata), _CAP)
    for path, text in told["wiki"].items():
        page = wikis / path
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    for name in sorted({path.partition("/")[0] for path in told["wiki"]}):
        ingest_wiki(store, wikis / name, name)
    add_in_place(store, [_piece(each, now) for each in told["code"]])
    return {
        settings.STORE: str(folder),
        settings.WIKI_ROOT: str(wikis),
        settings.PROJECTS: str(into / "projects.yaml"),
    }


def _note(told: Mapping[str, Any], now: datetime) -> Node:
    at = now - timedelta(minutes=told["minutes_ago"])
    return note_of(told["text"], told["project"], told["kind"], at)


def _fate(told: Mapping[str, Any], names: Mapping[str, str]) -> Metadata:
    """What became of a note since."""
    if "by" in told:
        return {"status": SUPERSEDED, "superseded_by": names[told["by"]]}
    if "reason" in told:
        return {"status": RETIRED, "retired_reason": told["reason"]}
    return {"status": ARCHIVED, "merged_into": told["page"]} if "page" in told else {}


def _piece(told: Mapping[str, Any], now: datetime) -> Node:
    path, text = told["path"], told["text"]
    metadata = {
        "status": "active",
        "source": "ingest_code",
        "created": stamp(now - timedelta(days=6)),
        "layer": str(Layer.CODE),
        "path": path,
    }
    name = node_id("code", path, "0", text)
    return Node(collection_of(told["project"], Layer.CODE), name, text, metadata)
