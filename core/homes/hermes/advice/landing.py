"""All advice on one proposal: what its new text holds, and what the agent's own tools make of it.

Only text that is new beside what stands there is looked at. Hidden characters, what the memory
scanner says of a skill, and everything the guards ask are found elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.homes.hermes.advice.addresses import addresses
from core.homes.hermes.advice.alarms import named, ordinary
from core.homes.hermes.advice.commands import commands
from core.homes.hermes.advice.credentials import credentials
from core.homes.hermes.advice.lookalikes import look_alikes
from core.homes.hermes.advice.places import Detector, added, gathered, new_places
from core.homes.hermes.advice.stalls import stalls
from core.homes.hermes.config import Config
from core.homes.hermes.pending import Proposal
from core.homes.hermes.rules import Rules
from core.homes.hermes.scanners import memory as scanner
from core.homes.hermes.skills.tree import SKILLS, has_skill_file
from core.model import Change, Finding, Node, NodeKind, Outcome, Severity
from core.text import one_line
from core.view import View, join


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of thing to look for: its code, its name for one and for many."""

    code: str
    detector: Detector
    one: str
    many: str


_KINDS = (
    _Kind("secret", credentials, "secret in plain text", "secrets in plain text"),
    _Kind("look_alike", look_alikes, "word of mixed letters", "words of mixed letters"),
    _Kind("shell_command", commands, "shell command", "shell commands"),
    _Kind("url", addresses, "web address", "web addresses"),
)
_STALL = _Kind("agent_stall", stalls, "stall of the agent's scanner", "stalls")
#: Fields of a memory operation whose text the agent scans.
_SCANNED = ("content", "new_text")
_THREATS = ("threat_pattern", "threat_invisible_unicode")


def advise(
    view: View,
    proposal: Proposal,
    config: Config,
    rules: Rules,
    outcome: Outcome,
    *,
    as_agent: bool = False,
) -> tuple[Finding, ...]:
    """Findings to add to ``outcome``, at most one a code and file; no status depends on them.

    For a proposal that lands they stand at offsets into its files, for a refused memory record at
    its fields (``content:12``, ``operations.2.content:12``). ``as_agent`` leaves only what the
    agent's own approval would destroy.
    """
    found: list[Finding] = []
    if proposal.subsystem == "skills":
        found += _rollback(view, proposal.payload, config, rules, outcome, as_agent=as_agent)
    if as_agent:
        return tuple(found)
    memory = proposal.subsystem == "memory"
    for change in outcome.changes if outcome.lands else ():
        if isinstance(change, Change) and not change.cache:
            found += _on_file(change, memory=memory)
    if memory and not outcome.lands:
        found += _on_fields(proposal.payload, outcome)
    return tuple(found)


# -- what lands ------------------------------------------------------------------------------------


def _on_file(change: Change, *, memory: bool) -> Iterator[Finding]:
    after = _text(change.after)
    if not after:
        return
    before = _text(change.before) or ""
    spans = added(before, after)
    for kind in (*_KINDS, _STALL) if memory else _KINDS:
        if places := new_places(kind.detector, before, after, spans):
            yield gathered(kind.code, (kind.one, kind.many), places, change.path)


def _text(node: Node | None) -> str | None:
    """A file's text with LF line ends, ``None`` for anything that is no text file."""
    if node is None or node.kind is not NodeKind.FILE:
        return None
    try:
        return node.data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return None


# -- what the agent refuses ------------------------------------------------------------------------


def _on_fields(payload: Mapping[str, object], outcome: Outcome) -> Iterator[Finding]:
    for at, text in _fields(payload):
        if outcome.category in _THREATS:
            yield from _alarms(at, text)
        if places := list(stalls(text)):
            yield gathered(_STALL.code, (_STALL.one, _STALL.many), places, at)


def _fields(payload: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    operations = payload.get("operations")
    if payload.get("action") == "batch" and isinstance(operations, list):
        for number, part in enumerate(operations, 1):
            if isinstance(part, Mapping):
                for at, text in _texts(part):
                    yield f"operations.{number}.{at}", text
    else:
        yield from _texts(payload)


def _texts(part: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for field in _SCANNED:
        value = part.get(field)
        if isinstance(value, str) and value:
            yield field, value


def _alarms(at: str, text: str) -> Iterator[Finding]:
    """Everything the agent's scanner finds in a refused text, known false alarms said to be."""
    hits = scanner.scan(text)
    if not hits:
        return
    harmless = ordinary(text, hits)
    serious = [hit for hit in hits if hit.pattern not in harmless]
    shown = serious or list(hits)
    spans = tuple((hit.start, hit.end) for hit in shown)
    if serious:
        listed = ", ".join(named(text, hit) for hit in serious)
        message = f"The agent's memory scanner refuses this text: {listed}."
        severity = Severity.WARNING
    else:
        writing = " and ".join(dict.fromkeys(harmless.values()))
        message = (
            f"A false alarm: the agent refuses it although it is {writing}: "
            "`signoff edit ID --clean`."
        )
        severity = Severity.INFO
    yield Finding("memory_scan", severity, message, f"{at}:{spans[0][0]}", spans)


# -- what the agent would destroy ------------------------------------------------------------------


def _rollback(
    view: View,
    payload: Mapping[str, object],
    config: Config,
    rules: Rules,
    outcome: Outcome,
    *,
    as_agent: bool,
) -> Iterator[Finding]:
    """A create that takes an existing folder: hermes-agent 0.19.0 removes it when it takes back.

    Its skill scanner reads the whole folder, so that any skill in it may be what blocks.
    """
    if rules is not Rules.V0_19 or not config.guard_agent_created:
        return
    if payload.get("action") != "create" or not (
        outcome.lands or outcome.category == "security_scan_blocked"
    ):
        return
    named, category = payload.get("name"), payload.get("category")
    if not isinstance(named, str) or not named:
        return
    folder = join(SKILLS, category.strip() if isinstance(category, str) else "", named)
    if view.kind(folder) is not NodeKind.DIR:
        return
    inside = [each for each in view.names(folder) if not each.startswith(".")]
    if not inside:
        return
    skills = sum(has_skill_file(view, join(folder, each)) for each in inside)
    holds = f"{skills} skill{'' if skills == 1 else 's'}" if skills else "what it holds"
    when = (
        "takes this back" if not outcome.lands else "takes this back, should its scanner block it"
    )
    message = (
        f"hermes-agent 0.19.0 deletes the whole folder {one_line(folder, 60)} with {holds} when it "
        f"{when}; signoff leaves the folder alone."
    )
    severity = Severity.DANGER if as_agent else Severity.INFO
    yield Finding("agent_rollback", severity, message, folder)


def with_advice(outcome: Outcome, found: Sequence[Finding]) -> Outcome:
    """``outcome`` with ``found`` after its own findings."""
    return replace(outcome, findings=(*outcome.findings, *found)) if found else outcome
