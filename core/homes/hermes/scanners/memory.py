"""The agent's memory scanner: what it refuses to write and keeps out of its prompts.

Measured on hermes-agent 0.19.0: only the first 65,536 characters count; invisible characters are
looked for in the text as it is, patterns after NFKC and without regard to case. A write is refused
for the first finding and there is no way to insist. Look-alikes of other scripts, tag characters
and U+00AD pass.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from core.homes.hermes.scanners.phrases import Text, fold
from core.homes.hermes.scanners.threats import INVISIBLE, PATTERNS, Scope, invisible, strikes

__all__ = ["PLACEHOLDER", "WINDOW", "Hit", "Refusal", "Scope", "blocked_at_load", "refusal", "scan"]

#: What lies past this many characters is not looked at.
WINDOW = 65_536
#: An entry that starts so is taken for a placeholder and not scanned when prompts are built.
PLACEHOLDER = "[BLOCKED:"


@dataclass(frozen=True, slots=True)
class Hit:
    """A pattern and where it was found: code-point offsets into the text as it was given."""

    pattern: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a write is refused; ``category`` is a word of the contract, ``message`` one sentence."""

    category: str
    hit: Hit
    message: str


def scan(text: str, scope: Scope = Scope.STRICT) -> tuple[Hit, ...]:
    """Everything the agent finds, once each: invisible characters, then patterns in its order.

    A hit gives the first place. The agent names several invisible characters in no fixed order;
    here they stand as they come in the text.
    """
    return tuple(hit for hit, _ in _hits(text, scope))


def refusal(text: str) -> Refusal | None:
    """Why the agent would refuse to write ``text`` into memory, ``None`` if it would not."""
    for hit, says in _hits(text, Scope.STRICT):
        kind = (
            "threat_invisible_unicode" if hit.pattern.startswith("invisible") else "threat_pattern"
        )
        return Refusal(kind, hit, f"The agent refuses this text: it {says}.")
    return None


def blocked_at_load(entry: str) -> tuple[Hit, ...]:
    """What keeps a memory entry out of the agent's prompts; the file keeps it.

    Empty for an entry that looks like the agent's placeholder already: that one is not scanned.
    """
    return () if entry.startswith(PLACEHOLDER) else scan(entry)


def _hits(text: str, scope: Scope) -> Iterator[tuple[Hit, str]]:
    text = text[:WINDOW]
    for at in invisible(text):
        code = f"U+{ord(text[at]):04X}"
        says = f"holds an invisible character, {code} ({INVISIBLE[text[at]]})"
        yield Hit(f"invisible_unicode_{code}", at, at + 1), says
    normal = unicodedata.normalize("NFKC", text)
    spans = None
    for pattern, start, end in strikes(PATTERNS[scope], Text(fold(normal))):
        if normal != text:
            spans = spans or _spans(text)
            start, end = spans[start][0], spans[end - 1][1]
        yield Hit(pattern.id, start, end), pattern.says


def _spans(text: str) -> list[tuple[int, int]]:
    """For each character of the NFKC of ``text``, the span of ``text`` that it was made from."""
    spans: list[tuple[int, int]] = []
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or _separate(text, start, at):
            made = unicodedata.normalize("NFKC", text[start:at])
            spans.extend([(start, at)] * len(made))
            start = at
    return spans


def _separate(text: str, start: int, at: int) -> bool:
    """Whether NFKC makes the same of ``text`` cut at ``at``, given a cut at ``start``."""
    character = text[at]
    if character.isascii():
        return True
    made = unicodedata.normalize("NFKC", character)
    if unicodedata.combining(unicodedata.normalize("NFKD", character)[0]):
        return False
    before = text[start:at]
    whole = unicodedata.normalize("NFKC", before + character)
    return whole == unicodedata.normalize("NFKC", before) + made
