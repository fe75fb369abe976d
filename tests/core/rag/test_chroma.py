"""A Chroma store read with the standard library (specs, memory-rag 12).

``tests/data/chroma`` was made by ``tests/interop/chroma_driver.py`` with chromadb 1.5.9; what no
store of that size shows (segment files, a queue that is behind) is written here by hand.
"""

from __future__ import annotations

import json
import pickle
import shutil
import sqlite3
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from core.desk import history, knowledge, knowledge_work
from core.desk.knowledge import Shelf
from core.errors import UnreadableError, UsageError
from core.homes.rag import chroma, chroma_write
from core.homes.rag.chroma import ChromaReader
from core.homes.rag.chroma_write import ChromaStore
from core.homes.rag.nodes import Layer, collection_of
from tests.core.rag.shelves import shelf_in, use_child

DATA = Path(__file__).parents[2] / "data" / "chroma"
MEMORY = collection_of("api", Layer.MEMORY)
GLOBAL_NOTE = "11112222-0000-4000-8000-000000000001"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path / "store")
    (tmp_path / "store" / "chroma.sqlite3").chmod(0o644)
    return tmp_path / "store"


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as db:
        yield db
        db.commit()


def ids(folder: Path) -> list[str]:
    return [node.id for node in ChromaReader(folder).nodes(MEMORY)]


def test_documents_metadata_and_statuses(folder: Path) -> None:
    reader = ChromaReader(folder)
    assert dict(reader.collections()) == {
        "rag_api__memory": {},
        "rag_api__wiki": {"hnsw:space": "cosine"},
        "rag_global__memory": {},
    }
    nodes = list(reader.nodes(MEMORY))
    assert len(nodes) == reader.count(MEMORY) == 11, "twelve, one deleted"
    first, second, third = nodes[:3]
    assert (first.status, first.text("retired_reason"), "whole" in first.metadata) == (
        "retired",
        "old",
        False,
    )
    assert (second.document, second.status) == ("changed 1", "retired")
    assert (third.document, third.status) == ("note 3 about the queue, é 队列 \x1b[31m", "retired")
    fields = {key: third.metadata[key] for key in ("real", "truth", "created")}
    assert fields == {"real": 0.75, "truth": False, "created": "2026-01-04T00:00:00Z"}
    assert [type(fields["real"]), type(fields["truth"])] == [float, bool]
    assert nodes[4].status == "active", "an empty status is active"


def test_the_newest_first_and_by_status(folder: Path) -> None:
    reader = ChromaReader(folder)
    found = reader.newest(MEMORY)
    assert [node.text("created") for node in found] == sorted(
        (node.text("created") for node in found), reverse=True
    )
    assert {node.status for node in reader.newest(MEMORY, status="retired")} == {"retired"}
    assert all(node.live for node in reader.newest(MEMORY, status="live", limit=3))
    assert len(reader.newest(MEMORY, limit=2)) == 2
    assert reader.statuses(MEMORY) == Counter(node.status for node in found)


def test_what_llama_index_adds_is_hidden(folder: Path) -> None:
    (page,) = ChromaReader(folder).nodes("rag_api__wiki")
    assert "_node_content" in page.metadata
    assert set(page.shown) == {
        "path",
        "section",
        "chunk_index",
        "status",
        "source",
        "layer",
        "created",
    }


def test_reading_makes_and_changes_nothing(folder: Path) -> None:
    before = [(p.name, p.stat().st_mtime_ns) for p in folder.iterdir()]
    shelf = shelf_in(folder.parent)
    knowledge.recall(shelf, "queue", "api")
    knowledge.stats(shelf, "api")
    assert [(p.name, p.stat().st_mtime_ns) for p in folder.iterdir()] == before


def test_recall_from_it_has_the_stated_shape(folder: Path) -> None:
    text = knowledge.recall(shelf_in(folder.parent), "clear the queue", "api").recalled.text
    lines = text.split("\n")
    assert lines[:3] == [
        "Recall [api] for: clear the queue",
        "[wiki queue.md] ## Queue The queue holds jobs.",
        "[code: not built for api]",
    ]
    assert lines[3].startswith("[memory memory #")
    assert lines[4] == "[global] [memory memory #11112222] never clear a queue by hand"


def test_short_ids(folder: Path) -> None:
    reader, (first, *_) = ChromaReader(folder), ids(folder)
    assert reader.resolve(MEMORY, first[:8]).id == first
    assert reader.resolve(MEMORY, first).id == first
    assert reader.resolve(MEMORY, first[:3]).id is None
    assert reader.resolve("absent", first).id is None


