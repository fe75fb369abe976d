"""The header: which mode, which home, whose rules, whether the agent asks, what waits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.actions import MODES
from console.keymap import key_of_mode
from console.render import ink
from console.render.hints import with_keys


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """What the header says of a home. ``gates`` holds each subsystem and whether its gate is on.

    ``switches`` are what its own settings let an agent without gates do, and whether they do.
    ``home`` is short enough to read; ``remarks`` are sentences on what stands in the way.
    ``partly``: a queue cannot be read, and what waits there is not counted.
    """

    home: str
    kind: str
    profile: str
    rules: str
    gates: tuple[tuple[str, bool], ...]
    waiting: int
    unreadable: int
    others: int
    remarks: tuple[str, ...] = ()
    partly: bool = False
    switches: tuple[tuple[str, bool], ...] = ()


def header(mode: str, facts: HomeFacts | None, live: str, width: int) -> Content:
    """Two lines of at most ``width`` cells."""
    return Content("\n").join([_first(mode, facts, width), _second(facts, live, width)])


def notice(facts: HomeFacts | None, waiting: Sequence[str] = ()) -> Content:
    """What a person should mend before deciding, a sentence a line; empty if there is nothing.

    ``waiting`` are modes that have something to show once the person is back.
    """
    said = [f"{MODES[mode]} has an answer: {key_of_mode(mode)} shows it." for mode in waiting]
    said += facts.remarks if facts else ()
    off = [name for name, on in facts.gates if not on] if facts else []
    if off:
        which = "Both gates are" if len(off) > 1 else f"The {off[0]} gate is"
        said.append(f"{which} off: the agent does not ask. `signoff gate on` mends it.")
    return Content("\n").join(ink.line(f"! {with_keys(sentence)}") for sentence in said)


def _first(mode: str, facts: HomeFacts | None, width: int) -> Content:
    tabs, few = _tabs(mode, MODES), _tabs(mode, (mode,))
    short = "" if facts is None else waiting(facts)
    unreadable = facts.unreadable if facts else 0
    counts = f"{short}, {unreadable:,} unreadable" if unreadable else short
    named = Content.assemble(("signoff  ", ink.TITLE), tabs)
    # The sign of the rows that are meant stands for the word where there is no room for it.
    brief = f"{short} +{unreadable:,} !" if unreadable else short
    tight = f"{short} {unreadable:,}!" if unreadable else short
    for left, right in (
        *((named, counts), (tabs, counts)),
        *((tabs, brief), (tabs, tight), (tabs, short)),
        *((few, counts), (few, brief), (few, tight), (few, short)),
    ):
        if left.cell_length + len(right) < width:
            return _ends(left, Content(right), width)
    return _ends(few, Content(""), width)


def _tabs(mode: str, named: Collection[str]) -> Content:
    """The keys of the modes, those of ``named`` with their titles."""
    return Content("  ").join(
        Content.styled(
            f"{key_of_mode(name)} {title}" if name in named else key_of_mode(name),
            "bold reverse" if name == mode else ink.LABEL,
        )
        for name, title in MODES.items()
    )


def waiting(facts: HomeFacts) -> str:
    """How much waits, in words."""
    if facts.partly:
        return f"{facts.waiting:,}+ waiting" if facts.waiting else "waiting: unknown"
    return f"{facts.waiting:,} waiting"


def _second(facts: HomeFacts | None, live: str, width: int) -> Content:
    if facts is None:
        return Content.styled("opening…", ink.LABEL)
    words = [f"{facts.kind} {facts.profile}", f"rules {facts.rules}"]
    if facts.others:
        words.append(f"+{facts.others} homes")
    shown = [*(ink.line(word, ink.LABEL) for word in words), _asking(facts), Content(live)]
    right = Content("  ").join(filter(None, shown))
    room = max(8, width - right.cell_length - 2)
    return _ends(_tail(facts.home, room), right, width)


def _asking(facts: HomeFacts) -> Content:
    if not facts.switches:
        return _gates(facts.gates)
    words = [f"{name} {'on' if on else 'OFF'}" for name, on in facts.switches]
    allowed = all(on for _, on in facts.switches)
    return ink.line(", ".join(words), ink.LABEL if allowed else ink.WARNING)


def _gates(gates: tuple[tuple[str, bool], ...]) -> Content:
    off = [name for name, on in gates if not on]
    if not off:
        return Content.styled("gates on", ink.LABEL)
    return Content.styled("gates OFF" if len(off) > 1 else f"{off[0]} gate OFF", ink.WARNING)


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
