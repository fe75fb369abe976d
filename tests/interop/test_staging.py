"""What we stage in the agent's own hands: made as it makes it, listed and applied by it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.desk.staging import Staged, stage_memory, stage_skill
from core.homes.hermes.staging import Caller
from core.model import Node, NodeKind
from tests.core.desks import MEMORY, SKILL, make_home, open_on
from tests.interop.compare import approve
from tests.interop.peer import VARIABLE, Peer, pack

pytestmark = pytest.mark.peer

WHO = Caller("claude-code", "2.1", "s-17", "潮位")
TEXT = "Kiln 2 “soak”: 40 minutes at 1180 °C, C:\\kiln\\log.txt"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("memory", {"action": "add", "target": "memory", "content": TEXT}),
    ("memory", {"action": "add", "target": "user", "content": "x" * 300}),
    ("memory", {"action": "replace", "target": "memory", "old_text": "beta", "content": TEXT}),
    ("memory", {"action": "remove", "target": "memory", "old_text": "gamma"}),
    (
        "memory",
        {
            "target": "memory",
            "operations": [
                {"action": "remove", "old_text": "gamma"},
                {"action": "replace", "old_text": "beta", "content": "beta 2"},
                {"action": "add", "content": TEXT},
            ],
        },
    ),
    ("skills", {"action": "create", "name": "kiln", "content": SKILL.format(name="kiln")}),
    (
        "skills",
        {
            "action": "create",
            "name": "long",
            "content": SKILL.format(name="long") + "x\n" * 900,
            "category": "ops",
        },
    ),
    ("skills", {"action": "edit", "name": "deploy", "content": SKILL.format(name="deploy") + TEXT}),
    (
        "skills",
        {"action": "patch", "name": "deploy", "old_string": "Step one.", "new_string": "A\nB"},
    ),
    (
        "skills",
        {
            "action": "write_file",
            "name": "deploy",
            "file_path": "references/cones.md",
            "file_content": TEXT,
        },
    ),
    ("skills", {"action": "delete", "name": "deploy", "absorbed_into": ""}),
]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")
    driver = Path(__file__).with_name("staging_driver.py")
    peer = Peer(python, tmp_path_factory.mktemp("staging"), driver)
    yield peer
    peer.close()


def tree(root: Path) -> dict[str, Node]:
    return {
        str(path.relative_to(root)): Node(NodeKind.FILE, path.read_bytes(), 0o644)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def staged(tmp_path: Path, subsystem: str, call: dict[str, Any]) -> tuple[Staged, dict[str, Node]]:
    root = make_home(tmp_path / "home")
    desk = open_on(root, tmp_path / "state")
    found = (stage_memory if subsystem == "memory" else stage_skill)(desk, call, WHO)
    assert found.id is not None, found
    return found, tree(root)


@pytest.mark.parametrize(("subsystem", "call"), CALLS)
def test_made_listed_and_applied(
    tmp_path: Path, agent: Peer, subsystem: str, call: dict[str, Any]
) -> None:
    ours, home = staged(tmp_path, subsystem, call)
    (listed,) = agent.call("listed", tree=pack(home), subsystem=subsystem)
    assert listed["id"] == ours.id
    bare = {path: node for path, node in home.items() if not path.startswith("pending/")}
    theirs = agent.call("stage", tree=pack(bare), subsystem=subsystem, call=call)
    assert theirs["answer"]["staged"] is True
    (record,) = theirs["records"]
    # The same fields in the same order with the same values; ours say who proposed it, last.
    assert list(listed) == [*record, "staged_by"]
    assert list(listed["payload"]) == list(record["payload"])
    # Outside of a turn the agent has no origin of its own to write (2.1).
    assert (record.pop("origin"), listed["origin"]) == ("foreground", "assistant_tool")
    chance = {"id", "created_at"}
    assert {key: listed[key] for key in record if key not in chance} == {
        key: record[key] for key in record if key not in chance
    }
    answer = approve(agent, subsystem, ours.id or "", home)
    assert (answer.category, answer.kept) == ("ok", False)


def test_the_text_lands_as_it_was_proposed(tmp_path: Path, agent: Peer) -> None:
    ours, home = staged(tmp_path, "memory", CALLS[0][1])
    answer = approve(agent, "memory", ours.id or "", home)
    entries = answer.after[MEMORY].data.decode().split("\n§\n")
    assert entries == ["alpha one", "beta two", "gamma three", TEXT]