def test_the_queue_is_applied_where_the_tables_are_behind(folder: Path) -> None:
    """Operations: 0 add, 1 update, 2 upsert, 3 delete (section 12)."""
    first, second, third, *_ = ids(folder)
    note = {"chroma:document": "late", "status": "active", "n": 3}
    rows = [
        (1, first, json.dumps({"status": "archived", "retired_reason": None})),
        (3, second, None),
        (0, third, json.dumps({"status": "never"})),
        (0, "new-1", json.dumps(note)),
        (1, "absent", json.dumps(note)),
        (2, "new-2", json.dumps(note)),
        (2, "new-2", json.dumps({"status": "retired"})),
    ]
    with database(folder) as db:
        (topic,) = db.execute(
            "SELECT 'persistent://default/default/' || id FROM collections WHERE name = ?",
            (MEMORY,),
        ).fetchone()
        db.executemany(
            "INSERT INTO embeddings_queue (operation, topic, id, metadata) VALUES (?, ?, ?, ?)",
            [(op, topic, name, data) for op, name, data in rows],
        )
    found = {node.id: node for node in ChromaReader(folder).nodes(MEMORY)}
    assert (found[first].status, "retired_reason" in found[first].metadata) == ("archived", False)
    assert second not in found
    assert found[third].status == "retired", "to add what is there changes nothing"
    assert (found["new-1"].document, found["new-1"].metadata) == (
        "late",
        {"status": "active", "n": 3},
    )
    assert "absent" not in found
    assert (found["new-2"].document, found["new-2"].status) == ("late", "retired")


def test_a_change_is_seen_at_once(folder: Path) -> None:
    reader = ChromaReader(folder)
    assert reader.count("rag_global__memory") == 1
    with database(folder) as db:
        db.execute(
            "UPDATE embedding_metadata SET string_value = 'changed' WHERE key = 'chroma:document' AND string_value LIKE 'never%'"
        )
    assert [node.document for node in reader.nodes("rag_global__memory")] == ["changed"]


def test_while_chroma_holds_its_lock_it_is_waited_for_and_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "BUSY", 0.1)
    with database(folder) as db:
        db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(UnreadableError, match="Chroma is writing to it"):
            ChromaReader(folder).collections()
    assert ChromaReader(folder).collections()


@pytest.mark.parametrize("data", [b"", b"no database at all" * 100])
def test_what_is_no_chroma_store_is_said(folder: Path, data: bytes) -> None:
    (folder / "chroma.sqlite3").write_bytes(data)
    with pytest.raises(UnreadableError):
        ChromaReader(folder).collections()
    (folder / "chroma.sqlite3").unlink()
    with pytest.raises(UnreadableError):
        ChromaReader(folder).count(MEMORY)


def test_the_log_of_the_original_is_read(folder: Path) -> None:
    assert ChromaReader(folder).events() == []
    with closing(sqlite3.connect(folder / "usage.db")) as db:
        db.execute("CREATE TABLE events(ts REAL, project TEXT, event TEXT, detail TEXT)")
        db.executemany(
            "INSERT INTO events VALUES (?, 'api', ?, ?)",
            [
                (1.0, "learn", "learning"),
                (90_000.0, "recall", "where is x"),
                (90_001.0, "recall", None),
            ],
        )
        db.commit()
    found = knowledge.stats(shelf_in(folder.parent), "api")
    assert (found.active_days, found.learnings, found.structure_questions) == (2, 1, 1)
    (folder / "usage.db").write_bytes(b"x" * 5000)
    assert ChromaReader(folder).events() == []


# -- numbers ---------------------------------------------------------------------------------------


def segment(folder: Path, labels: object, version: int = 1, count: int = 2) -> None:
    """Segment files of a collection of two nodes, as chromadb lays them out."""
    with database(folder) as db:
        (name,) = db.execute(
            "SELECT s.id FROM segments s JOIN collections c ON c.id = s.collection"
            " WHERE c.name = ? AND scope = 'VECTOR'",
            (MEMORY,),
        ).fetchone()
        db.execute("DELETE FROM embeddings_queue")
    place = folder / name
    place.mkdir()
    size, label_at, data_at = 4 + 64 + 8, 68, 4
    (place / "header.bin").write_bytes(
        struct.pack("<i6Q", version, 0, 1_000, count, size, label_at, data_at) + b"\0" * 40
    )
    elements = (
        b"\0" * 4 + struct.pack("<16f", *[0.5 * label] * 16) + struct.pack("<Q", label)
        for label in range(1, 3)
    )
    (place / "data_level0.bin").write_bytes(b"".join(elements))
    (place / "index_metadata.pickle").write_bytes(pickle.dumps(labels))


