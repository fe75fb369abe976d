"""The agent staging by itself, and listing what is staged: what ``peer_driver.py`` does, for that."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
import shutil
from pathlib import Path
from typing import Any

_spec = importlib.util.spec_from_file_location(
    "peer_driver", Path(__file__).with_name("peer_driver.py")
)
assert _spec is not None
assert _spec.loader is not None
driver: Any = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(driver)
_numbers = itertools.count()


def stage(tree: list[Any], subsystem: str, call: dict[str, Any]) -> Any:
    """Call the agent's own tool on a fresh home whose gates are on: the records it leaves."""
    home = _home(tree)
    if subsystem == "memory":
        tool = importlib.import_module("tools.memory_tool")
        answer = tool.memory_tool(**call, store=tool.load_on_disk_store())
    else:
        answer = importlib.import_module("tools.skill_manager_tool").skill_manage(**call)
    records = [json.loads(path.read_bytes()) for path in sorted((home / "pending").rglob("*.json"))]
    shutil.rmtree(home.parent)
    return {"answer": json.loads(answer), "records": records}


def listed(tree: list[Any], subsystem: str) -> Any:
    """What the agent lists as waiting on a fresh home."""
    home = _home(tree)
    found = importlib.import_module("tools.write_approval").list_pending(subsystem)
    shutil.rmtree(home.parent)
    return found


def _home(tree: list[Any]) -> Path:
    home: Path = driver._root() / f"staging-{next(_numbers)}" / "home"
    driver._build(home, tree)
    driver._enter(home)
    return home


driver.FUNCTIONS.update({"stage": stage, "listed": listed})

if __name__ == "__main__":
    driver.main()
