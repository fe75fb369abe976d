"""Config texts read by hermes-agent 0.19.0 and by us: the same gates, limits, flags and folders."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.config import read_config
from core.homes.hermes.gate import plan_gate
from core.model import Change
from core.view import Disk, Tree, View
from tests.core.hermes.test_gate import EDITABLE
from tests.interop.peer import VARIABLE

pytestmark = pytest.mark.peer

SEED = int(os.environ.get("SIGNOFF_SEED", "20261129"))
GENERATED = 300
FOLDERS = ("skills", "shared", "other/deep")

SCRIPT = """
import json, os, sys
from pathlib import Path
out, sys.stdout = sys.stdout, sys.stderr
answers = []
for case in json.load(sys.stdin):
    home = Path(case["home"])
    os.environ["HERMES_HOME"] = str(home)
    os.environ["HERMES_MANAGED_DIR"] = str(home / "managed")
    for name, value in case["environ"].items():
        os.environ[name] = value
    from agent.skill_utils import get_external_skills_dirs
    from hermes_cli import config as agent_config
    from tools import memory_tool, skill_manager_tool, write_approval
    store = memory_tool.load_on_disk_store()
    try:
        memory = agent_config.load_config().get("memory", {})
        enabled = [
            bool(memory.get("memory_enabled", False)),
            bool(memory.get("user_profile_enabled", False)),
        ]
    except Exception:
        enabled = None
    answers.append({
        "gates": [write_approval.write_approval_enabled(name) for name in ("memory", "skills")],
        "limits": [store.memory_char_limit, store.user_char_limit],
        "enabled": enabled,
        "guard": skill_manager_tool._guard_agent_created_enabled(),
        "external": [os.path.relpath(path, home) for path in get_external_skills_dirs()],
        "version": agent_config.check_config_version()[0],
    })
    for name in case["environ"]:
        del os.environ[name]
json.dump(answers, out)
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A config text, what the environment holds, and the administrator's text if any."""

    config: bytes
    environ: Mapping[str, str] = field(default_factory=dict)
    managed: bytes | None = None


