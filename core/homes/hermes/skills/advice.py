"""What a careful person should know about a skill's text before it lands; nothing is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core import text as hidden
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
        yield from hidden.findings(shown, change.path)
        yield from _commands(view, change, shown)
        if name(change.path) == SKILL_FILE:
            yield from _names(view, change, text)
    named = payload.get("name")
    if not isinstance(named, str) or payload.get("action") == "delete":
        return
    folder = find_skill(view, named, config, rules)
    if folder is not None and usage.ask(view, name(folder), "pinned"):
        yield Finding(
            "pinned_skill",
            Severity.INFO,
            "The skill is pinned; for the agent a pin stops only a deletion, not this.",
            folder,
        )


def _commands(view: View, change: Change, text: str) -> Iterator[Finding]:
    known = set()
    if change.before is not None:
        known = {hit.pattern for hit in _hits(view, change.before.data)}
    for hit in scanner.scan(text):
        old = hit.pattern in known
        yield Finding(
            "memory_scan",
            Severity.INFO if old else Severity.WARNING,
            f"The agent's memory scanner would refuse this text ({hit.pattern}); "
            f"it never reads skills.{' It stood in the file before.' if old else ''}",
            f"{change.path}:{hit.start}",
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
