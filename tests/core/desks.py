"""Homes with queues and the desk opened on them, for the tests of triage, forecast and journal."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.desk.decide import Request, approvals, rejections
from core.desk.opening import Opened
from core.desk.review import Board, Label
from core.homes.base import Discovery, Kind
from core.model import Receipt
from core.settings import Settings

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
MEMORY = "memories/MEMORY.md"
SKILL = "---\nname: {name}\ndescription: Use when testing.\n---\n\n# {name}\n\n1. Step one.\n2. Step two.\n"


def make_home(
    root: Path,
    entries: tuple[str, ...] = ("alpha one", "beta two", "gamma three"),
    limit: int = 2200,
    skills: tuple[str, ...] = ("deploy",),
) -> Path:
    """A home with both gates on, these entries in MEMORY.md and these skills."""
    write(root / MEMORY, "\n§\n".join(entries))
    gates = f"memory:\n  write_approval: true\n  memory_char_limit: {limit}\n"
    write(root / "config.yaml", f"{gates}skills:\n  write_approval: true\n")
    for name in skills:
        write(root / f"skills/ops/{name}/SKILL.md", SKILL.format(name=name))
    return root


def write(path: Path, text: str) -> None:
    """A text file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def add(content: str, **more: object) -> dict[str, object]:
    return {"action": "add", "target": "memory", "content": content, **more}


def swap(old: str, content: str) -> dict[str, object]:
    return {"action": "replace", "target": "memory", "old_text": old, "content": content}


def remove(old: str) -> dict[str, object]:
    return {"action": "remove", "target": "memory", "old_text": old}


def patch(name: str, old: str, new: str) -> dict[str, object]:
    return {"action": "patch", "name": name, "old_string": old, "new_string": new}


def propose(
    root: Path, name: str, payload: Mapping[str, Any], *, age: float = 0.0, **envelope: object
) -> None:
    """A record called ``name`` that is ``age`` seconds old; skills have a ``name`` in the payload."""
    folder = "skills" if "name" in payload else "memory"
    record = {"id": name, "created_at": NOW.timestamp() - age, **envelope, "payload": payload}
    write(root / f"pending/{folder}/{name}.json", json.dumps(record))


def queue(root: Path, payloads: Mapping[str, Mapping[str, Any]]) -> None:
    """Records in this order, the first the oldest."""
    for place, (name, payload) in enumerate(payloads.items()):
        propose(root, name, payload, age=float(len(payloads) - place))


def open_on(
    root: Path,
    state: Path,
    clock: Callable[[], datetime] = lambda: NOW,
    rules: str = "auto",
    *,
    kind: Kind = Kind.HERMES,
    search_index: bool = True,
) -> Opened:
    """The desk on ``root``."""
    real = root.resolve()
    found, settings = Discovery(real, kind, "default", real), Settings(search_index=search_index)
    return Opened(found, state, settings, {}, clock, rules)


def approve(opened: Opened, request: Request) -> tuple[Receipt, ...]:
    """All of :func:`core.desk.decide.approvals`."""
    return tuple(approvals(opened, request))


def reject(opened: Opened, request: Request) -> tuple[Receipt, ...]:
    """All of :func:`core.desk.decide.rejections`."""
    return tuple(rejections(opened, request))


def labels(opened: Opened) -> dict[str, Label]:
    """The labelled queue by id, oldest first."""
    board = Board(opened)
    board.read()
    return {label.proposal.id: label for label in board.labels()}


def later(days: float) -> datetime:
    """So many days after :data:`NOW`."""
    return NOW + timedelta(days=days)
