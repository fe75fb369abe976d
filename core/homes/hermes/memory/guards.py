"""signoff's own opinions on a memory record, laid over what the agent would do with it.

A guard refuses (``provider``, ``target``, ``retarget``, ``unstorable``), asks (``delimiter``,
``fragment``) or changes what is written (``modes``, ``line_endings``). Each is switched off by its
name. A refusal of the agent stays one, with a single exception: newer agents refuse a record
without a pin, and the pin signoff took when a person saw it stands in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from core import text as hidden
from core.homes.hermes.config import Config
from core.homes.hermes.memory.entries import (
    BOM,
    DELIMITER,
    MemoryFile,
    UnreadableFile,
    normalise_line_ends,
    parse,
    path_of,
    serialise,
)
from core.homes.hermes.memory.fragments import fits, losses
from core.homes.hermes.memory.operations import RefusalError, operations_of, quoted, walk
from core.homes.hermes.memory.replay import (
    STORES,
    Replay,
    changes_for,
    encode,
    limit_of,
    load,
    run,
    store_of,
)
from core.homes.hermes.rules import Rules
from core.model import Change, Finding, Outcome, Severity
from core.view import View, name

#: Outcomes of the agent a guard has a say in: ``invalid`` since half a character is ours to name.
_GUARDED = frozenset({"ok", "unpinned_record", "invalid"})
_PINNED_BY_US = Finding(
    "pinned_by_signoff",
    Severity.INFO,
    "The record names no entry, so the agent alone would refuse it; "
    "signoff holds it to the entry it hit when it was first seen.",
)
#: What a person can do about a refusal of the agent.
_MENDS = {
    "empty": "`signoff edit ID` fills it in.",
    "batch_missing_field": "`signoff edit ID` fills it in.",
    "threat_invisible_unicode": "`signoff edit ID --clean` takes it out, if it hides nothing.",
}
_LONE_CR = re.compile("\r(?!\n)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_EDGE_MARKER = re.compile(r"\A§(\n|\Z)|\n§\Z")


def targets(
    view: View, payload: Mapping[str, object], config: Config, rules: Rules
) -> dict[int, str]:
    """The full text of the entry each destructive operation would hit now, by its index.

    What signoff pins when a person first sees the record; a single operation has index 0.
    Operations behind one that does not find its place have none.
    """
    file = load(view, store_of(payload), rules)
    if isinstance(file, UnreadableFile):
        return {}
    try:
        steps = walk(store_of(payload), file.unique, operations_of(payload, rules), rules).steps
    except RefusalError as problem:
        steps = problem.steps
    return {step.index: step.before for step in steps if step.before is not None}


def guard(
    view: View,
    payload: Mapping[str, object],
    config: Config,
    rules: Rules,
    outcome: Outcome,
    pins: Mapping[int, str],
    off: frozenset[str] = frozenset(),
) -> Outcome:
    """``outcome`` as signoff would have it; ``pins`` is what :func:`targets` gave at first sight.

    A refusing guard gives the category ``guard_<name>`` and no changes; one that asks or changes
    leaves the category and adds a finding ``guard_<name>``. Only a record that would land is
    guarded. When the file's line ends are kept, nothing may be left to write: then it is ``noop``.
    """
    if mend := _MENDS.get(outcome.category):
        return replace(outcome, message=f"{outcome.message} {mend}")
    if outcome.category not in _GUARDED:
        return outcome
    replayed = run(view, payload, config, rules)
    findings: list[Finding] = []
    if outcome.category == "unpinned_record" and pins:
        count = max(pins) + 1
        replayed = run(view, payload, config, rules, [pins.get(i) for i in range(count)])
        outcome = replayed.outcome
        if outcome.category != "unpinned_record":
            findings.append(_PINNED_BY_US)
    if "unstorable" not in off and _has_half_character(replayed):
        return _refused(outcome, "unstorable", "The text holds half a character (a surrogate).")
    if outcome.category != "ok" or replayed.after is None or replayed.file is None:
        return replace(outcome, findings=(*outcome.findings, *findings))
    checks = (
        ("provider", _of_a_provider(payload)),
        ("target", _wrong_target(payload)),
        ("retarget", _retargeted(payload, replayed, pins)),
        ("unstorable", _unstorable(replayed.file, replayed.after)),
    )
    for guard_name, reason in checks:
        if reason and guard_name not in off:
            return _refused(outcome, guard_name, reason)
    path = path_of(replayed.store)
    new = _new_texts(replayed.file, replayed.after)
    if "delimiter" not in off:
        findings += _delimiters(new, path)
    if "fragment" not in off:
        findings += _fragments(replayed, path)
    if _of_a_provider(payload):
        findings.append(_foreign(path))
    findings += _hidden(replayed.after, new, path)
    landed = _kept(view, replayed, outcome, config, rules, off)
    return replace(landed, findings=(*outcome.findings, *findings, *landed.findings))


# -- refuse ----------------------------------------------------------------------------------------


def _refused(outcome: Outcome, guard_name: str, reason: str) -> Outcome:
    budget = replace(outcome.budget, after=outcome.budget.before) if outcome.budget else None
    return replace(
        outcome,
        category=f"guard_{guard_name}",
        message=f"{reason} The agent alone: {outcome.message}",
        changes=(),
        entries=(),
        budget=budget,
    )


def _of_a_provider(payload: Mapping[str, object]) -> str:
    """Newer agents refuse such a record themselves; 0.19.0 does not know the field."""
    if payload.get("memory_provider_mode") != "authoritative":
        return ""
    return "The record belongs to an external memory provider, never to MEMORY.md or USER.md."


def _wrong_target(payload: Mapping[str, object]) -> str:
    target = payload.get("target", "memory")
    if target in STORES:
        return ""
    return "The record names no known store, and the agent takes it for MEMORY.md."


def _retargeted(payload: Mapping[str, object], replayed: Replay, pins: Mapping[int, str]) -> str:
    reviewed = {op.index: op.pin for op in operations_of(payload, Rules.NEWEST) if op.pin}
    for step in replayed.steps:
        if step.before is None:
            continue
        for pin, seen in (
            (reviewed.get(step.index), "written for"),
            (pins.get(step.index), "seen"),
        ):
            if pin is not None and pin != step.before:
                return (
                    f"It would hit {quoted(step.before)}, "
                    f"not the entry it was {seen}: {quoted(str(pin))}."
                )
    return ""


def _has_half_character(replayed: Replay) -> bool:
    return replayed.outcome.category == "invalid" and any(
        step.after is not None and _SURROGATE.search(step.after) for step in replayed.steps
    )


def _unstorable(file: MemoryFile | None, after: tuple[str, ...] | None) -> str:
    """Why ``after`` cannot be written and read back as what it is meant to be, or ``""``."""
    if file is None or after is None:
        return ""
    for text in _new_texts(file, after):
        if _LONE_CR.search(text):
            return "The text holds a lone carriage return, which is read back as a line end."
        plain = normalise_line_ends(text)
        pieces = parse(plain)
        if any(_EDGE_MARKER.search(piece) for piece in pieces):
            return "The text begins or ends with a § line, which would swallow its neighbour."
        if serialise(pieces) != plain:
            return "The text holds a § line with nothing or spaces beside it."
    meant = [piece for entry in after for piece in parse(normalise_line_ends(entry))]
    if list(parse(normalise_line_ends(serialise(after)))) != meant:
        return "A § line at the edge of another entry would swallow the text beside it."
    return ""


def _new_texts(file: MemoryFile, after: tuple[str, ...]) -> list[str]:
    known = frozenset(file.unique)
    return [text for text in dict.fromkeys(after) if text not in known]


# -- ask -------------------------------------------------------------------------------------------


def _delimiters(new: list[str], path: str) -> Iterator[Finding]:
    for text in new:
        count = len(parse(normalise_line_ends(text)))
        if count > 1:
            yield Finding(
                "guard_delimiter",
                Severity.WARNING,
                f"The text holds the § separator: it is stored as {count} entries, not one.",
                path,
            )


def _fragments(replayed: Replay, path: str) -> Iterator[Finding]:
    for step in replayed.steps:
        if step.action != "replace" or step.before is None or step.after is None:
            continue
        lost = losses(step.before, step.old_text, step.after)
        if lost:
            splice = " --splice" if fits(step.before, step.old_text, step.after) else ""
            keeps = f" `signoff edit ID{splice}` can keep the rest."
            yield Finding(
                "guard_fragment",
                Severity.WARNING,
                f"The whole entry is replaced, not only {quoted(step.old_text, 40)}; "
                f"lost beside it: {', '.join(lost)}.{keeps}",
                path,
            )


def _hidden(after: tuple[str, ...], new: list[str], path: str) -> Iterator[Finding]:
    """Hidden characters in what lands, at offsets into the text the file then holds."""
    start = 0
    for text in after:
        if text in new:
            for found in hidden.findings(text, ""):
                offset = int((found.at or ":0")[1:])
                spans = tuple((start + first, start + end) for first, end in found.spans)
                yield replace(found, at=f"{path}:{start + offset}", spans=spans)
        start += len(text) + len(DELIMITER)


def _foreign(path: str) -> Finding:
    return Finding(
        "provider_record",
        Severity.WARNING,
        f"The record belongs to an external memory provider; the agent puts it into {name(path)}.",
        path,
    )


# -- change ----------------------------------------------------------------------------------------


def _kept(
    view: View,
    replayed: Replay,
    outcome: Outcome,
    config: Config,
    rules: Rules,
    off: frozenset[str],
) -> Outcome:
    """``outcome`` with the file's own mode, line ends and byte order mark; findings: only new."""
    file, after = replayed.file, replayed.after
    if file is None or after is None:
        return replace(outcome, findings=())
    path = path_of(replayed.store)
    agent_data = data = encode(serialise(after))
    findings = []
    if "line_endings" not in off:
        data = encode(_like(file, serialise(after), limit_of(replayed.store, config), rules))
    if data == file.data:
        return replace(
            outcome,
            category="noop",
            message=f"{name(path)} would stay as it is, byte for byte.",
            changes=(),
            entries=(),
            findings=(),
        )
    if data != agent_data:
        findings.append(
            Finding(
                "guard_line_endings",
                Severity.INFO,
                f"{name(path)} keeps its own line ends and byte order mark; "
                "the agent alone would change them.",
                path,
            )
        )
    changes = changes_for(view, path, file, data, rules)
    last = changes[-1]
    if "modes" not in off and last.before and last.after and last.before.mode != last.after.mode:
        agent_mode, mode = last.after.mode, last.before.mode
        changes = (Change(path, last.before, replace(last.after, mode=mode)),)
        findings.append(
            Finding(
                "guard_modes",
                Severity.INFO,
                f"{name(path)} keeps its mode {mode:04o}; "
                f"the agent alone would set {agent_mode:04o}.",
                path,
            )
        )
    return replace(outcome, changes=changes, findings=tuple(findings))


def _like(file: MemoryFile, text: str, limit: int, rules: Rules) -> str:
    text = text.replace("\r\n", "\n")
    if file.crlf:
        text = text.replace("\n", "\r\n")
    if not file.bom or not text or text.startswith(BOM):
        return text
    # 0.19.0 counts the mark as part of the first entry, so it must fit the budget there.
    fits = rules is Rules.NEWEST or len(normalise_line_ends(text)) < limit
    return BOM + text if fits else text
