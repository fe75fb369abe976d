"""Beside the real agent's own writers: both wait for each other, and nothing anybody wrote is lost.

The agent: hermes-agent 0.19.0, ``MemoryStore`` and the counters of ``skill_usage``, in processes
of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from core import locks
from core.desk.decide import Request
from core.desk.opening import Opened, open_home
from core.homes.hermes.skills import usage
from core.model import Receipt
from core.settings import Settings
from tests.core.desks import approve
from tests.interop.peer import VARIABLE

pytestmark = [pytest.mark.peer, pytest.mark.timeout(180)]

MEMORY = "memories/MEMORY.md"
D = "\n§\n"
CONFIG = """\
memory:
  write_approval: true
  memory_char_limit: 1000000
skills:
  write_approval: true
"""
SKILL = "---\nname: {name}\ndescription: Use when {name} is due.\n---\n\n# {name}\n\n{lines}\n"

#: What every process of the agent starts with: it says that it is ready and waits for a line.
READY = "import json, os, sys, time\nsays = lambda word: print(json.dumps(word), flush=True)\n"
ADDS = READY + (
    "from tools.memory_tool import load_on_disk_store\n"
    "store = load_on_disk_store()\n"
    "name, rounds, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])\n"
    "says('ready')\n"
    "failed = []\n"
    "for number in range(rounds * each):\n"
    "    if number % each == 0:\n"
    "        sys.stdin.readline()\n"
    "    answer = store.add('memory', f'{name} fact {number} of the agent')\n"
    "    if not answer['success']:\n"
    "        failed.append(answer)\n"
    "says(failed)\n"
)
HOLDS = READY + (
    "from tools.memory_tool import load_on_disk_store\n"
    "store = load_on_disk_store()\n"
    "path, entry, seconds = store._path_for('memory'), sys.argv[1], float(sys.argv[2])\n"
    "with store._file_lock(path):\n"
    "    says('ready')\n"
    "    sys.stdin.readline()\n"
    "    time.sleep(seconds)\n"
    "    if entry:\n"
    "        with path.open('a', encoding='utf-8') as stream:\n"
    "            stream.write(entry)\n"
    "says('done')\n"
)
COUNTS = READY + (
    "from tools import skill_usage\n"
    "says('ready')\n"
    "sys.stdin.readline()\n"
    "done = {}\n"
    "calls = [getattr(skill_usage, f'bump_{what}') for what in sys.argv[2].split(',')]\n"
    "names = sys.argv[3].split(',')\n"
    "while not os.path.exists(sys.argv[1]):\n"
    "    for name in names:\n"
    "        for call in calls:\n"
    "            call(name)\n"
    "            key = f'{name}/{call.__name__[5:]}_count'\n"
    "            done[key] = done.get(key, 0) + 1\n"
    "says(done)\n"
)


@dataclass
class Agent:
    """One process of the real agent on the home."""

    process: subprocess.Popen[str]

    def hear(self) -> Any:
        """The next thing it says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the agent died"
        return json.loads(line)

    def go(self) -> None:
        """Let it begin."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@dataclass
class Ground:
    """A home, signoff on it, and the agent's python."""

    opened: Opened
    root: Path
    python: str

    @contextmanager
    def agent(self, script: str, *arguments: str) -> Iterator[Agent]:
        """A process of the agent that is ready to begin."""
        keep = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "LC_ALL", "TMPDIR"}}
        top = str(self.root.parent)
        with subprocess.Popen(
            [self.python, "-I", "-c", script, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=top,
            env=keep | {"HOME": top, "HERMES_HOME": str(self.root)},
            text=True,
        ) as process:
            try:
                yield Agent(process)
            except BaseException:
                process.kill()
                raise
            assert process.wait(60) == 0

    def stage(self, subsystem: str, record_id: str, **payload: Any) -> None:
        """A proposal as the agent stages it."""
        record = {
            "id": record_id,
            "subsystem": subsystem,
            "action": payload["action"],
            "summary": "",
            "origin": "assistant_tool",
            "created_at": 1790000000.0,
            "payload": payload,
        }
        path = self.root / "pending" / subsystem / f"{record_id}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record), encoding="utf-8")

    def approve(self, record_id: str) -> Receipt:
        """One approval, as a person decides it."""
        (receipt,) = approve(self.opened, Request((record_id,)))
        return receipt

    def entries(self) -> list[str]:
        """The memory as it stands."""
        return (self.root / MEMORY).read_text(encoding="utf-8").split(D)

    def files(self) -> dict[str, bytes]:
        """Every file of the home, without the locks."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in self.root.rglob("*")
            if path.is_file() and path.suffix != ".lock"
        }


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    root = tmp_path / "home"
    (root / "memories").mkdir(parents=True)
    (root / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (root / MEMORY).write_text("first entry", encoding="utf-8")
    opened = open_home(
        home=str(root),
        kind=None,
        profile=None,
        environ={"HERMES_MANAGED_DIR": str(tmp_path / "managed")},
        user_home=tmp_path,
        state=tmp_path / "state",
        settings=Settings(),
        clock=lambda: datetime(2026, 11, 29, 12, 0, tzinfo=UTC),
        rules="0.19",
    )
    return Ground(opened, root, python)


def test_the_agent_waits_for_us_and_reads_again(ground: Ground) -> None:
    with ground.agent(ADDS, "it", "1", "1") as agent:
        assert agent.hear() == "ready"
        with locks.hold([ground.root / f"{MEMORY}.lock"]):
            agent.go()
            time.sleep(0.4)
            assert ground.entries() == ["first entry"], "it waits"
            (ground.root / MEMORY).write_text(f"first entry{D}ours", encoding="utf-8")
        assert agent.hear() == []
    assert ground.entries() == ["first entry", "ours", "it fact 0 of the agent"]


def test_we_wait_for_the_agent(ground: Ground) -> None:
    ground.stage("memory", "aaaa0001", action="add", target="memory", content="ours")
    with ground.agent(HOLDS, "", "0.3") as agent:
        assert agent.hear() == "ready"
        agent.go()
        start = time.monotonic()
        receipt = ground.approve("aaaa0001")
        waited = time.monotonic() - start
        assert agent.hear() == "done"
    assert receipt.ok, receipt
    assert waited > 0.2
    assert ground.entries() == ["first entry", "ours"]


def test_what_the_agent_wrote_while_we_waited_is_not_overwritten(ground: Ground) -> None:
    ground.stage("memory", "aaaa0001", action="add", target="memory", content="ours")
    with ground.agent(HOLDS, f"{D}written under its lock", "0.3") as agent:
        assert agent.hear() == "ready"
        agent.go()
        receipt = ground.approve("aaaa0001")
        assert agent.hear() == "done"
    assert (receipt.ok, receipt.category) == (False, "moved")
    assert ground.entries() == ["first entry", "written under its lock"]
    assert ground.approve("aaaa0001").ok
    assert ground.entries() == ["first entry", "written under its lock", "ours"]


def test_an_agent_that_does_not_let_go(ground: Ground) -> None:
    ground.stage("memory", "aaaa0001", action="add", target="memory", content="ours")
    with ground.agent(HOLDS, "", "0") as agent:
        assert agent.hear() == "ready"
        before = ground.files()
        start = time.monotonic()
        receipt = ground.approve("aaaa0001")
        waited = time.monotonic() - start
        assert ground.files() == before
        agent.go()
        assert agent.hear() == "done"
    assert (receipt.ok, receipt.category) == (False, "locked")
    assert "MEMORY.md.lock" in receipt.message
    assert 0.8 < waited / locks.PATIENCE < 10
    assert ground.approve("aaaa0001").ok


@contextmanager
def all_writers(ground: Ground, writers: int, rounds: int, each: int) -> Iterator[list[Agent]]:
    """The writers, all started."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(ground.agent(ADDS, f"writer {number}", str(rounds), str(each)))
            for number in range(writers)
        ]


