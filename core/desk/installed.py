"""The skills a vak home has: read, never changed. vak keeps no pins, no archive and no curator."""

from __future__ import annotations

from dataclasses import dataclass

from core.desk.opening import Opened
from core.homes.vak.home import AGENTS, SKILLS
from core.homes.vak.proposals import SKILL_FILE
from core.homes.vak.skill_text import read_skill
from core.view import View, join


@dataclass(frozen=True, slots=True)
class Installed:
    """A skill. ``path`` is its SKILL.md; ``problem`` says why it cannot be used, if it cannot."""

    path: str
    name: str
    description: str
    text: str
    problem: str


def installed(opened: Opened) -> tuple[Installed, ...]:
    """The skills of the home and of its agents, in the order of their folders."""
    view = View(opened.source)
    roots = (SKILLS, *(join(AGENTS, agent, SKILLS) for agent in sorted(view.names(AGENTS))))
    return tuple(
        _read(view, join(root, folder, SKILL_FILE), folder)
        for root in roots
        for folder in sorted(view.names(root))
        if view.kind(join(root, folder, SKILL_FILE)) is not None
    )


def _read(view: View, path: str, folder: str) -> Installed:
    reading = view.read(path)
    if reading.data is None:
        return Installed(path, folder, "", "", f"it cannot be read: {reading.reason}")
    try:
        text = reading.data.decode("utf-8")
    except UnicodeDecodeError:
        return Installed(path, folder, "", "", "it is no UTF-8 text")
    found = read_skill(text)
    if isinstance(found, str):
        return Installed(path, folder, "", text, found)
    return Installed(path, found.name or folder, found.description or "", text, "")
