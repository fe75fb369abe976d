"""signoff's own opinions on a skill proposal, laid over what the agent would do with it.

A guard refuses (``structure``, ``pinned_name``, ``unstorable``), asks (``approximate``) or changes
what is written (``archive``, ``provenance``, ``line_endings``, ``modes``). Each is switched off by
its name; a delete whose pin cannot be read is always refused. A refusal of the agent stays one;
what lands is also read for text that hides or commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from core.homes.hermes.config import Config
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.actions import as_text
from core.homes.hermes.skills.advice import advice
from core.homes.hermes.skills.archiving import archived, with_finding, with_usage_lock, within
from core.homes.hermes.skills.replay import APPROXIMATE
from core.homes.hermes.skills.rules import SKILL_FILE, RefusedError, check_skill_text
from core.homes.hermes.skills.tree import (
    declared_name,
    find_skill,
    has_skill_file,
    in_support_folder,
    root_of,
    roots,
)
from core.model import (
    AnyChange,
    Change,
    Node,
    NodeKind,
    Outcome,
    RowEdit,
    Severity,
)
from core.view import View, name, parent

BACKGROUND = "background_review"
#: Names the agent never lets its curator manage (0.19.0).
PROTECTED = frozenset({"plan"})

_BOM = b"\xef\xbb\xbf"
_BARE_LF = re.compile(rb"(?<!\r)\n")
_LONE_CR = re.compile(rb"\r(?!\n)")
_HALF = re.compile("[\ud800-\udfff]")
_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Case:
    """One proposal under guard."""

    view: View
    payload: Mapping[str, object]
    config: Config
    rules: Rules
    now: datetime
    origin: str
    off: frozenset[str]

    def on(self, guard_name: str) -> bool:
        return guard_name not in self.off


def guard(
    view: View,
    payload: object,
    config: Config,
    rules: Rules,
    outcome: Outcome,
    now: datetime,
    origin: str,
    off: frozenset[str] = frozenset(),
) -> Outcome:
    """``outcome`` (of :func:`skill_replay.replay`) as signoff would have it.

    ``origin`` is the record's, ``now`` the time rows and archive names get, ``off`` the guards
    that are switched off, by name. A refusing guard gives ``guard_<name>`` and no changes; one
    that asks or changes leaves the category and adds a finding ``guard_<name>``.
    """
    if not isinstance(payload, Mapping):
        return outcome
    case = _Case(view, payload, config, rules, now, origin, off)
    if outcome.category == "invalid" and case.on("unstorable") and _holds_half(payload):
        return _refused(
            outcome,
            "unstorable",
            "The text holds half a character (a surrogate), which no file can store; "
            "the agent alone would fail on it.",
        )
    if not outcome.lands:
        return outcome
    if unknown := _pin_unknown(case):
        return replace(outcome, category="unreadable_target", message=unknown, changes=(), locks=())
    refusing = (
        ("unstorable", _unstorable),
        ("structure", _structure),
        ("pinned_name", _pinned_name),
    )
    for guard_name, check in refusing:
        if case.on(guard_name) and (reason := check(case, outcome)):
            return _refused(outcome, guard_name, reason)
    landed = outcome
    for change in (_approximate, _archive, _provenance, _line_endings, _modes):
        landed = change(case, landed)
    seen = advice(view, payload, config, rules, _files(landed))
    return replace(landed, findings=(*landed.findings, *seen))


# -- refuse ----------------------------------------------------------------------------------------


def _pin_unknown(case: _Case) -> str:
    """Why a delete cannot be judged: a pin that cannot be read may be one. Nothing switches it."""
    folder = _deleted(case)
    if folder is None:
        return ""
    for named in dict.fromkeys((name(folder), declared_name(case.view, folder))):
        if reason := usage.unknown(case.view, named):
            return (
                f"{reason}, so whether the skill is pinned is not known: "
                f"put {usage.PATH} right or move it away."
            )
    return ""


def _unstorable(_: _Case, outcome: Outcome) -> str:
    for change in outcome.changes:
        if not isinstance(change, Change) or change.before is not None:
            continue
        if _unnameable(name(change.path)):
            return (
                "A new name begins or ends in blanks or holds a control character; "
                "the agent alone would make it."
            )
    return ""


def _structure(case: _Case, outcome: Outcome) -> str:
    if _deleted(case) is not None:
        return ""
    creates = case.payload.get("action") == "create"
    for change in _files(outcome):
        root = root_of(change.path, roots(case.config, case.rules))
        if change.after is not None and _leads_out(case, change.path):
            return (
                f"{change.path} leads out of the home through a link; "
                "the agent alone would write there."
            )
        if name(change.path) != SKILL_FILE or in_support_folder(case.view, change.path, root):
            continue
        skill = name(parent(change.path))
        if change.after is None:
            return (
                f"The skill {skill} would lose its {SKILL_FILE}; the agent alone would remove it."
            )
        if change.before is None and not creates and _inside_skill(case.view, change.path, root):
            return (
                f"{change.path} would be a second skill inside another one; "
                "the agent alone would make it."
            )
        try:
            check_skill_text(as_text(change.after.data))
        except RefusedError as problem:
            return (
                f"{SKILL_FILE} of {skill} would be broken: {problem.message} "
                "The agent alone would write it."
            )
    return ""


def _pinned_name(case: _Case, _: Outcome) -> str:
    folder = _deleted(case)
    if folder is None:
        return ""
    declared = declared_name(case.view, folder)
    if declared != name(folder) and usage.ask(case.view, declared, "pinned"):
        return (
            f"The skill is pinned under the name its head says ({declared}); the agent alone "
            f"looks under the folder's name ({name(folder)}) and would delete it."
        )
    return ""


# -- ask -------------------------------------------------------------------------------------------


def _approximate(case: _Case, outcome: Outcome) -> Outcome:
    if outcome.match is None or outcome.match.strategy not in APPROXIMATE:
        return outcome
    if not case.on("approximate"):
        return outcome
    return with_finding(
        outcome,
        "guard_approximate",
        Severity.WARNING,
        f"The place was only guessed ({outcome.match.strategy}): lines that the proposal never "
        "named may be replaced. The agent alone would not ask.",
    )


# -- change ----------------------------------------------------------------------------------------


def _archive(case: _Case, outcome: Outcome) -> Outcome:
    folder = _deleted(case)
    if folder is None or not case.on("archive"):
        return outcome
    return archived(case.view, outcome, folder, case.config, case.now)


def _provenance(case: _Case, outcome: Outcome) -> Outcome:
    if case.origin != BACKGROUND or not case.on("provenance"):
        return outcome
    rows = usage.load(case.view)
    edits: list[RowEdit] = []
    for named in _created(case.payload):
        if named in PROTECTED:
            continue
        if reason := usage.unknown(case.view, named):
            return with_finding(
                outcome,
                "guard_provenance",
                Severity.WARNING,
                f"{reason}: the skill cannot be marked as the agent's own, "
                "so its curator leaves it alone.",
                usage.PATH,
            )
        edits += usage.put(rows, named, {"created_by": "agent"}, case.now)
    if not edits:
        return outcome
    landed = replace(
        outcome,
        changes=(*outcome.changes, *edits),
        locks=with_usage_lock(outcome.locks),
    )
    return with_finding(
        landed,
        "guard_provenance",
        Severity.INFO,
        "The skill is marked as the agent's own, so its curator keeps managing it; "
        "the agent alone would forget that a review made it.",
    )


def _line_endings(case: _Case, outcome: Outcome) -> Outcome:
    for change in _files(outcome) if case.on("line_endings") else ():
        if change.before is None or change.after is None:
            continue
        before, after = change.before.data, change.after.data
        kept = after
        mixed = bool(_BARE_LF.search(before) or _LONE_CR.search(before))
        if b"\r\n" in before and not mixed:
            kept = _BARE_LF.sub(b"\r\n", kept)
        if before.startswith(_BOM) and not kept.startswith(_BOM):
            kept = _BOM + kept
        if kept != after:
            outcome = _written(outcome, change, replace(change.after, data=kept))
            outcome = with_finding(
                outcome,
                "guard_line_endings",
                Severity.INFO,
                "The file keeps its own line ends and mark; the agent alone would change them.",
                change.path,
            )
        elif b"\r\n" in before and mixed and b"\r\n" not in after:
            outcome = with_finding(
                outcome,
                "guard_line_endings",
                Severity.INFO,
                "The file mixes line ends; all of it is written with LF, as the agent does.",
                change.path,
            )
    return outcome


def _modes(case: _Case, outcome: Outcome) -> Outcome:
    for change in _files(outcome) if case.on("modes") else ():
        if change.before is None or change.after is None:
            continue
        if change.before.mode != change.after.mode:
            mode = change.after.mode
            outcome = _written(outcome, change, replace(change.after, mode=change.before.mode))
            outcome = with_finding(
                outcome,
                "guard_modes",
                Severity.INFO,
                f"The file keeps its mode {change.before.mode:04o}; "
                f"the agent alone would make it {mode:04o}.",
                change.path,
            )
    return outcome


# -- parts -----------------------------------------------------------------------------------------


def _files(outcome: Outcome) -> tuple[Change, ...]:
    """Changes of regular files: folders, links, caches and rows left out."""
    return tuple(
        change
        for change in outcome.changes
        if isinstance(change, Change) and not change.cache and _is_file(change)
    )


def _is_file(change: Change) -> bool:
    node = change.after or change.before
    return node is not None and (
        node.kind is NodeKind.FILE
        or (node.kind is NodeKind.LINK and name(change.path) == SKILL_FILE)
    )


def _refused(outcome: Outcome, guard_name: str, reason: str) -> Outcome:
    return replace(outcome, category=f"guard_{guard_name}", message=reason, changes=(), locks=())


def _written(outcome: Outcome, change: Change, after: Node) -> Outcome:
    swapped: tuple[AnyChange, ...] = tuple(
        replace(change, after=after) if other is change else other for other in outcome.changes
    )
    return replace(outcome, changes=swapped)


def _deleted(case: _Case) -> str | None:
    """The folder that a delete, alone or as the one operation of a batch, takes."""
    for part in _operations(case.payload):
        named = part.get("name")
        if part.get("action") == "delete" and isinstance(named, str):
            return find_skill(case.view, named, case.config, case.rules)
    return None


def _created(payload: Mapping[str, object]) -> Iterator[str]:
    for part in _operations(payload):
        named = part.get("name")
        if part.get("action") == "create" and isinstance(named, str):
            yield named


def _operations(payload: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
    operations = payload.get("operations")
    if payload.get("action") != "batch" or not isinstance(operations, list):
        return (payload,)
    return tuple(part for part in operations if isinstance(part, Mapping))


def _leads_out(case: _Case, path: str) -> bool:
    """Whether a write to ``path`` would end outside the home and every root of skills."""
    real = case.view.resolve(path)
    if real is None:
        return True
    if not real.startswith(("/", "..")):
        return False
    bases = (case.view.resolve(root) for root in roots(case.config, case.rules))
    return not any(base is not None and within(real, base) for base in bases)


def _inside_skill(view: View, path: str, root: str) -> bool:
    """Whether a folder above the one of ``path``, below ``root``, is a skill already."""
    above = parent(parent(path))
    while within(above, root) and above != root:
        if has_skill_file(view, above):
            return True
        above = parent(above)
    return False


def _holds_half(payload: Mapping[str, object]) -> bool:
    return any(
        isinstance(value, str) and _HALF.search(value)
        for part in _operations(payload)
        for value in part.values()
    )


def _unnameable(part: str) -> bool:
    return part != part.strip() or bool(_UNSHOWABLE.search(part))
