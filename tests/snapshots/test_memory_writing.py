"""The memory mode with a person's hand on it. Each docstring says what has to be seen."""

from __future__ import annotations

from pathlib import Path

from tests.console.pilots import MEMORY_MODE
from tests.snapshots.conftest import LARGE, SMALL, Shoot

MEMORY = "memories/MEMORY.md"


def drifted(home: Path) -> None:
    memory = home / MEMORY
    memory.write_text(memory.read_text().replace("\n§\n", "\n\n§\n", 1))


def test_memory_forgotten(shoot: Shoot) -> None:
    """The last line says that it is gone and ``u`` brings it back; the right side what remains."""
    assert shoot(MEMORY_MODE, "j", "d")


def test_memory_forgotten_when_narrow(shoot: Shoot) -> None:
    """The cursor on the next entry; the last line says what was done."""
    assert shoot(MEMORY_MODE, "j", "d", size=SMALL)


def test_memory_normalise(shoot: Shoot, home: Path) -> None:
    """A sheet: which line is mended, that no entry loses anything, the difference; ``y`` does."""
    drifted(home)
    assert shoot(MEMORY_MODE, "N")


def test_memory_copies(shoot: Shoot, home: Path) -> None:
    """Two copies with age and size; what changed from the first to the file of now."""
    text = (home / MEMORY).read_text()
    (home / f"{MEMORY}.bak.1795946400").write_text(text.replace("6 minutes", "9 minutes"))
    (home / f"{MEMORY}.bak.1795860000").write_text(text)
    assert shoot(MEMORY_MODE, "c", size=LARGE)
