"""What ``config.yaml`` says, as hermes-agent 0.19.0 takes it (spec section 1.4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.config import Config, managed_folder, read_config, rules_for
from core.homes.hermes.rules import Rules
from core.homes.hermes.yaml_text import Parsed, parse
from core.model import Node, NodeKind
from core.view import Disk, Snapshot, Tree, View, holds


def _config(text: str | bytes, environ: dict[str, str] | None = None) -> Config:
    data = text if isinstance(text, bytes) else text.encode()
    return read_config(View(Tree({"config.yaml": data})), environ or {})


@pytest.mark.parametrize(
    ("value", "on"),
    [
        ("true", True),
        ("on", True),
        ("' ON '", True),
        ("'1'", True),
        ("approve", True),
        ("Enabled", True),
        ("1", False),
        ("false", False),
        ("'y'", False),
        ("null", False),
        ("[true]", False),
    ],
)
def test_truth_of_a_gate(value: str, on: bool) -> None:
    gate = _config(f"memory: {{write_approval: {value}}}\n").memory_gate
    assert (gate.on, gate.source) == (on, "config")


@pytest.mark.parametrize(
    ("text", "source", "words"),
    [
        ("", "default", "memory.write_approval is not set"),
        ("memory:\n", "default", "memory.write_approval is not set"),
        ("memory: {write_approval: false}", "config", "memory.write_approval is false"),
        ("memory: {write_approval: 1}", "config", "takes for off"),
        ("memory: {write_approval: '${GATE}'}", "config", "variable that is not set here"),
        ("memory: {write_mode: approve}", "legacy", "memory.write_mode"),
        ("memory: words", "config", "not a mapping"),
        ("memory: {write_approval: true}\nx: [", "unreadable", "not YAML, line"),
        ("memory: {write_approval: true}\nx: !odd 1", "unreadable", "line 2"),
        ("- memory", "unreadable", "not a mapping"),
        ("agent: words\nmemory: {write_approval: true}", "unreadable", "agent section"),
    ],
)
def test_a_gate_that_is_off_says_why(text: str, source: str, words: str) -> None:
    """Contract: off, missing and unreadable are told apart, since the agent then never asks."""
    gate = _config(text).memory_gate
    assert (gate.on, gate.source) == (False, source)
    assert words in gate.reason


def test_a_missing_config_is_not_an_unreadable_one() -> None:
    missing = read_config(View(Tree({})), {})
    folder = read_config(View(Tree({"config.yaml": Node(NodeKind.DIR)})), {})
    assert (missing.memory_gate.source, missing.problem) == ("missing", "")
    assert (folder.memory_gate.source, folder.problem) == ("unreadable", "a folder, not a file")


def test_an_unreadable_config_leaves_the_defaults() -> None:
    config = _config("memory: {memory_char_limit: 5, write_approval: true}\n_config_version: [\n")
    assert (config.memory_limit, config.user_limit, config.version) == (2200, 1375, 0)
    assert config.problem.startswith("not YAML, line ")


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("memory_char_limit: 100", (100, 1375)),
        ("user_char_limit: '200'", (2200, 200)),
        ("memory_char_limit: many\n  user_char_limit: 200", (2200, 1375)),
        ("memory_char_limit: 100\n  user_char_limit: many", (100, 1375)),
        ("memory_char_limit: null\n  user_char_limit: 200", (2200, 1375)),
        ("memory_char_limit: 12.9\n  user_char_limit: true", (12, 1)),
        ("memory_char_limit: .inf\n  user_char_limit: 200", (2200, 1375)),
        ("memory_char_limit: ${LIMIT}", (64, 1375)),
    ],
)
def test_limits_go_through_int_in_order(text: str, limits: tuple[int, int]) -> None:
    config = _config(f"memory:\n  {text}\n", {"LIMIT": "64"})
    assert (config.memory_limit, config.user_limit) == limits


@pytest.mark.parametrize(
    ("value", "guard"), [("true", True), ("'yes'", True), ("1", True), ("approve", False)]
)
def test_the_guard_flag_has_a_truth_of_its_own(value: str, guard: bool) -> None:
    assert _config(f"skills: {{guard_agent_created: {value}}}").guard_agent_created is guard


def test_a_managed_layer_wins_key_by_key() -> None:
    tree = Tree(
        {
            "config.yaml": b"memory: {write_approval: true, memory_char_limit: 7}\n",
            "/m/config.yaml": b"memory: {write_approval: false}\nskills: {write_approval: on}\n",
        }
    )
    view = View(tree)
    config = read_config(view, {}, Path("/m"))
    assert (config.memory_gate.on, config.memory_gate.source) == (False, "managed")
    assert (config.skills_gate.on, config.skills_gate.source) == (True, "managed")
    assert config.memory_limit == 7
    assert {fact.key for fact in view.facts} == {"config.yaml", "/m/config.yaml"}


def test_an_unreadable_managed_layer_is_ignored() -> None:
    tree = Tree({"config.yaml": b"memory: {write_approval: true}", "/m/config.yaml": b"memory: ["})
    assert read_config(View(tree), {}, Path("/m")).memory_gate.source == "config"


def test_where_the_managed_layer_lies() -> None:
    assert managed_folder({}) == Path("/etc/hermes")
    assert managed_folder({"HERMES_MANAGED_DIR": " /m "}) == Path("/m")


def test_external_folders_are_named_as_a_view_names_them(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    (home / "skills").mkdir(parents=True)
    (home / "team").mkdir()
    outside.mkdir()
    (home / "alias").symlink_to(outside)
    entries = f"[team, ./team, ../outside, '{home}/team', alias, '~/outside', skills, gone, '$X/outside', config.yaml]"
    (home / "config.yaml").write_text(f"skills:\n  external_dirs: {entries}\n")
    environ = {"HOME": str(tmp_path), "X": str(tmp_path)}
    assert read_config(View(Disk(home)), environ).external_dirs == ("team", str(outside))


def test_an_external_folder_that_appears_breaks_the_seal(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("skills: {external_dirs: team}\n")
    view = View(Disk(tmp_path))
    assert read_config(view, {}).external_dirs == ()
    (tmp_path / "team").mkdir()
    later = View(Disk(tmp_path))
    assert [fact.key for fact in view.facts if not holds(fact, later)] == ["team"]


def test_a_create_dir_may_not_exist_yet() -> None:
    assert _config("skills: {create_dir: '~/made'}", {"HOME": "/u"}).create_dir == "/u/made"
    assert _config("skills: {create_dir: ./made}").create_dir == "made"
    assert _config("skills: {create_dir: 5}").create_dir is None


@pytest.mark.parametrize(
    ("value", "version"),
    [("33", 33), ("'34'", 34), ("33.9", 33), ("true", 0), ("-4", 0), ("many", 0), (".inf", 0)],
)
def test_the_config_version(value: str, version: int) -> None:
    assert _config(f"_config_version: {value}\n").version == version


HOSTILE = {
    "deep flow": b"a: " + b"[" * 20_000,
    "deep block": b"".join(b" " * depth + b"a:\n" for depth in range(400)),
    "aliases": b"a: &a [1,1,1,1,1,1,1,1,1]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(12)
    ),
    "merges": b"a: &a {x: 1}\n"
    + b"".join(
        b"%c: &%c {<<: [%s]}\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9))
        for n in range(12)
    ),
    "itself": b"a: &a [*a]\n",
    "many": b"- 1\n" * 250_000,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_config_made_to_hang_is_unreadable_soon(name: str) -> None:
    """D-18 and D-42 of the hostile home, for config.yaml."""
    config = _config(HOSTILE[name])
    assert config.memory_gate.source == "unreadable"


def test_a_snapshot_parses_the_file_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(data: bytes) -> Parsed:
        calls.append(data)
        return parse(data)

    monkeypatch.setattr("core.homes.hermes.config.parse", counted)
    snapshot = Snapshot(Tree({"config.yaml": b"memory: {memory_char_limit: 3}"}))
    assert [read_config(View(snapshot), {}).memory_limit for _ in range(3)] == [3, 3, 3]
    assert calls == [b"memory: {memory_char_limit: 3}"]


@pytest.mark.parametrize(
    ("raw", "rules"),
    [
        (None, Rules.V0_19),
        ({"payload": None}, Rules.V0_19),
        ({"subsystem": "memory", "payload": {"action": "replace"}}, Rules.V0_19),
        (
            {"subsystem": "memory", "payload": {"action": "batch", "operations": [None]}},
            Rules.V0_19,
        ),
        ({"subsystem": "skills", "payload": {"action": "patch", "name": "x"}}, Rules.V0_19),
        ({"payload": {"action": "patch", "name": "x"}}, Rules.V0_19),
        ({"payload": {"action": "replace", "matched_entry": "x"}}, Rules.NEWEST),
        ({"payload": {"action": "add", "new_text": "x"}}, Rules.NEWEST),
        ({"payload": {"action": "patch", "old_text": "x"}}, Rules.NEWEST),
        ({"payload": {"action": "batch", "operations": [{"action": "patch"}]}}, Rules.NEWEST),
        ({"payload": {"action": "batch", "operations": [{"matched_entry": ""}]}}, Rules.NEWEST),
        ({"subsystem": "skills", "payload": {"action": "batch", "operations": []}}, Rules.NEWEST),
    ],
)
def test_rules_told_by_the_record(raw: dict[str, Any] | None, rules: Rules) -> None:
    """Contract, "Rules", ``auto``."""
    assert rules_for(View(Tree({})), Config(), raw) is rules


def test_the_folder_says_more_than_the_record_about_its_subsystem() -> None:
    raw = {"subsystem": "skills", "payload": {"action": "patch"}}
    assert rules_for(View(Tree({})), Config(), raw, "memory") is Rules.NEWEST


@pytest.mark.parametrize("trace", ["skills/.locks/x.lock", "skills/.curator_ledger.jsonl"])
def test_rules_told_by_the_home(trace: str) -> None:
    assert rules_for(View(Tree({trace: b""})), Config(), None) is Rules.NEWEST
    assert rules_for(View(Tree({})), Config(version=34), None) is Rules.NEWEST
    assert (
        rules_for(View(Tree({"skills/x/SKILL.md": b""})), Config(version=33), None) is Rules.V0_19
    )
