"""Triage: what to look at first, what belongs together, what can go unread. Pure, over labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.clock import is_date
from core.desk.review import Label
from core.homes.hermes.pending import Queue, Unreadable
from core.homes.hermes.status import Status

#: What can no longer apply. ``stale``: what it wants to change is gone. ``noop``: it is so
#: already, approving changes no byte. ``invalid``: the record itself is broken, and every approval
#: of it fails the same way for ever (PR 109280). The rest may still land: ``ambiguous`` and
#: ``over_budget`` with the next change of the store, ``refused`` and ``unreadable`` once the
#: reason is gone.
DEAD = frozenset({Status.STALE, Status.NOOP, Status.INVALID})
KEYS = ("status", "target", "origin", "cluster")
#: Share of words two texts have in common from which they count as one text reworded.
ALIKE = 0.6
#: Members of one cluster whose wordings are compared; more only count as alike when equal.
COMPARED = 100
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rows are meant; ``None`` and ``""`` mean any.

    ``older_than`` is in seconds: a proposal without a known time is as old as can be. ``text`` is
    looked for in id, action, target, summary and message, case aside.
    """

    status: Status | None = None
    target: str | None = None
    origin: str | None = None
    subsystem: str | None = None
    older_than: float | None = None
    text: str = ""


ALL = Filter()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Rivals: proposals that want the same entry, file or skill, oldest first.

    ``alike`` are groups of members that say nearly the same in other words.
    """

    labels: tuple[Label, ...]
    alike: tuple[tuple[Label, ...], ...] = ()

    @property
    def key(self) -> str:
        """What it is called: the subsystem, target and id of the oldest."""
        first = self.labels[0].proposal
        return f"{first.subsystem} {first.target} ({first.id})"


@dataclass(frozen=True, slots=True)
class Listing:
    """One look at the queue: all ``labels``, the rows ``shown`` and ``groups`` of them if asked.

    ``unreadable`` are listed unless a filter leaves them out: the status of that name does not.
    ``asleep`` counts the rows that are not shown because they sleep.
    """

    queue: Queue
    labels: tuple[Label, ...]
    shown: tuple[Label, ...]
    unreadable: tuple[Unreadable, ...]
    groups: Mapping[str, tuple[Label, ...]] | None
    asleep: int


def listing(
    queue: Queue,
    labels: Sequence[Label],
    now: datetime,
    wanted: Filter = ALL,
    *,
    group: str | None = None,
    snoozed: bool = False,
) -> Listing:
    """The queue as ``wanted``, sleeping rows only if ``snoozed``."""
    meant = select(labels, wanted, now)
    shown = meant if snoozed else awake(meant)
    status = Status.UNREADABLE if wanted.status is Status.UNREADABLE else None
    narrowed = wanted != Filter(status, subsystem=wanted.subsystem)
    unreadable = (x for x in queue.unreadable if wanted.subsystem in (None, x.subsystem))
    return Listing(
        queue,
        tuple(labels),
        shown,
        () if narrowed else tuple(unreadable),
        None if group is None else group_by(shown, group),
        len(meant) - len(shown),
    )


def select(labels: Sequence[Label], wanted: Filter, now: datetime) -> tuple[Label, ...]:
    """The rows ``wanted``, in their order."""
    return tuple(label for label in labels if _meant(label, wanted, now))


def awake(labels: Sequence[Label]) -> tuple[Label, ...]:
    """The rows that do not sleep."""
    return tuple(label for label in labels if label.snoozed_until is None)


def dead(labels: Sequence[Label]) -> tuple[Label, ...]:
    """The rows that can no longer apply: see :data:`DEAD`. Sleeping ones are left alone."""
    return tuple(label for label in awake(labels) if label.status in DEAD)


def group_by(labels: Sequence[Label], key: str) -> dict[str, tuple[Label, ...]]:
    """Rows by ``status``, ``target``, ``origin`` or ``cluster``; groups stand in order of their
    first row. A row without rivals is a cluster of its own."""
    if key == "cluster":
        return {found.key: found.labels for found in clusters(labels)}
    groups: dict[str, list[Label]] = {}
    for label in labels:
        groups.setdefault(_value(label, key), []).append(label)
    return {name: tuple(found) for name, found in groups.items()}


def clusters(labels: Sequence[Label]) -> tuple[Cluster, ...]:
    """All rows as clusters: two rows that share a claim are in one, so are their rivals' rivals."""
    above = list(range(len(labels)))

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    holders: dict[str, int] = {}
    for place, label in enumerate(labels):
        for claim in label.claims:
            first, mine = top(holders.setdefault(claim, place)), top(place)
            above[max(first, mine)] = min(first, mine)
    found: dict[int, list[Label]] = {}
    for place, label in enumerate(labels):
        found.setdefault(top(place), []).append(label)
    return tuple(Cluster(tuple(members), _alike(members)) for members in found.values())


def _meant(label: Label, wanted: Filter, now: datetime) -> bool:
    proposal = label.proposal
    texts = (proposal.id, proposal.action, proposal.target, proposal.summary, label.message)
    return (
        wanted.status in (None, label.status)
        and wanted.target in (None, proposal.target)
        and wanted.origin in (None, proposal.origin)
        and wanted.subsystem in (None, proposal.subsystem)
        and (wanted.older_than is None or _age(label, now) > wanted.older_than)
        and wanted.text.casefold() in "\n".join(texts).casefold()
    )


def _age(label: Label, now: datetime) -> float:
    created = label.proposal.created_at
    return now.timestamp() - created if is_date(created) else float("inf")


def _value(label: Label, key: str) -> str:
    proposal = label.proposal
    if key == "status":
        return str(label.status)
    return proposal.origin if key == "origin" else f"{proposal.subsystem} {proposal.target}"


def _alike(members: Sequence[Label]) -> tuple[tuple[Label, ...], ...]:
    """Groups of at least two; each member joins the first group whose oldest it resembles."""
    groups: list[tuple[frozenset[str], list[Label]]] = []
    for label in members:
        words = _words(label.proposal.payload)
        threshold = ALIKE if len(groups) < COMPARED else 1.0
        for other, group in groups:
            if words and _shared(words, other) >= threshold:
                group.append(label)
                break
        else:
            groups.append((words, [label]))
    return tuple(tuple(group) for _, group in groups if len(group) > 1)


def _shared(left: frozenset[str], right: frozenset[str]) -> float:
    return len(left & right) / max(1, len(left | right))


def _words(value: object) -> frozenset[str]:
    """The words of the texts a payload would write, wherever they stand in it."""
    if isinstance(value, Mapping):
        return frozenset[str]().union(
            *(
                _words(item) if isinstance(item, list | dict) else _text_words(item)
                for key, item in value.items()
                if key in _WRITTEN
            )
        )
    if isinstance(value, list):
        return frozenset[str]().union(*map(_words, value))
    return frozenset()


def _text_words(value: object) -> frozenset[str]:
    return frozenset(_WORD.findall(value.casefold())) if isinstance(value, str) else frozenset()


_WRITTEN = frozenset({"content", "new_text", "new_string", "file_content", "operations"})
