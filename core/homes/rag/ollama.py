"""An ollama server over HTTP, with the standard library: numbers for texts, and pages rewritten."""

from __future__ import annotations

import json
import math
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from core.homes.rag.embedding import EmbeddingError

#: Seconds for one answer of an embedder, and of a model that rewrites a page.
WAIT, WAIT_REWRITE = 30.0, 300.0
#: Texts of one question, and bytes of an answer that are read.
_BATCH, _LARGEST = 64, 64_000_000
#: An ending that changes a text's numbers less than this was not read.
_SAME = 1e-9


class _Stay(urllib.request.HTTPRedirectHandler):
    """An answer that sends us elsewhere is an error: the address was checked, not that one."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Ollama:
    """An ollama server. ``truncate`` off makes it refuse a text it cannot read whole; an older
    server that cuts it all the same is found out by asking for the text without its end."""

    def __init__(self, url: str, model: str) -> None:
        self._url, self._model = url.rstrip("/"), model
        # No proxy: what is said to this machine stays on it.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay()).open

    @property
    def name(self) -> str:
        return f"ollama:{self._model}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        found: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            found += self._ask(texts[start : start + _BATCH])
        longest = max(texts, key=len, default="")
        if len(longest) > 1_000 and self._is_cut(longest, found[list(texts).index(longest)]):
            raise EmbeddingError(
                f"{self._model} reads only the beginning of a text of {len(longest):,} characters",
                "Lower HERMES_RAG_CHUNK_CHAR_CAP, or take a model that reads more",
            )
        return found

    def rewrite(self, model: str, page: str, notes: Sequence[str]) -> str | None:
        """A page with notes worked in, as a model would; ``None`` where none answers."""
        listed = "\n".join(f"- {note}" for note in notes)
        prompt = (
            "Work the notes into the Markdown page. Keep every heading and code block, keep the"
            " notes' words, leave nothing out. Answer with the whole page and nothing else.\n\n"
            f"NOTES\n{listed}\n\nPAGE\n{page}"
        )
        body = {
            "model": model,
            "prompt": prompt,
            "stream": False,
            "options": {"temperature": 0, "seed": 1},
        }
        try:
            text = self._post("/api/generate", body, WAIT_REWRITE).get("response")
        except EmbeddingError:
            return None
        return text.strip() + "\n" if isinstance(text, str) and text.strip() else None

    def _is_cut(self, text: str, numbers: Sequence[float]) -> bool:
        (shorter,) = self._ask([text[: -len(text) // 10]])
        return all(abs(a - b) < _SAME for a, b in zip(numbers, shorter, strict=True))

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"model": self._model, "input": list(texts), "truncate": False}
        found = self._post("/api/embed", body, WAIT).get("embeddings")
        if not isinstance(found, list) or len(found) != len(texts):
            raise EmbeddingError("The embedder answered with no list of numbers", "Look at it")
        for each in found:
            if not isinstance(each, list) or not each or not all(map(_is_number, each)):
                raise EmbeddingError("The embedder answered with something else than numbers", "")
        if len({len(each) for each in found}) != 1:
            raise EmbeddingError("The embedder's answers are of different lengths", "Look at it")
        return found

    def _post(self, path: str, body: dict[str, Any], wait: float) -> dict[str, Any]:
        request = urllib.request.Request(
            self._url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with self._open(request, timeout=wait) as answer:
                found = json.loads(answer.read(_LARGEST))
        except urllib.error.HTTPError as problem:
            said = problem.read(500).decode("utf-8", "replace").strip()
            raise EmbeddingError(
                f"The embedder refused ({problem.code}: {said})", "Is the model there?"
            ) from problem
        except (OSError, ValueError) as problem:
            raise EmbeddingError(
                f"The embedder at {self._url} does not answer ({problem})",
                "Start it, or set SIGNOFF_RAG_EMBEDDER=none",
            ) from problem
        if not isinstance(found, dict):
            raise EmbeddingError("The embedder answered with no object", "Look at it")
        return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
