"""The agent's prune list: what nobody touched for so many days, jobs and grace left aside.

hermes-agent 0.19.0, ``hermes curator prune``, executed. It ignores that a scheduled job uses a
skill, so each line says so here.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.homes.hermes.curator.inventory import Terms, read_inventory
from core.homes.hermes.curator.moments import last_activity, moment
from core.homes.hermes.curator.transitions import ARCHIVED
from core.view import View


@dataclass(frozen=True, slots=True)
class Idle:
    """One candidate: whole days since it was last active (or made), and the jobs that use it."""

    name: str
    idle_days: int
    jobs: tuple[str, ...] = ()


def prune_list(view: View, terms: Terms, days: int) -> tuple[Idle, ...]:
    """Candidates idle for at least ``days`` whole days, the longest first, then by name.

    Pinned and archived ones and those without a readable date are left out.
    """
    found = []
    for skill in read_inventory(view, terms.config, terms.rules).candidates(terms):
        row = skill.row
        if row is None or row.get("pinned") or row.get("state") == ARCHIVED:
            continue
        used = last_activity(row)
        at = used[0] if used else moment(row.get("created_at"))
        idle = max(0, (terms.now - at).days) if at is not None else None
        if idle is not None and idle >= days:
            found.append(Idle(skill.name, idle, tuple(job.shown for job in skill.jobs)))
    return tuple(sorted(found, key=lambda line: -line.idle_days))
