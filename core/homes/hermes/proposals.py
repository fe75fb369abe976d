"""From a pending record to a plan: the agent's own replay, our guards, our advice, the seal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from core.homes.hermes.advice.landing import advise, with_advice
from core.homes.hermes.config import CONFIG, Config, read_config, rules_for
from core.homes.hermes.editing.drafts import Draft
from core.homes.hermes.editing.parts import Part, edited, parts
from core.homes.hermes.memory import guards as memory_guards
from core.homes.hermes.memory import replay as memory_replay
from core.homes.hermes.pending import Proposal, Unreadable
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import guards as skill_guards
from core.homes.hermes.skills import replay as skill_replay
from core.model import Node, NodeKind, Outcome
from core.plan import Plan, bind
from core.view import View

Pins = Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Judging:
    """How proposals are judged: whose rules, which guards, what was pinned when first seen.

    ``rules`` is ``auto``, ``0.19`` or ``newest``. ``pins`` maps :func:`pin_key` to the entry each
    operation would have hit then. ``as_agent`` leaves guards and advice out.
    """

    now: datetime
    environ: Mapping[str, str] = field(default_factory=dict)
    managed: Path | None = None
    rules: str = "auto"
    as_agent: bool = False
    guards_off: frozenset[str] = frozenset()
    pins: Mapping[str, Pins] = field(default_factory=dict)

    def config(self, view: View) -> Config:
        """The home's config; its files are recorded as read, and parsed once a snapshot."""
        view.read(CONFIG)
        if self.managed is not None:
            view.read(str(self.managed / CONFIG))
        return view.shared("config", lambda quiet: read_config(quiet, self.environ, self.managed))

    def rules_of(self, view: View, config: Config, proposal: Proposal | None) -> Rules:
        """The rules in force for one record, or for the home (``None``)."""
        if self.rules != "auto":
            return Rules(self.rules)
        return (
            rules_for(view, config, proposal.raw, proposal.subsystem)
            if proposal
            else rules_for(view, config, None)
        )

    def approval(self, view: View, proposal: Proposal) -> Plan:
        """The plan that approving ``proposal`` commits, on what ``view`` shows."""
        return plan_approval(view, proposal, self)

    def targets(self, view: View, proposal: Proposal) -> dict[int, str]:
        """The entry each destructive operation would hit now."""
        return targets(view, proposal, self)

    def parts(self, proposal: Proposal) -> tuple[Part, ...]:
        """The texts a person can edit in ``proposal``."""
        return parts(proposal)

    def edited(self, proposal: Proposal, changes: Mapping[str, str]) -> Draft:
        """``proposal`` with some of its texts set, by key."""
        return edited(proposal, changes)


def pin_key(proposal: Proposal) -> str:
    """What a pin is kept under: the file with its exact bytes."""
    return f"{proposal.file}#{proposal.sha256}"


def plan_approval(view: View, proposal: Proposal, judging: Judging) -> Plan:
    """The plan that approving ``proposal`` commits, on what ``view`` shows."""
    config = judging.config(view)
    rules = judging.rules_of(view, config, proposal)
    if proposal.payload_problem:
        outcome = Outcome("invalid", proposal.payload_problem)
    else:
        replay = _memory if proposal.subsystem == "memory" else _skills
        outcome = replay(view, proposal, config, rules, judging)
        found = advise(view, proposal, config, rules, outcome, as_agent=judging.as_agent)
        outcome = with_advice(outcome, found)
    return bind(view, "approve", proposal.id, outcome, record=proposal.file)


def plan_rejection(view: View, item: Proposal | Unreadable) -> Plan:
    """The plan that removes a record and nothing else; a link is removed, never its target."""
    node = view.node(item.file)
    outcome = _removable(view, item.file, node)
    return bind(view, "reject", item.id, outcome, record=item.file)


def targets(view: View, proposal: Proposal, judging: Judging) -> dict[int, str]:
    """The entry each destructive memory operation would hit now: what a first sight pins."""
    if proposal.subsystem != "memory":
        return {}
    config = judging.config(view)
    rules = judging.rules_of(view, config, proposal)
    return memory_guards.targets(view, proposal.payload, config, rules)


def _memory(
    view: View, proposal: Proposal, config: Config, rules: Rules, judging: Judging
) -> Outcome:
    outcome = memory_replay.replay(view, proposal.payload, config, rules)
    if judging.as_agent:
        return outcome
    pins = judging.pins.get(pin_key(proposal), {})
    return memory_guards.guard(
        view, proposal.payload, config, rules, outcome, pins, judging.guards_off
    )


def _skills(
    view: View, proposal: Proposal, config: Config, rules: Rules, judging: Judging
) -> Outcome:
    outcome = skill_replay.replay(view, proposal.payload, config, rules, judging.now)
    if judging.as_agent:
        return outcome
    return skill_guards.guard(
        view,
        proposal.payload,
        config,
        rules,
        outcome,
        judging.now,
        proposal.origin,
        judging.guards_off,
    )


def _removable(view: View, path: str, node: Node | None) -> Outcome:
    """Only what can be brought back byte for byte is removed."""
    if node is None:
        return Outcome("gone", "The record is gone: it was decided elsewhere")
    if node.kind is NodeKind.OTHER:
        return Outcome(
            "unsafe_target",
            "It is no readable file, so it could not be brought back; remove it by hand",
        )
    if node.kind is NodeKind.DIR and view.names(path):
        return Outcome("unsafe_target", "It is a folder with something in it; remove it by hand")
    return Outcome("rejected", "The proposal is refused; nothing else was changed")
