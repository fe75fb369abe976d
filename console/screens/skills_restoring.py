"""Bringing a skill back from the archive: where it would go, beside what, and the ways to do it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from console.keymap import keyed
from console.render.skills_plans import plan_lines
from console.screens.note import NoteScreen
from console.screens.offer import Offer, Way
from console.screens.skills_acting import SkillActing

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.skill_table import Archived, Board
    from core.desk.skills import Planned
    from core.model import Change, Outcome


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to bring a package back: a plan to carry out, another copy, or another place."""

    label: str
    planned: Planned | None = None
    copy: Archived | None = None

    @property
    def way(self) -> Way:
        if self.planned is None or self.planned.plan.outcome.lands:
            return Way(self.label)
        return Way(self.label, self.planned.plan.outcome.message)


@dataclass(frozen=True, slots=True)
class Choices:
    """Every way, under what the first of them says; ``against`` is a live skill beside it."""

    title: str
    outcome: Outcome
    against: tuple[str, tuple[Change, ...]]
    choices: tuple[Choice, ...]


class SkillRestoring(SkillActing):
    """A copy is restored by the folder it lies in, never by a name that several may have."""

    def copies_of_chosen(self) -> list[Archived]:
        """What restoring means here: the package at the cursor, or the copies of a live skill."""
        board = self._board
        if self._archived:
            return [] if self.package is None else [self.package]
        if self.row is None or board is None:
            return []
        names = {self.row.skill.name, self.row.skill.named}
        found = [each for each in board.archived if names & _names(each)]
        return sorted(found, key=_newest, reverse=True)

    def why_not_restore(self) -> str | None:
        """Why nothing can be restored here, as far as the table knows."""
        if self._board is not None and self._board.blocked:
            return f"The usage rows cannot be read ({self._board.blocked}): nothing is written"
        if self.copies_of_chosen():
            return None
        if self._archived:
            return "There is no package to restore"
        return keyed("The archive holds no copy of it; {skills.other_side} shows what it holds")

    def action_restore(self) -> None:
        copies = self.copies_of_chosen()
        if copies:
            self._offer(copies[0])

    def _offer(self, package: Archived) -> None:
        opened, board = self.signoff.opened, self._board
        if opened is None or board is None:
            return
        work = partial(choices_for, opened, board, package)
        self.start_job("sheet", work, partial(self._choose, package), self.not_planned)

    def _choose(self, package: Archived, found: Choices) -> None:
        def chosen(number: int | None) -> None:
            if number is None:
                return
            choice = found.choices[number]
            if choice.copy is not None:
                self._offer(choice.copy)
            elif choice.planned is not None:
                planned = choice.planned
                self.carry(lambda _: planned, package.package.path)
            else:
                self._ask_place(package)

        draw = partial(plan_lines, found.outcome, against=found.against)
        ways = [choice.way for choice in found.choices]
        self.app.push_screen(Offer(found.title, draw, ways), chosen)

    def _ask_place(self, package: Archived) -> None:
        opened, name = self.signoff.opened, package.package.name
        if opened is None:
            return

        def read(place: str) -> Planned:
            from core.desk.skills import restore
            from core.errors import UsageError

            planned = restore(opened, package.package.path, place.strip())
            outcome = planned.plan.outcome
            if not place.strip() or not outcome.lands:
                raise UsageError(outcome.message.rstrip("."), "Name another folder")
            return planned

        def planned(found: Planned | None) -> None:
            if found is not None:
                self.confirm(f"Restore {name}", "restores it", found)

        title = f"Restore {name} to which folder below skills/?"
        ask = NoteScreen(title, "shows what it does", "ops/name", read)
        self.app.push_screen(ask, planned)


def choices_for(opened: Opened, board: Board, package: Archived) -> Choices:
    """Every way to bring a package back, each planned.

    The place it lay in is first where it is free, then the one the agent's own restore takes.
    """
    from core.desk.skills import compare, restore, swap

    path = package.package.path
    plain = restore(opened, path)
    found = [Choice(f"Restore it to {package.to}", plain)]
    places: list[tuple[str | None, str]] = [(None, package.to)]
    if package.original_path and package.original_path != package.to:
        back = restore(opened, path, package.original_path)
        lay = Choice(f"Restore it to {package.original_path}, where it lay", back)
        found = [Choice(f"Restore it to {package.to}, as the agent's own restore does", plain)]
        found.insert(0 if back.plan.outcome.lands else 1, lay)
        places.append((package.original_path, package.original_path))
    beside = compare(opened, path)
    if beside is not None:
        label = f"Archive the live {beside.live}, put this copy in its place"
        found.append(Choice(label, swap(opened, path)))
    for to, place in places:
        planned = restore(opened, path, to)
        if any(each.code == "archived_again" for each in planned.plan.outcome.findings):
            label = f"Restore it to {place} and pin it"
            found.append(Choice(label, restore(opened, path, to, pin=True)))
    copies = copies_of(board, package)
    for other in copies:
        if other is not package:
            age = "newer" if _newest(other) > _newest(package) else "older"
            label = f"Look at the {age} copy {other.package.folder} instead"
            found.append(Choice(label, copy=other))
    found.append(Choice("Restore it to another place…"))
    against = ("", ()) if beside is None else (beside.live, beside.files)
    first = found[0].planned or plain
    return Choices(_title(package, copies), first.plan.outcome, against, tuple(found[:9]))


def copies_of(board: Board, package: Archived) -> list[Archived]:
    """``package`` and every other copy of it, the newest first."""
    here, mine = package.package.path, _names(package)
    others = (each for each in board.archived if each.package.path != here and _names(each) & mine)
    return sorted([package, *others], key=_newest, reverse=True)


def _title(package: Archived, copies: list[Archived]) -> str:
    """Which copy of how many it is."""
    if len(copies) == 1:
        return f"Restore {package.package.name}"
    place = copies.index(package)
    which = {0: "newest", len(copies) - 1: "oldest"}.get(place, f"{place + 1}.")
    return f"Restore the {which} of {len(copies)} copies: {package.package.folder}"


def _names(each: Archived) -> set[str]:
    return {each.package.name, each.package.base}


def _newest(each: Archived) -> float:
    return 0.0 if each.archived_at is None else each.archived_at.timestamp()