Ask = Callable[[list[Case]], list[tuple[dict[str, Any], Path]]]


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """The agent's answers on fresh homes, one process for all cases."""
    python = os.environ.get(VARIABLE)
    if not python:
        pytest.skip(f"{VARIABLE} names no python with hermes-agent 0.19.0")

    def run(cases: list[Case]) -> list[tuple[dict[str, Any], Path]]:
        homes = [_home(tmp_path / str(number), case) for number, case in enumerate(cases)]
        rows = [
            {"home": str(home), "environ": dict(case.environ)}
            for home, case in zip(homes, cases, strict=True)
        ]
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HERMES_HOME": str(tmp_path)}
        done = subprocess.run(
            [python, "-I", "-c", SCRIPT],
            input=json.dumps(rows).encode(),
            capture_output=True,
            env=environ,
            cwd=tmp_path,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()[-2000:]
        return list(zip(json.loads(done.stdout), homes, strict=True))

    return run


def _home(home: Path, case: Case) -> Path:
    for folder in FOLDERS:
        (home / folder).mkdir(parents=True)
    (home / "config.yaml").write_bytes(case.config)
    if case.managed is not None:
        (home / "managed").mkdir()
        (home / "managed" / "config.yaml").write_bytes(case.managed)
    return home


def _ours(home: Path, case: Case) -> dict[str, Any]:
    environ = {"HOME": str(home.parent), **case.environ}
    config = read_config(View(Disk(home)), environ, home / "managed")
    return {
        "gates": [config.memory_gate.on, config.skills_gate.on],
        "limits": [config.memory_limit, config.user_limit],
        "enabled": [config.memory_enabled, config.user_profile_enabled],
        "guard": config.guard_agent_created,
        "external": [
            os.path.relpath(path, home) if path.startswith("/") else path or "."
            for path in config.external_dirs
        ],
        "version": config.version,
    }


def _check(answers: list[tuple[dict[str, Any], Path]], cases: list[Case]) -> None:
    wrong = []
    for (theirs, home), case in zip(answers, cases, strict=True):
        ours = _ours(home, case)
        if theirs["enabled"] is None:
            del theirs["enabled"], ours["enabled"]
        if read_config(View(Disk(home)), case.environ).problem:
            # The agent answers its own version for a file it cannot parse; we say "unknown".
            del theirs["version"], ours["version"]
        if theirs != ours:
            wrong.append((case, theirs, ours))
    assert not wrong


TRUTH = [
    "true",
    "false",
    "on",
    "off",
    "yes",
    "'on'",
    "' ON '",
    "'True'",
    "'yes'",
    "'1'",
    "'0'",
    "1",
    "0",
    "1.0",
    "approve",
    "enabled",
    "Enabled",
    "'y'",
    "y",
    "null",
    "",
    "[true]",
    "{on: true}",
    "2024-01-01",
    "${GATE}",
    "'${GATE}'",
    "${ABSENT}",
    "!!str true",
    "!!bool 'true'",
    "|\n    on",
]
NUMBERS = [
    "1000",
    "'1000'",
    "' 7 '",
    "1_000",
    "'1_000'",
    "0x10",
    "010",
    "1:30",
    "-5",
    "0",
    "12.9",
    "'12.9'",
    ".nan",
    ".inf",
    "true",
    "null",
    "many",
    "[1]",
    "${LIMIT}",
    "2024-01-01",
    "!!binary MTI=",
    "9" * 30,
    "9" * 5000,
]
FIXED = [
    b"",
    b"# nothing here\n",
    b"---\n",
    b"[]",
    b"false",
    b"- a\n- b\n",
    b"just text",
    b"7",
    b"\xef\xbb\xbfmemory:\n  write_approval: true\n",
    b"memory:\r\n  write_approval: true\r\n  memory_char_limit: 5\r\n",
    "memory: {write_approval: true}".encode("utf-16"),
    b"memory: {write_approval: true}\nx: \xff\n",
    b"memory: {write_approval: true}\nx: [\n",
    b"memory: {write_approval: true}\nx: !odd 1\n",
    b"memory: {write_approval: true}\nx: 2024-99-99\n",
    b"memory: {write_approval: true}\nx: !!int word\n",
    b"memory: {write_approval: true}\n---\nmemory: {}\n",
    b"memory: {write_approval: true}\nmemory: {write_approval: false}\n",
    b"memory: {write_approval: false}\nmemory: {write_approval: true}\n",
    b"memory: {write_approval: true}\nmemory:\n",
    b"memory:\nskills:\n",
    b"memory: on\nskills: []\n",
    b"memory: [1]\nskills: {write_approval: on}\n",
    b"memory: ''\n",
    b"base: &b {write_approval: true}\nmemory: *b\nskills:\n  <<: *b\n",
    b"memory: {write_approval: true}\n? [a, b]\n: 1\n",
    b"memory: {write_approval: true}\n? {a: b}\n: 1\n",
    b"agent: words\nmemory: {write_approval: true, memory_char_limit: 9}\n",
    b"agent: 5\nskills: {write_approval: true}\n",
    b"agent: []\nskills: {write_approval: true}\n",
    b"max_turns: 3\nskills: {write_approval: true}\n",
    b"model: some/model\nprovider: x\nskills: {write_approval: true}\n",
    b"memory: {write_approval: true}\nx: \x00\n",
    b"\tmemory: {write_approval: true}\n",
    b"memory: {write_mode: approve}\nskills: {write_mode: 'on'}\n_config_version: 28\n",
    b"memory: {write_mode: approve, write_approval: false}\nskills: {write_mode: approve}\n",
    b"_config_version: '33'\n",
    b"_config_version: 33.9\n",
    b"_config_version: true\n",
    b"_config_version: -4\n",
    b"_config_version: many\n",
    b"memory: {memory_enabled: 'false', user_profile_enabled: 0}\n",
    b"memory: {memory_enabled: null, user_profile_enabled: ''}\n",
    b"a: " + b"[" * 250 + b"]" * 250 + b"\nmemory: {write_approval: true}\n",
    b"a: " + b"[" * 20000 + b"]" * 20000 + b"\nmemory: {write_approval: true}\n",
    b"a: &a [*a]\nmemory: {write_approval: true, memory_char_limit: 5}\n",
]
MANAGED = [
    (b"memory: {write_approval: true}\n", b"memory: {write_approval: false}\n"),
    (b"memory: {write_approval: false}\n", b"memory: {write_approval: 'on'}\n"),
    (b"memory: {write_approval: true, memory_char_limit: 7}\n", b"memory:\n"),
    (b"memory: {write_approval: true}\n", b"memory: {user_char_limit: 9}\n"),
    (b"memory: {write_approval: true}\n", b"memory: off\n"),
    (b"memory: words\n", b"memory: {write_approval: true}\n"),
    (b"memory: [broken\n", b"skills: {write_approval: true, guard_agent_created: 1}\n"),
    (b"skills: {write_approval: true}\n", b"[not, a, mapping]\n"),
    (b"skills: {write_approval: true}\n", b"skills: [broken\n"),
    (b"skills: {write_approval: true}\n", b"skills: {write_approval: '${GATE}'}\n"),
    (b"skills: {write_approval: true}\n", b"skills: {write_approval: null}\n"),
    (b"", b"skills: {external_dirs: [shared]}\n"),
]
FOLDER_LISTS = [
    "shared",
    "[shared, other/deep, shared, ./shared]",
    "[skills, shared]",
    "[nowhere, 5, null, '', ' shared ']",
    "['~/0', '$FOLDER', '${FOLDER}/deep', '${ABSENT}/x', $ABSENT]",
    "[../., ., other/../shared]",
    "{a: b}",
    "7",
]


def test_every_truth_value_of_every_switch(ask: Ask) -> None:
    """Spec 1.4: the truth of ``write_approval``, and the looser one of the other switches."""
    cases = [
        Case(
            f"memory:\n  write_approval: {value}\nskills:\n  write_approval: {value}\n"
            f"  guard_agent_created: {value}\n".encode(),
            {"GATE": "on"},
        )
        for value in TRUTH
    ]
    _check(ask(cases), cases)


def test_every_limit_in_both_places(ask: Ask) -> None:
    """Spec 1.4: the first limit ``int()`` refuses keeps itself and the next one at the default."""
    cases = [
        Case(f"memory:\n  {left}\n  {right}\n".encode(), {"LIMIT": "321"})
        for value in NUMBERS
        for left, right in (
            (f"memory_char_limit: {value}", "user_char_limit: 11"),
            ("memory_char_limit: 11", f"user_char_limit: {value}"),
        )
    ]
    _check(ask(cases), cases)


def test_odd_files_and_managed_layers(ask: Ask) -> None:
    """Unreadable, odd and overruled files: which keys the agent really sees."""
    cases = [Case(text) for text in FIXED]
    cases += [Case(user, {"GATE": "yes"}, admin) for user, admin in MANAGED]
    _check(ask(cases), cases)


def test_external_folders(ask: Ask) -> None:
    """Spec 1.4: ``~`` and variables expanded, relative to the home, missing and double ones out."""
    cases = [
        Case(f"skills:\n  external_dirs: {value}\n".encode(), {"FOLDER": "other"})
        for value in FOLDER_LISTS
    ]
    _check(ask(cases), cases)


def test_generated_files(ask: Ask) -> None:
    """Any mixture of the values above in one file, with and without a managed layer."""
    dice = random.Random(SEED)
    cases = []
    for _ in range(GENERATED):
        text = "".join(_generated(dice))
        managed = "".join(_generated(dice)).encode() if dice.random() < 0.3 else None
        cases.append(Case(text.encode(), {"GATE": "approve", "LIMIT": "64"}, managed))
    _check(ask(cases), cases)


def _generated(dice: random.Random) -> list[str]:
    keys = {
        "memory": {
            "write_approval": TRUTH,
            "write_mode": TRUTH,
            "memory_enabled": TRUTH,
            "user_profile_enabled": TRUTH,
            "memory_char_limit": NUMBERS,
            "user_char_limit": NUMBERS,
        },
        "skills": {
            "write_approval": TRUTH,
            "write_mode": TRUTH,
            "guard_agent_created": TRUTH,
            "external_dirs": FOLDER_LISTS,
        },
    }
    lines = []
    for section, choices in keys.items():
        if dice.random() < 0.1:
            lines.append(f"{section}: {dice.choice(TRUTH[:-1])}\n")
        elif dice.random() < 0.9:
            lines.append(f"{section}:\n")
            for key, values in choices.items():
                if dice.random() < 0.5:
                    lines.append(f"  {key}: {dice.choice(values)}\n")
    if dice.random() < 0.5:
        lines.append(f"_config_version: {dice.choice(NUMBERS[:5])}\n")
    return lines


def test_the_agent_sees_what_the_gate_plan_wrote(ask: Ask) -> None:
    """A planned switch, on every file that can be edited, is what the agent then loads."""
    cases, wanted = [], []
    for text in EDITABLE:
        for on in (True, False):
            outcome = plan_gate(View(Tree({"config.yaml": text})), on, ("memory", "skills"))
            after = text
            for change in outcome.changes:
                assert isinstance(change, Change)
                assert change.after is not None
                after = change.after.data
            cases.append(Case(after))
            wanted.append([on, on])
    assert [theirs["gates"] for theirs, _ in ask(cases)] == wanted
