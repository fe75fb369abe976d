"""Pin, unpin and adopt: one field of one row each.

hermes-agent 0.19.0 says "pinned" for names that do not exist, refuses bundled skills although it
ages them, and does not say that a pin on a skill it does not manage changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.homes.hermes.curator.acting import blocked, listed, meant, put, storable
from core.homes.hermes.curator.inventory import (
    Inventory,
    Skill,
    Terms,
    is_candidate,
    read_inventory,
)
from core.homes.hermes.curator.transitions import Rule, decide
from core.homes.hermes.skills import usage
from core.model import AnyChange, Finding, Outcome, Severity
from core.view import View


def plan_pin(view: View, terms: Terms, token: str, pinned: bool) -> Outcome:
    """Set or clear the pin of the skill ``token`` names.

    ``pinned_ok`` and ``unpinned``, also where nothing has to change; ``not_agent_created`` for
    skills no pin can reach (hub, external, protected, bundled ones that are not pruned).
    """
    inventory = read_inventory(view, terms.config, terms.rules)
    skill = meant(view, terms, inventory, token)
    if isinstance(skill, Outcome):
        others = inventory.origins.hub | inventory.origins.bundled
        if skill.category == "skill_not_found" and token in others:
            return Outcome("not_agent_created", f"{token} is not here, and is not the agent's own.")
        return skill
    refusal = blocked(inventory) or _no_pin(skill, inventory, terms)
    if refusal:
        return refusal
    word = "pinned" if pinned else "unpinned"
    category = "pinned_ok" if pinned else "unpinned"
    findings = tuple(_notes(skill, terms)) if pinned else ()
    claims = frozenset({f"skill:{skill.named}"})
    held = (skill.row or {}).get("pinned")
    if (held is True) if pinned else (not held):
        said = f"{skill.name} is {word} already."
        return Outcome(category, said, findings=findings, claims=claims)
    edits = put(inventory, skill.name, {"pinned": pinned}, terms.now)
    says = "the curator leaves it where it is" if pinned else "it ages like any other"
    return Outcome(
        category,
        f"{skill.name} is {word}: {says}.",
        edits,
        findings,
        claims=claims,
        locks=(usage.LOCK,),
    )


def plan_adopt(view: View, terms: Terms, tokens: Sequence[str]) -> Outcome:
    """Let the curator manage skills it did not make: all of ``tokens``, or none.

    Their clocks are not set back: an old one may be archived by the next run, which is said.
    """
    inventory = read_inventory(view, terms.config, terms.rules)
    if refusal := blocked(inventory):
        return refusal
    edits: list[AnyChange] = []
    adopted: list[Skill] = []
    for token in dict.fromkeys(tokens):
        skill = meant(view, terms, inventory, token)
        if isinstance(skill, Outcome):
            return skill
        if refusal := _no_adoption(skill, inventory):
            return refusal
        if not skill.managed:
            edits += put(inventory, skill.name, {"created_by": "agent"}, terms.now)
            adopted.append(skill)
    named = tuple(dict.fromkeys(skill.name for skill in adopted))
    claims = frozenset(f"skill:{name}" for name in named)
    if not edits:
        return Outcome("noop", "The curator manages them already.", claims=claims)
    message = f"The curator manages {listed(named)} from now on; their age counts as it is."
    findings = tuple(_on_adoption(adopted, terms))
    return Outcome("ok", message, tuple(edits), findings, claims=claims, locks=(usage.LOCK,))


def plan_adopt_all(view: View, terms: Terms) -> Outcome:
    """Let the curator manage every skill that it could and does not yet."""
    inventory = read_inventory(view, terms.config, terms.rules)
    if inventory.origins.problem:
        return Outcome("unreadable_target", f"{inventory.origins.problem}.")
    return plan_adopt(view, terms, [skill.folder for skill in unmanaged(inventory)])


def unmanaged(inventory: Inventory) -> tuple[Skill, ...]:
    """The skills that can be adopted and are not yet; hand-written ones mostly."""
    return tuple(
        skill
        for skill in inventory.skills
        if not skill.managed and _no_adoption(skill, inventory) is None
    )


def _on_adoption(adopted: Sequence[Skill], terms: Terms) -> Iterator[Finding]:
    now, limits = terms.now, terms.settings.limits
    old = [
        skill.name
        for skill in adopted
        if decide(skill.row, now, limits, cron=bool(skill.jobs)).rule is Rule.ARCHIVED
    ]
    if old:
        message = f"The next run of the curator archives {listed(old)}: pin what is to stay."
        yield Finding("archived_next", Severity.WARNING, message)
    for skill in adopted:
        if skill.twins:
            message = f"{listed(skill.twins)} has the same name, and so is adopted too."
            yield Finding("duplicate_name", Severity.WARNING, message, skill.folder)


def _no_pin(skill: Skill, inventory: Inventory, terms: Terms) -> Outcome | None:
    said = {
        "hub": "was installed by the hub",
        "external": "lies in an external folder",
        "bundled": "is bundled, and curator.prune_builtins is off",
    }
    why = said.get(skill.provenance, "")
    if skill.protected:
        why = "is a built-in that the agent never archives"
    elif skill.provenance == "bundled" and terms.settings.prune_builtins:
        why = ""
    if why:
        return Outcome("not_agent_created", f"{skill.name} {why}: the curator never touches it.")
    return _unknown(skill, inventory)


def _no_adoption(skill: Skill, inventory: Inventory) -> Outcome | None:
    refusals = {
        "hub": ("hub_installed", "was installed by the hub"),
        "bundled": ("name_is_bundled", "has the name of a bundled skill"),
        "external": ("external_read_only", "lies in an external folder"),
    }
    if skill.protected:
        return Outcome("protected_builtin", f"{skill.name} is a protected built-in.")
    if skill.provenance in refusals:
        category, why = refusals[skill.provenance]
        return Outcome(category, f"{skill.name} {why}.")
    return _unknown(skill, inventory)


def _unknown(skill: Skill, inventory: Inventory) -> Outcome | None:
    """Why nothing can be written about ``skill``: its row or its origin is not understood."""
    if inventory.origins.problem:
        return Outcome("unreadable_target", f"{inventory.origins.problem}.")
    if not storable(skill.name):
        message = f"{skill.name} is no text, so it can have no row; rename its folder first."
        return Outcome("unreadable_target", message)
    if skill.row_is_odd:
        message = f"The row of {skill.name} in {usage.PATH} is no object; put it right first."
        return Outcome("unreadable_target", message)
    return None


def _notes(skill: Skill, terms: Terms) -> list[Finding]:
    found = []
    if not is_candidate(skill, terms):
        message = (
            f"The curator does not manage {skill.name}, so the pin changes nothing"
            " until it is adopted."
        )
        found.append(Finding("unmanaged", Severity.INFO, message, skill.folder))
    if skill.twins:
        others = ", ".join(skill.twins)
        message = f"The pin holds for every skill called {skill.name}: {others} too."
        found.append(Finding("duplicate_name", Severity.WARNING, message, skill.folder))
    return found
