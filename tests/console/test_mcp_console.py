"""An agent proposes over MCP, a person decides in the running console, the next call finds it.

Issue 8, "It shows" 1, with real ends: the SDK's client over stdio, the console in a terminal; and
"the human sees the record in the console within a second".
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import anyio.to_thread
import pytest

from console.sample import write_sample
from console.screens.review_preview import LOOK
from tests.console.mcp_clients import Place, client, refusal, told
from tests.console.plain import Cli
from tests.console.terminal import Terminal, signoff

NOTE = "Tide gauge 3 reads 4 cm high since the quay was rebuilt."
SKILL = {
    "name": "read-tide-gauge",
    "description": "Use when a gauge is read.",
    "instructions": "1. Read it twice.",
}
ATLAS = "/home/dev/atlas"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A sample in which nothing waits."""
    found = write_sample(tmp_path / "home", datetime.now(UTC)).resolve()
    for path in found.glob("pending/*/*.json"):
        path.unlink()
    return found


def place_of(tmp_path: Path, home: Path) -> Place:
    """The same folders as the console's."""
    return Place(home, tmp_path / "state", tmp_path / "settings.toml")


async def see(terminal: Terminal, words: str) -> None:
    """Wait for words on the screen while the client's server goes on."""
    await anyio.to_thread.run_sync(terminal.see, words)


async def approve(terminal: Terminal, name: str) -> None:
    """Let a person look at the oldest record, approve it, and see that it is done."""
    terminal.press("g")
    await see(terminal, f"{name}, ")
    assert "over MCP" in terminal.grid.text
    # What came by itself is decided once it was on screen for a moment.
    await anyio.sleep(LOOK)
    terminal.press("a")


async def test_proposed_seen_approved_and_found(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home) as terminal:
        await see(terminal, "Nothing waits")
        async with client(place_of(tmp_path, home)) as agent:
            words = {"note": NOTE, "reason": "measured twice", "session_id": "s-1"}
            note = told(await agent.call_tool("remember", words))["pending_id"]
            await see(terminal, "Queue (1)")
            await see(terminal, "measured twice")
            skill = told(await agent.call_tool("propose_skill", SKILL))["pending_id"]
            await see(terminal, "Queue (2)")

            await approve(terminal, note)
            await see(terminal, "Queue (1)")
            again = told(await agent.call_tool("remember", words))
            assert (again["staged"], again["success"]) == (False, True)
            better = NOTE.replace("4 cm", "5 cm")
            call = {"action": "replace", "old_text": "Tide gauge 3", "content": better}
            change = told(await agent.call_tool("memory", call))["pending_id"]
            await see(terminal, "Queue (2)")

            await approve(terminal, skill)
            await see(terminal, "Queue (1)")
            taken = await agent.call_tool("propose_skill", SKILL | {"instructions": "1. Once."})
            assert "skill_exists" in refusal(taken)

            await approve(terminal, change)
            await see(terminal, "Nothing waits")
            lost = await agent.call_tool("memory", call | {"old_text": "reads 4 cm high"})
            assert "no_match" in refusal(lost)
        terminal.press("q")
        assert await anyio.to_thread.run_sync(terminal.leave) == 0
    memory = (home / "memories/MEMORY.md").read_text()
    assert memory.count(better) == 1
    assert NOTE not in memory
    assert (home / "skills/read-tide-gauge/SKILL.md").read_text().endswith("1. Read it twice.\n")
    plain = [line["tool"] for line in place_of(tmp_path, home).calls()]
    assert plain == ["remember", "propose_skill", "remember", "memory", "propose_skill", "memory"]


async def test_what_a_person_refuses_is_gone_and_may_be_proposed_anew(
    tmp_path: Path, home: Path
) -> None:
    before = (home / "memories/MEMORY.md").read_bytes()
    with signoff(tmp_path, home) as terminal:
        await see(terminal, "Nothing waits")
        async with client(place_of(tmp_path, home)) as agent:
            first = told(await agent.call_tool("remember", {"note": NOTE}))["pending_id"]
            twice = told(await agent.call_tool("remember", {"note": NOTE}))
            assert (twice["pending_id"], "already" in twice["message"]) == (first, True)
            await see(terminal, f"{first}, ")
            terminal.press("r")
            await see(terminal, "Nothing waits")
            assert (home / "memories/MEMORY.md").read_bytes() == before
            anew = told(await agent.call_tool("remember", {"note": NOTE}))["pending_id"]
            assert anew != first
            await see(terminal, "Queue (1)")


async def test_on_a_vak_home_the_note_waits_beside_it_and_lands_with_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Cli(tmp_path, monkeypatch, capsys).copy("vak").resolve()
    with signoff(tmp_path, home) as terminal:
        await see(terminal, "Queue (10)")
        async with client(place_of(tmp_path, home)) as agent:
            words = {"note": "The quay gauge is 4 cm high.", "session_id": "child-9"}
            asked = words | {"workspace": ATLAS, "tag": "gauge"}
            note = told(await agent.call_tool("remember", asked))["pending_id"]
            await see(terminal, "Queue (11)")
            # The last row is what cannot be read.
            terminal.press("Gk")
            await see(terminal, note)
            await see(terminal, "over MCP, session child-9")
            terminal.press("a")
            await see(terminal, "Queue (10)")
            found = told(
                await agent.call_tool(
                    "session_search", {"query": "quay gauge", "workspace": ATLAS, "limit": 1}
                )
            )
            assert "4 cm high" in json.dumps(found["hits"][0])
    notes = (home / "memory/67b506f04aa724b1/MEMORY.md").read_text()
    assert "session=child-9" in notes.rpartition("\n## ")[2]
