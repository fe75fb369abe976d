"""Embedders: asked only if a person chose one, on this machine, and never cut in silence."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.desk import knowledge, knowledge_work
from core.desk.knowledge import Shelf
from core.errors import EmbeddingError, UsageError
from core.homes.rag import ranking
from core.homes.rag.embedding import WordLlama, is_loopback, similarity
from core.homes.rag.merge import HEADING
from core.homes.rag.ranking import Engine
from tests.core.rag.shelves import SIX_HOURS, learn, shelf_in

TOPICS = (("queue", "job", "work"), ("cache", "memory", "stored"), ("lock", "deadlock", "wait"))


@dataclass
class Server:
    """A stand-in for ollama: numbers by topics, cut at ``reads`` characters in silence."""

    url: str = ""
    reads: int = 10**9
    refuses: bool = False
    answer: Any = None
    page: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def numbers(self, text: str) -> list[float]:
        seen = text[: self.reads].lower()
        return [float(sum(map(seen.count, words))) + 0.01 for words in TOPICS] + [len(seen) / 1e6]


@pytest.fixture
def server() -> Iterator[Server]:
    about = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            about.asked.append(asked | {"path": self.path})
            body: Any = {"response": about.page}
            if self.path == "/api/embed":
                body = {"embeddings": [about.numbers(text) for text in asked["input"]]}
            if about.answer is not None:
                body = about.answer
            data = json.dumps(body).encode()
            self.send_response(400 if about.refuses else 200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as made:
        threading.Thread(target=made.serve_forever, daemon=True).start()
        about.url = f"http://127.0.0.1:{made.server_port}"
        yield about
        made.shutdown()


@pytest.fixture
def shelf(tmp_path: Path, server: Server) -> Shelf:
    return shelf_in(tmp_path, SIGNOFF_RAG_EMBEDDER="ollama", HERMES_RAG_OLLAMA_URL=server.url)


@pytest.mark.parametrize("numpy", [True, False])
def test_notes_are_found_by_meaning_and_the_engine_is_told(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, numpy: bool
) -> None:
    if not numpy:
        monkeypatch.setattr(ranking, "_numpy", lambda: None)
    learn(shelf, SIX_HOURS)
    learn(shelf, "the cache is stored for a day")
    found = knowledge.recall(shelf, "what work is lost", "api", layer="memory")
    assert (found.engine, found.note) == (Engine.FUSED, "")
    assert found.recalled.lines[1] == f"[memory memory #a2c03c47] {SIX_HOURS}"
    without = shelf_in(shelf.user_home)
    assert knowledge.recall(without, "what work is lost", "api").engine is Engine.LEXICAL


def test_code_is_fused_and_taken_in_with_its_numbers(shelf: Shelf, tmp_path: Path) -> None:
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "a.py").write_text("def deadlock(): wait()\n")
    (tmp_path / "api" / "b.py").write_text("cache = {}\n")
    knowledge_work.ingest_code(shelf, tmp_path / "api")
    found = knowledge.recall(shelf, "lock", "api", layer="code")
    assert found.engine is Engine.FUSED
    assert found.recalled.hits[0].node.text("path") == "a.py"


def test_past_a_bound_meaning_is_looked_for_among_what_the_words_found(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "_numpy", lambda: None)
    monkeypatch.setattr(ranking, "MOST_ALONE", 1)
    learn(shelf, SIX_HOURS)
    learn(shelf, "the cache is stored for a day")
    found = knowledge.recall(shelf, "older work", "api", layer="memory")
    assert (found.engine, "only among what the words found" in found.note) == (Engine.FUSED, True)
    assert SIX_HOURS in found.recalled.text
    found = knowledge.recall(shelf, "work", "api", layer="memory")
    assert (found.engine, found.recalled.hits) == (Engine.LEXICAL, ())


def test_numbers_of_another_model_are_never_mixed(shelf: Shelf, server: Server) -> None:
    learn(shelf, SIX_HOURS)
    other = shelf_in(
        shelf.user_home,
        SIGNOFF_RAG_EMBEDDER="ollama",
        HERMES_RAG_OLLAMA_URL=server.url,
        HERMES_RAG_EMBED_MODEL="other",
    )
    assert knowledge.recall(other, "queue", "api").engine is Engine.LEXICAL


def test_an_embedder_that_does_not_answer_stores_nothing_and_asks_the_words(
    shelf: Shelf, server: Server
) -> None:
    learn(shelf, SIX_HOURS)
    server.refuses = True
    with pytest.raises(EmbeddingError, match="refused"):
        learn(shelf, "another")
    assert shelf.store.count("rag_api__memory") == 1
    found = knowledge.recall(shelf, "queue", "api", layer="memory")
    assert (found.engine, "by words alone" in found.note) == (Engine.LEXICAL, True)
    assert SIX_HOURS in found.recalled.text


@pytest.mark.parametrize(
    "answer",
    [[], {}, {"embeddings": [[]]}, {"embeddings": [["x"]]}, {"embeddings": [[1.0], [2.0]]}],
)
def test_an_odd_answer_is_an_error(shelf: Shelf, server: Server, answer: object) -> None:
    server.answer = answer
    with pytest.raises(EmbeddingError):
        learn(shelf, SIX_HOURS)
    assert not shelf.store.folder.exists()


def test_a_model_that_cuts_in_silence_is_found_out(
    shelf: Shelf, server: Server, tmp_path: Path
) -> None:
    """nomic-embed-text reads 2,048 tokens and says nothing (section 1)."""
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "a.py").write_text("x = queue\n" * 400)
    server.reads = 1_500
    with pytest.raises(EmbeddingError, match="reads only the beginning"):
        knowledge_work.ingest_code(shelf, tmp_path / "api")
    assert shelf.store.count("rag_api__code") == 0
    assert server.asked[0]["truncate"] is False
    server.reads = 10**9
    assert knowledge_work.ingest_code(shelf, tmp_path / "api").pieces == 1


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost.example.org", False),
        ("0.0.0.0", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize(
    "url",
    ["http://10.0.0.1:11434", "https://example.org", "file:///etc/passwd", "localhost:11434", ""],
)
def test_another_machine_must_be_allowed_by_name(tmp_path: Path, url: str) -> None:
    named = {"SIGNOFF_RAG_EMBEDDER": "ollama", "HERMES_RAG_OLLAMA_URL": url or "http://"}
    for work in (
        lambda s: knowledge.recall(s, "x", "api"),
        lambda s: learn(s, "x"),
        lambda s: knowledge_work.plan_merge(s, "api"),
    ):
        with pytest.raises(UsageError):
            work(shelf_in(tmp_path, **named))


def test_allowed_it_is_asked(tmp_path: Path) -> None:
    named = {
        "SIGNOFF_RAG_EMBEDDER": "ollama",
        "HERMES_RAG_OLLAMA_URL": "http://host.invalid:1",
        "SIGNOFF_RAG_ALLOW_REMOTE": "1",
    }
    with pytest.raises(EmbeddingError, match="does not answer"):
        learn(shelf_in(tmp_path, **named), SIX_HOURS)


def test_the_editor_model_is_asked_and_its_page_passes_the_gate_or_not(
    shelf: Shelf, server: Server, tmp_path: Path
) -> None:
    text = "the nightly import of orders takes two locks and must never run beside a backup"
    learn(shelf, text, kind="import:gotcha")
    page = tmp_path / "wikis" / "api" / "modules" / "import.md"
    page.parent.mkdir(parents=True)
    page.write_text(f"# import\n\n## Rules\n\n{'There are rules. ' * 20}\n")
    server.page = page.read_text() + text
    found, _ = knowledge_work.plan_merge(shelf, "api")
    assert found.pages[0].rewritten
    assert server.asked[-1]["model"] == "granite4:3b"
    server.page = "I am sorry"
    found, plan = knowledge_work.plan_merge(shelf, "api")
    assert not found.pages[0].rewritten
    assert knowledge_work.carry_out_merge(shelf, found, plan)[0].ok
    assert page.read_text().endswith(f"{HEADING}\n\n- {text}\n")


def test_a_restore_without_numbers_makes_them_anew(shelf: Shelf, tmp_path: Path) -> None:
    plain = shelf_in(tmp_path, store="plain")
    learn(plain, SIX_HOURS)
    knowledge_work.export(plain, tmp_path / "x.jsonl")
    found = knowledge_work.restore(shelf, tmp_path / "x.jsonl")
    assert (found.vectors, found.warnings) == (
        1,
        ("The export had no numbers: they were made anew",),
    )


def test_the_offline_wheel_is_told_to_fetch_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def load(**options: object) -> SimpleNamespace:
        asked.update(options)
        return SimpleNamespace(embed=lambda texts: [[1, 2]] * len(texts))

    fake = SimpleNamespace(
        __file__="/site/wordllama/__init__.py", WordLlama=SimpleNamespace(load=load)
    )
    monkeypatch.setitem(sys.modules, "wordllama", fake)
    assert WordLlama().embed(["a", "b"]) == [[1.0, 2.0], [1.0, 2.0]]
    assert asked == {"cache_dir": Path("/site/wordllama"), "disable_download": True}
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(EmbeddingError, match="not installed"):
        WordLlama()


def test_raw_and_normalised_numbers_compare_alike() -> None:
    assert similarity([3.0, 4.0], [6.0, 8.0]) == pytest.approx(1.0)
    assert similarity([1.0, 0.0], [0.0, 2.0]) == 0.0
    assert similarity([0.0], [1.0]) == 0.0
