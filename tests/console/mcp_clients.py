"""A real client of ``signoff mcp``: the SDK's own, over stdin and stdout of a real process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Place:
    """A home with signoff's own folders beside it."""

    home: Path
    state: Path
    settings: Path

    @property
    def store(self) -> Path:
        """The knowledge store that goes with it; it need not be there."""
        return self.state.parent / "notes"

    @property
    def projects(self) -> Path:
        return self.state.parent / "projects.yaml"

    @property
    def environ(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "TMPDIR"}}
        return kept | {
            "HOME": str(self.state.parent / "nobody"),
            "HERMES_MANAGED_DIR": str(self.state.parent / "managed"),
            "PYTHONPATH": str(ROOT),
            "HERMES_RAG_STORE": str(self.store),
            "HERMES_RAG_PROJECTS_FILE": str(self.projects),
            "SIGNOFF_STATE": str(self.state),
            "SIGNOFF_SETTINGS": str(self.settings),
        }

    def words(self, *words: str) -> list[str]:
        """The command line of the server."""
        return ["-m", "console", "--home", str(self.home), "mcp", *words]

    def calls(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        text = (self.state / "mcp.jsonl").read_text(encoding="ascii")
        return [json.loads(line) for line in text.splitlines()]


@asynccontextmanager
async def client(place: Place, *words: str, mode: str = "auto") -> AsyncIterator[Client]:
    """A client of a server of its own."""
    server = StdioServerParameters(
        command=sys.executable, args=place.words(*words), env=place.environ
    )
    async with Client(stdio_client(server), mode=mode) as connected:
        yield connected


def told(result: CallToolResult) -> Any:
    """The JSON of an answer that is no error."""
    assert not result.is_error, said(result)
    return json.loads(said(result))


def refusal(result: CallToolResult) -> str:
    """The one sentence of an error."""
    assert result.is_error, said(result)
    text = said(result)
    assert "\n" not in text
    assert "Traceback" not in text
    return text


def said(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text
