"""Rivals of what is being decided: who else wants the same entry, file or skill, and waits on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from core.desk.opening import Opened
from core.desk.review import label_one, names
from core.homes.hermes.pending import Proposal, Queue
from core.view import Snapshot

#: Proposals on the same targets that are judged for this; nobody waits for more.
LOOKED_AT = 300


@dataclass(frozen=True, slots=True)
class Rivals:
    """``claim -> names`` of those that are not decided now, oldest first."""

    by_claim: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def left(self, claims: Collection[str]) -> tuple[str, ...]:
        """The names of those that share one of ``claims``."""
        found = (name for claim in sorted(claims) for name in self.by_claim.get(claim, ()))
        return tuple(dict.fromkeys(found))


NO_RIVALS = Rivals()


def rivals_of(opened: Opened, queue: Queue, deciding: Collection[str]) -> Rivals:
    """Who may be a rival of the records in ``deciding`` (files), as they all stand now.

    Only those on the same store or skill are judged, the oldest :data:`LOOKED_AT` of them.
    """
    wanted = {_about(entry) for entry in queue.proposals if entry.file in deciding}
    others = [
        entry for entry in queue.proposals if entry.file not in deciding and _about(entry) in wanted
    ]
    if not others:
        return NO_RIVALS
    snapshot, judging, named = Snapshot(opened.source), opened.judging(), names(queue)
    found: dict[str, list[str]] = {}
    for entry in others[:LOOKED_AT]:
        for claim in label_one(snapshot, entry, judging).claims:
            found.setdefault(claim, []).append(named[entry.file])
    return Rivals({claim: tuple(each) for claim, each in found.items()})


def _about(entry: Proposal) -> tuple[str, str]:
    return entry.subsystem, entry.target
