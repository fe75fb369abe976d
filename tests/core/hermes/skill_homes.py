"""Small homes for the tests of skills, in memory."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.homes.hermes.config import Config
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.guards import guard
from core.homes.hermes.skills.replay import replay
from core.model import Change, Move, Node, NodeKind, Outcome, RowEdit
from core.overlay import Overlay
from core.view import Snapshot, Tree, View

DATA = Path(__file__).parents[2] / "data"
NOW = datetime(2026, 11, 29, 10, 30, 15, tzinfo=UTC)
STAMP = "2026-11-29T10:30:15+00:00"
HEAD = "---\nname: {}\ndescription: Use when testing.\n---\n\n"


def skill(name: str, body: str = "# Body\n") -> bytes:
    """The bytes of a SKILL.md whose head says ``name``."""
    return (HEAD.format(name) + body).encode()


def link(target: str) -> Node:
    return Node(NodeKind.LINK, target.encode())


def home(**files: Any) -> View:
    """A home whose ``skills/probe/SKILL.md`` is there unless given; paths to bytes or nodes."""
    return View(Tree({"skills/probe/SKILL.md": skill("probe"), **files}))


def folder(path: Path) -> dict[str, bytes | Node]:
    """A folder of tests/data as a tree's files."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file()
    }


def run(
    view: View, config: Config | None = None, rules: Rules = Rules.V0_19, **payload: Any
) -> Outcome:
    """Replay as the agent would."""
    return replay(view, payload, config or Config(), rules, NOW)


def guarded(
    view: View,
    config: Config | None = None,
    rules: Rules = Rules.V0_19,
    origin: str = "assistant_tool",
    off: frozenset[str] = frozenset(),
    **payload: Any,
) -> Outcome:
    """Replay, then signoff's guards."""
    config = config or Config()
    outcome = replay(view, payload, config, rules, NOW)
    return guard(view, payload, config, rules, outcome, NOW, origin, off)


def written(outcome: Outcome) -> dict[str, bytes | None]:
    """The files an outcome writes (``None``: removes), by path."""
    return {
        change.path: change.after.data if change.after else None
        for change in outcome.changes
        if isinstance(change, Change)
        and (change.after or change.before or Node(NodeKind.DIR)).kind is NodeKind.FILE
    }


def after(view: View, outcome: Outcome) -> View:
    """The home once the outcome's files were written."""
    changes = [c for c in outcome.changes if isinstance(c, Change | Move)]
    return View(Snapshot(Overlay(view.source, changes)))


def codes(outcome: Outcome) -> list[str]:
    return [finding.code for finding in outcome.findings]


def rows(outcome: Outcome) -> list[RowEdit]:
    return [change for change in outcome.changes if isinstance(change, RowEdit)]
