"""What runs of the curator left behind: their reports, and newer agents' ledger.

The reports of hermes-agent 0.19.0 are made after the moves, so a run that only ages skills names
none of them; its counters are right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.homes.hermes.curator.moments import moment
from core.view import View, join

RUNS = "logs/curator"
LEDGER = "skills/.curator_ledger.jsonl"
#: Lines of the ledger that are read, the newest.
MAX_LINES = 5000


@dataclass(frozen=True, slots=True)
class Run:
    """One run. ``reasons`` maps a skill to what became of it and why, where the run says so.

    ``counts`` are what its transitions counted; ``report`` is the path of its REPORT.md, or ``""``.
    """

    id: str
    started_at: datetime | None
    counts: Mapping[str, Any]
    reasons: Mapping[str, str]
    summary: str
    error: str
    report: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """One mutation a newer agent wrote down; ``before`` and ``after`` are the files' paths."""

    id: str
    at: datetime | None
    actor: str
    action: str
    skill: str
    evidence: Mapping[str, Any]
    before: tuple[str, ...]
    after: tuple[str, ...]


def read_runs(view: View) -> tuple[Run, ...]:
    """Every run, the newest first; not recorded."""
    quiet = view.quiet()
    folders = sorted(quiet.names(RUNS), reverse=True)
    return tuple(_run(quiet, folder) for folder in folders if quiet.names(join(RUNS, folder)))


def read_ledger(view: View) -> tuple[LedgerLine, ...]:
    """The ledger, the newest line first; lines that are no objects are passed over."""
    data = view.quiet().read(LEDGER).data or b""
    found = []
    for line in data.decode("utf-8", "replace").splitlines()[-MAX_LINES:]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            found.append(_line(entry))
    return tuple(reversed(found))


def mentions(run: Run, names: Sequence[str]) -> str:
    """What ``run`` says of the skill that goes by ``names``, ``""`` if nothing."""
    return next((run.reasons[name] for name in names if name in run.reasons), "")


def _run(view: View, folder: str) -> Run:
    base = join(RUNS, folder)
    report = join(base, "REPORT.md")
    report = report if view.kind(report) else ""
    reading = view.read(join(base, "run.json"))
    try:
        found = json.loads((reading.data or b"").decode("utf-8"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        return Run(folder, None, {}, {}, "", "", report, "run.json cannot be read")
    counts = found.get("auto_transitions")
    return Run(
        folder,
        moment(found.get("started_at")),
        counts if isinstance(counts, dict) else {},
        _reasons(found),
        _text(found.get("llm_summary")),
        _text(found.get("llm_error")),
        report,
    )


def _reasons(found: Mapping[str, Any]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for name in _list(found.get("archived")):
        if isinstance(name, str):
            reasons[name] = "archived"
    for line in _objects(found.get("state_transitions")):
        reasons[_text(line.get("name"))] = f"{line.get('from')} to {line.get('to')}"
    for line in _objects(found.get("pruned")):
        reasons[_text(line.get("name"))] = f"pruned: {_text(line.get('reason'))}".rstrip(": ")
    for line in _objects(found.get("consolidated")):
        said = f"merged into {_text(line.get('into'))}: {_text(line.get('reason'))}"
        reasons[_text(line.get("name"))] = said.rstrip(": ")
    return reasons


def _line(entry: Mapping[str, Any]) -> LedgerLine:
    evidence = entry.get("evidence")
    return LedgerLine(
        _text(entry.get("id")),
        moment(entry.get("ts")),
        _text(entry.get("actor")),
        _text(entry.get("action")),
        _text(entry.get("skill")),
        evidence if isinstance(evidence, dict) else {},
        tuple(_text(part.get("path")) for part in _objects(entry.get("before"))),
        tuple(_text(part.get("path")) for part in _objects(entry.get("after"))),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in _list(value) if isinstance(item, dict)]


def _text(value: object) -> str:
    return "" if value is None else str(value)
