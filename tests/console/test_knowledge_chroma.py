"""The knowledge mode on a Chroma store: statuses through chromadb in a child process, no texts."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from core.homes.rag import chroma_write
from core.homes.rag.chroma import ChromaReader
from core.homes.rag.nodes import Layer, Metadata, collection_of
from core.journal import Journal
from tests.console.pilots import Console
from tests.console.shelves import home_in, knowledge_on, title
from tests.core.rag.shelves import use_child

CHROMA = Path(__file__).parents[1] / "data" / "chroma"
#: Two live notes of the store, and one that was replaced.
OLD, NEW, REPLACED = "248174e5", "7b87a9e2", "02c7bff2"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home with a Chroma store beside it."""
    store = shutil.copytree(CHROMA, tmp_path / "hermes-rag")
    (store / "chroma.sqlite3").chmod(0o644)
    return home_in(tmp_path)


@pytest.fixture
def written(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, where statuses can be changed."""
    use_child(tmp_path, monkeypatch)
    return home


def metadata(home: Path, short: str) -> Metadata:
    """What the store says of a note now."""
    nodes = ChromaReader(home.parent / "hermes-rag").nodes(collection_of("api", Layer.MEMORY))
    (found,) = (node for node in nodes if node.id.startswith(short))
    return found.metadata


async def at(console: Console, short: str) -> None:
    """Put the cursor on a note."""
    rows = console.knowledge.rows
    (item,) = (item for item in rows.items if item.id.startswith(short))
    assert rows.move_to(item.key)
    await console.settle()


def verbs(home: Path) -> list[str]:
    """What was decided on the store, the oldest first."""
    entries = Journal(home.parent / "state").entries(str(home.parent / "hermes-rag"))
    return [entry.verb for entry in reversed(entries)]


async def test_a_chroma_store_says_what_it_does_not_take(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma_write, "is_installed", lambda: False)
    before = (home.parent / "hermes-rag" / "chroma.sqlite3").read_bytes()
    async with knowledge_on(home, size=(140, 42)) as console:
        read_only = "The Chroma store is only read: changes need signoff with the extra `chroma`"
        assert f"(a Chroma store) Searched by words. {read_only}." in console.words
        assert "No note is learnt into a Chroma store" in console.words
        await console.press("m")
        assert console.flash == read_only
        await console.press("enter")
        assert title(console) == "api: notes (11)"
        item = next(i for i in console.knowledge.rows.items if i.status == "pinned")
        assert console.knowledge.rows.move_to(item.key)
        await console.settle()
        assert "● pinned learning" in console.words
        assert read_only in console.words
        for key in ("d", "r", "b", "A"):
            await console.press(key)
            assert console.flash == read_only
        await console.press("a")
        assert console.flash.startswith("No note is learnt into a Chroma store")
        await console.press("s", *"jobs", "enter")
        assert [i.layer for i in console.knowledge.rows.items][:1] == ["wiki"]
    assert (home.parent / "hermes-rag" / "chroma.sqlite3").read_bytes() == before


async def test_a_note_is_retired_with_a_reason_and_that_is_taken_back(written: Path) -> None:
    before = metadata(written, OLD)
    async with knowledge_on(written, "api") as console:
        await at(console, OLD)
        await console.press("d", *"over now", "enter")
        assert console.flash.startswith(f"✓ Retired {OLD} (over now). u takes it back")
        after = {"status": "retired", "retired_reason": "over now"}
        assert metadata(written, OLD) == {**before, **after}
        assert "Why: over now" in console.words
        await console.press("u")
        assert metadata(written, OLD) == before
        assert "● active learning" in console.words
    assert verbs(written) == ["retire", "undo"]


async def test_one_takes_the_place_of_another_and_one_is_brought_back(written: Path) -> None:
    before = metadata(written, REPLACED)
    async with knowledge_on(written, "api", size=(140, 42)) as console:
        await at(console, OLD)
        await console.press("r")
        # Without a new note to write: no text is learnt into a Chroma store.
        assert console.picture.count("a new note, written now") == 0
        await console.press("1")
        assert console.flash.startswith(f"✓ {OLD} is replaced by {NEW}")
        found = metadata(written, OLD)
        assert (found["status"], str(found["superseded_by"])[:8]) == ("superseded", NEW)
        await at(console, REPLACED)
        await console.press("b")
        assert metadata(written, REPLACED)["status"] == "active"
        await at(console, NEW)
        await console.press("A")
        assert metadata(written, NEW)["status"] == "archived"
        # Any of them is taken back, as on a store of signoff's own.
        await console.press("H", "down", "U")
        assert metadata(written, REPLACED) == before
    assert verbs(written) == ["supersede", "reactivate", "archive", "undo"]


async def test_a_child_that_fails_is_said_and_changes_nothing(written: Path) -> None:
    before = metadata(written, OLD)
    async with knowledge_on(written, "api", size=(140, 42)) as console:
        await at(console, OLD)
        await console.press("d", *"fail", "enter")
        assert console.flash.startswith("✗")
        assert "chromadb said no" in console.flash
        assert metadata(written, OLD) == before
        assert "● active learning" in console.words


async def test_a_merge_writes_the_pages_and_says_who_takes_them_in(written: Path) -> None:
    with sqlite3.connect(written.parent / "hermes-rag" / "chroma.sqlite3") as db:
        db.execute("UPDATE embedding_metadata SET string_value = 'queue:x' WHERE key = 'kind'")
    db.close()
    page = written.parent / "wikis" / "api" / "modules" / "queue.md"
    async with knowledge_on(written, "api", size=(140, 42)) as console:
        await console.press("m", "y")
        assert "a Chroma store finds them once its own server takes the wiki in" in console.flash
        assert page.read_text("utf-8").count("about the queue") == 5
        assert metadata(written, OLD)["merged_into"] == "modules/queue.md"
        await console.press("u")
        assert not page.exists()
        assert metadata(written, OLD)["status"] == "active"
