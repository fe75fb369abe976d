"""What goes into the index and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from core.recall.query import Query


class Category(StrEnum):
    """Where a message was said; each has fields, and so a ranking, of its own.

    A search of one category never meets the rows of another: a flood of scheduled runs, or of tool
    output, cannot push out what a person said. A hidden source wins over the two others.
    """

    SAID = "said"
    CRON = "cron"
    TOOL = "tool"
    CRON_TOOL = "cron_tool"
    HIDDEN = "hidden"


@dataclass(frozen=True, slots=True)
class Document:
    """One message to be found. ``text`` is all that should find it; ``at`` seconds since 1970.

    ``id`` is unique and grows with time. ``source``, if given, is what ``source:`` asks for.
    """

    id: int
    session_id: str
    role: str
    category: Category
    at: float | None
    text: str
    source: str = ""


class Status(StrEnum):
    """Whether the index can answer: only ``ready`` answers for the whole past."""

    ABSENT = "absent"
    BUILDING = "building"
    READY = "ready"
    BROKEN = "broken"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class IndexState:
    """``documents`` of ``total`` are in, up to the message ``through_id``, from the file named
    ``identity``. ``problem`` says in words what is wrong, ``size`` is in bytes."""

    status: Status
    documents: int = 0
    total: int = 0
    through_id: int = 0
    identity: str = ""
    problem: str = ""
    size: int = 0


class Candidate(NamedTuple):
    """A message that answers as far as the index knows; a higher ``score`` answers better.

    ``group`` is the same number for all messages of a session.
    """

    id: int
    score: float
    category: Category
    group: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """The answer of the index.

    ``hits`` are of the categories asked; ``counts`` of all, dropped messages perhaps included.
    ``query`` is what ran: the one asked or, where nothing was spelled so, one with the words
    ``corrected`` (asked, found); marks and ``matches`` must use it. Messages after ``through_id``
    are not known yet.
    """

    hits: tuple[Candidate, ...]
    counts: dict[Category, int]
    query: Query
    corrected: tuple[tuple[str, str], ...] = ()
    through_id: int = 0
    by_score: bool = field(default=True)
