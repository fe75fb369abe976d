"""A vak home through the gate: its own search, its own queue, notes that wait beside it (issue 8)."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client

from console.mcp.server import Desk
from console.mcp.tools import VAK as TOOLS
from console.mcp.tools import Offer
from core.desk.decide import Request
from core.desk.indexing import behind, index_folder
from core.desk.opening import Opened
from core.homes.base import Discovery, Kind
from core.homes.hermes.staging import Caller
from core.settings import Settings
from tests.console.mcp_clients import Place, client, refusal, told
from tests.console.plain import DATA, NOW, Cli
from tests.core.desks import approve

ATLAS = "/home/dev/atlas"
VAK = ["session_search", "remember", "propose_skill", "recall", "learn", "retire", "stats"]


@pytest.fixture
def place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Place:
    home = Cli(tmp_path, monkeypatch, capsys).copy("vak")
    return Place(home.resolve(), tmp_path / "state", tmp_path / "settings.toml")


def desk(place: Place) -> Opened:
    found = Discovery(place.home, Kind.VAK, "default", place.home)
    return Opened(found, place.state, Settings(), {}, lambda: NOW)


def files(place: Place) -> set[str]:
    return {str(p.relative_to(place.home)) for p in place.home.rglob("*") if p.is_file()}


async def test_an_agent_searches_proposes_and_a_person_approves(place: Place) -> None:
    before = files(place)
    async with client(place) as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == VAK
        asked = {"query": "deploy script", "workspace": ATLAS}
        found = told(await agent.call_tool("session_search", asked))
        assert found["matches"] > 0
        assert found["hits"][0]["score"] > 3
        assert "blank query" in refusal(await agent.call_tool("session_search", {"query": " "}))
        lost = await agent.call_tool("session_search", {"query": "deploy", "workspace": "/nowhere"})
        assert "knows no workspace /nowhere" in refusal(lost)
        blank = await agent.call_tool("remember", {"note": " ", "workspace": ATLAS})
        assert refusal(blank) == "A note needs a text. Nothing was staged (empty)."

        words = {"note": "The quay gauge is 4 cm high.", "session_id": "child-9", "tag": "gauge"}
        lost = await agent.call_tool("remember", words)
        assert "not clear which workspace" in refusal(lost)
        note = told(await agent.call_tool("remember", {**words, "workspace": ATLAS}))
        assert files(place) == before
        drafted = {
            "name": "read-gauge",
            "description": "Use when a gauge is read.",
            "instructions": "Read it twice.",
            "workspace": ATLAS,
        }
        skill = told(await agent.call_tool("propose_skill", drafted))
        assert len(files(place) - before) == 1

        ids = (note["pending_id"], skill["pending_id"])
        assert all(receipt.ok for receipt in approve(desk(place), Request(ids)))
        asked = {"query": "quay gauge", "workspace": ATLAS}
        first = told(await agent.call_tool("session_search", asked))["hits"][0]
        assert (first["role"], first["session_id"][:7]) == ("memory", "memory/")
        assert "skill_exists" in refusal(
            await agent.call_tool("propose_skill", {**drafted, "instructions": "Once."})
        )
    assert (place.home / "skills/read-gauge/SKILL.md").is_file()


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("search_enabled", {"session_search", "recall", "stats"}),
        ("write_enabled", {"remember", "learn", "retire"}),
        ("skill_proposals", {"propose_skill"}),
    ],
)
async def test_the_homes_own_settings_take_tools_off(
    place: Place, key: str, gone: set[str]
) -> None:
    """vak 10: `[memory]` of the home's config."""
    (place.home / "config.toml").write_text(f"[memory]\n{key} = false\n", encoding="utf-8")
    async with client(place) as agent:
        listed = [tool.name for tool in (await agent.list_tools()).tools]
        assert listed == [name for name in VAK if name not in gone]
        for name in gone:
            assert refusal(await agent.call_tool(name, {})) == f"There is no tool {name}."


async def test_what_waits_says_who_proposed_it(place: Place) -> None:
    async with client(place) as agent:
        words = {"note": "x", "scope": "profile"}
        staged = told(await agent.call_tool("remember", words))
    (proposal,) = [p for p in desk(place).queue().proposals if p.subsystem == "memory"]
    assert proposal.id == staged["pending_id"]
    assert proposal.raw["staged_by"]["client"] == "mcp"


async def test_the_index_is_built_behind_the_answers_and_gives_the_same(place: Place) -> None:
    """The first call looks at every ledger; the server takes them in meanwhile."""
    opened = desk(place)
    asked = {"query": "deploy script", "workspace": ATLAS}
    assert behind(opened) > 0
    async with client(place) as agent:
        first = told(await agent.call_tool("session_search", asked))
        with anyio.fail_after(60):
            while behind(opened):
                assert told(await agent.call_tool("session_search", asked)) == first
                await anyio.sleep(0.05)
        assert told(await agent.call_tool("session_search", asked)) == first
    assert index_folder(opened).is_dir()


