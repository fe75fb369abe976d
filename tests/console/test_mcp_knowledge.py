"""The knowledge store through the gate: an agent's own notes, and no folder nobody named.

Rules: specs, memory-rag 4 to 9; `--server hermes-memory-rag`: issue 8.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from core.desk.knowledge import note, open_store
from core.desk.knowledge_work import undo
from core.settings import Settings
from tests.console.mcp_clients import Place, client, refusal, said
from tests.console.plain import NOW
from tests.core.desks import make_home

QUEUE = "The queue drops jobs older than six hours."
#: The original's tools with their arguments, as its server declares them.
SIX: dict[str, set[str]] = {
    "recall": {"query", "project", "layer", "top_wiki", "top_code", "top_memory"},
    "learn": {"text", "kind", "project", "supersedes"},
    "retire": {"node_id", "reason", "project"},
    "stats": {"project"},
    "ingest_code": {"root", "project", "rebuild"},
    "ingest_wiki": {"wiki_dir", "project"},
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home = make_home(tmp_path / "home").resolve()
    return Place(home, tmp_path / "state", tmp_path / "settings.toml")


def shelf(place: Place) -> Any:
    return open_store(
        store=str(place.store),
        environ={},
        user_home=place.state.parent,
        state=place.state,
        settings=Settings(),
        clock=lambda: NOW,
    )


async def test_an_agent_learns_recalls_and_retires(place: Place) -> None:
    async with client(place) as agent:
        words = {"text": QUEUE, "project": "jobs", "kind": "queue:gotcha"}
        learnt = said(await agent.call_tool("learn", words))
        assert said(await agent.call_tool("learn", words)) == learnt
        asked = {"query": "queue", "project": "jobs"}
        found = said(await agent.call_tool("recall", asked)).splitlines()
        assert found[0] == "Recall [jobs] for: queue"
        assert found[-1] == f"[memory memory #{learnt[:8]}] {QUEUE}"
        counted = json.loads(said(await agent.call_tool("stats", {"project": "jobs"})))
        assert (counted["staged_notes"], counted["learnings_deposited"]) == (1, 1)

        short = {"node_id": learnt[:8], "project": "jobs", "reason": "now twelve hours"}
        gone = said(await agent.call_tool("retire", short))
        assert gone == f"retired {learnt[:8]} (now twelve hours)"
        assert "already retired" in said(await agent.call_tool("retire", short))
        assert QUEUE not in said(await agent.call_tool("recall", asked))
        missed = await agent.call_tool("retire", {"node_id": "0000", "project": "jobs"})
        assert said(missed).startswith("no single memory note matches '0000'")
        assert said(missed).endswith("Call recall first and use the id it prints.")
        assert not missed.is_error
    # A person takes it back: the note was never gone, and who withdrew it stands in the journal.
    desk = shelf(place)
    (entry,) = desk.journal.entries()
    assert entry.note == "from mcp 0.1.0 over MCP: now twelve hours"
    (receipt,) = undo(desk)
    assert receipt.ok
    # The note says which client learnt it.
    node = note(desk, "jobs", learnt[:8])
    assert (node.text("source"), node.text("client")) == ("learn", "mcp 0.1.0")
    async with client(place) as agent:
        assert QUEUE in said(await agent.call_tool("recall", asked))


async def test_a_note_takes_the_place_of_another(place: Place) -> None:
    async with client(place) as agent:
        old = said(await agent.call_tool("learn", {"text": QUEUE, "project": "jobs"}))
        lost = {"text": "Not that one.", "project": "jobs", "supersedes": "0000"}
        answer = said(await agent.call_tool("learn", lost))
        assert " || supersedes matched no single note" in answer
        new = {"text": "Twelve hours now.", "project": "jobs", "supersedes": old[:8]}
        assert f"replaced {old[:8]}" in said(await agent.call_tool("learn", new))
        secret = {"text": "token ghp_" + "a1B2" * 9, "project": "jobs"}
        assert "seems to hold a secret" in said(await agent.call_tool("learn", secret))


async def test_the_originals_six_tools_under_its_name(place: Place) -> None:
    """No home of an agent is needed, and none of its tools is served."""
    nowhere = Place(place.state.parent / "no-home", place.state, place.settings)
    async with client(nowhere, "--server", "hermes-memory-rag") as agent:
        assert agent.server_info is not None
        assert agent.server_info.name == "hermes-memory-rag"
        listed = {tool.name: tool for tool in (await agent.list_tools()).tools}
        assert {name: set(tool.input_schema["properties"]) for name, tool in listed.items()} == SIX
        assert {name: tool.input_schema.get("required", []) for name, tool in listed.items()} == {
            "recall": ["query"],
            "learn": ["text"],
            "retire": ["node_id"],
            "stats": [],
            "ingest_code": ["root"],
            "ingest_wiki": ["wiki_dir"],
        }
        assert {
            name: field["default"]
            for tool in listed.values()
            for name, field in tool.input_schema["properties"].items()
            if "default" in field
        } == {
            **dict.fromkeys(("project", "supersedes", "reason"), ""),
            **{"layer": "auto", "top_wiki": 2, "top_code": 3, "top_memory": 1},
            **{"kind": "learning", "rebuild": True},
        }
        learnt = said(await agent.call_tool("learn", {"text": QUEUE, "project": "jobs"}))
        found = said(await agent.call_tool("recall", {"query": "queue", "project": "jobs"}))
        assert f"#{learnt[:8]}" in found
        assert "no tool" in refusal(await agent.call_tool("remember", {"note": "x"}))
    async with client(nowhere, "--server", "hermes-memory-rag", "--read-only") as agent:
        assert {tool.name for tool in (await agent.list_tools()).tools} == {"recall", "stats"}


async def test_only_folders_a_person_named_are_taken_in(place: Place, tmp_path: Path) -> None:
    code, private = tmp_path / "work" / "jobs", tmp_path / "private"
    for folder in (code, private):
        folder.mkdir(parents=True)
        (folder / "queue.py").write_text("LIMIT = 6  # hours a job may wait\n", encoding="utf-8")
        (folder / "page.md").write_text("# Queue\n\nJobs wait six hours.\n", encoding="utf-8")
    (code / "out").symlink_to(private)
    place.projects.write_text(f"- path: {tmp_path / 'work'}\n  name: jobs\n", encoding="utf-8")
    async with client(place, "--server", "hermes-memory-rag") as agent:
        for outside in (
            str(private),
            str(code / "out"),
            f"{code}/../../private",
            "/",
            str(code / "queue.py"),
            "nowhere",
        ):
            answer = await agent.call_tool("ingest_code", {"root": outside})
            assert "a person has to name it there" in refusal(answer)
            answer = await agent.call_tool("ingest_wiki", {"wiki_dir": outside})
            assert "a person has to name it there" in refusal(answer)
        done = await agent.call_tool("ingest_code", {"root": str(code)})
        assert said(done) == "code layer [jobs]: 2 nodes from 2 files"
        done = await agent.call_tool("ingest_wiki", {"wiki_dir": str(code)})
        assert said(done) == "wiki layer [jobs]: 1 nodes"
        found = said(await agent.call_tool("recall", {"query": "hours", "project": "jobs"}))
        assert "[wiki page.md]" in found
        assert "[code queue.py]" in found


async def test_the_originals_answers_word_for_word(place: Place, tmp_path: Path) -> None:
    """Its answers, as its server gives them (specs, memory-rag 4 to 9)."""
    wiki = tmp_path / "work" / "Jobs & Co"
    wiki.mkdir(parents=True)
    (wiki / "page.md").write_text("# Queue\n\nJobs wait six hours.\n", encoding="utf-8")
    place.projects.write_text(f"- path: {tmp_path / 'work'}\n  name: jobs\n", encoding="utf-8")
    async with client(place, "--server", "hermes-memory-rag") as agent:

        async def ask(name: str, **arguments: Any) -> str:
            answer = await agent.call_tool(name, arguments)
            assert not answer.is_error
            return said(answer)

        assert await ask("recall", query="queue", project="Jobs & Co") == (
            "Recall [Jobs & Co] for: queue\n"
            "[wiki: not built for Jobs & Co]\n"
            "[code: not built for Jobs & Co]"
        )
        assert await ask("recall", query="queue", layer="nothing", project="x") == (
            "Recall [x] for: queue"
        )
        # The project is the folder's name as it was typed.
        assert await ask("ingest_wiki", wiki_dir=f"{wiki}/") == "wiki layer [Jobs & Co]: 1 nodes"
        assert await ask("ingest_code", root=str(wiki), project="j") == (
            "code layer [j]: 1 nodes from 1 files"
        )
        first = await ask("learn", text="one", project="j")
        assert await ask("retire", node_id=first, project="j") == f"retired {first[:8]}"
        assert await ask("retire", node_id=first[:8], project="j") == (
            "already retired — nothing changed"
        )
        due = [await ask("learn", text=f"note {number}", project="j") for number in range(10)]
        assert not any("DUE" in answer for answer in due[:-1])
        assert " || CONSOLIDATION DUE: staging at 10 >= 10" in due[-1]
        report = json.loads(await ask("stats", project="j"))
        # Two where midnight passed meanwhile.
        assert report.pop("distinct_active_days") in (1, 2)
        assert report == {
            "project": "j",
            "layers": {"code": 1, "wiki": 0, "memory": 11},
            "staged_notes": 10,
            "global_memory_notes": 0,
            "learnings_deposited": 11,
            "architecture_phased_recalls": 0,
            "wiki_suggestion": "not yet earned",
            "consolidation_due": True,
        }
