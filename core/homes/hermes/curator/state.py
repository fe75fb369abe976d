"""``skills/.curator_state``: when the curator ran last, whether it is paused, when it is due.

hermes-agent 0.19.0, ``agent/curator.py``. A file that is no object counts as none for the agent,
which then writes over it; here it is unreadable. Keys the agent does not know are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from core.homes.hermes.curator.moments import counter
from core.homes.hermes.curator.settings import Settings
from core.model import Change, Node, NodeKind, Outcome
from core.view import View

STATE = "skills/.curator_state"
_DEFAULTS: Mapping[str, Any] = {
    "last_run_at": None,
    "last_run_duration_seconds": None,
    "last_run_summary": None,
    "last_run_summary_shown_at": None,
    "last_report_path": None,
    "paused": False,
    "run_count": 0,
}


@dataclass(frozen=True, slots=True)
class CuratorState:
    """The file with defaults filled in; ``problem`` says why there is nothing to go by."""

    values: Mapping[str, Any] = field(default_factory=lambda: dict(_DEFAULTS))
    problem: str = ""

    @property
    def paused(self) -> bool:
        """Whether the agent's own runs are held back."""
        return bool(self.values.get("paused"))

    @property
    def last_run_at(self) -> datetime | None:
        """The last run, ``None`` for none or a date the agent cannot read."""
        value = self.values.get("last_run_at")
        if not value or not isinstance(value, str):
            return None
        try:
            found = datetime.fromisoformat(value)
        except ValueError:
            return None
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found


@dataclass(frozen=True, slots=True)
class Due:
    """Whether the agent's next look would start a run, when at the earliest, and why not now."""

    due: bool
    due_at: datetime | None
    why_not: str = ""


def read_state(view: View) -> CuratorState:
    """The state as it stands; recorded as read."""
    reading = view.read(STATE)
    if reading.absent:
        return CuratorState()
    if reading.data is None:
        return CuratorState(problem=f"{STATE} cannot be read: {reading.reason}")
    try:
        found = json.loads(reading.data.decode("utf-8"))
    except (ValueError, RecursionError):
        return CuratorState(problem=f"{STATE} is not JSON")
    if not isinstance(found, dict):
        return CuratorState(problem=f"{STATE} is no object")
    return CuratorState({**_DEFAULTS, **found})


def due(state: CuratorState, settings: Settings, now: datetime) -> Due:
    """Whether a run is due (exactly one interval counts).

    Without a readable last run the agent's next look only starts the clock: then it is due one
    interval after that look.
    """
    last = state.last_run_at
    at = None
    if last is not None:
        try:
            at = last + timedelta(hours=settings.interval_hours)
        except OverflowError:
            at = None
    if not settings.enabled:
        return Due(False, at, "curator.enabled is off")
    if state.paused:
        return Due(False, at, "it is paused")
    if last is None:
        return Due(False, None, "it never ran: its next look starts the clock")
    if at is None or now < at:
        return Due(False, at, "its interval is not over")
    return Due(True, at)


def plan_pause(view: View, paused: bool) -> Outcome:
    """Hold the agent's own runs back, or let them go on; ``noop`` where it stands so already."""
    state = read_state(view)
    if state.problem:
        return Outcome("unreadable_target", f"{state.problem}; put it right or move it away.")
    word = "paused" if paused else "not paused"
    if state.values.get("paused") is paused:
        return Outcome("noop", f"The curator is {word} already.")
    change = written(view, state, {"paused": paused})
    says = "does not run by itself" if paused else "runs by itself again when it is due"
    return Outcome("ok", f"The curator {says}.", (change,), claims=frozenset({STATE}))


def after_run(view: View, state: CuratorState, now: datetime, summary: str) -> Change:
    """The state as a manual run leaves it."""
    runs = counter(state.values.get("run_count")) or 0
    return written(
        view,
        state,
        {
            "last_run_at": now.isoformat(),
            "last_run_duration_seconds": 0.0,
            "last_run_summary": summary,
            "run_count": runs + 1,
        },
    )


def written(view: View, state: CuratorState, values: Mapping[str, Any]) -> Change:
    """The file with ``values`` set, as the agent writes it (0600 where it is new)."""
    reading = view.read(STATE)
    old = None if reading.data is None else Node(NodeKind.FILE, reading.data, reading.mode)
    text = json.dumps({**state.values, **values}, indent=2, sort_keys=True, ensure_ascii=False)
    data = text.encode("utf-8", "backslashreplace")
    return Change(STATE, old, Node(NodeKind.FILE, data, old.mode if old else 0o600))
