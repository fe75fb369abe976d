"""The memory screen: what the agent carries, what it hides from itself, what it refuses to edit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.console.pilots import MEMORY_MODE, open_console, sample
from tests.console.plain import DATA


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


async def test_every_entry_of_both_files_with_its_size(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        items = console.memory.rows.items
        assert [(i.path, i.index) for i in items] == [
            *(("memories/MEMORY.md", n) for n in range(1, 15)),
            *(("memories/USER.md", n) for n in range(1, 7)),
        ]
        assert str(console.memory.rows.border_title) == "Memory (20 entries)"
        assert "Entry 1 of 14, 145 characters" in console.text
        assert "1,886 of 2,200 chars" in console.text
        await console.press("G")
        assert "Entry 6 of 6" in console.text
        assert "442 of 1,375 chars" in console.text


async def test_y_copies_the_entry_as_it_is_stored(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, "j", "j", "j", "y")
        assert console.app.clipboard == (
            "Release steps:\n- bump the version in pyproject.toml and package.json\n"
            "- update CHANGELOG.md\n- tag vX.Y.Z on main\n"
            "- watch the canary dashboard for 20 minutes"
        )


async def test_enter_and_escape(home: Path) -> None:
    async with open_console(home, size=(80, 24)) as console:
        await console.press(MEMORY_MODE)
        assert "Entry 1 of 14" not in console.picture
        await console.press("enter")
        assert "Entry 1 of 14" in console.picture
        await console.press("escape")
        assert console.memory.rows.has_focus


async def test_no_marks_where_nothing_is_decided(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, "space", "asterisk")
        assert console.memory.rows.marked == ()
        await console.press("question_mark")
        assert "Mark" not in console.text


async def test_a_change_of_the_file_is_seen_on_reload(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        user = home / "memories/USER.md"
        user.write_text(user.read_text() + "\n§\nA seventh fact.")
        await console.reload()
        assert len(console.memory.rows.items) == 21


async def test_what_the_agent_hides_from_itself_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # tests/data/hostile/README.md, D-M0: entry 8 holds joiners the agent's own scan blocks.
    monkeypatch.setenv("HOME", str(tmp_path))
    home = tmp_path / ".hermes"
    shutil.copytree(DATA / "hostile", home, symlinks=True)
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, *"jjjjjjj")
        assert "‼ blocked" in console.picture
        assert "The agent hides this entry from its own prompts" in console.words


async def test_drift_is_said_where_it_stands(home: Path) -> None:
    memory = home / "memories/MEMORY.md"
    memory.write_text(memory.read_text() + "\n§\n" + "x" * 2300)
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        assert "! The agent refuses to edit it: " in console.words


async def test_a_file_that_is_not_there_has_a_row_of_its_own(home: Path) -> None:
    (home / "memories/USER.md").unlink()
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, "G")
        assert console.memory.rows.cursor_item is not None
        assert console.memory.rows.cursor_item.text == "no file yet"
        assert "No entries yet: the agent carries nothing from here." in console.words
        await console.press("y")
        assert console.flash == "There is no entry to copy"


async def test_a_file_that_cannot_be_read_is_not_empty(home: Path) -> None:
    (home / "memories/USER.md").write_bytes(b"caf\xe9")
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, "G")
        assert "! It cannot be read: " in console.words
        assert "Nothing is written to it until that is put right." in console.words
