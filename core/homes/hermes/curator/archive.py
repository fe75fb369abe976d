"""A skill moved to the archive by hand, as the agent's curator does it, its references first.

hermes-agent 0.19.0, ``archive_skill``: the folder goes to ``skills/.archive`` under its own name,
its category is forgotten, the row says archived, a bundled name is suppressed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass

from core.homes.hermes.curator.acting import (
    blocked,
    locks,
    meant,
    odd_row,
    owner_of,
    pinned,
    put,
    storable,
    untouchable,
)
from core.homes.hermes.curator.inventory import Inventory, Skill, Terms, read_inventory
from core.homes.hermes.curator.origins import suppress
from core.homes.hermes.curator.transitions import ARCHIVED
from core.homes.hermes.skills.actions import FOLDER
from core.homes.hermes.skills.archiving import free_place, within
from core.homes.hermes.skills.replay import CACHE
from core.homes.hermes.skills.rules import SKILL_FILE
from core.homes.hermes.skills.tree import ARCHIVE, SKILLS
from core.model import AnyChange, Change, Finding, Move, NodeKind, Outcome, Severity
from core.view import View, join

#: A name shorter than this is found in other skills' texts by chance.
_SHORTEST_MENTION = 5


@dataclass(frozen=True, slots=True)
class Reference:
    """Something that names a skill: a ``job``, a ``bundle`` or another ``skill``."""

    kind: str
    name: str
    at: str


def plan_archive(view: View, terms: Terms, token: str) -> Outcome:
    """Move the skill ``token`` names to the archive; what still refers to it is a finding."""
    inventory = read_inventory(view, terms.config, terms.rules)
    skill = meant(view, terms, inventory, token)
    if isinstance(skill, Outcome):
        unknown = skill.category == "skill_not_found"
        return (unknown and owner_of(token, inventory, terms)) or skill
    refusal = blocked(inventory) or pinned(skill) or untouchable(skill, inventory, terms)
    if refusal or skill.folder == SKILLS:
        message = "SKILL.md lies in the folder of all skills; it cannot be archived."
        return refusal or Outcome("unsafe_target", message)
    target = place(view, skill, terms)
    if not target:
        return Outcome("destination_exists", f"{ARCHIVE} cannot be used: no place in it is free.")
    bundled = [skill.name] if skill.provenance == "bundled" else []
    changes: list[AnyChange] = [
        *archive_folder(view),
        Move(skill.folder, target),
        *suppress(view, bundled),
        *cache(view),
        *archived_row(skill, inventory, terms),
    ]
    findings = [*_referred(view, skill, inventory)]
    if skill.row_is_odd or not storable(skill.name):
        findings.append(odd_row(skill))
    if skill.twins and not skill.row_is_odd:
        message = (
            f"{', '.join(skill.twins)} has the same name and so the same row,"
            " which says archived from then on."
        )
        findings.append(Finding("duplicate_name", Severity.WARNING, message, skill.folder))
    inside = [s.folder for s in inventory.skills if within(s.folder, skill.folder)]
    if len(inside) > 1:
        message = f"It holds {len(inside) - 1} more skills, which go with it."
        findings.append(Finding("nested_skills", Severity.WARNING, message, skill.folder))
    return Outcome(
        "archived",
        f"Archives {skill.name} as {target}.",
        tuple(changes),
        tuple(findings),
        claims=frozenset({f"skill:{skill.named}"}),
        locks=locks(view, [skill.folder]),
    )


def place(view: View, skill: Skill, terms: Terms, taken: Container[str] = ()) -> str:
    """Where ``skill`` would stand in the archive, ``""`` if nowhere."""
    if view.kind(ARCHIVE) not in (None, NodeKind.DIR):
        return ""
    return free_place(view, skill.named, terms.now, taken)


def archive_folder(view: View) -> list[Change]:
    """The archive made, if there is none."""
    return [] if view.kind(ARCHIVE) else [Change(ARCHIVE, None, FOLDER)]


def archived_row(skill: Skill, inventory: Inventory, terms: Terms) -> tuple[AnyChange, ...]:
    """The row that says archived, now; nothing for a row that is no object."""
    values = {"state": ARCHIVED, "archived_at": terms.now.isoformat()}
    return put(inventory, skill.name, values, terms.now)


def cache(view: View) -> list[Change]:
    """The agent's list of skills goes with every move; it is rebuilt at will."""
    node = view.quiet().node(CACHE)
    if node is None or node.kind not in (NodeKind.FILE, NodeKind.LINK):
        return []
    return [Change(CACHE, node, None, cache=True)]


def references(view: View, skill: Skill, inventory: Inventory) -> tuple[Reference, ...]:
    """Who names ``skill``: jobs, bundles, and other skills in the text of their SKILL.md."""
    found = [Reference("job", job.shown, job.id) for job in skill.jobs]
    found += [Reference("bundle", bundle, "") for bundle in skill.bundles]
    words = {word for word in (skill.name, skill.named) if len(word) >= _SHORTEST_MENTION}
    if not words:
        return tuple(found)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(words)))})(?![\w-])")
    quiet = view.quiet()
    for other in inventory.skills:
        if other.name != skill.name and not within(other.folder, skill.folder):
            path = join(other.folder, SKILL_FILE)
            text = (quiet.read(path).data or b"").decode("utf-8", "replace")
            if pattern.search(text):
                found.append(Reference("skill", other.name, path))
    return tuple(found)


def _referred(view: View, skill: Skill, inventory: Inventory) -> Iterator[Finding]:
    if inventory.references.problem:
        message = f"{inventory.references.problem}: a scheduled job may need {skill.name}."
        yield Finding("jobs_unreadable", Severity.WARNING, message)
    for found in references(view, skill, inventory):
        said = {
            "job": f"The scheduled job {found.name} uses it and will run without it.",
            "bundle": f"The bundle {found.name} loads it.",
            "skill": f"The skill {found.name} names it.",
        }[found.kind]
        severity = Severity.INFO if found.kind == "skill" else Severity.WARNING
        yield Finding(f"referred_by_{found.kind}", severity, said, found.at or None)
