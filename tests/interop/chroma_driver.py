"""Runs in an environment with chromadb: makes, changes and tells what a real store holds.

``chroma_driver.py make|dump|write FOLDER [COUNT]``; ``make`` tells it too. Never asks Chroma for
numbers of a text, which would fetch a model.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
import time
from typing import Any

STATUSES = ("active", "retired", "superseded", "archived", "pinned", "")


def client_of(folder: str) -> Any:
    chromadb = importlib.import_module("chromadb")
    settings = chromadb.config.Settings(anonymized_telemetry=False)
    return chromadb.PersistentClient(folder, settings=settings)


def numbers(rng: random.Random) -> list[float]:
    return [rng.uniform(-9, 9) for _ in range(16)]


def make(folder: str, count: int) -> None:
    """Three layers as hermes-memory-rag writes them, changed and thinned out afterwards."""
    rng, client = random.Random(12), client_of(folder)
    notes = client.get_or_create_collection("rag_api__memory", embedding_function=None)
    wiki = client.get_or_create_collection(
        "rag_api__wiki", metadata={"hnsw:space": "cosine"}, embedding_function=None
    )
    global_ = client.get_or_create_collection("rag_global__memory", embedding_function=None)
    ids = [f"{rng.getrandbits(32):08x}-0000-4000-8000-{n:012x}" for n in range(count)]
    for start in range(0, count, 100):
        part = ids[start : start + 100]
        notes.add(
            ids=part,
            documents=[
                f"note {n} about the queue, é 队列 \x1b[31m"
                for n in range(start, start + len(part))
            ],
            embeddings=[numbers(rng) for _ in part],
            metadatas=[
                {
                    "status": STATUSES[n % 6],
                    "source": "learn",
                    "created": f"2026-01-{1 + n % 28:02}T00:00:00Z",
                    "layer": "memory",
                    "path": "memory",
                    "kind": "learning",
                    "whole": n,
                    "real": n / 4,
                    "truth": n % 2 == 0,
                }
                for n in range(len(part))
            ],
        )
    for place, name in enumerate(ids[: max(4, count // 5)]):
        if place % 3 == 0:
            notes.update(
                ids=[name],
                metadatas=[{"status": "retired", "retired_reason": "old", "whole": None}],
            )
        elif place % 3 == 1:
            notes.update(ids=[name], documents=[f"changed {place}"], embeddings=[numbers(rng)])
        elif place % 9 == 2:
            notes.delete(ids=[name])
    copy = {"metadata": {"path": "queue.md"}, "text": "stale"}
    wiki.add(
        ids=["9d3c2a10-0000-4000-8000-000000000001"],
        documents=["## Queue\nThe queue holds jobs."],
        embeddings=[numbers(rng)],
        metadatas=[
            {
                "path": "queue.md",
                "section": "",
                "chunk_index": 0,
                "status": "active",
                "source": "ingest_wiki",
                "layer": "wiki",
                "created": "2026-01-01T00:00:00Z",
                "_node_content": json.dumps(copy),
                "_node_type": "TextNode",
                "document_id": "None",
                "doc_id": "None",
                "ref_doc_id": "None",
            }
        ],
    )
    global_.add(
        ids=["11112222-0000-4000-8000-000000000001"],
        documents=["never clear a queue by hand"],
        embeddings=[numbers(rng)],
        metadatas=[{"layer": "memory", "path": "memory"}],
    )


def dump(folder: str) -> None:
    """Everything, as Chroma itself tells it."""
    said = {}
    for found in client_of(folder).list_collections():
        collection = client_of(folder).get_collection(found.name, embedding_function=None)
        rows = collection.get(include=["documents", "metadatas", "embeddings"])
        said[found.name] = {
            "metadata": collection.metadata or {},
            "nodes": {
                name: [document, metadata or {}, [float(x) for x in vector]]
                for name, document, metadata, vector in zip(
                    rows["ids"],
                    rows["documents"],
                    rows["metadatas"],
                    rows["embeddings"],
                    strict=True,
                )
            },
        }
    json.dump(said, sys.stdout)


def write(folder: str, count: int) -> None:
    """Notes one by one, each retired right after; a line when it begins and when it ends."""
    rng = random.Random(3)
    notes = client_of(folder).get_collection("rag_api__memory", embedding_function=None)
    print("writing", flush=True)
    for n in range(count):
        name = f"feed{n:04x}-0000-4000-8000-000000000000"
        notes.add(
            ids=[name],
            documents=[f"late {n}"],
            embeddings=[numbers(rng)],
            metadatas=[{"status": "active"}],
        )
        notes.update(ids=[name], metadatas=[{"status": "retired"}])
        time.sleep(0.002)
    print("done", flush=True)


if __name__ == "__main__":
    verb, folder, *rest = sys.argv[1:]
    if verb == "write":
        write(folder, int(rest[0]))
    if verb == "make":
        make(folder, int(rest[0]))
    if verb in ("make", "dump"):
        dump(folder)
