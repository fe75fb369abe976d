"""An archived copy in place of the live skill of its name: both move, nothing is lost.

The agent has no such step: its restore refuses a place that is taken, and lets two skills share a
name where only the places differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.homes.hermes.curator.acting import blocked, locks, pinned, put, untouchable
from core.homes.hermes.curator.archive import archived_row, cache, place
from core.homes.hermes.curator.inventory import (
    Inventory,
    Skill,
    Terms,
    ask_skill,
    read_inventory,
)
from core.homes.hermes.curator.packages import Package, find_package
from core.homes.hermes.curator.restore import place_for
from core.homes.hermes.curator.transitions import ACTIVE
from core.homes.hermes.skills.archiving import within
from core.model import AnyChange, Change, Move, Node, NodeKind, Outcome
from core.view import View


@dataclass(frozen=True, slots=True)
class Compared:
    """An archived package beside a live folder.

    ``files`` are what differs, by path inside: ``before`` as it is live, ``after`` as archived.
    """

    package: str
    live: str
    files: tuple[Change, ...]


def plan_swap(view: View, terms: Terms, token: str) -> Outcome:
    """Archive the live skill that stands in the way of ``token``, and put the copy in its place.

    Refused as an archive of the live one would be; ``skill_not_found`` where nothing stands in the
    way (a plain restore does it).
    """
    inventory = read_inventory(view, terms.config, terms.rules)
    found = find_package(view, token)
    if not found:
        return Outcome("not_in_archive", f"The archive holds no skill {token}.")
    package = found[0]
    live = in_the_way(inventory, package)
    if not live:
        message = f"No live skill stands in the way of {package.folder}; restore it."
        return Outcome("skill_not_found", message)
    if len(live) > 1:
        folders = ", ".join(skill.folder for skill in live)
        return Outcome("ambiguous", f"Several live skills stand in its way: {folders}.")
    (skill,) = live
    ask_skill(view, skill, terms.config, terms.rules)
    refusal = blocked(inventory) or pinned(skill) or untouchable(skill, inventory, terms)
    if refusal:
        return refusal
    if any(within(s.folder, skill.folder) for s in inventory.skills if s is not skill):
        return Outcome("unsafe_target", f"{skill.folder} holds another skill; move it first.")
    target = place(view, skill, terms)
    if not target:
        return Outcome("destination_exists", "No place in the archive is free.")
    edits: list[AnyChange] = []
    if skill.name != package.name:
        edits += archived_row(skill, inventory, terms)
    values = {"state": ACTIVE, "archived_at": None}
    edits += put(inventory, package.name, values, terms.now)
    moves = [Move(skill.folder, target), Move(package.path, skill.folder)]
    return Outcome(
        "restored",
        f"Archives {skill.folder} as {target} and restores {package.path} in its place.",
        (*moves, *cache(view), *edits),
        claims=frozenset({f"skill:{skill.named}"}),
        locks=locks(view, [skill.folder, package.path, target]),
    )


def compare(view: View, terms: Terms, token: str) -> Compared | None:
    """The package ``token`` means beside the live skill in its way; ``None`` if there is none."""
    inventory = read_inventory(view, terms.config, terms.rules)
    found = find_package(view, token)
    live = in_the_way(inventory, found[0]) if found else ()
    if not live:
        return None
    now, then = _files(view, live[0].folder), _files(view, found[0].path)
    files = tuple(
        Change(path, now.get(path), then.get(path))
        for path in sorted({*now, *then})
        if now.get(path) != then.get(path)
    )
    return Compared(found[0].path, live[0].folder, files)


def in_the_way(inventory: Inventory, package: Package) -> tuple[Skill, ...]:
    """Live skills of the package's name, or at the place it would go to."""
    target = place_for(package)
    return tuple(
        skill for skill in inventory.skills if skill.name == package.name or skill.folder == target
    )


def _files(view: View, folder: str) -> dict[str, Node]:
    return {
        path[len(folder) + 1 :]: node
        for path, node in view.quiet().tree(folder)
        if node.kind is not NodeKind.DIR
    }
