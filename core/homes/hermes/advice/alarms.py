"""What the agent's memory scanner says of a text, and which of its alarms are known to be false.

Spec 5.1 lists the everyday sentences its patterns also catch; report D19 the ordinary writing it
takes for hidden characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from core import text as hidden
from core.homes.hermes.advice.places import quoted
from core.homes.hermes.scanners.memory import Hit

#: Patterns that also catch what people write every day (spec 5.1, consequences).
EVERYDAY = {
    "c2_heartbeat": "check in with the team",
    "c2_network_connect": "connect to the network",
    "agent_config_mod": "append it to AGENTS.md",
    "read_secrets": "cat notes about credentials",
    "ssh_access": "keys are in ~/.ssh",
}
_INVISIBLE = "invisible_unicode_"
_ARABIC = re.compile("[\u0600-\u08ff\ufb50-\ufdff\ufe70-\ufefc]")


def is_invisible(hit: Hit) -> bool:
    """Whether the scanner stopped at a character, not at words."""
    return hit.pattern.startswith(_INVISIBLE)


def ordinary(text: str, hits: Iterable[Hit]) -> dict[str, str]:
    """Invisible characters of ``hits`` that ``text`` only uses as writing does: pattern to words.

    A character that stands anywhere in ``text`` where no writing needs it has no place here.
    """
    suspects = "".join(text[mark.start : mark.end] for mark in hidden.marks(text))
    return {
        hit.pattern: _writing(text, hit.start)
        for hit in hits
        if is_invisible(hit) and text[hit.start] not in suspects
    }


def named(text: str, hit: Hit) -> str:
    """A hit in words: the agent's id, what it matched, and whether that is often said."""
    if is_invisible(hit):
        return hit.pattern
    said = f"{hit.pattern} {quoted(text[hit.start : hit.end])}"
    if example := EVERYDAY.get(hit.pattern):
        return f'{said} (this pattern also catches everyday sentences: "{example}")'
    return said


def _writing(text: str, at: int) -> str:
    if text[at] == "\u200d":
        return "an emoji joined of several" if at and ord(text[at - 1]) > 0x2000 else "a joiner"
    return "ordinary Persian" if at and _ARABIC.match(text[at - 1]) else "ordinary writing"
