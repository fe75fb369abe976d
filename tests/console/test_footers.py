"""The footer names what can be done with the row under the cursor; small terminals say enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.journal import Journal, State
from tests.console.pilots import (
    JOURNAL_MODE,
    KNOWLEDGE_MODE,
    MEMORY_MODE,
    Console,
    open_console,
    sample,
)
from tests.console.shelves import knowledge_on, on, with_store

SMALL = (80, 24)
APP = "u undo ? help q quit"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


def footer(console: Console) -> str:
    """The last line of the terminal."""
    return " ".join(console.picture.splitlines()[-1].split())


async def test_a_project_is_merged_a_note_retired_or_replaced(tmp_path: Path) -> None:
    """Knowledge lacked `r` and `m`, and offered to retire a project."""
    async with knowledge_on(with_store(tmp_path), "tallyport", size=SMALL) as console:
        note = next(item for item in console.knowledge.rows.items if item.live)
        assert console.knowledge.rows.move_to(note.key)
        await console.settle()
        assert footer(console) == f"s ask d retire r replace a add enter look {APP}"
        await on(console, "flags")
        assert footer(console) == f"s ask r replace b activate a add enter look {APP}"
        await console.press("d")
        assert console.flash.endswith("is retired already: b makes it active again")
        await console.press("m")
        assert "Merge notes of tallyport" in console.picture, "its key works all the same"
        await console.press("escape", "escape")
        assert footer(console) == f"s ask a add m merge enter look {APP}"


async def test_a_torn_entry_can_be_put_away(home: Path) -> None:
    async with open_console(home, size=SMALL) as console:
        await console.press("r", JOURNAL_MODE)
        assert footer(console) == f"U undo this / search enter look {APP}"
        Journal(console.state).close(1, State.TORN, "torn", "interrupted")
        await console.press("f5")
        assert footer(console) == f"U undo this / search p put away enter look {APP}"


async def test_nobody_is_offered_to_write_into_a_copy(home: Path) -> None:
    file = home / "memories/MEMORY.md"
    file.with_name("MEMORY.md.bak.1795910000").write_bytes(file.read_bytes() + b"\nthird")
    async with open_console(home, size=SMALL) as console:
        await console.press(MEMORY_MODE)
        assert footer(console) == f"d forget e edit a add enter look {APP}"
        await console.press("c")
        assert footer(console) == f"enter look {APP}"
        await console.press("d")
        assert console.flash == "These are copies: c goes back to the entries"


async def test_sixty_columns_keep_the_help_and_what_waits(home: Path) -> None:
    """The key for all keys was cut off, and with it the count."""
    async with open_console(home, size=(60, 20)) as console:
        assert footer(console).endswith("enter look ? help")
        assert console.header.splitlines()[0].endswith("24 waiting, 1 unreadable")
        await console.press("question_mark")
        assert "status:stale age:14d" in console.picture
        assert "words" in console.picture, "no sentence is cut off"
        await console.press("escape", KNOWLEDGE_MODE)
        assert footer(console).endswith("? help")
        await console.pilot.resize_terminal(80, 24)
        await console.settle()
        assert footer(console).endswith(APP)
