"""The ollama embedder against a true HTTP server that speaks the documented wire.

Rules: issue 8 ("silent truncation of an embedder is detected, not trusted"; "nothing leaves the
machine"); wire: ollama's docs/api.md; messages: ollama issues 14186 and 10368.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.desk import knowledge, knowledge_work
from core.desk.knowledge import Shelf
from core.errors import EmbeddingError, UsageError
from core.homes.rag import ollama
from core.homes.rag.embedding import check_address
from core.homes.rag.ingest import Progress
from core.homes.rag.ollama import Ollama as Embedder
from core.homes.rag.ranking import Engine
from core.homes.rag.settings import OLLAMA_URL, read_settings
from tests.core.rag.ollama_server import MODEL, NUMBERS, READS, Ollama, http, serving
from tests.core.rag.shelves import SIX_HOURS, learn, shelf_in

WORD = "queue "


@pytest.fixture
def server() -> Iterator[Ollama]:
    with serving() as made:
        yield made


def embedder(server: Ollama, model: str = MODEL) -> Embedder:
    return Embedder(server.url, model)


def shelf_on(folder: Path, server: Ollama, **more: str) -> Shelf:
    named = {"SIGNOFF_RAG_EMBEDDER": "ollama", OLLAMA_URL: server.url}
    return shelf_in(folder, **named | more)


# -- the wire --------------------------------------------------------------------------------------


def test_many_texts_are_one_question_and_none_may_be_cut(server: Ollama) -> None:
    found = embedder(server).embed(["a queue", "a lock"])
    assert [len(each) for each in found] == [NUMBERS, NUMBERS]
    assert server.asked == [
        ("/api/embed", {"model": MODEL, "input": ["a queue", "a lock"], "truncate": False})
    ]


def test_more_texts_than_one_question_holds_keep_their_order(server: Ollama) -> None:
    texts = [f"{chr(ord('a') + number % NUMBERS)} {number}" for number in range(150)]
    found = embedder(server).embed(texts)
    assert found == [server.numbers(text) for text in texts]
    assert [len(body["input"]) for _, body in server.asked] == [64, 64, 22]


def test_a_server_of_before_is_asked_text_by_text() -> None:
    """`/api/embeddings` with `prompt`; the newer path is no route there ("404 page not found")."""
    with serving(age="old") as server:
        asked = embedder(server)
        assert asked.embed(["a queue", "a lock"]) == [
            server.numbers("a queue"),
            server.numbers("a lock"),
        ]
        asked.embed(["a cache"])
        # It is found out once.
        assert server.paths == ["/api/embed", *["/api/embeddings"] * 3]
        assert server.asked[1][1] == {"model": MODEL, "prompt": "a queue"}


@pytest.mark.parametrize("age", ["newest", "old"])
def test_a_model_that_is_not_there_is_named_with_the_way_to_fetch_it(age: str) -> None:
    with serving(age=age) as server, pytest.raises(EmbeddingError) as caught:
        embedder(server, "no such:model").embed(["x"])
    assert caught.value.message == f"The embedder at {server.url} has no model no such:model"
    assert caught.value.hint == "Fetch it: ollama pull 'no such:model'"


def test_a_name_and_password_in_the_address_are_sent_and_never_shown(tmp_path: Path) -> None:
    with serving(password="ann:s3 cret") as server:
        url = server.url.replace("//", "//ann:s3%20cret@")
        assert Embedder(url, MODEL).embed(["a queue"]) == [server.numbers("a queue")]
        with pytest.raises(EmbeddingError, match="401: unauthorized"):
            embedder(server).embed(["a queue"])
    with pytest.raises(EmbeddingError, match="does not answer") as caught:
        Embedder(url, MODEL).embed(["a queue"])
    assert "cret" not in caught.value.message
    found = read_settings({OLLAMA_URL: url}, tmp_path)
    assert found.ollama_url == url
    assert [each.value for each in found.told if each.name == OLLAMA_URL] == [server.url]


# -- texts that are too long -----------------------------------------------------------------------


def test_a_text_that_is_too_long_is_refused_by_the_server_and_said() -> None:
    with serving() as server:
        whole = WORD * READS
        assert len(embedder(server).embed([whole])) == 1
        with pytest.raises(EmbeddingError, match="reads only the beginning of a text of 12,294 ch"):
            embedder(server).embed([whole + WORD])


@pytest.mark.parametrize("age", ["cutting", "old"])
def test_a_server_that_cuts_in_silence_is_found_out(tmp_path: Path, age: str) -> None:
    with serving(age=age) as server:
        shelf = shelf_on(tmp_path, server)
        folder = tmp_path / "api"
        folder.mkdir()
        (folder / "a.py").write_text("x = 1\n")
        assert knowledge_work.ingest_code(shelf, folder).pieces == 1
        (folder / "b.py").write_text(WORD * 400)
        server.reads = 250
        with pytest.raises(EmbeddingError, match="reads only the beginning"):
            knowledge_work.ingest_code(shelf, folder)
        # The old collection stands, and its one piece is found.
        assert shelf.store.count("rag_api__code") == 1
        server.reads = READS
        assert knowledge_work.ingest_code(shelf, folder).pieces == 2


def test_what_is_read_whole_is_not_taken_for_cut(server: Ollama) -> None:
    server.age = "old"
    assert embedder(server).embed([WORD * 750, "a." * 1_500])
    # The longest by its characters and by its tokens are looked at, no others.
    assert server.paths.count("/api/embeddings") == 4


def test_the_text_of_most_tokens_need_not_be_the_longest() -> None:
    """Two letters of a script without blanks are more tokens than a long word."""
    with serving(age="cutting", reads=100) as server:
        dense = " ".join("鯨" * 400)
        with pytest.raises(EmbeddingError, match="a text of 799 characters"):
            embedder(server).embed(["abcdefgh" * 120, dense])


def test_a_short_note_costs_one_question(server: Ollama) -> None:
    embedder(server).embed([WORD * 80])
    assert len(server.asked) == 1


# -- what goes wrong -------------------------------------------------------------------------------

EMBED = b'{"embeddings": [[%s]]}'


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "does not answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "does not answer"),
        (http(b"<html>welcome</html>"), "does not answer"),
        (http(b'{"embeddings": [[0.1')[:-2], "does not answer"),
        (http(b"[" * 100_000), "does not answer"),
        (http(b"\xff\xfe"), "does not answer"),
        (http(b"[]"), "no object"),
        (http(b"{}"), "no list of numbers"),
        (http(b'{"embeddings": []}'), "no list of numbers"),
        (http(b'{"embeddings": [[1.0], [2.0]]}'), "no list of numbers"),
        (http(EMBED % b""), "something else than numbers"),
        (http(EMBED % b'"1"'), "something else than numbers"),
        (http(EMBED % b"true"), "something else than numbers"),
        (http(EMBED % b"NaN"), "something else than numbers"),
        (http(EMBED % b"1e300"), "something else than numbers"),
        (http(EMBED % (b"9" * 400)), "something else than numbers"),
        (http(EMBED % b"0.0, 0, -0.0"), "nothing but zeros"),
        (http(b'{"error": "boom"}', status="500 Internal Server Error"), r"\(500: boom\)"),
        (http(b"no JSON", status="503 Busy"), r"refused \(503\)"),
        (http(b"[[[", status="400 Bad Request"), r"refused \(400\)"),
        (http(b'{"error": {"a": 1}}', status="400 Bad Request"), r"refused \(400\)"),
        (http(b"", status="404 Not Found"), r"refused \(404\)"),
        (http(b"", "Location: http://10.0.0.1/", status="302 Found"), r"refused \(302\)"),
        (http(b"", "Location: http://10.0.0.1/", status="307 Moved"), r"refused \(307\)"),
    ],
)
def test_an_odd_answer_is_one_sentence_and_stores_nothing(
    tmp_path: Path, server: Ollama, raw: bytes, why: str
) -> None:
    server.raw = raw
    shelf = shelf_on(tmp_path, server)
    with pytest.raises(EmbeddingError, match=why) as caught:
        learn(shelf, SIX_HOURS)
    assert "\n" not in caught.value.message
    assert caught.value.hint
    assert not shelf.store.folder.exists()


def test_an_error_that_a_terminal_would_obey_is_drawn_plain(server: Ollama) -> None:
    server.raw = http(b'{"error": "a\\u001b[2Jb\\nc"}', status="400 Bad Request")
    with pytest.raises(EmbeddingError) as caught:
        embedder(server).embed(["x"])
    assert "\x1b" not in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("drips", [0.0, 0.05])
def test_a_server_that_takes_too_long_is_not_waited_for(
    server: Ollama, monkeypatch: pytest.MonkeyPatch, drips: float
) -> None:
    """Neither one that says nothing, nor one that says a byte now and then."""
    monkeypatch.setattr(ollama, "WAIT", 0.3)
    server.raw = http(EMBED % b"1.0" + b" " * 1_000)
    server.sleeps, server.drips = (0.0, drips) if drips else (3.0, 0.0)
    with pytest.raises(EmbeddingError, match=r"does not answer .*timed out"):
        embedder(server).embed(["x"])


def test_an_answer_without_end_is_not_read(server: Ollama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "_LARGEST", 1_000)
    server.raw = http(b" " * 2_000)
    with pytest.raises(EmbeddingError, match="larger than 1,000 bytes"):
        embedder(server).embed(["x"])


def test_nobody_there(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with pytest.raises(EmbeddingError) as caught:
        Embedder(f"http://127.0.0.1:{port}", MODEL).embed(["x"])
    assert "Connection refused" in caught.value.message
    assert caught.value.hint == "Start it, or set SIGNOFF_RAG_EMBEDDER=none"


def test_a_model_with_other_numbers_than_before_is_answered_by_words(
    tmp_path: Path, server: Ollama
) -> None:
    """The same name fetched anew: numbers of another length are never compared."""
    shelf = shelf_on(tmp_path, server)
    learn(shelf, SIX_HOURS)
    server.raw = http(EMBED % b"1.0, 2.0")
    found = knowledge.recall(shelf, "queue", "api", layer="memory")
    assert SIX_HOURS in found.recalled.text
    assert found.engine is Engine.LEXICAL


def test_an_ingest_goes_on_where_the_embedder_failed(tmp_path: Path, server: Ollama) -> None:
    """Numbers take long: it reports, and keeps what it has, by the embedder's own portions."""
    shelf, folder, told = shelf_on(tmp_path, server), tmp_path / "api", list[Progress]()
    folder.mkdir()
    for number in range(130):
        (folder / f"{number:03}.py").write_text(f"queue = {number}\n")

    def fail_behind_the_first(progress: Progress) -> None:
        told.append(progress)
        server.raw = b"gone"

    with pytest.raises(EmbeddingError, match="does not answer"):
        knowledge_work.ingest_code(shelf, folder, tell=fail_behind_the_first)
    assert [progress.files for progress in told] == [64]
    server.raw = None
    server.asked.clear()
    done = knowledge_work.ingest_code(shelf, folder, tell=told.append)
    assert (done.files, done.resumed_at) == (130, 64)
    assert [progress.files for progress in told[1:]] == [128, 130]
    assert [len(body["input"]) for _, body in server.asked] == [64, 2]
    assert shelf.store.numbered("rag_api__code") == 130


