"""From a proposed skill to a plan: installed byte for byte, or refused with the reason.

Promotion never happens by itself. The footer that says who proposed it stays in the file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core import text as hidden
from core.homes.hermes.config import Config, Gate
from core.homes.hermes.editing.drafts import Draft
from core.homes.hermes.editing.parts import Part
from core.homes.hermes.pending import Proposal
from core.homes.hermes.proposals import Judging as HermesJudging
from core.homes.hermes.rules import Rules
from core.homes.vak import waiting
from core.homes.vak.home import AGENTS, PROPOSALS, SKILLS, workspace_path
from core.homes.vak.queue import project_of, skill_of, text_of
from core.homes.vak.settings import read_settings
from core.homes.vak.similar import ALIKE, likeness, words
from core.homes.vak.skill_text import (
    SkillText,
    description_problem,
    name_problem,
    read_skill,
    renamed,
)
from core.model import Change, EntryChange, Finding, Node, NodeKind, Outcome, Severity
from core.plan import Plan, bind
from core.view import View, join

SKILL_FILE = "SKILL.md"
CONTENT = "content"
#: Parts of the key of a recorded look-up.
_BETWEEN = "\0"


@dataclass(frozen=True, slots=True)
class Judging(HermesJudging):
    """How proposals of a vak home are judged. ``workspaces`` are paths by their hash."""

    workspaces: Mapping[str, str] = field(default_factory=dict)

    def config(self, view: View) -> Config:
        """What stands for the gates of a home that has none: notes are written at once."""
        settings = read_settings(view)
        source = "config" if settings.file else "default"
        allowed = "writes notes at once" if settings.write_enabled else "may write no notes"
        proposing = "may propose skills" if settings.skill_proposals else "may propose no skills"
        return Config(
            memory_gate=Gate(False, source, f"vak {allowed}; amend and forget come after"),
            skills_gate=Gate(True, source, f"vak {proposing}; none is installed unasked"),
        )

    def rules_of(self, view: View, config: Config, proposal: Proposal | None) -> Rules:
        """Those of hermes-agent do not hold here; one answer, so that seals do not differ."""
        return Rules.V0_19

    def approval(self, view: View, proposal: Proposal) -> Plan:
        """The plan that approving ``proposal`` commits."""
        if waiting.is_note(proposal):
            outcome = waiting.plan(view, proposal, self.now)
            return bind(view, "approve", proposal.id, outcome, record=proposal.file)
        return plan_promotion(view, proposal, self)

    def targets(self, view: View, proposal: Proposal) -> dict[int, str]:
        """Nothing: a promotion replaces nothing."""
        return {}

    def parts(self, proposal: Proposal) -> tuple[Part, ...]:
        """What can be edited: the whole file of a skill, the text of a note."""
        if waiting.is_note(proposal):
            return waiting.parts(proposal)
        return (Part(CONTENT, "skill", text_of(proposal), multiline=True),)

    def edited(self, proposal: Proposal, changes: Mapping[str, str]) -> Draft:
        """``proposal`` with another text."""
        if waiting.is_note(proposal):
            return waiting.edited(proposal, changes)
        return edited(proposal, changes)


def proposing_workspaces(home: Path) -> dict[str, str]:
    """``hash -> path`` of the workspaces in which skills are proposed, as far as it is known."""
    try:
        projects = os.listdir(home / PROPOSALS)
    except OSError:
        return {}
    named = ((project, workspace_path(home, project)) for project in projects)
    return {project: path for project, path in named if path}


def plan_promotion(
    view: View, proposal: Proposal, judging: Judging, name: str | None = None
) -> Plan:
    """The plan that installs a proposed skill, under another ``name`` if one is given."""
    outcome = _outcome(view, proposal, judging, name)
    return bind(view, "approve", proposal.id, outcome, record=proposal.file)


def edited(proposal: Proposal, changes: Mapping[str, str]) -> Draft:
    """A proposal's file with another text; one that is no skill any more is refused."""
    unknown = [key for key in changes if key != CONTENT]
    if unknown:
        return Draft("invalid", f"There is no part {unknown[0]}; it has {CONTENT}.")
    text = changes.get(CONTENT, text_of(proposal))
    if text == text_of(proposal):
        return Draft("noop", "The text is the same; nothing was done.")
    skill = read_skill(text)
    if isinstance(skill, str):
        return Draft("invalid", f"It would be no skill any more: {skill}.")
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        return Draft("invalid", "The text holds half a character.")
    return Draft("ok", "Edited: skill (content).", data)


