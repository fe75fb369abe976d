"""Export, restore, compare, statuses that are lacking: identities and refusals (specs 11)."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from pathlib import Path
from typing import Any

import pytest

from core.desk import knowledge_work
from core.desk.knowledge import Shelf
from core.errors import SignoffError, UnreadableError, UsageError
from core.homes.rag import restoring, schema
from core.homes.rag.building import add_in_place
from core.homes.rag.nodes import Node
from core.homes.rag.own_rows import insert
from core.homes.rag.restoring import NotRestoredError
from core.homes.rag.store import Vector
from tests.core.rag.shelves import NOW, SIX_HOURS, SIX_HOURS_ID, learn, shelf_in

HOSTILE = 'a\x1b[31m\u202e\u2028\n[bold]\t"\\ é 队列 \U0001f600'


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return shelf_in(tmp_path)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]


def fill(shelf: Shelf, count: int, *, vectors: bool = False) -> None:
    """Nodes with metadata of every kind, in two collections."""
    for collection in ("rag_api__memory", "rag_b__wiki"):
        nodes = [
            Node(
                collection,
                f"{n * 7919 % 100_003:08x}-id",
                f"{HOSTILE} {n}",
                {
                    "status": ("active", "retired", "pinned", "")[n % 4],
                    "n": n,
                    "f": n / 3,
                    "b": n % 2 == 0,
                    "z": None,
                    "path": HOSTILE,
                },
            )
            for n in range(count)
        ]
        made = [Vector(node.id, "ollama:m", [0.1 * at, -1.5, 3.0]) for at, node in enumerate(nodes)]
        add_in_place(shelf.own, nodes, made if vectors else ())


def copied(shelf: Shelf, tmp_path: Path, **options: bool) -> Shelf:
    knowledge_work.export(shelf, tmp_path / "x.jsonl")
    other = shelf_in(tmp_path, store="other")
    knowledge_work.restore(other, tmp_path / "x.jsonl", **options)
    return other


def same(a: Shelf, b: Shelf) -> bool:
    return knowledge_work.compare(a, a.store.folder, b.store.folder).identical


# -- identities ------------------------------------------------------------------------------------


def test_ten_thousand_notes_there_and_back_are_the_same(shelf: Shelf, tmp_path: Path) -> None:
    fill(shelf, 5_000)
    other = copied(shelf, tmp_path)
    assert same(shelf, other)
    found = knowledge_work.compare(
        shelf, shelf.store.folder, other.store.folder, query="queue 4711"
    )
    assert found.identical
    assert found.top_a == found.top_b
    assert found.top_a
    knowledge_work.export(other, tmp_path / "y.jsonl")
    assert lines(tmp_path / "x.jsonl")[1:] == lines(tmp_path / "y.jsonl")[1:]


def test_numbers_come_back_exactly(shelf: Shelf, tmp_path: Path) -> None:
    fill(shelf, 20, vectors=True)
    other = copied(shelf, tmp_path)
    for name in shelf.store.collections():
        ours = {v.id: list(v.values) for v in shelf.store.vectors(name)}
        theirs = {v.id: list(v.values) for v in other.store.vectors(name)}
        assert ours == theirs
        assert len(ours) == 20


def test_numbers_keep_the_embedder_that_made_them(tmp_path: Path) -> None:
    """The header names one model; numbers of two are never mixed (section 14)."""
    shelf = shelf_in(tmp_path)
    nodes = [Node("rag_a__memory", name, name, {}) for name in "abc"]
    made = ("ollama:nomic-embed-text", "wordllama:256", "ollama:other")
    vectors = [Vector(node.id, by, [1.0]) for node, by in zip(nodes, made, strict=True)]
    add_in_place(shelf.own, nodes, vectors)
    other = copied(shelf, tmp_path)
    found = {each.id: each.embedder for each in other.store.vectors("rag_a__memory")}
    assert found == {"a": "nomic-embed-text", "b": "wordllama:256", "c": "ollama:other"}
    numbers = lines(tmp_path / "x.jsonl.embedding-numbers.jsonl")
    assert set(numbers[0]) == {"id", "collection", "embedding"}, "as the original writes it"


def test_a_restore_that_fails_in_the_middle_leaves_all_as_it_was(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shelf, 5)
    knowledge_work.export(shelf, tmp_path / "x.jsonl")
    other = shelf_in(tmp_path, store="other")
    add_in_place(other.own, [Node("rag_api__memory", "mine", "mine", {})])
    left = [2]

    def failing(*args: Any) -> None:
        left[0] -= 1
        if not left[0]:
            raise sqlite3.OperationalError("database or disk is full")
        insert(*args)

    monkeypatch.setattr(restoring, "insert", failing)
    with pytest.raises(UnreadableError, match="disk is full"):
        knowledge_work.restore(other, tmp_path / "x.jsonl", force=True)
    assert [node.id for node in other.store.nodes("rag_api__memory")] == ["mine"]
    assert list(other.store.collections()) == ["rag_api__memory"]


def test_one_changed_field_is_seen(shelf: Shelf, tmp_path: Path) -> None:
    fill(shelf, 5)
    other = copied(shelf, tmp_path)
    with schema.writing(other.store.folder) as db:
        db.execute("UPDATE nodes_1 SET metadata = json_set(metadata, '$.n', 99) WHERE number = 3")
    found = knowledge_work.compare(shelf, shelf.store.folder, other.store.folder)
    assert [(pair.ok, pair.same) for pair in found.pairs] == [(True, False), (True, True)]
    assert not found.identical
    learn(other, "one more")
    found = knowledge_work.compare(shelf, shelf.store.folder, other.store.folder)
    assert [(pair.a, pair.b, pair.ok) for pair in found.pairs] == [(5, 6, False), (5, 5, True)]


# -- the file --------------------------------------------------------------------------------------


def test_the_file_is_as_stated(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, f"{SIX_HOURS} é")
    learn(shelf, SIX_HOURS)
    file = tmp_path / "x.jsonl"
    found = knowledge_work.export(shelf, file)
    assert (found.collections, found.vectors) == ({"rag_api__memory": 2}, 0)
    header, *nodes = lines(file)
    assert header == {
        "kind": "header",
        "hermes_rag_export": 1,
        "created": header["created"],
        "store": str(shelf.store.folder),
        "embed_model": "nomic-embed-text",
        "ollama_url": "http://localhost:11434",
        "vectors_included": False,
        "collections": {
            "rag_api__memory": {"count": 2, "metadata": {}, "embedding_list_sizes": []}
        },
    }
    assert [node["id"] for node in nodes] == sorted(node["id"] for node in nodes)
    assert set(nodes[0]) == {"kind", "collection", "id", "document", "metadata"}
    text = file.read_text("utf-8")
    assert "é" in text, "UTF-8, not escaped"
    assert all(list(json.loads(line)) == sorted(json.loads(line)) for line in text.splitlines())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert header["created"].startswith(f"{NOW:%Y-%m-%dT%H:%M}")


def test_a_file_that_is_no_export_is_not_replaced(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS)
    file = tmp_path / "x.jsonl"
    file.write_text("my diary\n")
    with pytest.raises(UsageError, match="no export"):
        knowledge_work.export(shelf, file)
    assert file.read_text() == "my diary\n"
    file.unlink()
    knowledge_work.export(shelf, file)
    knowledge_work.export(shelf, file)


def test_a_pipe_is_not_waited_for(shelf: Shelf, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is there and is no file"):
        knowledge_work.export(shelf, tmp_path / "pipe")


def test_numbers_of_an_older_export_are_not_taken_for_new_ones(
    shelf: Shelf, tmp_path: Path
) -> None:
    fill(shelf, 2, vectors=True)
    file = tmp_path / "x.jsonl"
    knowledge_work.export(shelf, file)
    assert (tmp_path / "x.jsonl.embedding-numbers.jsonl").exists()
    with pytest.raises(UsageError, match="older export"):
        knowledge_work.export(shelf, file, vectors=False)


def test_a_password_in_the_address_stays_here(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path, HERMES_RAG_OLLAMA_URL="http://me:secret@localhost:11434/x")
    learn(shelf, SIX_HOURS)
    knowledge_work.export(shelf, tmp_path / "x.jsonl")
    assert lines(tmp_path / "x.jsonl")[0]["ollama_url"] == "http://localhost:11434/x"


# -- refusals --------------------------------------------------------------------------------------

HEADER = {
    "kind": "header",
    "hermes_rag_export": 1,
    "embed_model": "nomic-embed-text",
    "collections": {},
}
NODE = {"kind": "node", "collection": "rag_a__memory", "id": "i", "document": "d", "metadata": {}}


def written(tmp_path: Path, *bodies: object, raw: str = "") -> Path:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(f"{json.dumps(body)}\n" for body in bodies) + raw)
    return file


@pytest.mark.parametrize(
    ("bodies", "raw", "why"),
    [
        ([], "", "has no header"),
        ([NODE], "", "before the header"),
        ([HEADER, HEADER], "", "second header"),
        ([HEADER, {"kind": "other"}], "", "unknown kind"),
        ([HEADER, [1]], "", "no object"),
        ([HEADER], "{", "no JSON"),
        ([HEADER, NODE, NODE], "", "earlier line"),
        ([HEADER, NODE | {"id": 3}], "", "no collection or id"),
        ([HEADER, NODE | {"document": 3}], "", "no text"),
        ([HEADER, NODE | {"metadata": {"a": {}}}], "", "must be a text"),
        ([HEADER | {"hermes_rag_export": 2}], "", "format 2"),
        ([HEADER | {"collections": {"rag_a__memory": {"count": 2}}}, NODE], "", "it was cut"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_whole_export_writes_nothing(
    shelf: Shelf, tmp_path: Path, bodies: list[object], raw: str, why: str
) -> None:
    with pytest.raises(UnreadableError, match=why):
        knowledge_work.restore(shelf, written(tmp_path, *bodies, raw=raw))
    assert not shelf.store.folder.exists()


def test_without_numbers_another_model_is_refused(shelf: Shelf, tmp_path: Path) -> None:
    file = written(tmp_path, HEADER | {"embed_model": "other"}, NODE)
    for force in (False, True):
        with pytest.raises(NotRestoredError, match="'other'"):
            knowledge_work.restore(shelf, file, force=force)
    assert not shelf.store.folder.exists()
    other = shelf_in(tmp_path, HERMES_RAG_EMBED_MODEL="other")
    found = knowledge_work.restore(other, file)
    assert found.warnings == ("The export had no numbers: the store is searched by words",)


@pytest.mark.parametrize(
    "name",
    ["in.jsonl.embedding-numbers.jsonl", "in.embedding-numbers.jsonl", "in.jsonl.vectors.jsonl"],
)
def test_numbers_are_found_under_each_of_their_names_whatever_the_model(
    shelf: Shelf, tmp_path: Path, name: str
) -> None:
    file = written(tmp_path, HEADER | {"embed_model": "other"}, NODE)
    numbers = {"id": "i", "collection": "rag_a__memory", "embedding": [1.0, 2]}
    (tmp_path / name).write_text(json.dumps(numbers))
    assert knowledge_work.restore(shelf, file).vectors == 1


def test_what_is_there_is_replaced_only_by_force(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, "mine", "a")
    file = written(tmp_path, HEADER | {"collections": {"rag_0__memory": {}}}, NODE)
    with pytest.raises(NotRestoredError, match="holds nodes in rag_a__memory"):
        knowledge_work.restore(shelf, file)
    assert list(shelf.store.collections()) == ["rag_a__memory"], "all is checked first"
    knowledge_work.restore(shelf, file, force=True)
    assert [n.document for n in shelf.store.nodes("rag_a__memory")] == ["d"]


def test_missing_numbers_are_refused_unless_forced(shelf: Shelf, tmp_path: Path) -> None:
    file = written(tmp_path, HEADER, NODE, NODE | {"id": "j"})
    numbers = {"id": "i", "collection": "rag_a__memory", "embedding": [1.0]}
    (tmp_path / "in.jsonl.embedding-numbers.jsonl").write_text(json.dumps(numbers))
    with pytest.raises(NotRestoredError, match="1 nodes of rag_a__memory have no numbers"):
        knowledge_work.restore(shelf, file)
    assert knowledge_work.restore(shelf, file, force=True).vectors == 1


def test_promised_numbers_that_are_not_there_are_refused(shelf: Shelf, tmp_path: Path) -> None:
    file = written(tmp_path, HEADER | {"vectors_included": True}, NODE)
    with pytest.raises(NotRestoredError, match="does not lie beside"):
        knowledge_work.restore(shelf, file)
    knowledge_work.restore(shelf, file, force=True)


def test_the_distance_of_a_collection_comes_back(shelf: Shelf, tmp_path: Path) -> None:
    about = {"rag_a__memory": {"count": 1, "metadata": {"hnsw:space": "cosine"}}}
    knowledge_work.restore(shelf, written(tmp_path, HEADER | {"collections": about}, NODE))
    assert shelf.store.collections() == {"rag_a__memory": {"hnsw:space": "cosine"}}


def test_a_folder_without_a_store_is_not_compared(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS)
    with pytest.raises(SignoffError, match="no note store"):
        knowledge_work.compare(shelf, shelf.store.folder, tmp_path / "none")


# -- statuses that are lacking ---------------------------------------------------------------------


def test_lacking_fields_are_added_once(shelf: Shelf) -> None:
    nodes = [
        Node("rag_a__memory", "m", "d", {"created": "then"}),
        Node("rag_a__code", "c", "d", {"source": "mine"}),
        Node("rag_a__wiki", "w", "d", {"status": "retired"}),
        Node("other", "o", "d", {}),
    ]
    for node in nodes:
        add_in_place(shelf.own, [node])
    dry = knowledge_work.migrate_status(shelf, apply=False)
    assert (dry.stamped, dry.total, dry.applied) == (3, 4, False)
    assert [n.metadata for n in shelf.store.nodes("rag_a__code")] == [{"source": "mine"}]
    assert knowledge_work.migrate_status(shelf, apply=True).stamped == 3
    found = {
        node.id: node.metadata
        for name in shelf.store.collections()
        for node in shelf.store.nodes(name)
    }
    assert found == {
        "m": {"created": "then", "status": "active", "source": "learn"},
        "c": {"source": "mine", "status": "active", "created": ""},
        "w": {"status": "retired"},
        "o": {"status": "active", "source": "unknown", "created": ""},
    }
    assert knowledge_work.migrate_status(shelf, apply=True).stamped == 0


def test_an_export_of_a_note_is_the_note(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS)
    other = copied(shelf, tmp_path)
    assert other.store.get("rag_api__memory", SIX_HOURS_ID) == shelf.store.get(
        "rag_api__memory", SIX_HOURS_ID
    )
