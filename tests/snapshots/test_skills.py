"""The skills mode as it looks. Each docstring says what has to be seen in the picture."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.console.pilots import SKILLS_MODE, Console
from tests.console.plain import DATA
from tests.snapshots.conftest import LARGE, MIDDLE, SMALL, Shoot, Step

WIDE = (142, 42)


def at(name: str) -> Step:
    """A step: the cursor on the skill, or the folder of the archive, of that name."""

    async def move(console: Console) -> None:
        rows = console.skills.rows
        for item in rows.items:
            if name in (item.name, getattr(item, "folder", "")):
                rows.move_to(item.key)
        await console.settle()

    return move


@pytest.mark.parametrize(
    "size", [SMALL, MIDDLE, WIDE, LARGE], ids=["small", "middle", "wide", "large"]
)
def test_skills(shoot: Shoot, size: tuple[int, int]) -> None:
    """What changes soonest first, the curator above it; beside it why ``changelog`` changes."""
    assert shoot(SKILLS_MODE, size=size)


def test_skills_inside_when_narrow(shoot: Shoot) -> None:
    """Only the package, its frame in the accent colour."""
    assert shoot(SKILLS_MODE, at("log-search"), "enter", size=SMALL)


def test_skills_raw(shoot: Shoot) -> None:
    """The file with line numbers, from its head on."""
    assert shoot(SKILLS_MODE, at("log-search"), "m")


def test_skills_filtered(shoot: Shoot) -> None:
    """Three rows of nine, the filter above them."""
    assert shoot(SKILLS_MODE, "slash", *"state:stale", "enter")


def test_skills_archive(shoot: Shoot) -> None:
    """Five folders; ``changelog`` cannot go back, and stands beside the live one."""
    assert shoot(SKILLS_MODE, "t", at("changelog"), size=WIDE)


def test_skills_restored_over_a_live_one(shoot: Shoot) -> None:
    """Both texts; the first way grey with its reason, the second under the cursor."""
    assert shoot(SKILLS_MODE, "t", at("changelog"), "b")


def test_skills_restored_with_a_pin(shoot: Shoot) -> None:
    """The next run would archive it again: the second way pins it, the third is another copy."""
    assert shoot(SKILLS_MODE, "t", at("queue-replay"), "b", size=SMALL)


def test_skills_archived_although_a_job_uses_it(shoot: Shoot) -> None:
    """A sheet that names the job first."""
    assert shoot(SKILLS_MODE, at("invoice-audit"), "d")


def test_skills_marked(shoot: Shoot) -> None:
    """Three as one step, the pinned one left out with its reason."""
    names = ("log-grep-tips", "invoice-audit", "migration-check")
    marks = [step for name in names for step in (at(name), "space")]
    assert shoot(SKILLS_MODE, *marks, "d")


def test_skills_curate(shoot: Shoot) -> None:
    """Three changes with why and where to, then who is held and by what."""
    assert shoot(SKILLS_MODE, "c")


def test_skills_rollback(shoot: Shoot) -> None:
    """What goes, whose counts go back, and the copy that is taken first."""
    assert shoot(SKILLS_MODE, "R", "1")


def test_skills_curator(shoot: Shoot) -> None:
    """Each setting with its source; three runs, the newest first."""
    assert shoot(SKILLS_MODE, "H")


def test_skills_pinned(shoot: Shoot) -> None:
    """A diamond on the row and in the page; the last line says ``u`` takes it back."""
    assert shoot(SKILLS_MODE, at("log-search"), "p")


def test_skills_paused(shoot: Shoot) -> None:
    """Two bars and the words ``it is paused`` above the table."""
    assert shoot(SKILLS_MODE, "P", size=SMALL)


def test_skills_blocked(shoot: Shoot, home: Path) -> None:
    """Above the table why nothing is written; the keys that write are grey."""
    (home / "skills/.usage.json").write_text("{ this is not json")
    assert shoot(SKILLS_MODE, "p")


def test_skills_none(shoot: Shoot, home: Path) -> None:
    """No table; a sentence says what will appear."""
    shutil.rmtree(home / "skills")
    assert shoot(SKILLS_MODE)


@pytest.mark.parametrize("theme", ["light", "contrast"])
def test_skills_themes(shoot: Shoot, theme: str) -> None:
    """The same in other colours; every sign still told apart."""
    assert shoot(SKILLS_MODE, theme=theme)


def test_skills_odd(shoot: Shoot, tmp_path: Path) -> None:
    """Every state and origin: pinned, hidden, external, hub, bundled, odd rows."""
    odd = tmp_path / "odd/.hermes"
    shutil.copytree(DATA / "hermes-skills", odd, symlinks=True)
    assert shoot(SKILLS_MODE, at("flaky-test-hunt"), size=LARGE, home=odd)