def _outcome(view: View, proposal: Proposal, judging: Judging, name: str | None) -> Outcome:
    text, skill = text_of(proposal), skill_of(proposal)
    wanted = skill.name if name is None else name
    claims = frozenset({f"skill:{wanted}"})
    if problem := name_problem(wanted):
        return Outcome("invalid_name", f"{problem}.", claims=claims)
    assert wanted is not None
    if problem := description_problem(skill.description):
        category = "too_long" if skill.description else "invalid_frontmatter"
        return Outcome(category, f"{problem}.", claims=claims)
    folder = join(SKILLS, wanted)
    file = join(folder, SKILL_FILE)
    made: list[Change] = []
    for above in (SKILLS, folder):
        kind = view.kind(above)
        if kind is None:
            made.append(Change(above, None, Node(NodeKind.DIR, mode=0o755)))
        elif kind is not NodeKind.DIR and not (above == SKILLS and kind is NodeKind.LINK):
            return Outcome("unsafe_target", f"{above} is no folder.", claims=claims)
    data = (text if name is None else renamed(text, wanted)).encode()
    if view.kind(file) is not None:
        return _exists(view, file, wanted, data.decode(), claims)
    found = () if judging.as_agent else tuple(_advice(view, proposal, skill, wanted, file, judging))
    return Outcome(
        "ok",
        f"The skill {wanted} is installed.",
        (*made, Change(file, None, Node(NodeKind.FILE, data, proposal.mode))),
        findings=found,
        claims=claims,
    )


def _exists(view: View, file: str, name: str, text: str, claims: frozenset[str]) -> Outcome:
    there = view.read(file).data
    try:
        before = None if there is None else there.decode("utf-8")
    except UnicodeDecodeError:
        before = None
    message = (
        f"There is a skill {name} already, and it stays as it is: edit the proposal with"
        " `signoff edit ID`, or promote it under another name with `signoff approve ID --as NAME`."
    )
    pair = EntryChange(before, text)
    return Outcome("skill_exists", message, entries=(pair,), claims=claims)


def _advice(
    view: View, proposal: Proposal, skill: SkillText, name: str, file: str, judging: Judging
) -> Iterator[Finding]:
    yield from hidden.findings(text_of(proposal), file)
    workspace = judging.workspaces.get(project_of(proposal), "")
    key = _BETWEEN.join((proposal.file, workspace))
    nearest, _, score = view.ask("nearest_skill", key, _nearest).partition(_BETWEEN)
    if nearest and nearest != name:
        said = f"It is nearly a copy of the skill {nearest} ({float(score):.0%} alike)"
        yield Finding("near_duplicate", Severity.WARNING, said, file)
    if skill.duplicate_of and skill.duplicate_of != nearest:
        said = f"The agent took it for a copy of {skill.duplicate_of}"
        yield Finding("duplicate_of", Severity.INFO, said, file)
    if workspace and view.kind(join(workspace, ".vak", SKILLS, name, SKILL_FILE)) is not None:
        said = f"The workspace has a skill {name} of its own, which wins there"
        yield Finding("shadowed", Severity.WARNING, said, file)
    if skill.footer is None:
        yield Finding("no_provenance", Severity.INFO, "Nothing in it says who proposed it", file)
    elif not skill.footer.session_id:
        said = "It names no session that proposed it"
        yield Finding("no_provenance", Severity.INFO, said, file)


def _nearest(view: View, key: str) -> str:
    """The first installed skill that a proposal is nearly a copy of, with the likeness."""
    file, _, workspace = key.partition(_BETWEEN)
    mine = words(_screened(view, file))
    folders = [join(workspace, ".vak", SKILLS)] if workspace else []
    folders += [SKILLS, *(join(AGENTS, agent, SKILLS) for agent in sorted(view.names(AGENTS)))]
    for folder in folders:
        for name in sorted(view.names(folder)):
            found = likeness(mine, words(_screened(view, join(folder, name, SKILL_FILE))))
            if found >= ALIKE:
                return f"{name}{_BETWEEN}{found:.4f}"
    return ""


def _screened(view: View, file: str) -> str:
    data = view.read(file).data
    if data is None:
        return ""
    skill = read_skill(data.decode("utf-8", "replace"))
    return "" if isinstance(skill, str) else skill.screened