def test_an_ingest_begins_anew_where_the_embedder_changed(tmp_path: Path, server: Ollama) -> None:
    """Begun without numbers and gone on with them, the first half would be found by words alone."""
    shelf, folder = shelf_on(tmp_path, server), tmp_path / "api"
    folder.mkdir()
    for number in range(1_100):
        (folder / f"{number:04}.py").write_text(f"queue = {number}\n")

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        knowledge_work.ingest_code(shelf_in(tmp_path), folder, tell=stop)
    done = knowledge_work.ingest_code(shelf, folder)
    assert (done.pieces, done.resumed_at) == (1_100, 0)
    assert shelf.store.numbered("rag_api__code") == 1_100


# -- this machine, and no other --------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1@example.org/",
        "http://localhost@example.org",
        "http://localhost.example.org:11434",
        "http://0.0.0.0:11434",
        "http://[::ffff:10.0.0.1]:11434",
        "http://[::1",
        "http://localhost:port",
        "http://localhost:99999",
        "ftp://localhost",
        "//localhost:11434",
        "localhost:11434",
    ],
)
def test_what_is_not_this_machine_is_never_asked(tmp_path: Path, url: str) -> None:
    named = {"SIGNOFF_RAG_EMBEDDER": "ollama", OLLAMA_URL: url}
    with pytest.raises(UsageError):
        check_address(read_settings(named, tmp_path))
    with pytest.raises(UsageError):
        learn(shelf_in(tmp_path, **named), SIX_HOURS)


def test_no_proxy_is_asked_and_no_redirect_followed(tmp_path: Path, server: Ollama) -> None:
    """In a process whose environment names proxies; the second server must hear nothing."""
    with serving() as other:
        server.raw = http(b"", f"Location: {other.url}/api/embed", status="307 Temporary Redirect")
        code = (
            "from core.homes.rag.ollama import Ollama; from core.homes.rag.embedding import *\n"
            f"try: Ollama({server.url!r}, {MODEL!r}).embed(['x'])\n"
            "except EmbeddingError as problem: print(problem.message)"
        )
        environ = {"http_proxy": other.url, "HTTP_PROXY": other.url, "all_proxy": other.url}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
        )
        assert done.stdout == "The embedder refused (307)\n"
        assert (len(server.asked), other.asked) == (1, [])
