"""The settings of hermes-memory-rag, from the environment: value and where it came from.

One more is signoff's own: an embedder on another machine must be allowed by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

STORE = "HERMES_RAG_STORE"
EMBED_MODEL = "HERMES_RAG_EMBED_MODEL"
OLLAMA_URL = "HERMES_RAG_OLLAMA_URL"
WIKI_ROOT = "HERMES_RAG_WIKI_ROOT"
MEMORY_CAP = "HERMES_RAG_MEMORY_CAP"
THRESHOLD = "HERMES_RAG_CONSOLIDATE_THRESHOLD"
MAX_CHARS = "HERMES_RAG_MAX_CHARS"
CHUNK_CAP = "HERMES_RAG_CHUNK_CHAR_CAP"
SKIP_JSON = "HERMES_RAG_SKIP_JSON_DIRS"
PROJECTS = "HERMES_RAG_PROJECTS_FILE"
EDITOR_MODEL = "HERMES_RAG_EDITOR_MODEL"

#: Every setting with its default (specs, memory-rag 1); ``~`` is the person's home.
DEFAULTS = {
    STORE: "~/hermes-rag",
    EMBED_MODEL: "nomic-embed-text",
    OLLAMA_URL: "http://localhost:11434",
    WIKI_ROOT: "~/.hermes/wikis",
    MEMORY_CAP: "50",
    THRESHOLD: "10",
    MAX_CHARS: "600",
    CHUNK_CAP: "4500",
    SKIP_JSON: "",
    PROJECTS: "~/.hermes/projects.yaml",
    EDITOR_MODEL: "granite4:3b",
}
#: Another name of a setting, asked second: the project's README has one, its source the other.
_ALSO = {WIKI_ROOT: "HERMES_WIKI_ROOT"}
#: signoff's own: which embedder answers (``none``, ``ollama``, ``wordllama``), and whether one
#: on another machine may be asked.
EMBEDDER = "SIGNOFF_RAG_EMBEDDER"
ALLOW_REMOTE = "SIGNOFF_RAG_ALLOW_REMOTE"
EMBEDDERS = ("none", "ollama", "wordllama")

_FEWEST = {MEMORY_CAP: 1, THRESHOLD: 1, MAX_CHARS: 1, CHUNK_CAP: 256}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. ``origin`` is the variable it came from, or ``default``.

    ``problem`` says why a written value is not used; then the default is.
    """

    name: str
    value: str
    origin: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RagSettings:
    """The settings in force, and ``told``: each with its origin, in a fixed order."""

    store: Path
    embed_model: str
    ollama_url: str
    wiki_root: Path
    memory_cap: int
    threshold: int
    max_chars: int
    chunk_cap: int
    skip_json: tuple[str, ...]
    projects_file: Path
    editor_model: str
    embedder: str
    allow_remote: bool
    told: tuple[Setting, ...] = ()


def read_settings(
    environ: Mapping[str, str], user_home: Path, store: str | None = None
) -> RagSettings:
    """The settings; ``store`` (``--store``) beats the environment. A value that is no use is told.

    An empty variable counts as absent, except for a list.
    """
    told = {name: _setting(name, environ) for name in DEFAULTS}
    if store is not None:
        told[STORE] = Setting(STORE, store, "--store")
    told[EMBEDDER] = _embedder(environ)
    remote = environ.get(ALLOW_REMOTE, "").strip().lower() in ("1", "true", "yes", "on")
    told[ALLOW_REMOTE] = Setting(
        ALLOW_REMOTE, "yes" if remote else "no", ALLOW_REMOTE if remote else "default"
    )
    value = {name: found.value for name, found in told.items()}
    # What is told may be shown to others; a password in the address is for the server alone.
    told[OLLAMA_URL] = replace(told[OLLAMA_URL], value=without_user(value[OLLAMA_URL]))

    def place(name: str) -> Path:
        written = value[name]
        tilde = written == "~" or written.startswith("~/")
        return Path.cwd() / (f"{user_home}{written[1:]}" if tilde else written)

    return RagSettings(
        store=place(STORE),
        embed_model=value[EMBED_MODEL],
        ollama_url=value[OLLAMA_URL],
        wiki_root=place(WIKI_ROOT),
        memory_cap=int(value[MEMORY_CAP]),
        threshold=int(value[THRESHOLD]),
        max_chars=int(value[MAX_CHARS]),
        chunk_cap=int(value[CHUNK_CAP]),
        skip_json=tuple(filter(None, (part.strip() for part in value[SKIP_JSON].split(",")))),
        projects_file=place(PROJECTS),
        editor_model=value[EDITOR_MODEL],
        embedder=value[EMBEDDER],
        allow_remote=remote,
        told=tuple(told.values()),
    )


def without_user(url: str) -> str:
    """An address without the name and password it may hold."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit(parts._replace(netloc=host))
    except ValueError:
        return ""


def _setting(name: str, environ: Mapping[str, str]) -> Setting:
    for variable in filter(None, (name, _ALSO.get(name))):
        written = environ.get(variable, "").strip()
        if not written:
            continue
        if name in _FEWEST and (problem := _number_problem(written, _FEWEST[name])):
            return Setting(name, DEFAULTS[name], "default", f"{variable} {problem}")
        return Setting(name, written, variable)
    return Setting(name, DEFAULTS[name], "default")


def _number_problem(written: str, fewest: int) -> str:
    if not (written.isascii() and written.isdigit() and len(written) < 10):
        return f"is {written!r}, no whole number"
    return "" if int(written) >= fewest else f"is {written}, less than {fewest}"


def _embedder(environ: Mapping[str, str]) -> Setting:
    written = environ.get(EMBEDDER, "").strip().lower()
    if not written:
        return Setting(EMBEDDER, EMBEDDERS[0], "default")
    if written not in EMBEDDERS:
        problem = f"{EMBEDDER} is {written!r}, none of {', '.join(EMBEDDERS)}"
        return Setting(EMBEDDER, EMBEDDERS[0], "default", problem)
    return Setting(EMBEDDER, written, EMBEDDER)
