"""Skills mode in a real terminal, on a home that is watched: what a person does, and the way back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from console.sample import write_sample
from tests.console.pilots import SKILLS_MODE, tree
from tests.console.terminal import Terminal, signoff


def console(folder: Path, home: Path, **env: str) -> Terminal:
    terminal = signoff(folder, home, **env)
    terminal.see("Queue (25)")
    terminal.press(SKILLS_MODE)
    terminal.see("Skills (9)")
    return terminal


def shows(terminal: Terminal, name: str, sign: str) -> bool:
    return any(name in line and sign in line for line in terminal.grid.lines)


def narrow(terminal: Terminal, name: str) -> None:
    """Filter for one row."""
    terminal.press("/")
    terminal.see("state:stale")
    terminal.quiet(0.2)
    terminal.press(f"{name}\r")
    terminal.see("(1 of ")


def go(terminal: Terminal, name: str) -> None:
    """Find a skill by the filter, then show all again: the cursor stays on it."""
    narrow(terminal, name)
    terminal.press("\x1b")
    terminal.gone("(1 of ")


def test_pin_one_archive_another_restore_a_third_over_a_live_one(tmp_path: Path) -> None:
    home = write_sample(tmp_path / "home", datetime.now(UTC))
    before = tree(home)
    with console(tmp_path, home) as terminal:
        go(terminal, "l10n")
        terminal.see("archives it: last used")
        terminal.press("p")
        terminal.see("release-notes-l10n is pinned")
        terminal.see("it is: pinned.")
        go(terminal, "log-grep")
        terminal.press("d")
        terminal.see("✓ Archived log-grep-tips")
        terminal.see("Skills (8)")
        terminal.press("t")
        terminal.see("t Skills (8)  Archive (6)")
        narrow(terminal, "changelog")
        terminal.press("b")
        terminal.see("put this copy in its place")
        terminal.press("2")
        terminal.see("✓ Archived skills/writing/changelog")
        assert "version: 0.3.0" in (home / "skills/writing/changelog/SKILL.md").read_text()
        for entry in (3, 2, 1):
            terminal.press("u")
            terminal.see(f"Entry {entry} (")
        assert tree(home) == before
        terminal.press("q")
        assert terminal.leave() == 0


def test_a_change_of_the_agent_comes_by_itself(tmp_path: Path) -> None:
    home = write_sample(tmp_path / "home", datetime.now(UTC))
    rows = home / "skills/.usage.json"
    with console(tmp_path, home) as terminal:
        go(terminal, "log-search")
        found = json.loads(rows.read_text())
        found["log-search"]["pinned"] = True
        rows.write_text(json.dumps(found))
        terminal.see("log-search  ● active  ◆ pinned")
        terminal.see("it is: pinned.")


def test_without_colours_signs_say_what_colours_said(tmp_path: Path) -> None:
    home = write_sample(tmp_path / "home", datetime.now(UTC))
    with console(tmp_path, home, NO_COLOR="1") as terminal:
        for name, sign in (("migration-check", "◆"), ("log-grep-tips", "◐"), ("log-search", "●")):
            terminal.wait(partial(shows, name=name, sign=sign))
