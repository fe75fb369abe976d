"""A store of the real chromadb beside signoff's reader of it (issue 8, specs memory-rag 12).

``SIGNOFF_CHROMA`` names a python with chromadb (``make interop``).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core.commit import commit
from core.desk import knowledge
from core.ground import Ground
from core.homes.hermes.skills import usage
from core.homes.rag.chroma import ChromaReader
from core.homes.rag.chroma_write import ChromaStore
from core.homes.rag.nodes import Layer, collection_of
from core.homes.rag.statuses import Place, retire
from core.journal import Journal
from core.plan import bind
from core.undo import plan_undo
from core.view import View
from tests.core.rag.shelves import NOW, shelf_in

pytestmark = pytest.mark.peer

VARIABLE = "SIGNOFF_CHROMA"
DRIVER = Path(__file__).with_name("chroma_driver.py")
MEMORY = collection_of("api", Layer.MEMORY)


@pytest.fixture(scope="session")
def python() -> str:
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} names no python with chromadb")
    return named


def run(python: str, verb: str, folder: Path, *rest: int) -> str:
    words = [python, "-I", str(DRIVER), verb, str(folder), *map(str, rest)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def told(python: str, folder: Path) -> Any:
    """Every collection as Chroma itself tells it."""
    return json.loads(run(python, "dump", folder))


def read(folder: Path) -> Any:
    """The same, as signoff reads it."""
    reader = ChromaReader(folder)
    said = {}
    for name, metadata in reader.collections().items():
        vectors = {each.id: list(each.values) for each in reader.vectors(name)}
        said[name] = {
            "metadata": dict(metadata),
            "nodes": {
                node.id: [node.document, dict(node.metadata), vectors[node.id]]
                for node in reader.nodes(name)
            },
        }
    return said


def assert_same(ours: Any, theirs: Any) -> None:
    """Numbers as near as single precision has them: Chroma scales those of a cosine collection."""
    assert ours.keys() == theirs.keys()
    for name, found in theirs.items():
        assert ours[name]["metadata"] == found["metadata"]
        assert ours[name]["nodes"].keys() == found["nodes"].keys()
        for key, (document, metadata, numbers) in found["nodes"].items():
            assert ours[name]["nodes"][key][:2] == [document, metadata]
            assert ours[name]["nodes"][key][2] == pytest.approx(numbers, rel=1e-6)


@dataclass(frozen=True)
class Made:
    """A store, and what Chroma tells of it. Starting Chroma takes seconds, so it is made once."""

    folder: Path
    told: Any

    def copy(self, folder: Path) -> Path:
        """The same store elsewhere, to be changed."""
        return shutil.copytree(self.folder, folder / "store")


@pytest.fixture(scope="session")
def few(python: str, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Below 1,000 writes the numbers are in the queue."""
    folder = tmp_path_factory.mktemp("few")
    return Made(folder, json.loads(run(python, "make", folder, 60)))


@pytest.fixture(scope="session")
def many(python: str, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Above that most are in files of their own, the newest in the queue."""
    folder = tmp_path_factory.mktemp("many")
    return Made(folder, json.loads(run(python, "make", folder, 1_300)))


@pytest.fixture(params=["few", "many"])
def made(request: pytest.FixtureRequest) -> Made:
    found: Made = request.getfixturevalue(request.param)
    return found


def test_all_documents_metadata_and_numbers_are_read(made: Made) -> None:
    assert_same(read(made.folder), made.told)


def test_many_numbers_are_in_files_of_their_own(few: Made, many: Made) -> None:
    assert not list(few.folder.glob("*/index_metadata.pickle"))
    assert list(many.folder.glob("*/index_metadata.pickle"))


def test_reading_leaves_the_folder_as_it_was(made: Made) -> None:
    before = {path: path.stat().st_mtime_ns for path in made.folder.rglob("*")}
    read(made.folder)
    assert {path: path.stat().st_mtime_ns for path in made.folder.rglob("*")} == before


def test_an_export_of_it_opens_as_signoff_s_own(made: Made, tmp_path: Path) -> None:
    from core.desk import knowledge_work

    shelf = shelf_in(tmp_path, HERMES_RAG_STORE=str(made.folder))
    assert shelf.store.kind == "chroma"
    knowledge_work.export(shelf, tmp_path / "x.jsonl")
    own = shelf_in(tmp_path, store="own")
    knowledge_work.restore(own, tmp_path / "x.jsonl")
    assert knowledge_work.compare(own, made.folder, own.store.folder).identical
    text = knowledge.recall(shelf, "clear a queue", "api").recalled.text
    assert "[wiki queue.md] ## Queue The queue holds jobs." in text
    assert "[global] [memory memory #11112222] never clear a queue by hand" in text


def test_it_is_read_whole_while_chroma_writes(python: str, few: Made, tmp_path: Path) -> None:
    folder = few.copy(tmp_path)
    words = [python, "-I", str(DRIVER), "write", str(folder), "200"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        counts, seen = [], 0
        while writer.poll() is None:
            reader = ChromaReader(folder)
            late = [node for node in reader.nodes(MEMORY) if node.id.startswith("feed")]
            assert all(node.document.startswith("late") for node in late)
            assert {node.status for node in late[:-1]} <= {"retired"}, "no change is half seen"
            counts.append(len(late))
            seen += 1
        assert writer.returncode == 0
    assert counts == sorted(counts)
    assert seen > 20
    assert_same(read(folder), told(python, folder))
    print(f"{seen} reads while 400 changes were written")


def test_a_status_is_changed_and_taken_back_through_chroma_itself(
    python: str, few: Made, tmp_path: Path
) -> None:
    folder = few.copy(tmp_path)
    store = ChromaStore(folder, python)
    ground = Ground(folder.resolve(), "default", tmp_path / "state", usage, records=store)
    journal, place = Journal(ground.state), Place(store.file, MEMORY)
    live = next(node for node in store.nodes(MEMORY) if node.status == "active")
    view = View(ground.disk())
    plan = bind(view, "retire", live.id[:8], retire(view, place, live.id, "it is over"))
    assert commit(plan, ground, journal, now=NOW).ok
    (document, metadata, _) = told(python, folder)[MEMORY]["nodes"][live.id]
    assert (document, metadata["status"], metadata["retired_reason"]) == (
        live.document,
        "retired",
        "it is over",
    )
    assert commit(plan_undo(View(ground.disk()), journal.entry(1), ()), ground, journal, now=NOW).ok
    assert told(python, folder) == few.told
