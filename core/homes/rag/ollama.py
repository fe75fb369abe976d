"""An ollama server over HTTP, with the standard library: numbers for texts, and pages rewritten.

The wire is the server's own documentation (docs/api.md): ``/api/embed`` takes many texts and is
told not to cut any; a server from before it has ``/api/embeddings``, one text at a time, and cuts
what is too long without a word.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
import shlex
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from core.errors import EmbeddingError
from core.homes.rag.settings import without_user
from core.text import one_line

#: Seconds for one answer of an embedder, and of a model that rewrites a page; characters that an
#: embedder on a slow machine reads in a second more.
WAIT, WAIT_REWRITE, PACE = 30.0, 300.0, 1_000
#: Texts of one question, and bytes of an answer that are read.
_BATCH, _LARGEST = 64, 64_000_000
#: An ending that changes no number by more than this part of the largest was not read.
_SAME = 1e-6
#: Tokens, roughly, from which on a text may be more than a small model reads.
_MAY_BE_CUT = 200
#: Other endings for a text; one that it does not have changes its numbers, however it repeats.
_ENDINGS = (" zebra fjord", " quartz 17")
_TOKEN = re.compile(r"[A-Za-z0-9]{1,4}|[^\sA-Za-z0-9]")
#: The largest number a store can keep (float32).
_MOST = 3.4e38
_LOOK = "Look at what answers there, or set SIGNOFF_RAG_EMBEDDER=none"


class _Stay(urllib.request.HTTPRedirectHandler):
    """An answer that sends us elsewhere is an error: the address was checked, not that one."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _RefusedError(EmbeddingError):
    """The server answered with an error. ``said`` is its own word, ``""`` if it is no ollama's."""

    def __init__(self, status: int, said: str) -> None:
        told = f"{status}: {one_line(said, 200)}" if said else str(status)
        super().__init__(f"The embedder refused ({told})", _LOOK)
        self.status, self.said = status, said


