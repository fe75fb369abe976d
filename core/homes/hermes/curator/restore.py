"""A package of the archive put back, by the folder it lies in.

hermes-agent 0.19.0, ``restore_skill``, goes by one text: it takes the first folder of that name
anywhere in the archive, writes the state under that text, and looks only at the place it goes to.
Here the package is listed, its row is the one its head names, and a live skill of the same name
is a collision wherever it lies.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from core.homes.hermes.config import Config
from core.homes.hermes.curator.acting import blocked, listed, locks, put
from core.homes.hermes.curator.archive import cache
from core.homes.hermes.curator.inventory import (
    Inventory,
    Terms,
    is_managed,
    protected_names,
    read_inventory,
)
from core.homes.hermes.curator.origins import suppress
from core.homes.hermes.curator.packages import Package, find_package, newer_copies
from core.homes.hermes.curator.transitions import ACTIVE, Rule, decide
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.actions import FOLDER
from core.homes.hermes.skills.archiving import within
from core.homes.hermes.skills.tree import EXCLUDED, SKILLS, has_skill_file, list_skills
from core.model import AnyChange, Change, Finding, Move, NodeKind, Outcome, Severity
from core.view import View, join, name, parent


def plan_restore(
    view: View, terms: Terms, token: str, to: str | None = None, *, pin: bool = False
) -> Outcome:
    """Put back the package ``token`` means (see :func:`find_package`).

    It goes to ``skills/<its folder without a stamp>``, or to ``to``: a folder below ``skills/``.
    ``pin`` pins it in the same step. Refusals: ``not_in_archive``, ``name_is_hub_installed``,
    ``name_is_bundled``, ``destination_exists``, ``unsafe_target``, ``external_read_only``.
    """
    inventory = read_inventory(view, terms.config, terms.rules)
    found = find_package(view, token)
    if not found:
        owned = _owned(token, inventory, terms)
        return owned or Outcome("not_in_archive", f"The archive holds no skill {token}.")
    package = found[0]
    target = _below_skills(package.base if to is None else to)
    if target is None:
        return Outcome("unsafe_target", "The place to restore to is no folder below skills/.")
    refusal = blocked(inventory) or refused(view, package, target, inventory, terms)
    if refusal:
        return refusal
    values: dict[str, Any] = {"state": ACTIVE, "archived_at": None}
    edits: tuple[AnyChange, ...] = ()
    if package.name not in protected_names(terms.rules):
        edits = put(inventory, package.name, values, terms.now)
        if pin:
            edits += put(inventory, package.name, {"pinned": True}, terms.now)
    made = [Change(folder, None, FOLDER) for folder in missing_folders(view, target)]
    lifted = suppress(view, lifted=(package.name, package.base))
    changes: list[AnyChange] = [*made, Move(package.path, target), *lifted, *cache(view), *edits]
    return Outcome(
        "restored",
        f"Restores {package.name} from {package.path} to {target}.",
        tuple(changes),
        tuple(_notes(package, found[1:], inventory, terms, pin=pin)),
        claims=frozenset({f"skill:{name(target)}"}),
        locks=locks(view, [package.path, target]),
    )


def place_for(package: Package) -> str:
    """Where a package goes unless a place is named: directly below ``skills/``, as the agent's."""
    return join(SKILLS, package.base)


def refused(
    view: View, package: Package, target: str, inventory: Inventory, terms: Terms
) -> Outcome | None:
    """Why ``package`` cannot come to ``target``, ``None`` if it can."""
    for named in (package.name, package.base):
        if owned := _owned(named, inventory, terms):
            return owned
    if any(within(target, folder) for folder in terms.config.external_dirs):
        return Outcome("external_read_only", f"{target} lies in an external folder.")
    if view.kind(target) is not None:
        return Outcome("destination_exists", f"{target} is there already.{_advice(target)}")
    above = parent(target)
    while above != SKILLS:
        if view.kind(above) not in (None, NodeKind.DIR):
            return Outcome("unsafe_target", f"{above} is no folder.")
        if has_skill_file(view, above):
            return Outcome("unsafe_target", f"{above} is a skill itself; nothing goes into it.")
        above = parent(above)
    key = json.dumps(_key(package.name, terms))
    live = json.loads(view.ask("curator-live", key, _live, f"what else is called {package.name}"))
    if live:
        message = f"A live skill is called {package.name} too: {listed(live)}."
        return Outcome("destination_exists", message + _advice(live[0]))
    return None


