"""The sample home and small ones for the tests of the curator, in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from core.homes.hermes.config import read_config, rules_for
from core.homes.hermes.curator.inventory import Terms
from core.homes.hermes.curator.settings import read_settings
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.model import Change, Move, Node, NodeKind, Outcome, RowEdit
from core.overlay import Overlay
from core.view import Snapshot, Tree, View
from tests.core.hermes.skill_homes import DATA, folder, skill

NOW = datetime(2026, 11, 1, tzinfo=UTC)
ORACLE: dict[str, Any] = json.loads((DATA / "oracles/curator.json").read_text(encoding="utf-8"))
Files = dict[str, bytes | Node]


def sample(**changed: Any) -> Files:
    """The files of the sample home; ``changed`` replaces some (``None``: left out)."""
    files = folder(DATA / "hermes-skills") | changed
    return {path: data for path, data in files.items() if data is not None}


def view(files: Mapping[str, Any]) -> View:
    return View(Snapshot(Tree(files)))


def terms(seen: View, now: datetime = NOW, rules: Rules | None = None) -> Terms:
    """What judges the home, by its own config."""
    config = read_config(seen, {})
    settings = read_settings(seen, config, {})
    return Terms(config, settings, rules or rules_for(seen, config, None), now)


def config(stale: int = 30, archive: int = 90, prune: bool = True, more: str = "") -> bytes:
    """A config.yaml with these thresholds."""
    return (
        f"curator:\n  stale_after_days: {stale}\n  archive_after_days: {archive}\n"
        f"  prune_builtins: {str(prune).lower()}\n{more}"
    ).encode()


def rows(**named: Any) -> bytes:
    """A usage file."""
    return json.dumps({key.replace("__", "-"): row for key, row in named.items()}).encode()


def row(**fields: Any) -> dict[str, Any]:
    """A row as the agent makes one, managed and old enough to be archived."""
    made = usage.empty_row(datetime(2026, 1, 5, tzinfo=UTC)) | {"created_by": "agent"}
    return made | {"use_count": 3, "last_used_at": "2026-02-01T00:00:00+00:00"} | fields


def small(**files: Any) -> Files:
    """A home with one old managed skill ``ops/probe``."""
    made: Files = {
        "config.yaml": config(),
        "skills/ops/probe/SKILL.md": skill("probe"),
        usage.PATH: rows(probe=row()),
    }
    merged = made | files
    return {path: data for path, data in merged.items() if data is not None}


def moved(outcome: Outcome) -> dict[str, str]:
    """Folders moved, below ``skills/``, as the oracle writes them."""
    return {
        change.path.removeprefix("skills/"): change.to.removeprefix("skills/")
        for change in outcome.changes
        if isinstance(change, Move)
    }


def changed_rows(seen: View, outcome: Outcome) -> dict[str, dict[str, Any]]:
    """Row changes as the oracle writes them: field to old and new, ``added`` for whole rows."""
    edits = [change for change in outcome.changes if isinstance(change, RowEdit)]
    before = json.loads(seen.read(usage.PATH).data or b"{}")
    data = usage.apply(seen.read(usage.PATH).data, edits)
    after = before if data is None else json.loads(data)
    found: dict[str, dict[str, Any]] = {}
    for key, new in after.items():
        old = before.get(key)
        if key not in before:
            found[key] = {"added": new}
        elif old != new:
            found[key] = {
                field: [old.get(field), new[field]] for field in new if old.get(field) != new[field]
            }
    return found


def after(seen: View, outcome: Outcome) -> View:
    """The home once the outcome's changes were made, rows too."""
    edits = [change for change in outcome.changes if isinstance(change, RowEdit)]
    changes = [change for change in outcome.changes if isinstance(change, Change | Move)]
    data = usage.apply(seen.read(usage.PATH).data, edits)
    if data is not None:
        changes.append(Change(usage.PATH, None, Node(NodeKind.FILE, data, 0o600)))
    return View(Snapshot(Overlay(seen.source, changes)))


def codes(outcome: Outcome) -> list[str]:
    return [finding.code for finding in outcome.findings]