def test_eight_writers_and_one_approver_lose_nothing(ground: Ground) -> None:
    """480 entries added by eight processes of the agent, in 20 rounds of one approval each."""
    writers, rounds, each = 8, 20, 3
    for number in range(rounds):
        ground.stage(
            "memory", f"bbbb{number:04}", action="add", target="memory", content=f"ours {number}"
        )
    told: Counter[str] = Counter()
    start = time.monotonic()
    with all_writers(ground, writers, rounds, each) as agents:
        for agent in agents:
            assert agent.hear() == "ready"
        for number in range(rounds):
            for agent in agents:
                agent.go()
            while not (receipt := ground.approve(f"bbbb{number:04}")).ok:
                told[receipt.category] += 1
                assert receipt.category in ("moved", "locked"), receipt
                assert time.monotonic() - start < 150, told
        assert [agent.hear() for agent in agents] == [[]] * writers
    wanted = {
        f"writer {w} fact {n} of the agent" for w in range(writers) for n in range(rounds * each)
    }
    wanted |= {f"ours {number}" for number in range(rounds)} | {"first entry"}
    entries = ground.entries()
    assert Counter(entries) == Counter(wanted)
    assert not list((ground.root / "pending/memory").iterdir())


def test_patches_beside_an_agent_that_counts_lose_no_row_and_no_count(ground: Ground) -> None:
    skills, patches = ["deploy", "rollback"], 12
    for name in skills:
        path = ground.root / "skills/ops" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        lines = "\n".join(f"- step {number} as it was" for number in range(patches))
        path.write_text(SKILL.format(name=name, lines=lines), encoding="utf-8")
    rows: dict[str, Any] = {"elsewhere": {"use_count": 7, "a field of tomorrow": [1]}}
    (ground.root / usage.PATH).write_text(json.dumps(rows), encoding="utf-8")
    for number in range(patches):
        ground.stage(
            "skills",
            f"cccc{number:04}",
            action="patch",
            name=skills[number % 2],
            old_string=f"- step {number} as it was",
            new_string=f"- step {number} as it is",
            replace_all=False,
        )
    told: Counter[str] = Counter()
    stop = ground.root.parent / "stop"
    with (
        ground.agent(COUNTS, str(stop), "use,view,patch", ",".join(skills)) as one,
        ground.agent(COUNTS, str(stop), "use,view", "deploy,another") as two,
    ):
        for agent in (one, two):
            assert agent.hear() == "ready"
        for agent in (one, two):
            agent.go()
        for number in range(patches):
            while not (receipt := ground.approve(f"cccc{number:04}")).ok:
                told[receipt.category] += 1
                assert receipt.category in ("moved", "locked"), receipt
                assert told.total() < 5_000, told
        stop.touch()
        counted = Counter(one.hear()) + Counter(two.hear())
    assert counted["deploy/use_count"] >= 2
    rows = json.loads((ground.root / usage.PATH).read_bytes())
    assert rows["elsewhere"] == {"use_count": 7, "a field of tomorrow": [1]}
    assert set(rows) == {"elsewhere", "another", *skills}
    counted.update({f"{name}/patch_count": patches // 2 for name in skills})
    assert {key: rows[key.split("/")[0]][key.split("/")[1]] for key in counted} == dict(counted)
    for number in range(patches):
        path = ground.root / "skills/ops" / skills[number % 2] / "SKILL.md"
        assert f"- step {number} as it is" in path.read_text(encoding="utf-8")
