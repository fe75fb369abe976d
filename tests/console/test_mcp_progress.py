"""A long work over MCP says how far it is, stops when its client leaves, and goes on later.

Issue 8: "ingest reports progress and resumes"; the old collection stands until the new is whole
(specs, memory-rag 9).
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from console.mcp.asking import EVERY, Reports, StoppedError
from core.homes.rag.ingest import Progress
from tests.console.mcp_clients import Place, client, refusal, said
from tests.console.test_mcp import HELLO, message

FILES = 4_000
SERVER = ("--server", "hermes-memory-rag")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "no-home", tmp_path / "state", tmp_path / "settings.toml")


@pytest.fixture
def code(place: Place, tmp_path: Path) -> Path:
    """A folder of many small files that a person named in the projects file."""
    folder = tmp_path / "jobs"
    for number in range(FILES):
        part = folder / f"{number // 500:03}"
        part.mkdir(parents=True, exist_ok=True)
        (part / f"{number:05}.py").write_text(f"LIMIT_{number} = {number}  # hours\n")
    place.projects.write_text(f"- path: {folder}\n  name: jobs\n", encoding="utf-8")
    return folder


class Told:
    """What a client was told of its call."""

    def __init__(self) -> None:
        self.lines: list[tuple[float, float | None, str | None]] = []
        self.first = anyio.Event()

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        self.lines.append((progress, total, message))
        self.first.set()


async def test_an_ingest_says_how_far_it_is_to_who_asks(place: Place, code: Path) -> None:
    told = Told()
    async with client(place, *SERVER) as agent:
        arguments = {"root": str(code)}
        done = await agent.call_tool("ingest_code", arguments, progress_callback=told)
        assert said(done) == f"code layer [jobs]: {FILES} nodes from {FILES} files"
        wiki = Told()
        (code / "page.md").write_text("# Jobs\n\nThey wait.\n", encoding="utf-8")
        arguments = {"wiki_dir": str(code)}
        await agent.call_tool("ingest_wiki", arguments, progress_callback=wiki)
        # Who asks for none gets none.
        assert not (await agent.call_tool("ingest_code", {"root": str(code)})).is_error
    numbers = [done for done, _, _ in told.lines]
    assert numbers == sorted(set(numbers))
    assert {total for _, total, _ in told.lines} == {FILES}
    assert told.lines[-1] == (FILES, FILES, "4,000 of 4,000 files, 4,000 pieces")
    assert len(numbers) >= 2
    assert wiki.lines == [(1, 1, "1 of 1 files, 1 pieces")]


async def test_a_call_that_is_taken_back_stops_and_the_next_goes_on(
    place: Place, code: Path
) -> None:
    (code / "old.py").write_text("OLD = 'the first edition'\n")
    async with client(place, *SERVER) as agent:
        whole = await agent.call_tool("ingest_code", {"root": str(code), "project": "jobs"})
        assert not whole.is_error
        (code / "old.py").unlink()
        (code / "000" / "00000.py").write_text("NEW = 'the second edition'\n")
        told = Told()
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                await agent.call_tool("ingest_code", {"root": str(code)}, progress_callback=told)

            group.start_soon(ask)
            await told.first.wait()
            group.cancel_scope.cancel()
        # What was there is found until the new is whole.
        asked = {"query": "edition", "project": "jobs", "layer": "code"}
        assert "the first edition" in said(await agent.call_tool("recall", asked))
        for _ in range(9_000):
            if any(not line["ok"] for line in place.calls()):
                break
            await anyio.sleep(0.01)
        again = Told()
        arguments = {"root": str(code)}
        done = await agent.call_tool("ingest_code", arguments, progress_callback=again)
        assert said(done) == f"code layer [jobs]: {FILES} nodes from {FILES} files"
        assert again.lines[0][0] > told.lines[0][0]
        found = said(await agent.call_tool("recall", asked))
        assert "the second edition" in found
        assert "the first edition" not in found
    (stopped,) = [line for line in place.calls() if not line["ok"]]
    assert stopped["tool"] == "ingest_code"
    assert "the same call goes on from there" in stopped["answer"]


def test_a_client_that_leaves_stops_the_work(place: Place, code: Path) -> None:
    """The server does not go on for a client that is gone, and leaves no process behind."""
    params: dict[str, Any] = {"name": "ingest_code", "arguments": {"root": str(code)}}
    params["_meta"] = {"progressToken": "t"}
    with subprocess.Popen(
        [sys.executable, *place.words(*SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=place.environ,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        hello = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
        lines = (HELLO, hello, message(2, "tools/call", params))
        server.stdin.write(b"".join(line + b"\n" for line in lines))
        server.stdin.flush()
        server.stdout.readline()
        assert b"notifications/progress" in server.stdout.readline()
        server.stdin.close()
        assert server.wait(timeout=90) == 0
    (line,) = place.calls()
    assert not line["ok"]
    assert "Stopped behind" in line["answer"]


async def test_no_files_is_an_answer_and_takes_nothing_away(place: Place, code: Path) -> None:
    empty = code / "empty"
    empty.mkdir()
    async with client(place, *SERVER) as agent:
        told = Told()
        arguments = {"root": str(empty), "project": "jobs"}
        answer = await agent.call_tool("ingest_code", arguments, progress_callback=told)
        assert "There is no code below" in refusal(answer)
    assert told.lines == []


# -- without a client ------------------------------------------------------------------------------


def test_reports_only_grow_and_are_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    tell = Reports(lambda progress: sent.append(progress.files), lambda: False)
    for files, later in ((1, 0.0), (2, EVERY / 2), (3, EVERY), (3, EVERY), (4, EVERY / 2), (9, 0)):
        now[0] += later
        tell(Progress(files, 9, files))
    tell(Progress(9, 9, 9))
    assert sent == [1, 3, 4, 9]


def test_who_left_is_told_nothing() -> None:
    sent: list[Progress] = []
    tell = Reports(sent.append, lambda: True)
    with pytest.raises(StoppedError, match="behind 1,000 of 2,000 files"):
        tell(Progress(1_000, 2_000, 5))
    assert sent == []
