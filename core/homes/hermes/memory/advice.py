"""What a person should know about a memory entry: hidden at load, what it costs, what remains."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core import text as hidden
from core.homes.hermes.config import Config
from core.homes.hermes.memory.entries import (
    FOLDER,
    UnreadableFile,
    decode,
    normalise_line_ends,
    path_of,
    size,
)
from core.homes.hermes.memory.operations import quoted
from core.homes.hermes.scanners.memory import blocked_at_load
from core.model import Finding, NodeKind, Severity
from core.view import View, join, name

#: hermes-agent 0.19.0: characters around the entries of one file in a prompt: two rules with their
#: line ends, the file's title, and the marks of "[p% — used/limit chars]" without the numbers.
_RULES = 2 * (46 + 1)
_TITLES = {
    "memory": len("MEMORY (your personal notes)"),
    "user": len("USER PROFILE (who the user is)"),
}
_NUMBERS = len(" [% — / chars]\n")
#: Characters of the placeholder for a hidden entry, without file name and pattern names.
_PLACEHOLDER = 126
_CHARACTERS_A_TOKEN = 4
_BACKUP = re.compile(r"\.bak\.(\d{1,12})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy the agent made when it refused to edit a store (``MEMORY.md.bak.<unix seconds>``).

    ``at`` is the time in its name, ``None`` if that holds none; ``data`` its bytes.
    """

    file: str
    at: int | None
    data: bytes


def backups(view: View, target: str) -> tuple[Backup, ...]:
    """The agent's copies of a store, newest first; what is no plain file is left out.

    Reads without recording: no plan depends on them, and signoff never writes or removes one.
    """
    quiet, prefix = view.quiet(), f"{name(path_of(target))}.bak."
    found = []
    for each in quiet.names(FOLDER):
        node = quiet.node(join(FOLDER, each)) if each.startswith(prefix) else None
        if node is not None and node.kind is NodeKind.FILE:
            stamp = _BACKUP.search(each)
            found.append(Backup(join(FOLDER, each), int(stamp[1]) if stamp else None, node.data))
    return tuple(sorted(found, key=lambda copy: (-(copy.at or 0), copy.file)))


def tokens(target: str, entries: Sequence[str], limit: int) -> int:
    """About how many tokens a store costs in every prompt: four characters each, rounded up.

    ``entries`` as the agent loads them. The agent's header counts; an entry it hides counts as
    the placeholder that stands in its place. An empty store costs nothing.
    """
    if not entries:
        return 0
    used = size(entries) + sum(_hidden_change(target, entry) for entry in entries)
    share = min(100, used * 100 // limit) if limit > 0 else 0
    numbers = len(f"{share}{used:,}{limit:,}")
    header = _RULES + _TITLES["user" if target == "user" else "memory"] + _NUMBERS + numbers
    return -(-(header + used) // _CHARACTERS_A_TOKEN)


def _hidden_change(target: str, entry: str) -> int:
    patterns = [hit.pattern for hit in blocked_at_load(entry)]
    if not patterns:
        return 0
    return _PLACEHOLDER + len(name(path_of(target))) + len(", ".join(patterns)) - len(entry)


def blocked(entry: str, at: str) -> tuple[Finding, ...]:
    """That the agent keeps ``entry`` out of its prompts, once for each reason."""
    return tuple(
        Finding(
            "blocked_at_load",
            Severity.WARNING,
            f"The agent hides this entry from its own prompts ({hit.pattern})",
            at,
            ((hit.start, hit.end),),
        )
        for hit in blocked_at_load(entry)
    )


def remains(view: View, target: str, text: str, config: Config) -> tuple[Finding, ...]:
    """Where ``text`` is still to be found after it left a store: findings ``remains``.

    Other entries of both files that hold the same words are named, and the agent's copies. Reads
    without recording: a new copy changes nothing of what is written.
    """
    return tuple(
        Finding("remains", Severity.INFO, message, at)
        for message, at in _remains(view.quiet(), target, text, config)
    )


def _remains(
    view: View, target: str, text: str, config: Config
) -> Iterator[tuple[str, str | None]]:
    yield (
        "Sessions that run now keep it in their prompt until their next session or compaction.",
        None,
    )
    yield "Messages of past sessions are not touched; they may still hold it.", None
    for store in ("memory", "user"):
        for other in _holding(view, store, text, leaves=store == target):
            message = f"Another entry of {name(path_of(store))} holds the same words: {other}."
            yield message, path_of(store)
    for copy in backups(view, target):
        if text in normalise_line_ends(copy.data.decode("utf-8", "replace")):
            yield f"The agent's copy {name(copy.file)} still holds it.", copy.file
    if config.provider:
        shown = hidden.one_line(config.provider, 40)
        yield f"A copy at the external memory provider {shown} stays: remove it there.", None
    yield "Other profiles have memories of their own, which are not touched.", None
    yield "signoff's journal keeps it, so that undo can bring it back.", None


def _holding(view: View, store: str, text: str, *, leaves: bool) -> list[str]:
    file = decode(view.read(path_of(store)))
    if isinstance(file, UnreadableFile):
        return []
    return [quoted(e) for e in file.unique if text in e and not (leaves and e == text)]
