"""Text that the agent's scanner flags for its invisible characters alone, rewritten to pass.

hermes-agent 0.19.0 refuses 17 characters wherever they stand, ordinary writing included (report
D19). The least that is lost: a joined emoji becomes its parts side by side, a Persian half-space
a plain space, so that no letter changes its shape. Every other one is taken out. No visible
character is touched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core import chars
from core.homes.hermes.editing.drafts import Draft, drafted, invalid
from core.homes.hermes.editing.parts import operations_in
from core.homes.hermes.pending import Proposal
from core.homes.hermes.scanners import memory as scanner
from core.homes.hermes.scanners.threats import INVISIBLE

#: Fields with text to store. Texts to look for stay: they must equal what is there.
_STORED = ("content", "new_text", "file_content", "new_string")
_ARABIC = "\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc"
_HALF_SPACE = re.compile(f"(?<=[{_ARABIC}])\u200c+(?=[{_ARABIC}])")
_JOINED = re.compile(f"(?<=[{chars.EMOJI}{chars.SKIN}\ufe0f])\u200d(?=[{chars.EMOJI}])")
_FLAGGED = re.compile(f"[{''.join(INVISIBLE)}]")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text without the flagged characters. ``done`` counts what was done, in words."""

    text: str
    done: Counter[str]


def clean(text: str) -> Cleaned:
    """``text`` with nothing in it that the agent takes for an invisible character."""
    done: Counter[str] = Counter()

    def swap(words: str, by: str, place: re.Pattern[str], text: str) -> str:
        text, count = place.subn(by, text)
        done[words] += count
        return text

    text = swap("half-space between letters → plain space", " ", _HALF_SPACE, text)
    text = swap("joined emoji → its parts side by side", "", _JOINED, text)
    for found in _FLAGGED.findall(text):
        done[f"{chars.name(found)} → nothing"] += 1
    return Cleaned(_FLAGGED.sub("", text), +done)


def cleaned(proposal: Proposal) -> Draft:
    """``proposal`` with every text it would store cleaned, saying what was changed.

    Refused when the agent would not take the cleaned text either: then the characters hid words
    that are no false alarm.
    """
    done: Counter[str] = Counter()
    operations = []
    for operation in operations_in(proposal.payload):
        fields = dict(operation) if isinstance(operation, Mapping) else operation
        for name, text in _texts(operation):
            result = clean(text)
            done += result.done
            fields[name] = result.text
            refusal = scanner.refusal(result.text) if proposal.subsystem == "memory" else None
            if result.done and refusal:
                return invalid(f"It would not help. {refusal.message}")
        operations.append(fields)
    if not done:
        return Draft("noop", "There is no invisible character in it that the agent refuses.")
    payload: Mapping[str, Any] = operations[0]
    if proposal.payload.get("action") == "batch":
        payload = {**proposal.payload, "operations": operations}
    told = ", ".join(f"{count} × {words}" for words, count in done.items())
    kept = {index: index for index in range(len(operations))}
    return drafted(proposal, payload, f"Cleaned: {told}.", kept)


def _texts(operation: object) -> Iterator[tuple[str, str]]:
    if isinstance(operation, Mapping):
        for name in _STORED:
            value = operation.get(name)
            if isinstance(value, str):
                yield name, value