async def test_no_index_is_built_where_the_person_wants_none(place: Place) -> None:
    place.settings.write_text("search_index = false\n", encoding="utf-8")
    async with client(place) as agent:
        for _ in range(2):
            asked = {"query": "deploy script", "workspace": ATLAS}
            assert told(await agent.call_tool("session_search", asked))["matches"] > 0
    assert not index_folder(desk(place)).exists()


def _message(number: int, method: str, **params: Any) -> bytes:
    head = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(head | ({"id": number} if number else {})).encode() + b"\n"


@pytest.mark.parametrize("how", ["left", "killed"])
def test_a_client_that_is_gone_leaves_whole_proposals_and_no_alarm(place: Place, how: str) -> None:
    before = desk(place).queue()
    words = [sys.executable, *place.words()]
    who = {"name": "gone", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, env=place.environ, **pipes) as server:  # type: ignore[call-overload]
        server.stdin.write(_message(1, "initialize", **hello))
        server.stdin.flush()
        server.stdout.readline()
        server.stdout.close()
        server.stdin.write(_message(0, "notifications/initialized"))
        for number in range(12):
            given = {"note": f"Gauge {number} is high.", "workspace": ATLAS}
            server.stdin.write(_message(2 + number, "tools/call", name="remember", arguments=given))
        server.stdin.flush()
        if how == "killed":
            while not list(place.state.glob("waiting/*/memory/*.json")):
                time.sleep(0.01)
            server.kill()
        server.stdin.close()
        said = server.stderr.read().decode()
    # It may see that nothing more is asked before it sees that nothing is read.
    assert server.returncode in ([-signal.SIGKILL] if how == "killed" else [0, 141])
    assert "unforeseen" not in said
    after = desk(place).queue()
    assert len(after.unreadable) == len(before.unreadable)
    staged = [each for each in after.proposals if each.subsystem == "memory"]
    assert all(each.payload["content"].startswith("Gauge ") for each in staged)
    assert len(staged) == len({each.payload["content"] for each in staged})


async def test_two_clients_at_once_stage_each_thing_once(place: Place) -> None:
    async def work(agent: Client, who: str) -> None:
        for number in range(6):
            for note in (f"Gauge {number} of {who}.", f"Gauge {number} of both."):
                words = {"note": note, "workspace": ATLAS}
                assert told(await agent.call_tool("remember", words))["staged"]
            drafted = {"name": f"read-{number}", "description": "When.", "instructions": "Twice."}
            drafted["workspace"] = ATLAS
            assert told(await agent.call_tool("propose_skill", drafted))["staged"]

    waiting = len(desk(place).queue().proposals)
    async with client(place) as one, client(place) as other, anyio.create_task_group() as group:
        group.start_soon(work, one, "one")
        group.start_soon(work, other, "other")
    assert len(desk(place).queue().proposals) == waiting + 3 * 6 + 6


_WORDS = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        ["../../x", "67b506f04aa724b1", ATLAS, "read-gauge", "deploy-checklist", "\x00", "-->", "*"]
    ),
)
#: Calls that are taken, for strange arguments to be laid over.
_TAKEN: dict[str, dict[str, Any]] = {
    "session_search": {"query": "deploy"},
    "remember": {"note": "The gauge is high."},
    "propose_skill": {"name": "gauge", "description": "When.", "instructions": "Read it."},
}
_FIELDS = sorted(set().union(*(tool.model.model_fields for tool in TOOLS)) | {"path"})


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from([*VAK[:3], "promote"]),
    arguments=st.dictionaries(
        st.sampled_from(_FIELDS),
        st.one_of(_WORDS, st.integers(), st.none(), st.lists(_WORDS, max_size=2)),
        max_size=3,
    ),
    who=_WORDS,
)
def test_no_call_changes_anything_but_what_waits(
    tmp_path_factory: pytest.TempPathFactory, name: str, arguments: dict[str, Any], who: str
) -> None:
    """Only a new file in skill-proposals, or one in signoff's own folder (issue 8)."""
    root = tmp_path_factory.mktemp("gate")
    home = (root / "home").resolve()
    for folder in ("memory", "skill-proposals", "skills"):
        shutil.copytree(DATA / "vak" / folder, home / folder)
    for path in home.rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)
    opened = Opened(
        Discovery(home, Kind.VAK, "default", home),
        root / "state",
        Settings(),
        {"PWD": ATLAS, "HERMES_RAG_STORE": str(root / "notes")},
        lambda: NOW,
    )
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    answer = Desk(opened, Offer()).answer(name, _TAKEN.get(name, {}) | arguments, Caller(who, who))
    answer.text.encode("utf-8")
    assert "unforeseen" not in answer.text
    after = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    assert {path: after[path] for path in before} == before
    new = [path.relative_to(home) for path in after.keys() - before.keys()]
    assert [(path.parts[0], len(path.parts), path.stem) for path in new] == (
        [("skill-proposals", 3, answer.record)] if name == "propose_skill" and answer.record else []
    )
    assert {path.name for path in root.iterdir()} <= {"home", "state", "notes"}