def _owned(named: str, inventory: Inventory, terms: Terms) -> Outcome | None:
    """Why the name is not for a restored skill: it belongs to the hub, or to the bundle."""
    origins = inventory.origins
    if origins.problem:
        return Outcome("unreadable_target", f"{origins.problem}.")
    if named in origins.hub:
        message = f"{named} is installed by the hub now; restoring would hide that one."
        return Outcome("name_is_hub_installed", message)
    if named in origins.bundled and not terms.settings.prune_builtins:
        message = f"{named} is bundled, and curator.prune_builtins is off."
        return Outcome("name_is_bundled", message)
    return None


def _advice(live: str) -> str:
    return f" Archive {live} first, or leave it."


def _below_skills(to: str) -> str | None:
    """The folder that ``to`` names below ``skills/``, ``None`` if it is no place for a skill."""
    if not to.strip() or to.startswith("/") or "\0" in to:
        return None
    path = posixpath.normpath(to)
    path = path if path.startswith(SKILLS + "/") else join(SKILLS, path)
    parts = path.split("/")[1:]
    if not parts or ".." in to.split("/") or any(p in EXCLUDED or p[:1] == "." for p in parts):
        return None
    return path


def missing_folders(view: View, target: str) -> list[str]:
    """The folders above ``target`` that are not there, outermost first."""
    missing = []
    above = parent(target)
    while above and view.kind(above) is None:
        missing.append(above)
        above = parent(above)
    return missing[::-1]


def _key(named: str, terms: Terms) -> list[object]:
    config = terms.config
    return [named, list(config.external_dirs), config.create_dir, str(terms.rules)]


def _live(view: View, key: str) -> str:
    """The live folders whose head says the name."""
    named, *searched = json.loads(key)
    found = view.shared(f"curator-live {searched}", lambda quiet: _by_name(quiet, *searched))
    return json.dumps(found.get(named, []))


def _by_name(
    view: View, external: list[str], create_dir: str | None, rules: str
) -> dict[str, list[str]]:
    config = Config(external_dirs=tuple(external), create_dir=create_dir)
    found: dict[str, list[str]] = {}
    for each in list_skills(view, config, Rules(rules)):
        found.setdefault(each.declared, []).append(each.folder)
    return found


def _notes(
    package: Package,
    others: tuple[Package, ...],
    inventory: Inventory,
    terms: Terms,
    *,
    pin: bool,
) -> Iterator[Finding]:
    rows = inventory.rows
    if newer := newer_copies(package, others, rows.rows):
        message = f"It is not the newest copy: {newer[0].folder} was archived after it."
        yield Finding("newer_copy", Severity.WARNING, message, package.path)
    if others:
        copies = listed(other.folder for other in others)
        message = f"Other copies of it stay in the archive: {copies}."
        yield Finding("other_copies", Severity.INFO, message, package.path)
    if package.name in rows.rows and rows.row(package.name) is None:
        message = f"The row of {package.name} is no object: it is left as it is."
        yield Finding("row_not_understood", Severity.WARNING, message, usage.PATH)
    row = rows.row(package.name)
    if row is None or pin or not _ages(package, row, inventory, terms):
        return
    after: Mapping[str, Any] = {**row, "state": ACTIVE}
    decision = decide(after, terms.now, terms.settings.limits)
    if decision.rule is Rule.ARCHIVED and decision.anchor is not None:
        days = (terms.now - decision.anchor).days
        message = (
            f"The next run of the curator archives it again: nobody touched it for {days} days."
            " Pin it to keep it."
        )
        yield Finding("archived_again", Severity.WARNING, message, package.path)


def _ages(package: Package, row: Mapping[str, Any], inventory: Inventory, terms: Terms) -> bool:
    if package.name in protected_names(terms.rules):
        return False
    if package.name in inventory.origins.bundled:
        return terms.settings.prune_builtins
    return is_managed(row) and package.name not in inventory.references.exact
