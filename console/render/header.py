"""The header: which mode, which home, whose rules, whether the agent asks, what waits."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from console.actions import MODES
from console.render import ink


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """What the header says of a home. ``gates`` maps a subsystem to whether its gate is on."""

    home: str
    kind: str
    profile: str
    rules: str
    gates: tuple[tuple[str, bool], ...]
    waiting: int
    unreadable: int
    others: int


def header(mode: str, facts: HomeFacts | None, live: str, width: int) -> Content:
    """Two lines of at most ``width`` cells."""
    return Content("\n").join([_first(mode, facts, width), _second(facts, live, width)])


def _first(mode: str, facts: HomeFacts | None, width: int) -> Content:
    tabs = Content("  ").join(
        Content.styled(f"{number} {title}", "bold reverse" if name == mode else ink.LABEL)
        for number, (name, title) in enumerate(MODES.items(), 1)
    )
    counts = "" if facts is None else f"{facts.waiting:,} waiting"
    if facts and facts.unreadable:
        counts += f", {facts.unreadable:,} unreadable"
    return _ends(Content.assemble(("signoff  ", ink.TITLE), tabs), Content(counts), width)


def _second(facts: HomeFacts | None, live: str, width: int) -> Content:
    if facts is None:
        return Content.styled("opening…", ink.LABEL)
    words = [f"{facts.kind} {facts.profile}", f"rules {facts.rules}"]
    if facts.others:
        words.append(f"+{facts.others} homes")
    right = Content("  ").join(
        [*(ink.line(word, ink.LABEL) for word in words), *map(_gate, facts.gates), Content(live)]
    )
    room = max(8, width - right.cell_length - 2)
    return _ends(_tail(facts.home, room), right, width)


def _gate(gate: tuple[str, bool]) -> Content:
    name, on = gate
    word = "on" if on else "OFF"
    return Content.styled(f"{name} gate {word}", ink.LABEL if on else ink.WARNING)


def _tail(path: str, cells: int) -> Content:
    """A path cut at its front: its end tells homes apart."""
    shown = ink.line(path)
    if shown.cell_length <= cells:
        return shown
    return Content("…") + ink.line(path[-(cells - 1) :])


def _ends(left: Content, right: Content, width: int) -> Content:
    gap = width - left.cell_length - right.cell_length
    if gap < 1:
        return left.truncate(width, ellipsis=True)
    return Content.assemble(left, " " * gap, right)
