"""What every plan of the curator is made of: the skill meant, its locks, its refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from core.homes.hermes.curator.inventory import Inventory, Skill, Terms, ask_skill, protected_names
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.replay import LOCKS
from core.model import Finding, NodeKind, Outcome, RowEdit, Severity
from core.view import View, join, name, sha256

#: Locks of single skills held at once; a run that moves more holds the rows' lock and its claim.
MAX_LOCKS = 256
#: Folders named in one sentence; more are only counted.
NAMED = 4


def blocked(inventory: Inventory) -> Outcome | None:
    """The refusal of every write while the rows cannot be read: saving would lose them."""
    problem = inventory.rows.problem
    if not problem:
        return None
    said = problem if problem.startswith(usage.PATH) else f"{usage.PATH} cannot be read ({problem})"
    message = f"{said}. Put it right or move it away first: its pins and counts would be lost."
    return Outcome("unreadable_target", message)


def meant(view: View, terms: Terms, inventory: Inventory, token: str) -> Skill | Outcome:
    """The one skill ``token`` names, recorded; else why there is none.

    ``ambiguous`` for several: the agent takes whichever it meets first.
    """
    found = inventory.named(token)
    if not found:
        return Outcome("skill_not_found", f"There is no skill {token}.")
    if len(found) > 1:
        folders = listed(skill.folder for skill in found)
        return Outcome("ambiguous", f"{token} means several skills, name a folder: {folders}.")
    ask_skill(view, found[0], terms.config, terms.rules)
    return found[0]


def pinned(skill: Skill) -> Outcome | None:
    """The refusal to move a pinned skill; the agent refuses its own command, too."""
    return Outcome("pinned", f"{skill.name} is pinned; unpin it first.") if skill.pinned else None


def untouchable(skill: Skill, inventory: Inventory, terms: Terms) -> Outcome | None:
    """Why nothing may change the life of ``skill``, in the agent's order; ``None`` if it may."""
    if skill.provenance == "external":
        message = f"{skill.name} lies in an external folder, which is read-only to the curator."
        return Outcome("external_read_only", message)
    if inventory.origins.problem:
        message = f"{inventory.origins.problem}, so it is not known whose {skill.name} is."
        return Outcome("unreadable_target", message)
    if skill.protected:
        message = f"{skill.name} is a built-in that the agent never archives."
        return Outcome("protected_builtin", message)
    if skill.provenance == "hub":
        return Outcome("hub_installed", f"{skill.name} was installed by the hub.")
    if skill.provenance == "bundled" and not terms.settings.prune_builtins:
        message = f"{skill.name} is bundled with the agent, and curator.prune_builtins is off."
        return Outcome("builtin_prune_off", message)
    return None


def owner_of(name: str, inventory: Inventory, terms: Terms) -> Outcome | None:
    """Whose a name is that no live skill has: the agent says so before it looks for a folder."""
    if name in protected_names(terms.rules):
        return Outcome("protected_builtin", f"{name} is a built-in that the agent never archives.")
    if name in inventory.origins.hub:
        return Outcome("hub_installed", f"{name} belongs to the hub, and it is not here.")
    if name in inventory.origins.bundled and not terms.settings.prune_builtins:
        message = f"{name} is bundled with the agent, and curator.prune_builtins is off."
        return Outcome("builtin_prune_off", message)
    return None


def locks(view: View, folders: Iterable[str]) -> tuple[str, ...]:
    """The rows' lock, and newer agents' lock of each folder's name where they keep locks."""
    found = [usage.LOCK]
    names = dict.fromkeys(name(folder) for folder in folders)
    if view.kind(LOCKS) is NodeKind.DIR and len(names) <= MAX_LOCKS:
        for named in names:
            digest = sha256(named.encode("utf-8", "surrogateescape"))
            found.append(join(LOCKS, f"{digest}.lock"))
    return tuple(found)


def put(
    inventory: Inventory, key: str, values: Mapping[str, Any], now: datetime
) -> tuple[RowEdit, ...]:
    """Fields of one row set; nothing for a row that is odd, or a name that no row can have."""
    return usage.put(inventory.rows, key, values, now) if storable(key) else ()


def storable(key: str) -> bool:
    """Whether ``key`` can stand in a file of rows: a folder's name may be no text at all."""
    try:
        key.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def odd_row(skill: Skill) -> Finding:
    """What is said about a row that is no object, or cannot be: it does not say the new state."""
    return Finding(
        "row_not_understood",
        Severity.WARNING,
        f"The row of {skill.name} in {usage.PATH} cannot say so: it is left as it is.",
        usage.PATH,
    )


def listed(paths: Iterable[str]) -> str:
    """Some of ``paths`` in words."""
    found = list(paths)
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return ", ".join(found[:NAMED]) + more
