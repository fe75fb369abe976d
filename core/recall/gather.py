"""From matching messages to hits: one for a session, what filters leave out counted.

Two passes in one: what was said to a person stands before what cron jobs said, so that no flood of
cron rows starves an interactive session (report #71418 of the agent's repository).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from core.conversations import Filters, Visibility

CRON, TOOL = "cron", "tool"


class Origin(NamedTuple):
    """What filters ask of the session a message stands in. ``hidden``: lists leave it out."""

    source: str
    title: str = ""
    workspace: str = ""
    hidden: bool = False


#: Of a message whose session is not there.
NOWHERE = Origin("unknown")


class Place(NamedTuple):
    """Where a message stands, without its text; a tuple, since a search makes thousands."""

    id: int
    session_id: str
    role: str
    at: float | None
    visibility: Visibility
    origin: Origin


class Verdict(StrEnum):
    """What the filters say of a message: a hit, left out and counted, or not asked for at all."""

    HIT = "hit"
    HIDDEN_SOURCE = "hidden_source"
    TOOL_OUTPUT = "tool_output"
    UNDONE = "undone"
    OTHER = "other"


def judge(filters: Filters, place: Place) -> Verdict:
    """What ``filters`` say of a message. A source or role that is named is let in; sources are
    named in lower case, however the home spells them."""
    if not _wanted(filters, place):
        return Verdict.OTHER
    if place.origin.hidden and not (filters.with_hidden or _is_of(place, filters.sources)):
        return Verdict.HIDDEN_SOURCE
    if place.visibility is Visibility.UNDONE and not filters.with_undone:
        return Verdict.UNDONE
    if place.role == TOOL and not (filters.with_tool_output or TOOL in filters.roles):
        return Verdict.TOOL_OUTPUT
    return Verdict.HIT


def _is_of(place: Place, sources: tuple[str, ...]) -> bool:
    return place.origin.source.lower() in sources


def _wanted(filters: Filters, place: Place) -> bool:
    if filters.sources and not _is_of(place, filters.sources):
        return False
    if filters.roles and place.role not in filters.roles:
        return False
    if filters.session_id and place.session_id != filters.session_id:
        return False
    if filters.after is not None and (place.at is None or place.at < filters.after):
        return False
    if filters.before is not None and (place.at is None or place.at >= filters.before):
        return False
    if filters.title and filters.title.casefold() not in place.origin.title.casefold():
        return False
    folder = filters.workspace.casefold()
    return not folder or folder in place.origin.workspace.casefold()


@dataclass(slots=True)
class Group:
    """The hits of one session: the first that came, and how many more there were."""

    place: Place
    more: int = 0


@dataclass(slots=True)
class Gathering:
    """Hits by session, in the order in which their first message came.

    ``people_there`` is how many sessions of people there are at all, if that is known;
    ``is_whole`` says that every match was looked at; ``unseen`` are sessions of which none was.
    """

    filters: Filters
    limit: int
    people_there: int | None = None
    is_whole: bool = True
    unseen: int = 0
    people: dict[str, Group] = field(default_factory=dict)
    cron: dict[str, Group] = field(default_factory=dict)
    left_out: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))

    def add(self, places: Iterable[Place]) -> None:
        """Take these matches, best first."""
        # Most matches are of the plain kind that no filter asks about.
        narrow = self.filters != Filters()
        for place in places:
            origin = place.origin
            if narrow or origin.hidden or place.visibility is not Visibility.LIVE:
                verdict = judge(self.filters, place)
            else:
                verdict = Verdict.TOOL_OUTPUT if place.role == TOOL else Verdict.HIT
            self.left_out[verdict] += 1
            if verdict is not Verdict.HIT:
                continue
            groups = self.cron if origin.source == CRON else self.people
            group = groups.get(place.session_id)
            if group is None:
                groups[place.session_id] = Group(place)
            else:
                group.more += 1

    def count(self, session_id: str | None, hits: int) -> None:
        """Count hits that were not looked at: of a session that has one, or of one that was not
        met (``None``)."""
        if session_id is None:
            self.unseen += 1
        else:
            groups = self.people if session_id in self.people else self.cron
            groups[session_id].more += hits

    @property
    def enough(self) -> bool:
        """Whether later matches, which answer no better, would change no session that is shown."""
        return self.has_people and self.sessions >= self.limit

    @property
    def has_people(self) -> bool:
        """Whether there are as many sessions of people as wanted, or all there are."""
        there = self.limit if self.people_there is None else self.people_there
        return len(self.people) >= min(self.limit, there)

    @property
    def sessions(self) -> int:
        """Sessions with a hit."""
        return len(self.people) + len(self.cron)

    @property
    def is_empty(self) -> bool:
        """Whether no message matched, not even one left out."""
        return not any(self.left_out.values())

    def groups(self) -> list[Group]:
        """At most ``limit`` groups: people first."""
        return [*self.people.values(), *self.cron.values()][: self.limit]
