"""What differs between the kinds of homes, chosen here and nowhere else in the desk.

A home's own modules are loaded when one of its kind is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core import locks
from core.conversations import Conversations
from core.errors import UsageError
from core.ground import Holding
from core.homes.base import Kind
from core.homes.hermes import origin, pending
from core.homes.hermes.origin import Provenance
from core.homes.hermes.pending import Proposal, Queue
from core.homes.hermes.proposals import Judging
from core.homes.hermes.sessions.store import StateDb
from core.view import Source

#: Kinds whose homes can be opened.
REVIEWED = (Kind.HERMES, Kind.VAK)


class OtherKindError(UsageError):
    """A home of this kind has no such thing."""

    title = "Not in this home"
    code = "not_for_kind"


def read_queue(
    kind: Kind,
    source: Source,
    *,
    ids: frozenset[str] | None = None,
    known: Mapping[str, Proposal] | None = None,
    waiting: str = "",
) -> Queue:
    """What waits in a home; see :func:`core.homes.hermes.pending.read_queue`.

    ``waiting`` is the folder of :func:`waiting_of`, where what waits outside the home counts too.
    """
    if kind is Kind.VAK:
        from core.homes.vak.queue import read_queue as read_skills

        return read_skills(source, ids=ids, known=known, waiting=waiting)
    return pending.read_queue(source, ids=ids, known=known)


def waiting_of(kind: Kind, state: Path, home: Path) -> str:
    """The folder in signoff's own where notes of a home wait; ``""`` where they wait in it."""
    if kind is not Kind.VAK:
        return ""
    from core.homes.vak.waiting import root_of

    return str(root_of(state, home))


def judging(kind: Kind, home: Path, base: Judging) -> Judging:
    """How proposals of the home are judged; ``base`` is what holds for every kind."""
    if kind is Kind.VAK:
        from core.homes.vak.proposals import Judging as VakJudging
        from core.homes.vak.proposals import proposing_workspaces

        common = {name: getattr(base, name) for name in base.__dataclass_fields__}
        return VakJudging(**common, workspaces=proposing_workspaces(home))
    return base


def past(kind: Kind, home: Path, profile: str, index: Path) -> Conversations:
    """The past conversations of a home; opening it reads nothing. ``index``: its index's folder."""
    if kind is Kind.VAK:
        from core.homes.vak.store import Ledgers

        return Ledgers(home, index)
    return StateDb(home, profile=profile)


def trace(kind: Kind, home: Path, proposal: Proposal) -> Provenance:
    """Where a proposal came from; never raises."""
    if kind is Kind.VAK:
        from core.homes.vak.origin import trace as trace_skill

        return trace_skill(home, proposal)
    return origin.trace(home, proposal)


def holding(kind: Kind) -> Holding:
    """How the agent's locks are held."""
    return locks.own if kind is Kind.VAK else locks.hold
