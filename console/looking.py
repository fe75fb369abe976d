"""A look at the home: its queue, and what the header says of it. Runs off the event loop."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from console.places import short
from console.render.header import HomeFacts
from console.screens.host import Reading

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.desk.review import Board

#: What a vak home's settings switch, in the header's words.
_SWITCHES = {"skill_proposals": "skill proposals", "write_enabled": "notes"}
_LEFT = "The home is not there any more; it is read again when it is back"


@dataclass(frozen=True, slots=True)
class Looked:
    """What one look found."""

    reading: Reading
    facts: HomeFacts


def look(opened: Opened, board: Board) -> Looked | None:
    """Read the queue and the header's facts; ``None`` when the home is not there."""
    from core.desk.glance import glance
    from core.desk.overview import remarks, settings, switched_off

    if not opened.found.home.is_dir():
        return None
    reading = Reading(time.monotonic(), board.read())
    seen = glance(opened, reading.queue)
    allowed = settings(opened)
    gates = (("memory", seen.memory_gate.on), ("skills", seen.skills_gate.on))
    facts = HomeFacts(
        home=short(seen.home),
        kind=seen.kind,
        profile=seen.profile,
        rules=seen.rules,
        gates=() if allowed else gates,
        waiting=seen.waiting,
        unreadable=seen.unreadable,
        others=seen.others,
        partly=bool(seen.broken),
        remarks=(*map(_unknown, seen.broken), *switched_off(allowed), *remarks(opened)),
        switches=tuple((word, allowed[name]) for name, word in _SWITCHES.items() if allowed),
    )
    return Looked(reading, facts)


def left(facts: HomeFacts | None) -> HomeFacts | None:
    """``facts`` of a home that went away: what was read stays, nothing was decided elsewhere."""
    return None if facts is None else replace(facts, gates=(), remarks=(_LEFT,))


def _unknown(broken: tuple[str, str]) -> str:
    folder, reason = broken
    return f"{folder} cannot be read ({reason}): what waits there is unknown"
