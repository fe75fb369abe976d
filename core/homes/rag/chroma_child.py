"""Changes metadata in a Chroma store. Run as a file of its own by the interpreter that has
chromadb: what it imports stays out of the program that asks.

Reads one JSON object from stdin: ``{folder, collection, updates: [[id, {key: value}]]}``; a value
of ``null`` takes a key away. No text is changed, so no embedder is needed.
"""

import importlib
import json
import sys


def main() -> None:
    """Make the changes and say ``{"ok": true}``."""
    chromadb = importlib.import_module("chromadb")
    asked = json.load(sys.stdin)
    settings = chromadb.config.Settings(anonymized_telemetry=False, allow_reset=False)
    client = chromadb.PersistentClient(asked["folder"], settings=settings)
    # Chroma's own embedder would fetch a model; none is needed here.
    collection = client.get_collection(asked["collection"], embedding_function=None)
    updates = asked["updates"]
    for start in range(0, len(updates), 500):
        part = updates[start : start + 500]
        collection.update(ids=[name for name, _ in part], metadatas=[keys for _, keys in part])
    json.dump({"ok": True}, sys.stdout)


if __name__ == "__main__":
    main()
