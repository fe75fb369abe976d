"""The real agent stages a write, keeps the conversation and stays open: we find the message.

hermes-agent 0.19.0, its own tools and its own session store, in a process of its own that keeps
``state.db`` open while it is read, and writes on afterwards (report D27).
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.origin import Provenance, trace
from core.homes.hermes.pending import read_queue
from core.view import Disk
from tests.interop.peer import VARIABLE

pytestmark = pytest.mark.peer

SESSION = "20261120_091500_a1b2c3"
AGENT = """
import json, os, sys
from pathlib import Path

home = Path(os.environ["HERMES_HOME"])
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

from hermes_state import SessionDB
from tools import memory_tool, skill_manager_tool

store = memory_tool.load_on_disk_store()
sessions = SessionDB(home / "state.db")
session = sys.argv[1]
sessions.create_session(session, "cli", model="test")
sessions.set_session_title(session, "Staging notes")
sessions.append_message(session, "user", "Remember the port and how to deploy.")
body = "---\\nname: deploy\\ndescription: Use when deploying.\\n---\\n\\n# Deploy\\n"
staged = {}
for name, answer in (
    ("memory", memory_tool.memory_tool(
        action="add", target="memory", content="Staging listens on 8443.", store=store)),
    ("skill_manage", skill_manager_tool.skill_manage("create", "deploy", content=body)),
):
    number = sessions.append_message(session, "tool", answer, tool_name=name, tool_call_id=name)
    staged[json.loads(answer)["pending_id"]] = number
for number in range(40):
    sessions.append_message(session, "assistant", f"Line {number} of the conversation.")
print(json.dumps(staged), file=answers, flush=True)
sys.stdin.readline()
sessions.append_message(session, "user", "Thanks.")
count = len(sessions.get_messages(session))
sessions.close()
check = SessionDB(home / "state.db")
print(json.dumps([count, len(check.get_messages(session))]), file=answers, flush=True)
check.close()
"""


class Agent:
    """The agent's process: ``staged`` maps pending ids to the numbers of its messages."""

    def __init__(self, python: str, home: Path) -> None:
        keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        self._process = subprocess.Popen(
            [python, "-I", "-c", AGENT, SESSION],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=home,
            env=keep | {"HERMES_HOME": str(home), "HOME": str(home.parent)},
        )
        assert self._process.stdout is not None
        self.staged: dict[str, int] = json.loads(self._process.stdout.readline())

    def end(self) -> Any:
        """Let it say one thing more and close: messages it sees before and after closing."""
        answer, _ = self._process.communicate("\n", timeout=60)
        assert self._process.returncode == 0
        return json.loads(answer)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "config.yaml").write_text(
        "memory: {write_approval: true}\nskills: {write_approval: true}\n"
    )
    return folder


@pytest.fixture
def agent(home: Path) -> Agent:
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    return Agent(python, home)


def traced(home: Path) -> dict[str, Provenance]:
    return {each.id: trace(home, each) for each in read_queue(Disk(home)).proposals}


def test_a_write_staged_by_the_agents_tools(home: Path, agent: Agent) -> None:
    assert len(agent.staged) == 2
    beside = sorted(os.listdir(home))
    assert {"state.db-shm", "state.db-wal"} <= {*beside}
    while_open = traced(home)
    assert {each: found.message_id for each, found in while_open.items()} == agent.staged
    for found in while_open.values():
        assert found.session_id == SESSION
        assert found.words.startswith('from session "Staging notes" (')
    assert sorted(os.listdir(home)) == beside
    # 1 said, 2 answered, 40 lines, 1 thanks: all there for the agent, before and after.
    assert agent.end() == [44, 44]
    closed = os.stat(home / "state.db")
    beside = sorted(os.listdir(home))
    assert traced(home) == while_open
    assert sorted(os.listdir(home)) == beside
    assert os.stat(home / "state.db").st_mtime_ns == closed.st_mtime_ns
