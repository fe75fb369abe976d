"""``show ID --as-agent --json --rules 0.19`` says what the real agent did: every micro case.

``tests/data/approval.json`` holds the answers of hermes-agent 0.19.0 on tiny homes.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.console.plain import DATA, Cli

ORACLE = json.loads((DATA / "approval.json").read_text("utf-8"))["micro"]
#: The oracle's words for an exception of the agent, and ours for what caused it.
MEMORY_WORDS = {
    "other:'int' object has no attribute 'strip'": "invalid",
    "store_load_crash:UnicodeDecodeError": "unreadable_target",
}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


def data_of(content: Mapping[str, str]) -> bytes:
    return base64.b64decode(content["base64"]) if "base64" in content else content["text"].encode()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def ask(cli: Cli, home: Path, subsystem: str, payload: object) -> Any:
    put(home / "pending" / subsystem / "0a.json", json.dumps({"payload": payload}).encode())
    answer = cli("show", "0a", "--as-agent", "--rules", "0.19", "--json", home=home)
    assert answer.code == 0, answer
    return answer.json


@pytest.mark.parametrize("case", ORACLE["memory_cases"], ids=lambda case: str(case["name"]))
def test_memory(cli: Cli, case: dict[str, Any]) -> None:
    home = cli.folder / "home"
    limits, expected = case["limits"], case["outcome"]
    config = (
        f"memory:\n  memory_char_limit: {limits['memory']}\n  user_char_limit: {limits['user']}\n"
    )
    put(home / "config.yaml", config.encode())
    file = f"memories/{case['file']}"
    if case["initial"] is not None:
        put(home / file, data_of(case["initial"]))
    found = ask(cli, home, "memory", case["payload"])
    category = MEMORY_WORDS.get(expected["category"], expected["category"])
    if case["name"] == "add-duplicate":
        category = "noop"
    assert found["category"] == category
    changed = {change["path"]: change for change in found["changes"]}
    if category != "ok":
        assert file not in changed
        return
    assert changed[file]["after_sha256"] == digest(expected["after"]["text"].encode())
    assert changed[file]["after_mode"] == ORACLE["lock"]["file_mode_after_rewrite_of_0644_file"]
    before = None if case["initial"] is None else digest(data_of(case["initial"]))
    assert changed[file]["before_sha256"] == before
    if case["name"] != "replace-makes-duplicate":
        # There the oracle counts after a reload, which drops the twin.
        assert found["budget"]["after"] == expected["chars_after"]


@pytest.mark.parametrize("case", ORACLE["skill_cases"], ids=lambda case: str(case["name"]))
def test_skills(cli: Cli, case: dict[str, Any]) -> None:
    home = cli.folder / "home"
    guard = "true" if case["guard_agent_created"] else "false"
    put(home / "config.yaml", f"skills:\n  guard_agent_created: {guard}\n".encode())
    tree = {f"skills/{path}": data_of(content) for path, content in case["skill_tree"].items()}
    for path, data in tree.items():
        put(home / path, data)
    if case["name"] == "write-through-symlink":
        outside = cli.folder / "outside"
        outside.mkdir()
        (home / "skills/probe/references").symlink_to(outside)
    expected, payload = case["outcome"], dict(case["payload"])
    for key, value in payload.items():
        if isinstance(value, dict) and value.get("generated"):
            payload[key] = "x" * value["length"]
            assert digest(payload[key].encode()) == value["sha256"]
    found = ask(cli, home, "skills", payload)
    assert found["category"] == expected["category"]
    beside = ("skills/.usage.json", ".skills_prompt_snapshot.json", "pending/skills/0a.json")
    changed = {c["path"]: c for c in found["changes"] if c["path"] not in beside}
    wanted = {}
    for path, content in expected.get("changed_files", {}).items():
        wanted[f"skills/{path}"] = None if content is None else digest(data_of(content))
    if not expected["ok"]:
        assert changed == {}
        return
    assert {path: change["after_sha256"] for path, change in changed.items()} == wanted
    for path, change in changed.items():
        assert change["before_sha256"] == (digest(tree[path]) if path in tree else None)
    if expected.get("strategy"):
        assert found["match"]["strategy"] == expected["strategy"]