def test_numbers_from_the_queue(folder: Path) -> None:
    found = list(ChromaReader(folder).vectors(MEMORY))
    assert [each.id for each in found] == ids(folder)
    assert {len(each.values) for each in found} == {16}
    live = list(ChromaReader(folder).vectors(MEMORY, live=True))
    assert 0 < len(live) < len(found)


def test_numbers_from_the_files(folder: Path) -> None:
    first, second, *_ = ids(folder)
    segment(folder, {"label_to_id": {1: first, 2: second}, "id_to_label": {}})
    found = {each.id: list(each.values) for each in ChromaReader(folder).vectors(MEMORY)}
    assert found == {first: [0.5] * 16, second: [1.0] * 16}


def test_files_of_another_version_are_refused_and_texts_read_all_the_same(folder: Path) -> None:
    segment(folder, {"label_to_id": {}}, version=2)
    with pytest.raises(UnreadableError, match="version 2"):
        list(ChromaReader(folder).vectors(MEMORY))
    shelf = shelf_in(folder.parent)
    with pytest.raises(UnreadableError, match="version 2"):
        knowledge_work.export(shelf, folder.parent / "x.jsonl")
    found = knowledge_work.export(shelf, folder.parent / "x.jsonl", vectors=False)
    assert sum(found.collections.values()) == 13


class Evil:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("never",)


@pytest.mark.parametrize("labels", [Evil(), {"label_to_id": Evil()}, [], {"other": 1}])
def test_a_pickle_that_would_run_something_is_refused(
    folder: Path, labels: object, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(folder, labels)
    with pytest.raises(UnreadableError):
        list(ChromaReader(folder).vectors(MEMORY))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("count", [3, 10**9])
def test_sizes_that_do_not_fit_together_are_refused(folder: Path, count: int) -> None:
    segment(folder, {"label_to_id": {}}, count=count)
    with pytest.raises(UnreadableError, match="do not fit"):
        list(ChromaReader(folder).vectors(MEMORY))


def test_a_short_header_is_refused(folder: Path, tmp_path: Path) -> None:
    segment(folder, {"label_to_id": {}})
    next(folder.glob("*/header.bin")).write_bytes(b"\1\0\0\0")
    with pytest.raises(UnreadableError, match="too short"):
        list(ChromaReader(folder).vectors(MEMORY))


# -- changes ---------------------------------------------------------------------------------------


def test_without_the_extra_a_change_is_refused_and_says_what_to_install(folder: Path) -> None:
    shelf = shelf_in(folder.parent)
    plan = knowledge.retire(shelf, "global", "11112222", "over")
    with pytest.raises(UsageError, match="only read here") as refused:
        knowledge.carry_out(shelf, plan)
    assert "extra `chroma`" in refused.value.hint
    dry = knowledge_work.migrate_status(shelf, apply=False)
    assert (dry.stamped, dry.total) == (3, 13)
    with pytest.raises(UsageError):
        knowledge_work.migrate_status(shelf, apply=True)


@pytest.fixture
def writable(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    use_child(tmp_path, monkeypatch)
    shelf = shelf_in(folder.parent)
    assert isinstance(shelf.store, ChromaStore)
    return shelf


def test_a_status_is_changed_by_the_child_and_taken_back(writable: Shelf) -> None:
    before = writable.store.get("rag_global__memory", GLOBAL_NOTE)
    plan = knowledge.retire(writable, "global", "11112222", "over")
    assert knowledge.carry_out(writable, plan).ok
    found = writable.store.get("rag_global__memory", GLOBAL_NOTE)
    assert found is not None
    assert (found.status, found.text("retired_reason")) == ("retired", "over")
    assert history.undo(writable).ok
    assert writable.store.get("rag_global__memory", GLOBAL_NOTE) == before


def test_a_child_that_fails_is_said_and_nothing_is_changed(writable: Shelf) -> None:
    plan = knowledge.retire(writable, "global", "11112222", "fail")
    receipt = knowledge.carry_out(writable, plan)
    assert (receipt.ok, receipt.category) == (False, "io_error")
    assert "chromadb said no" in receipt.message
    assert writable.store.get("rag_global__memory", GLOBAL_NOTE).live  # type: ignore[union-attr]


def test_lacking_statuses_are_given_by_the_child(writable: Shelf) -> None:
    assert knowledge_work.migrate_status(writable, apply=True).stamped == 3
    assert knowledge_work.migrate_status(writable, apply=False).stamped == 0


def test_only_the_keys_that_differ_are_sent() -> None:
    before: dict[str, str | int | None] = {"status": "retired", "retired_reason": "x", "n": 1}
    assert chroma_write.changed(before, {"status": "active", "n": 1}) == {
        "status": "active",
        "retired_reason": None,
    }
