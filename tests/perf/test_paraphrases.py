"""Twenty questions that say a note in other words: by words alone, and by words and meaning.

``make bench`` prints the figures (issue 8: no claim without them). The set was made for this test:
half of the questions share one telling word with their note, the others none. By meaning it runs where the extra
``semantic`` is installed.
"""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.desk import knowledge
from core.desk.knowledge import Shelf
from core.homes.rag.embedding import embedder_for
from core.homes.rag.nodes import Layer
from core.homes.rag.ranking import Engine, Searcher
from core.homes.rag.recall import Tops
from core.settings import Settings

#: Note and question.
PAIRS = (
    ("The queue drops jobs older than six hours.", "Why do stale jobs vanish after a quarter of a day?"),
    ("Deploys are frozen on Fridays after noon.", "When am I not allowed to release before the weekend?"),
    ("The staging database is rebuilt every night from a dump.", "Does data in staging survive until tomorrow?"),
    ("Use ripgrep, grep is too slow on the monorepo.", "Which tool searches the big repository fastest?"),
    ("The owner prefers short commit messages in the imperative.", "How should I phrase a commit?"),
    ("Secrets come from the vault, never from the environment.", "Where do secrets live?"),
    ("The payment provider's sandbox rejects amounts above 999.", "Why does a payment of a thousand fail in tests?"),
    ("Integration tests need the port 5433 to be free.", "Another server has the port, can the suite run?"),
    ("Images are resized by a worker, not in the request.", "Who makes thumbnails?"),
    ("The mobile app caches the feed for ten minutes.", "Phones show old posts, how long?"),
    ("Feature flags are read once at start.", "I toggled a switch and nothing happened without a restart"),
    ("Logs older than thirty days are moved to cold storage.", "Can I still see logs of two months ago?"),
    ("The search index is built by cron at four in the morning.", "New articles cannot be found until when?"),
    ("Never run migrations while the importer is active.", "Is it safe to run migrations during a bulk load?"),
    ("The legacy API answers in latin-1.", "Umlauts from the old service are broken"),
    ("User names are case-insensitive, e-mail addresses are not.", "Can Bob and bob both sign up?"),
    ("The build needs 8 GB of memory because of the bundler.", "The build gets killed on a small machine"),
    ("Time stamps are stored in UTC and shown in the user's zone.", "Which timezone are dates kept in?"),
    ("The admin page is only reachable through the VPN.", "Cannot open the back office from home"),
    ("Retry the upload three times with a growing pause.", "What to do when an upload breaks?"),
)  # fmt: skip


def shelf_of(folder: Path, embedder: str) -> Shelf:
    return knowledge.open_store(
        store=str(folder / embedder),
        environ={"SIGNOFF_RAG_EMBEDDER": embedder},
        user_home=folder,
        state=folder / "state",
        settings=Settings(),
        clock=lambda: datetime.now(UTC),
    )


def places(shelf: Shelf) -> list[int]:
    """The place of the right note for each question; 0 where it is not among the first ten."""
    found = []
    for text, question in PAIRS:
        answer = knowledge.recall(shelf, question, "api", layer="memory", tops=Tops(memory=10))
        texts = [hit.node.document for hit in answer.recalled.hits]
        found.append(texts.index(text) + 1 if text in texts else 0)
    return found


def fused_places(shelf: Shelf) -> list[int]:
    """The same for both ranks fused, as they are in code."""
    found, embedder = [], embedder_for(shelf.rag)
    for text, question in PAIRS:
        nodes = Searcher(shelf.store, question, embedder)("rag_api__memory", Layer.CODE, 10)
        texts = [node.document for node in nodes]
        found.append(texts.index(text) + 1 if text in texts else 0)
    return found


def figures(found: list[int]) -> str:
    first = sum(place == 1 for place in found)
    three = sum(1 <= place <= 3 for place in found)
    return f"right note first {first} of {len(found)}, in the top three {three}"


def kept(folder: Path, embedder: str) -> Shelf:
    shelf = shelf_of(folder, embedder)
    for text, _ in PAIRS:
        knowledge.learn(shelf, text, "api")
    return shelf


def test_by_words_alone_a_note_is_found_by_its_own_words(tmp_path: Path) -> None:
    shelf = kept(tmp_path, "none")
    for text, _ in PAIRS:
        answer = knowledge.recall(shelf, text, "api", layer="memory")
        assert [hit.node.document for hit in answer.recalled.hits] == [text]
        assert answer.engine is Engine.LEXICAL


@pytest.mark.bench
def test_bench_paraphrases(tmp_path: Path) -> None:
    print(f"\nby words: {figures(places(kept(tmp_path, 'none')))}")
    if importlib.util.find_spec("wordllama") is None:
        print("by meaning: not measured, the extra `semantic` is not installed")
        return
    shelf = kept(tmp_path, "wordllama")
    assert knowledge.recall(shelf, PAIRS[0][1], "api").engine is Engine.FUSED
    print(f"by meaning, filled up by words (notes and wiki): {figures(places(shelf))}")
    print(f"both ranks fused (code): {figures(fused_places(shelf))}")
