"""The arrows between rooms, seen from outside: what a fresh interpreter loads, and what it touches.

import-linter reads the import statements; here the modules are really loaded.
"""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import core
from console.sample import write_sample
from tests.console.plain import NOW

ROOT = Path(core.__file__).parents[1]
TERMINAL = {"textual", "rich", "click", "console"}
#: Loaded when something asks for them, never by importing a module of core.
HEAVY = {"pydantic", "watchfiles"}

LOAD = """
import importlib, json, sys
before = set(sys.modules)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(json.dumps(sorted({name.partition(".")[0] for name in set(sys.modules) - before})))
"""
COMMAND = """
import json, sys
from console.cli.main import main
try:
    main(json.loads(sys.argv[1]))
except SystemExit as left:
    assert not left.code, left.code
print("\\nLOADED " + json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def modules() -> list[str]:
    return ["core", *(found.name for found in pkgutil.walk_packages(core.__path__, "core."))]


def groups() -> dict[str, list[str]]:
    """The modules of core by room: the homes, the desk, and all that both stand on."""
    found: dict[str, list[str]] = {"core": [], "core.homes": [], "core.desk": []}
    for name in modules():
        room = next((room for room in ("core.homes", "core.desk") if name.startswith(room)), "core")
        found[room].append(name)
    return found


def run(script: str, words: Sequence[str], folder: Path) -> str:
    """Run ``script`` in a fresh interpreter whose every place to write is ``folder``."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", script, json.dumps(list(words))],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "COLUMNS": "80",
        },
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("room", ["core", "core.homes", "core.desk"])
def test_core_knows_no_terminal_and_touches_nothing(room: str, tmp_path: Path) -> None:
    names = groups()[room]
    assert len(names) >= 5
    loaded: list[str] = json.loads(run(LOAD, names, tmp_path))
    assert not TERMINAL & set(loaded)
    assert not HEAVY & set(loaded) - _own(names)
    assert list(tmp_path.iterdir()) == []


def _own(names: Sequence[str]) -> set[str]:
    """What a room's own validating modules load; their users import them when they are needed."""
    return {"pydantic"} if "core.homes.hermes.envelope" in names else set()


def test_core_loads_without_what_it_needs_only_later(tmp_path: Path) -> None:
    names = [name for name in modules() if name != "core.homes.hermes.envelope"]
    loaded: list[str] = json.loads(run(LOAD, names, tmp_path))
    assert not HEAVY & set(loaded)


@pytest.mark.parametrize(
    ("words", "heavy"),
    [
        (["--help"], set[str]()),
        (["pending", "--help"], set[str]()),
        (["pending"], {"pydantic"}),
        (["status", "--line"], {"pydantic"}),
        (["memory"], set[str]()),
        (["doctor"], {"pydantic", "watchfiles"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_plain_commands_load_no_console(words: list[str], heavy: set[str], tmp_path: Path) -> None:
    home = write_sample(tmp_path / "home", NOW)
    out = run(COMMAND, ["--home", str(home), *words], tmp_path)
    loaded: Any = json.loads(out.rpartition("LOADED ")[2])
    assert "textual" not in loaded
    assert "click" in loaded
    assert HEAVY & set(loaded) == heavy
