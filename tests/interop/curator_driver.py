"""The agent's curator on homes of its own: what ``peer_driver.py`` does, for skills that age."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import itertools
import shutil
import types
from datetime import datetime
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


def run(tree: list[Any], now: str) -> dict[str, Any]:
    """One automatic pass on a fresh home at ``now``: its counters, the home before and after."""

    def act() -> Any:
        curator = importlib.import_module("agent.curator")
        return curator.apply_automatic_transitions(now=datetime.fromisoformat(now))

    return _on_a_home(tree, now, act)


def operate(tree: list[Any], verb: str, name: str, now: str) -> dict[str, Any]:
    """``hermes curator VERB NAME`` on a fresh home: exit code, what it said, before and after."""

    def act() -> Any:
        commands = importlib.import_module("hermes_cli.curator")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = getattr(commands, f"_cmd_{verb}")(types.SimpleNamespace(skill=name))
        return [code, said.getvalue()]

    return _on_a_home(tree, now, act)


def _on_a_home(tree: list[Any], now: str, act: Any) -> dict[str, Any]:
    home = driver._root() / f"curator-{next(_numbers)}" / "home"
    driver._build(home, tree)
    driver._enter(home)
    usage: Any = importlib.import_module("tools.skill_usage")
    frozen = datetime.fromisoformat(now)

    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return frozen

    usage.datetime = Frozen
    before = list(driver._rows(home))
    try:
        answer: dict[str, Any] = {"value": act()}
    except Exception as problem:
        answer = {"raised": [type(problem).__name__, str(problem)]}
    finally:
        usage.datetime = datetime
    after = list(driver._rows(home))
    shutil.rmtree(home.parent)
    return {**answer, "before": before, "after": after}


driver.FUNCTIONS |= {"run": run, "operate": operate}
if __name__ == "__main__":
    driver.main()
