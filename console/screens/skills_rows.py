"""What the skills mode lists, made from the table the desk read: rows, their order, a filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from typing import TYPE_CHECKING, TypeVar

from console.ages import span
from console.render.skills import ArchiveItem, SkillItem
from console.skill_words import next_of
from core.errors import UsageError
from core.model import Severity

if TYPE_CHECKING:
    from core.desk.skill_table import Archived, Board, Row
    from core.homes.hermes.curator.borrowed import Borrowed

ItemT = TypeVar("ItemT", SkillItem, ArchiveItem)

_WORST = {Severity.INFO: 2, Severity.WARNING: 1, Severity.DANGER: 0}
#: Why a package cannot go back now, in a few words.
_WHY = {
    "destination_exists": "a live one is there",
    "name_is_hub_installed": "the hub has that name",
    "name_is_bundled": "the bundle has that name",
    "unreadable_target": "the rows cannot be read",
}
#: What ``is:`` takes, and what it means for a skill.
_IS: dict[str, Callable[[SkillItem], bool]] = {
    "pinned": lambda item: item.pinned,
    "unpinned": lambda item: not item.pinned,
    "hidden": lambda item: not item.offered,
    "due": lambda item: item.due <= 0,
    "odd": lambda item: item.worst in (Severity.WARNING, Severity.DANGER),
    "unused": lambda item: not item.used,
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which rows are shown. ``text`` is looked for in all a row says, whatever its case."""

    states: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    traits: frozenset[str] = frozenset()
    text: str = ""


EVERYTHING = Wanted()


def parse(line: str) -> Wanted:
    """``state:stale origin:agent is:pinned words``; words of no such form are one text.

    Raises :class:`UsageError` for an ``is:`` that means nothing.
    """
    states, origins, traits, words = set[str](), set[str](), set[str](), []
    for word in line.split():
        name, colon, value = word.partition(":")
        if name == "state" and value:
            states.add(value.lower())
        elif name == "origin" and value:
            origins.add(value.lower())
        elif name == "is" and colon:
            if value not in _IS:
                raise UsageError(f"There is no is:{value}", f"Write one of {', '.join(_IS)}")
            traits.add(value)
        else:
            words.append(word)
    text = " ".join(words).lower()
    return Wanted(frozenset(states), frozenset(origins), frozenset(traits), text)


def meant(item: SkillItem, wanted: Wanted) -> bool:
    """Whether a skill is among the ``wanted``."""
    return (
        (not wanted.states or item.state.lower() in wanted.states)
        and (not wanted.origins or item.origin in wanted.origins)
        and all(_IS[trait](item) for trait in wanted.traits)
        and wanted.text in item.words
    )


def skill_items(board: Board) -> list[SkillItem]:
    """A row for each live skill, then for those of plugins and projects."""
    known = _unknown if board.blocked else _skill
    return [
        *(known(row, board.now) for row in board.rows),
        *(_borrowed(each) for each in board.borrowed),
    ]


def archive_items(board: Board) -> list[ArchiveItem]:
    """A row for each package of the archive."""
    return [_archived(each, board.now) for each in board.archived]


def sorted_skills(
    items: Iterable[SkillItem], sort: str, backwards: bool = False
) -> list[SkillItem]:
    """Skills by one column; the name decides between equals, whichever way round."""
    by_name = sorted(items, key=lambda item: (item.name.casefold(), item.key))
    return sorted(by_name, key=_SKILL_KEYS[sort], reverse=backwards)


def sorted_archive(
    items: Iterable[ArchiveItem], sort: str, backwards: bool = False
) -> list[ArchiveItem]:
    """Packages by one column."""
    by_folder = sorted(items, key=lambda item: item.key)
    return sorted(by_folder, key=_ARCHIVE_KEYS[sort], reverse=backwards)


def in_place(items: Iterable[ItemT], held: Sequence[str]) -> list[ItemT]:
    """Sorted ``items``, but rows whose keys are ``held`` keep the order they have on screen.

    What is new stands behind the row that it follows in the sorted list.
    """
    places = {key: place for place, key in enumerate(held)}
    last, found = -1, list[tuple[int, ItemT]]()
    for item in items:
        last = places.get(item.key, last)
        found.append((last, item))
    return [item for _, item in sorted(found, key=lambda each: each[0])]


_SKILL_KEYS: dict[str, Callable[[SkillItem], tuple[float | str, ...]]] = {
    "next": lambda item: (item.due,),
    "name": lambda item: (item.name.casefold(),),
    "state": lambda item: (item.state,),
    "origin": lambda item: (item.origin,),
    "uses": lambda item: (-(item.uses or 0),),
    "last": lambda item: (-item.used,),
    "notes": lambda item: (3 if item.worst is None else _WORST[item.worst], not item.pinned),
}
_ARCHIVE_KEYS: dict[str, Callable[[ArchiveItem], tuple[float | str, ...]]] = {
    "age": lambda item: (-item.at,),
    "folder": lambda item: (item.folder.casefold(),),
    "to": lambda item: (not item.ok, item.to),
}


def _skill(row: Row, now: datetime) -> SkillItem:
    skill = row.skill
    used = row.last_activity[0] if row.last_activity else None
    said, due = next_of(row, now)
    seconds = 0.0 if used is None else (now - used).total_seconds()
    last = "never" if used is None else span(seconds) or "ahead"
    texts = (skill.name, skill.folder, row.description, row.next, *_messages(row))
    return SkillItem(
        key=skill.folder,
        name=skill.name,
        state=skill.state,
        pinned=skill.pinned,
        origin=skill.provenance,
        uses=row.uses,
        last=last,
        used=0.0 if used is None else used.timestamp(),
        next=said,
        due=due,
        worst=min((f.severity for f in row.findings), key=lambda each: _WORST[each], default=None),
        offered=not row.not_offered_because,
        words=" ".join(texts).lower(),
    )


def _unknown(row: Row, now: datetime) -> SkillItem:
    """A skill whose row cannot be read: what the row would say is not known."""
    origin = row.skill.provenance
    return replace(
        _skill(row, now),
        state="unknown",
        origin="unknown" if origin == "user" else origin,
        uses=None,
        last="?",
        next="unknown",
        due=inf,
    )


def _borrowed(each: Borrowed) -> SkillItem:
    return SkillItem(
        key=each.folder,
        name=each.name,
        state="read-only",
        pinned=False,
        origin=each.origin,
        uses=0,
        last="",
        used=0.0,
        next="stays",
        due=inf,
        worst=None,
        offered=True,
        words=f"{each.name} {each.folder}".lower(),
    )


def _messages(row: Row) -> Sequence[str]:
    return [f"{found.code} {found.message}" for found in row.findings]


def _archived(each: Archived, now: datetime) -> ArchiveItem:
    package, at = each.package, each.archived_at
    age = "" if at is None else span((now - at).total_seconds())
    return ArchiveItem(
        key=package.path,
        folder=package.folder,
        name=package.name,
        age=age or "unknown",
        at=0.0 if at is None else at.timestamp(),
        to=each.to,
        ok=each.ok,
        why=_WHY.get(each.category, each.category.replace("_", " ")),
        words=" ".join((package.folder, package.name, each.to, each.note)).lower(),
    )
