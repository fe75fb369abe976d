"""The curator's settings, state and runs, as its sheet shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from console.render.skills_history import HistoryItem, RunItem
from console.screens.skills_views import curator_of

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.skill_table import Board

#: Runs that are listed, the newest.
RUNS = 60
#: What a run counts, in words.
_RAN = (
    ("checked", "looked at"),
    ("marked_stale", "stale"),
    ("archived", "archived"),
    ("reactivated", "active again"),
)


def history_of(opened: Opened, board: Board) -> HistoryItem:
    """The curator's settings with where each comes from, its state, and its runs."""
    from core.desk.skill_table import runs

    settings, state = board.settings, board.state
    named = {
        "interval_hours": settings.interval_hours,
        "stale_after_days": settings.limits.stale_after_days,
        "archive_after_days": settings.limits.archive_after_days,
        "prune_builtins": settings.prune_builtins,
        "keep": settings.keep,
    }
    switches = (("enabled", settings.enabled), ("consolidate", settings.consolidate))
    return HistoryItem(
        curator=curator_of(board),
        settings=(
            *((key, _word(value), settings.sources.get(key, "")) for key, value in named.items()),
            *((key, _word(value), "") for key, value in switches),
        ),
        said=str(state.values.get("last_run_summary") or ""),
        count=str(state.values.get("run_count") or 0),
        problem=state.problem,
        findings=board.findings,
        runs=tuple(
            RunItem(
                at=f"{run.started_at:%Y-%m-%d %H:%M}" if run.started_at else run.id,
                counts=_counts(run.counts),
                named=tuple(f"{name}: {why}" for name, why in run.reasons.items()),
                summary=run.summary,
                problem=run.error or run.problem,
                report=run.report,
            )
            for run in runs(opened)[:RUNS]
        ),
    )


def _word(value: object) -> str:
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def _counts(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{counts[key]} {word}" for key, word in _RAN if counts.get(key))
