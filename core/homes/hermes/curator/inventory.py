"""Every skill of a home in one table: both identities, provenance, row, who refers to it.

A skill is known by the name in its head (rows, pins, provenance) and by its folder (the agent's
tools, archive and restore); hermes-agent 0.19.0 mixes them up. Only the part of a path below the
root is tested for folders to skip: a home may lie below one called ``venv``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.homes.hermes.config import Config
from core.homes.hermes.curator.cron import Job, References, read_references, words_for
from core.homes.hermes.curator.origins import Origins, read_origins
from core.homes.hermes.curator.settings import Settings
from core.homes.hermes.curator.transitions import ACTIVE
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.archiving import within
from core.homes.hermes.skills.guards import PROTECTED
from core.homes.hermes.skills.tree import SKILLS, SkillFolder, list_skills
from core.view import View, name


@dataclass(frozen=True, slots=True)
class Terms:
    """What judges the skills of a home: its config, the curator's settings, rules and clock."""

    config: Config
    settings: Settings
    rules: Rules
    now: datetime


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. ``name`` is the one its head says, ``folder`` its path as a view names it.

    ``provenance`` is ``hub``, ``bundled``, ``external``, ``agent`` (the curator may manage it) or
    ``user``; ``row`` is its usage row if it has one that is an object. ``exact``: a job lists its
    very name, which is all the agent looks at; ``jobs`` holds every job that uses it. ``twins``
    are other folders whose head says the same name.
    """

    name: str
    folder: str
    root: str
    category: str
    provenance: str
    managed: bool
    protected: bool
    row: Mapping[str, Any] | None
    row_is_odd: bool
    jobs: tuple[Job, ...]
    bundles: tuple[str, ...]
    exact: bool
    twins: tuple[str, ...]

    @property
    def named(self) -> str:
        """The folder's own name."""
        return name(self.folder)

    @property
    def state(self) -> str:
        """The state its row says, ``active`` without one; a state that is no text reads as said."""
        return str((self.row or {}).get("state", ACTIVE))

    @property
    def pinned(self) -> bool:
        """Whether the agent takes it for pinned: any value that is true, also text."""
        return bool((self.row or {}).get("pinned"))


@dataclass(frozen=True, slots=True)
class Inventory:
    """All skills in the order the agent meets them, and what they were judged by."""

    skills: tuple[Skill, ...]
    rows: usage.Rows
    origins: Origins
    references: References

    def candidates(self, terms: Terms) -> tuple[Skill, ...]:
        """What one pass of the curator looks at: one skill a name, sorted by name.

        Of folders with one name the agent takes the first it meets.
        """
        found: dict[str, Skill] = {}
        for skill in self.skills:
            if is_candidate(skill, terms):
                found.setdefault(skill.name, skill)
        return tuple(found[key] for key in sorted(found))

    def named(self, token: str) -> tuple[Skill, ...]:
        """The skills ``token`` means: by path, else by head's name, else by folder's name.

        A path as a view names it (``skills/ops/deploy``) never means another skill, whatever a head
        says; one below the root (``ops/deploy``) comes last.
        """
        exact = [skill for skill in self.skills if skill.folder == token.rstrip("/")]
        if exact or token.startswith((f"{SKILLS}/", "/")):
            return tuple(exact)
        for match in (
            [skill for skill in self.skills if skill.name == token],
            [skill for skill in self.skills if skill.named == token],
        ):
            if match:
                return tuple(match)
        path = token.strip("/")
        return tuple(skill for skill in self.skills if path == skill.folder[len(skill.root) + 1 :])


def is_candidate(skill: Skill, terms: Terms) -> bool:
    """Whether one pass of the curator looks at ``skill`` (0.19.0, executed)."""
    if skill.provenance in ("hub", "external") or skill.protected:
        return False
    if skill.provenance == "bundled":
        return terms.settings.prune_builtins
    return skill.managed


def read_inventory(view: View, config: Config, rules: Rules) -> Inventory:
    """The table, made once for all views of one snapshot.

    The files that judge (jobs, manifest, lock file) are recorded as read; skills and rows are not:
    a plan records what it depends on with :func:`ask_skill`.
    """
    origins, references = read_origins(view), read_references(view)
    return view.shared(
        "curator-inventory", lambda quiet: _build(quiet, config, rules, origins, references)
    )


def ask_skill(view: View, skill: Skill, config: Config, rules: Rules) -> None:
    """Record that a plan depends on what ``skill`` is: its names, its place, whose it is."""
    key = [skill.folder, list(config.external_dirs), config.create_dir, str(rules)]
    view.ask("curator-skill", json.dumps(key), _told, skill.folder)


def is_managed(row: object) -> bool:
    """Whether a row lets the curator manage its skill: exactly ``"agent"``, exactly ``true``."""
    if not isinstance(row, dict):
        return False
    return row.get("created_by") == "agent" or row.get("agent_created") is True


def protected_names(rules: Rules) -> frozenset[str]:
    """Built-in names that 0.19.0 never lets its curator touch; newer agents have none."""
    return PROTECTED if rules is Rules.V0_19 else frozenset()


def _told(view: View, key: str) -> str:
    folder, external, create_dir, rules = json.loads(key)
    config = Config(external_dirs=tuple(external), create_dir=create_dir)
    for skill in read_inventory(view, config, Rules(rules)).skills:
        if skill.folder == folder:
            said = [skill.name, skill.provenance, skill.row_is_odd, skill.twins]
            return json.dumps([*said, bool(skill.jobs), skill.pinned])
    return ""


def _build(
    view: View, config: Config, rules: Rules, origins: Origins, references: References
) -> Inventory:
    rows = usage.load(view)
    folders = list_skills(view, config, rules)
    same: dict[str, list[str]] = {}
    others = {each.folder for each in folders if _external(each, config)}
    for each in folders:
        if each.folder not in others:
            same.setdefault(each.declared, []).append(each.folder)
    protected, exact = protected_names(rules), references.exact
    asked = bool(references.jobs or references.bundles)
    found = []
    for each in folders:
        external = each.folder in others
        row = rows.row(each.declared)
        managed = is_managed(row)
        words = words_for(each.declared, each.folder, each.root) if asked else frozenset[str]()
        found.append(
            Skill(
                name=each.declared,
                folder=each.folder,
                root=each.root,
                category=each.category,
                provenance=_provenance(each.declared, external, managed, origins),
                managed=managed,
                protected=each.declared in protected,
                row=row,
                row_is_odd=row is None and each.declared in rows.rows,
                jobs=references.jobs_of(words),
                bundles=tuple([bundle.name for bundle in references.bundles_of(words)]),
                exact=each.declared in exact,
                twins=()
                if external or len(same[each.declared]) == 1
                else tuple(folder for folder in same[each.declared] if folder != each.folder),
            )
        )
    return Inventory(tuple(found), rows, origins, references)


def _provenance(declared: str, external: bool, managed: bool, origins: Origins) -> str:
    if external:
        return "external"
    if declared in origins.hub:
        return "hub"
    if declared in origins.bundled:
        return "bundled"
    return "agent" if managed else "user"


def _external(each: SkillFolder, config: Config) -> bool:
    """Whether a folder belongs to others; one below ``skills/`` may be configured as external."""
    return not within(each.folder, SKILLS) or any(
        within(each.folder, folder) for folder in config.external_dirs
    )