class Ollama:
    """An ollama server. ``truncate`` off makes it refuse a text it cannot read whole; a server
    that cuts it all the same is found out by asking for the text with another end."""

    def __init__(self, url: str, model: str) -> None:
        parts = urlsplit(url)
        self._url, self._model = without_user(url).rstrip("/"), model
        self._headers = {"Content-Type": "application/json"}
        if parts.username is not None:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        # No proxy: what is said to this machine stays on it.
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay()).open
        self._is_old = False

    @property
    def name(self) -> str:
        return f"ollama:{self._model}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        found: list[list[float]] = []
        for start in range(0, len(texts), _BATCH):
            found += self._ask(texts[start : start + _BATCH])
        if len({len(each) for each in found}) > 1:
            raise EmbeddingError("The embedder's answers are of different lengths", _LOOK)
        self._check_whole(texts, found)
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

    # -- texts that are too long -----------------------------------------------------------

    def _check_whole(self, texts: Sequence[str], found: Sequence[Sequence[float]]) -> None:
        """Raise if one of the longest texts gets the same numbers with another end."""
        sizes = [len(_TOKEN.findall(text)) for text in texts]
        most = max(range(len(texts)), key=sizes.__getitem__, default=None)
        if most is None or sizes[most] < _MAY_BE_CUT:
            return
        # By characters and by tokens: in some scripts the shorter text is the longer one.
        longest = max(range(len(texts)), key=lambda at: len(texts[at]))
        suspects = sorted({most, longest})
        others = self._ask([_with_another_end(texts[at]) for at in suspects])
        for at, numbers in zip(suspects, others, strict=True):
            if _are_same(found[at], numbers):
                raise self._too_long(texts[at])

    def _too_long(self, text: str) -> EmbeddingError:
        return EmbeddingError(
            f"{self._model} reads only the beginning of a text of {len(text):,} characters",
            "Lower HERMES_RAG_CHUNK_CHAR_CAP, or take a model that reads more",
        )

    # -- the wire --------------------------------------------------------------------------

    def _ask(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            if not self._is_old:
                try:
                    return self._many(texts)
                except _RefusedError as problem:
                    # Without a word of ollama's own it is the path that is unknown.
                    if problem.status not in (404, 405) or problem.said:
                        raise
                    self._is_old = True
            return [self._one(text) for text in texts]
        except _RefusedError as problem:
            raise self._reason(problem, texts) from problem

    def _many(self, texts: Sequence[str]) -> list[list[float]]:
        body = {"model": self._model, "input": list(texts), "truncate": False}
        wait = WAIT + sum(map(len, texts)) / PACE
        found = self._post("/api/embed", body, wait).get("embeddings")
        if not isinstance(found, list) or len(found) != len(texts):
            raise EmbeddingError("The embedder answered with no list of numbers for a text", _LOOK)
        return [_numbers(each) for each in found]

    def _one(self, text: str) -> list[float]:
        wait = WAIT + len(text) / PACE
        found = self._post("/api/embeddings", {"model": self._model, "prompt": text}, wait)
        return _numbers(found.get("embedding"))

    def _reason(self, problem: _RefusedError, texts: Sequence[str]) -> EmbeddingError:
        said = problem.said.lower()
        if "context length" in said or "too long" in said:
            return self._too_long(max(texts, key=len))
        if problem.status == 404 and "model" in said:
            return EmbeddingError(
                f"The embedder at {self._url} has no model {one_line(self._model, 80)}",
                f"Fetch it: ollama pull {shlex.quote(self._model)}",
            )
        return problem

    def _post(self, path: str, body: dict[str, Any], wait: float) -> dict[str, Any]:
        data = json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, self._headers)
        until = time.monotonic() + wait
        try:
            with self._open(request, timeout=wait) as answer:
                found = json.loads(_read(answer, until))
        except urllib.error.HTTPError as problem:
            raise _RefusedError(problem.code, _error_of(problem)) from problem
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as problem:
            reason = one_line(str(problem) or type(problem).__name__, 200)
            raise EmbeddingError(
                f"The embedder at {self._url} does not answer ({reason})",
                "Start it, or set SIGNOFF_RAG_EMBEDDER=none",
            ) from problem
        if not isinstance(found, dict):
            raise EmbeddingError("The embedder answered with no object", _LOOK)
        return found


def _read(answer: Any, until: float) -> bytes:
    """An answer that comes in time and is not too large. Raises ``OSError``."""
    parts, size = [], 0
    while part := answer.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > _LARGEST:
            raise OSError(f"its answer is larger than {_LARGEST:,} bytes")
        if time.monotonic() > until:
            raise TimeoutError("timed out")
    return b"".join(parts)


def _error_of(problem: urllib.error.HTTPError) -> str:
    """The word of ollama's own in an answer that is an error."""
    try:
        found = json.loads(problem.read(10_000))
    except (OSError, ValueError, RecursionError, http.client.HTTPException):
        return ""
    said = found.get("error") if isinstance(found, dict) else None
    return said if isinstance(said, str) else ""


def _numbers(value: object) -> list[float]:
    if not isinstance(value, list) or not value or not all(map(_is_number, value)):
        raise EmbeddingError("The embedder answered with something else than numbers", _LOOK)
    if not any(value):
        raise EmbeddingError("The embedder answered with nothing but zeros for a text", _LOOK)
    return [float(each) for each in value]


def _is_number(value: object) -> bool:
    is_bool = isinstance(value, bool)
    return isinstance(value, int | float) and not is_bool and -_MOST <= value <= _MOST


def _with_another_end(text: str) -> str:
    """``text`` with its last tenth replaced, and shorter: what fitted before fits."""
    size = len(text) // 10
    ending = next((each for each in _ENDINGS if each not in text), _ENDINGS[-1])
    return text[:-size] + ending * max(1, size // (3 * len(ending)))


def _are_same(left: Sequence[float], right: Sequence[float]) -> bool:
    near = _SAME * max(map(abs, left))
    return len(left) == len(right) and all(
        abs(a - b) <= near for a, b in zip(left, right, strict=True)
    )
