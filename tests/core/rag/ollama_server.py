"""A true HTTP server that speaks ollama's documented wire (its docs/api.md), of several ages.

``newest`` refuses a text that is too long where it is told not to cut, ``cutting`` cuts it all the
same, ``old`` knows only ``/api/embeddings`` and cuts in silence. A model's reading is counted in
words here; its numbers are counts of letters, so a text and its beginning differ.
"""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL, READS = "nomic-embed-text", 2_048
NUMBERS = 16


@dataclass
class Ollama:
    """The server's state. ``asked``: path, body and headers of each request.

    ``raw`` is written instead of an answer; ``sleeps`` are seconds before it, ``drips`` between
    its bytes.
    """

    age: str = "newest"
    reads: int = READS
    url: str = ""
    raw: bytes | None = None
    sleeps: float = 0.0
    drips: float = 0.0
    status: int = 200
    password: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Status and JSON, or text for what is no route."""
        routes = {"/api/embeddings"} if self.age == "old" else {"/api/embed", "/api/embeddings"}
        if path not in routes:
            return 404, "404 page not found"
        if body.get("model") != MODEL:
            said = f'model "{body.get("model")}" not found, try pulling it first'
            return 404, {"error": said}
        if path == "/api/embeddings":
            return 200, {"embedding": self.numbers(body["prompt"])}
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        too_long = any(len(text.split()) > self.reads for text in texts)
        if too_long and self.age == "newest" and body.get("truncate") is False:
            return 400, {"error": "the input length exceeds the context length"}
        count = sum(min(self.reads, len(text.split())) for text in texts)
        return 200, {
            "model": MODEL,
            "embeddings": [self.numbers(text) for text in texts],
            "total_duration": 14_143_917,
            "load_duration": 1_019_500,
            "prompt_eval_count": count,
        }

    def numbers(self, text: str) -> list[float]:
        seen = " ".join(text.split()[: self.reads]).lower()
        counts = [float(seen.count(chr(ord("a") + at))) for at in range(NUMBERS)]
        size = sum(each * each for each in counts) ** 0.5
        # Of norm 1, as the server gives them since 0.3.
        return [each / size for each in counts] if size else [1.0] + [0.0] * (NUMBERS - 1)


@contextmanager
def serving(**about: Any) -> Iterator[Ollama]:
    """The server on a free port of this machine, until the block ends."""
    state = Ollama(**about)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.asked.append((self.path, asked))
            time.sleep(state.sleeps)
            if state.raw is not None:
                self._raw(state.raw)
                return
            wanted = "Basic " + base64.b64encode(state.password.encode()).decode()
            if state.password and self.headers.get("Authorization") != wanted:
                status, found = 401, {"error": "unauthorized"}
            else:
                status, found = state.answer(self.path, asked)
            data = found.encode() if isinstance(found, str) else json.dumps(found).encode()
            self.send_response(status)
            kind = "text/plain" if isinstance(found, str) else "application/json; charset=utf-8"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _raw(self, data: bytes) -> None:
            self.close_connection = True
            try:
                for byte in (data[at : at + 1] for at in range(len(data))) if state.drips else ():
                    self.wfile.write(byte)
                    self.wfile.flush()
                    time.sleep(state.drips)
                if not state.drips:
                    self.wfile.write(data)
            except OSError:
                """The client did not wait."""

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        made.daemon_threads = True
        threading.Thread(target=made.serve_forever, daemon=True).start()
        state.url = f"http://127.0.0.1:{made.server_port}"
        yield state
        made.shutdown()


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An answer as it goes over the wire."""
    lines = (f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "Connection: close")
    return "\r\n".join((*lines, "", "")).encode() + body
