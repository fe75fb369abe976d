"""Runs inside the agent's own python: one JSON line in, one out. Nothing of signoff is imported.

Started by ``peer.py`` as ``python -I peer_driver.py FOLDER``; every case gets a home of its own
below FOLDER. The agent's chatter on stdout goes to stderr.
"""

from __future__ import annotations

import base64
import importlib
import itertools
import json
import os
import shutil
import stat
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = list[Any]
_numbers = itertools.count()


def invoke(target: str, args: list[Any] | None = None, kwargs: dict[str, Any] | None = None) -> Any:
    """Call ``module:function`` with plain arguments: its answer, or ``{"raised": [type, text]}``."""
    module, _, name = target.partition(":")
    function = getattr(importlib.import_module(module), name)
    try:
        return {"value": function(*(args or []), **(kwargs or {}))}
    except Exception as problem:
        return {"raised": [type(problem).__name__, str(problem)]}


def critical_rules() -> list[str]:
    """Names of the skill scanner's text rules of which one alone refuses a skill."""
    guard = importlib.import_module("tools.skills_guard")
    return sorted({rule[1] for rule in guard.THREAT_PATTERNS if rule[2] == "critical"})


def approve(subsystem: str, record_id: str, tree: list[Row]) -> dict[str, Any]:
    """Approve one record on a fresh home through the handler behind ``/memory approve ID``.

    The handler shortens an exception to its text, so the function it calls is watched.
    """
    home = _root() / str(next(_numbers)) / "home"
    _build(home, tree)
    _enter(home)
    before = list(_rows(home))
    seen: dict[str, Any] = {"raised": None, "message": "", "success": False, "strategy": None}
    module, name = {
        "memory": ("tools.memory_tool", "apply_memory_pending"),
        "skills": ("tools.skill_manager_tool", "apply_skill_pending"),
    }[subsystem]
    owner = importlib.import_module(module)
    real = getattr(owner, name)
    setattr(owner, name, _watched(real, seen))
    matcher: Any = importlib.import_module("tools.fuzzy_match")
    match = matcher.fuzzy_find_and_replace
    matcher.fuzzy_find_and_replace = _matching(match, seen)
    manager: Any = importlib.import_module("tools.skill_manager_tool")
    scan = manager.scan_skill
    manager.scan_skill = _scanning(scan, seen)
    try:
        handler = importlib.import_module("hermes_cli.write_approval_commands")
        store = _store() if subsystem == "memory" else None
        said = handler.handle_pending_subcommand(
            subsystem, ["approve", record_id], memory_store=store
        )
    except Exception as problem:
        seen["raised"] = [type(problem).__name__, str(problem)]
        said = ""
    finally:
        setattr(owner, name, real)
        matcher.fuzzy_find_and_replace = match
        manager.scan_skill = scan
    kept = (home / "pending" / subsystem / f"{record_id}.json").exists()
    after = list(_rows(home))
    shutil.rmtree(home.parent)
    return {**seen, "said": said, "kept": kept, "before": before, "after": after}


def _watched(real: Callable[..., Any], seen: dict[str, Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        try:
            answer = real(*args)
        except Exception as problem:
            seen["raised"] = [type(problem).__name__, str(problem)]
            raise
        result = json.loads(answer) if isinstance(answer, str) else answer
        seen["success"] = bool(result.get("success"))
        seen["message"] = str(result.get("error") or result.get("message") or "")
        return answer

    return run


def _matching(real: Callable[..., Any], seen: dict[str, Any]) -> Callable[..., Any]:
    """The matcher, noting how it found its place and how often."""

    def run(*args: Any, **kwargs: Any) -> Any:
        answer = real(*args, **kwargs)
        seen["strategy"], seen["count"] = answer[2], answer[1]
        return answer

    return run


def _scanning(real: Callable[..., Any], seen: dict[str, Any]) -> Callable[..., Any]:
    """The skill scanner, noting the names of the rules that are critical: one refuses a skill."""

    def run(*args: Any, **kwargs: Any) -> Any:
        answer = real(*args, **kwargs)
        critical = {found.pattern_id for found in answer.findings if found.severity == "critical"}
        seen["critical"] = sorted(critical)
        return answer

    return run


def _store() -> Any:
    return importlib.import_module("tools.memory_tool").load_on_disk_store()


def _root() -> Path:
    return Path(sys.argv[1])


def _enter(home: Path) -> None:
    """Point the agent at ``home``: it resolves the variable on every call; caches are dropped.

    The first look at the config makes the home's standard folders, so it is taken here: what
    differs afterwards is the approval's doing.
    """
    os.environ["HERMES_HOME"] = str(home)
    importlib.import_module("agent.skill_utils")._external_dirs_cache_clear()
    config = importlib.import_module("hermes_cli.config")
    config._LOAD_CONFIG_CACHE.clear()
    config._RAW_CONFIG_CACHE.clear()
    config.load_config()


def _build(home: Path, tree: list[Row]) -> None:
    home.mkdir(parents=True)
    folders = []
    for path, kind, mode, data in tree:
        full = home / path
        full.parent.mkdir(parents=True, exist_ok=True)
        if kind == "dir":
            full.mkdir(exist_ok=True)
            folders.append((full, mode))
        elif kind == "link":
            full.symlink_to(os.fsdecode(base64.b64decode(data)))
        else:
            full.write_bytes(base64.b64decode(data))
            full.chmod(mode)
    for full, mode in reversed(folders):
        full.chmod(mode)


def _rows(home: Path, path: str = "") -> Iterator[Row]:
    """Everything below ``home`` in the file system's own order, folders before what they hold."""
    with os.scandir(home / path) as entries:
        found = list(entries)
    for entry in found:
        below = f"{path}/{entry.name}" if path else entry.name
        status = entry.stat(follow_symlinks=False)
        mode = stat.S_IMODE(status.st_mode)
        if entry.is_symlink():
            target = os.fsencode(os.readlink(entry.path))
            yield [below, "link", 0, base64.b64encode(target).decode()]
        elif entry.is_dir():
            yield [below, "dir", mode, ""]
            yield from _rows(home, below)
        else:
            data = Path(entry.path).read_bytes()
            yield [below, "file", mode, base64.b64encode(data).decode()]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "invoke": invoke,
    "critical_rules": critical_rules,
    "approve": approve,
}


def main() -> None:
    os.umask(0o022)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        question = json.loads(line)
        try:
            value = FUNCTIONS[question["function"]](**question["arguments"])
            answer = json.dumps({"value": value}, default=str)
        except Exception:
            answer = json.dumps({"failed": traceback.format_exc()})
        answers.write(answer.encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    main()
