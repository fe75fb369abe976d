"""Numbers for texts, if a person asked for an embedder: behind one small interface.

Without one no socket is ever opened. ``ollama`` is asked over HTTP with the standard library, on
this machine unless another is allowed by name; ``wordllama`` runs inside, from its own wheel.
"""

from __future__ import annotations

import importlib
import ipaddress
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from core.errors import EmbeddingError, UsageError
from core.homes.rag.settings import ALLOW_REMOTE, RagSettings, without_user


class Embedder(Protocol):
    """Numbers for texts. ``name`` is kept beside them: those of two embedders are never mixed."""

    @property
    def name(self) -> str:
        """The embedder and its model."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One list of numbers a text. Raises :class:`EmbeddingError`."""


def embedder_for(settings: RagSettings) -> Embedder | None:
    """The embedder that the settings name; ``None`` for none.

    Raises :class:`UsageError` for an address that is not allowed, :class:`EmbeddingError` for an
    extra that is not installed.
    """
    if settings.embedder == "ollama":
        check_address(settings)
        # What speaks to the network is loaded only where a person asked for it.
        from core.homes.rag.ollama import Ollama

        return Ollama(settings.ollama_url, settings.embed_model)
    if settings.embedder == "wordllama":
        return WordLlama()
    return None


def check_address(settings: RagSettings) -> None:
    """Raise :class:`UsageError` for an embedder on another machine that was not allowed."""
    try:
        parts = urlsplit(settings.ollama_url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    if not host or parts.scheme not in ("http", "https") or port == 0:
        shown = without_user(settings.ollama_url)
        raise UsageError(f"{shown!r} is no address", "As in http://localhost:11434")
    if not settings.allow_remote and not is_loopback(host):
        raise UsageError(
            f"The embedder {host} is on another machine: texts would leave this one",
            f"Set {ALLOW_REMOTE}=1 if that is meant",
        )


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name or number; no name is looked up."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class WordLlama:
    """The offline wheel of the extra ``semantic``: its weights lie in it, nothing is fetched."""

    name = "wordllama:256"

    def __init__(self) -> None:
        try:
            wordllama: Any = importlib.import_module("wordllama")
        except ImportError as problem:
            raise EmbeddingError(
                "wordllama is not installed", "Install signoff with the extra `semantic`"
            ) from problem
        # Its own path of the bundled tokenizer is wrong in 0.4.0.post1; this one is right.
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(value) for value in row] for row in self._model.embed(list(texts))]


def similarity(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of two lists of numbers: raw and normalised ones compare alike."""
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    size = math.sqrt(sum(a * a for a in left)) * math.sqrt(sum(b * b for b in right))
    return dot / size if size else 0.0
