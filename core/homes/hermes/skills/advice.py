"""What a careful person should know about a skill's text before it lands; nothing is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core import text as hidden
from core.homes.hermes.advice.alarms import named, ordinary
from core.homes.hermes.advice.places import added
from core.homes.hermes.config import Config
from core.homes.hermes.rules import Rules
from core.homes.hermes.scanners import memory as scanner
from core.homes.hermes.skills import usage
from core.homes.hermes.skills.actions import as_text
from core.homes.hermes.skills.rules import SKILL_FILE, RefusedError, read_frontmatter
from core.homes.hermes.skills.tree import declared_name, find_skill, read_declared
from core.model import Change, Finding, Severity
from core.overlay import Overlay
from core.view import View, name, parent, sha256

_BEFORE = "It stood in the file before."


def advice(
    view: View,
    payload: Mapping[str, object],
    config: Config,
    rules: Rules,
    files: Sequence[Change],
) -> Iterator[Finding]:
    """Findings on the files that would be written.

    Hidden characters, what the agent's memory scanner would say (``memory_scan``; the agent never
    reads skills with it), ``name_mismatch``, ``description_not_text``, ``pinned_skill``. What
    stood in the file before is only worth an ``info``.
    """
    for change in files:
        if change.after is None:
            continue
        try:
            text = as_text(change.after.data)
        except UnicodeDecodeError:
            continue
        # A byte order mark at the start hides nothing; a blank in its place keeps the offsets.
        shown = " " + text[1:] if text.startswith("\ufeff") else text
        yield from _hidden(change, shown)
        yield from _commands(view, change, shown)
        if name(change.path) == SKILL_FILE:
            yield from _names(view, change, text)
    skill = payload.get("name")
    if not isinstance(skill, str) or payload.get("action") == "delete":
        return
    folder = find_skill(view, skill, config, rules)
    if folder is not None and usage.ask(view, name(folder), "pinned"):
        yield Finding(
            "pinned_skill",
            Severity.INFO,
            "The skill is pinned; for the agent a pin stops only a deletion, not this.",
            folder,
        )


def _hidden(change: Change, text: str) -> Iterator[Finding]:
    """Hidden characters; only an ``info`` where all of a kind stand in lines that were there."""
    found = hidden.findings(text, change.path)
    if not found or change.before is None:
        yield from found
        return
    old = change.before.data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    spans = added(old, text)
    new = {
        mark.code
        for mark in hidden.marks(text)
        if any(start < mark.end and mark.start < end for start, end in spans)
    }
    for each in found:
        if each.code in new:
            yield each
        else:
            yield replace(each, severity=Severity.INFO, message=f"{each.message} {_BEFORE}")


def _commands(view: View, change: Change, text: str) -> Iterator[Finding]:
    hits = scanner.scan(text)
    harmless = ordinary(text, hits) if hits else {}
    hits = tuple(hit for hit in hits if hit.pattern not in harmless)
    if not hits:
        return
    known = set()
    if change.before is not None:
        known = {hit.pattern for hit in _hits(view, change.before.data)}
    new = tuple(hit for hit in hits if hit.pattern not in known)
    listed = ", ".join(named(text, hit) for hit in new or hits)
    yield Finding(
        "memory_scan",
        Severity.WARNING if new else Severity.INFO,
        f"The agent's memory scanner would refuse this text ({listed}); "
        f"it never reads skills.{'' if new else f' {_BEFORE}'}",
        f"{change.path}:{min(hit.start for hit in new or hits)}",
        tuple((hit.start, hit.end) for hit in new or hits),
    )


def _hits(view: View, data: bytes) -> tuple[scanner.Hit, ...]:
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return view.shared(f"memory-scan\0{sha256(data)}", lambda _: scanner.scan(text))


def _names(view: View, change: Change, text: str) -> Iterator[Finding]:
    folder = parent(change.path)
    after = View(Overlay(view.source, [change]), recording=False)
    declared = read_declared(after, folder)
    if declared != name(folder):
        same = change.before is not None and declared_name(view, folder) == declared
        yield Finding(
            "name_mismatch",
            Severity.INFO if same else Severity.WARNING,
            f"The head says {declared}, the folder is {name(folder)}: tools look the skill up by "
            "its folder, pins and the curator by its head.",
            change.path,
        )
    try:
        description = read_frontmatter(text).fields.get("description")
    except RefusedError:
        return
    if not isinstance(description, str):
        yield Finding(
            "description_not_text",
            Severity.WARNING,
            "The description is not text; the agent shows whatever Python prints for it.",
            change.path,
        )
