"""A vak home in the console: notes, skills, the queue under another name, what vak has not (7)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from console.actions import actions_of, offered
from console.screens import editor
from console.screens.installed import NO_SUCH, InstalledScreen
from console.screens.memory import MemoryScreen
from console.screens.notes import NOT_IN_VAK, NotesScreen
from console.screens.room import Room
from console.screens.sessions_index import Fed
from console.uistate import UiState, save
from tests.console.pilots import (
    MEMORY_MODE,
    SESSIONS_MODE,
    SKILLS_MODE,
    Console,
    open_console,
    sample,
    start_of,
    tree,
)
from tests.console.plain import Cli

ATLAS = "67b506f04aa724b1"
NOTES = f"memory/{ATLAS}/MEMORY.md"
READY = "01a01e6d61807e15986d8d3bb4b327e4"
CLASH = "01a0238c6a80789dbf80ebb80a447b7e"
Typing = Callable[[str], str | None]


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return Cli(tmp_path, monkeypatch, capsys).copy("vak")


def types(monkeypatch: pytest.MonkeyPatch, typing: Typing) -> None:
    """What the person does to the text in the editor."""
    monkeypatch.setattr(editor, "edit_text", lambda _app, text, suffix=".md": typing(text))


def nothing_waits(home: Path) -> None:
    for path in home.glob("skill-proposals/*/*"):
        path.unlink()


def room(console: Console) -> NotesScreen:
    assert isinstance(console.app.screen, NotesScreen)
    return console.app.screen


async def to(console: Console, note: str) -> None:
    """Put the cursor on the note of the atlas workspace with this id."""
    assert room(console).rows.move_to(f"{NOTES}#{note}")
    await console.settle()


async def test_memory_lists_the_notes_of_every_workspace_and_the_profile(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        items = [item for item in room(console).rows.items if item.id]
        assert len(items) == 17
        assert {item.place for item in items} == {
            "/home/dev/atlas",
            "/home/dev/billing-api",
            "profile",
        }
        await to(console, "9e47ec659a17c656")
        assert "atlas · decision · deploy-rollbacks" in console.picture
        assert "Workspace /home/dev/atlas" in console.words
        assert "No budget" in console.words
        assert "From session 01a01e66-0e80-728c-9b72-075b8cbde5af" in console.words
        assert "pauses ninety seconds before any rollback." in console.words
        assert "no file yet" not in console.picture


async def test_a_file_without_notes_still_takes_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "memory/user/USER.md").unlink()
    types(monkeypatch, lambda _: "Likes short notes.")
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        assert room(console).rows.move_to("memory/user/USER.md#")
        await console.settle()
        assert "No note yet" in console.words
        await console.press("d")
        assert console.flash == "There is no note to forget"
        await console.press("a", "3", *"style", "enter")
        assert (
            "[preference] tag=style session=signoff\n" in (home / "memory/user/USER.md").read_text()
        )
        assert "Likes short notes." in console.words
        assert "Profile" in console.words


async def test_add_amend_forget_and_all_taken_back(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        await to(console, "9e47ec659a17c656")
        types(monkeypatch, lambda text: text.replace("ninety", "sixty"))
        await console.press("e")
        assert "pauses sixty seconds" in (home / NOTES).read_text()
        assert console.flash.startswith("✓ A note of MEMORY.md was amended")
        assert "pauses sixty seconds" in console.words
        types(monkeypatch, lambda _: "The deploy script pauses sixty seconds before any rollback.")
        await console.press("a", "1", "enter")
        assert "It says nearly what another note says (100% alike)" in console.words
        await to(console, "9e47ec659a17c656")
        await console.press("d")
        assert "deploy-rollbacks" not in (home / NOTES).read_text()
        await console.press("u", "u", "u")
        assert tree(home) == before
        assert len([item for item in room(console).rows.items if item.id]) == 17


async def test_a_tag_that_cannot_be_kept_is_refused_and_the_text_kept(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tree(home)
    types(monkeypatch, lambda text: text or "The kiln is warm.")
    async with open_console(home) as console:
        await console.press(MEMORY_MODE, "a", "1", *"two", "space", *"words", "enter")
        assert "The tag holds white space" in console.flash
        assert "Your text is kept" in console.flash
        assert tree(home) == before
        await console.press("a", "escape")
        await console.press("a", "1", "escape")
        assert tree(home) == before
        await console.press("a", "1", *"kiln", "enter")
        assert tree(home) != before
        assert "The kiln is warm." in console.words


async def test_a_note_changed_since_it_was_shown_is_left_alone(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        await to(console, "9e47ec659a17c656")
        text = (home / NOTES).read_text().replace("pauses ninety", "pauses seventy")
        (home / NOTES).write_text(text)
        await console.press("d")
        assert "changed since it was shown" in console.flash
        assert (home / NOTES).read_text() == text
        assert "pauses seventy" in console.words


async def test_the_second_of_twins_waits_for_the_first(home: Path) -> None:
    """Both have one heading, so one id; the id means the first of them (vak spec 7.3)."""
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        assert room(console).rows.move_to(f"{NOTES}#e664ea0fc4e58ba9#2")
        await console.settle()
        await console.press("d")
        assert "very same heading" in console.flash
        await to(console, "e664ea0fc4e58ba9")
        await console.press("d")
        left = (home / NOTES).read_text()
        assert "First of two blocks" not in left
        assert "Second twin." in left


async def test_o_reads_the_session_a_note_came_from_or_says_there_is_none(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        await to(console, "e2873706eb9abfd2")
        await console.press("o")
        assert console.flash == "No session hand is kept here"
        await to(console, "9e47ec659a17c656")
        await console.press("o")
        assert console.app.current_mode == "sessions"
        await console.press("escape")
        assert console.app.current_mode == "memory"


async def test_what_notes_have_not_is_said(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        for key, words in (("K", "none is moved"), ("N", "nothing to mend"), ("c", "no copies")):
            await console.press(key)
            assert words in console.flash


async def test_a_note_and_a_proposal_of_another_process_appear(home: Path) -> None:
    """What the watcher says of them; that it says so by itself is the terminal test's matter."""
    async with open_console(home) as console:
        waiting = len(console.review.queue.items)
        record = home / "skill-proposals" / ATLAS / f"{READY}.md"
        new = record.with_name(f"{'f' * 32}.md")
        new.write_text(record.read_text().replace("rotate-release-tags", "rotate-other-tags"))
        console.app.tell(frozenset({"queue"}))
        await console.settle()
        assert len(console.review.queue.items) == waiting + 1
        await console.press(MEMORY_MODE)
        with (home / NOTES).open("a") as stream:
            stream.write("\n## 2026-11-29T08:00:00Z [fact] tag=quay session=x\nThe quay is 4 m.\n")
        console.app.tell(frozenset({"notes"}))
        await console.settle()
        assert room(console).rows.border_title is not None
        assert "Notes (18)" in console.picture


# -- skills --------------------------------------------------------------------------------


async def test_skills_are_read_only_and_say_what_vak_has_not(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.press(SKILLS_MODE)
        assert isinstance(console.app.screen, InstalledScreen)
        assert [row.skill.name for row in console.app.screen.rows.items] == [
            "deploy-checklist",
            "log-triage",
        ]
        assert NO_SUCH in console.words
        for key in ("p", "d", "c", "R", "e"):
            await console.press(key)
            assert console.flash == NO_SUCH
        assert tree(home) == before


@pytest.mark.parametrize(("mode", "kind"), [("memory", NotesScreen), ("skills", InstalledScreen)])
async def test_a_home_of_another_kind_has_its_own_rooms_from_the_first_frame_on(
    home: Path, mode: str, kind: type
) -> None:
    save(home.parent / "state", UiState(mode=mode))
    # The mode that was left is gone back to when nothing waits.
    nothing_waits(home)
    async with open_console(home) as console:
        assert isinstance(console.app.screen, kind)
        assert console.app.current_mode == mode


async def test_another_home_brings_the_rooms_of_its_kind(home: Path) -> None:
    async with open_console(sample(home.parent)) as console:
        await console.press(MEMORY_MODE)
        assert isinstance(console.app.screen, MemoryScreen)
        for place, kind in ((home, NotesScreen), (console.home, MemoryScreen)):
            found = console.app._enter_home(start_of(place)(), threading.Event())
            console.app._move_in(found)
            await console.settle()
            assert isinstance(console.app.screen, kind)


# -- what the header says ------------------------------------------------------------------


async def test_no_gate_is_spoken_of(home: Path) -> None:
    async with open_console(home) as console:
        assert re.search(r"\bgates?\b", console.header) is None
        assert "signoff gate" not in console.picture
        assert "skill proposals on, notes on" in console.header


async def test_settings_that_are_off_are_said(home: Path) -> None:
    (home / "config.toml").write_text("[memory]\nskill_proposals = false\nwrite_enabled = false\n")
    async with open_console(home) as console:
        assert "skill proposals OFF, notes OFF" in console.header
        assert "skill_proposals is off in the home's [memory] settings" in console.picture
        assert "write_enabled is off in the home's [memory] settings" in console.picture
        assert "signoff gate" not in console.picture


async def test_an_empty_queue_tells_of_vaks_own_setting(home: Path) -> None:
    nothing_waits(home)
    async with open_console(home) as console:
        assert "while skill_proposals is on" in console.words
        assert "gate" not in console.words


# -- promoting under another name ----------------------------------------------------------


async def test_promote_under_another_name(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(READY)
        await console.press("P", *"spin-tags", "enter")
        text = (home / "skills/spin-tags/SKILL.md").read_text()
        assert text.startswith('---\nname: "spin-tags"\n')
        assert not (home / "skills/rotate-release-tags").exists()
        assert console.row(READY) is None
        await console.press("u")
        assert tree(home) == before


async def test_a_name_that_is_taken_is_refused(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(READY)
        await console.press("P", *"log-triage", "enter")
        assert "There is a skill log-triage already" in console.picture
        assert tree(home) == before
        await console.press("ctrl+u", *"spin-tags", "enter")
        assert (home / "skills/spin-tags/SKILL.md").exists()


async def test_a_clash_shows_the_difference_and_the_keys_that_help(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(CLASH)
        assert "edit the proposal with e (edit)" in console.words
        assert "under another name with P (promote as)" in console.words
        assert "--as" not in console.words
        assert "What stands there, and what is proposed" in console.words
        assert '3 - description: "Checklist to run before a deploy."' in console.words
        assert '3 + description: "Run the pre-deploy checklist."' in console.words


async def test_a_hermes_home_says_why_it_has_no_such_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    async with open_console(sample(tmp_path)) as console:
        await console.press("P")
        assert console.flash.startswith("Only skills that a vak agent proposes")


# -- the index -----------------------------------------------------------------------------


async def test_progress_of_the_index_is_in_megabytes(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SESSIONS_MODE)
        console.sessions._feeding = True
        console.sessions.on_fed(Fed(1_500_000, 12_000_000))
        assert "indexing 12%, 1.5 of 12.0 MB" in console.sessions._fed
        console.sessions._feeding = False


async def test_a_ledger_is_exported(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    async with open_console(home) as console:
        await console.press(SESSIONS_MODE, "down", "enter", "x", "1", *str(out), "enter")
        (file,) = out.glob("*.jsonl")
        assert "Exported" in console.picture
        assert '"kind": "header"' in file.read_text()


# -- from a hit on a note to Memory ----------------------------------------------------------


async def test_o_on_a_hit_on_a_note_leads_to_it_in_memory(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(SESSIONS_MODE, "slash", *"pauses ninety seconds", "enter")
        place = next(
            n for n, hit in enumerate(console.sessions.hits.items) if hit.key.startswith("memory/")
        )
        await console.press(*["down"] * place, "o")
        assert console.app.current_mode == "memory"
        assert room(console).rows.cursor_key == f"{NOTES}#9e47ec659a17c656"
        assert "pauses ninety seconds before any rollback." in console.words


async def test_o_on_a_note_of_the_profile_finds_it_though_memory_was_read_before(
    home: Path,
) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        profile = home / "memory/user/USER.md"
        with profile.open("a") as stream:
            stream.write("\n## 2026-11-29T08:00:00Z [fact] tag=quay session=x\nThe quay is 4 m.\n")
        await console.press(SESSIONS_MODE, "slash", *"quay", "enter")
        await console.press("o")
        assert console.app.current_mode == "memory"
        assert "The quay is 4 m." in console.words
        profile.write_text("")
        await console.press(SESSIONS_MODE, "o")
        assert console.flash == "The note is gone: its file was changed since"


# -- help ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["memory", "skills"])
async def test_help_lists_only_keys_that_vak_has_a_notion_of(home: Path, mode: str) -> None:
    """``?`` and the palette leave out what a press answers with "vak has no …"."""
    async with open_console(home) as console:
        await console.press(MEMORY_MODE if mode == "memory" else SKILLS_MODE)
        screen = console.app.screen
        assert isinstance(screen, Room)
        never = {NO_SUCH, *NOT_IN_VAK.values()}
        works = [
            a for a in actions_of(mode) if screen.why_not(a.name.partition("(")[0]) not in never
        ]
        assert list(offered(mode, "vak")) == works
        assert len(works) < len(list(actions_of(mode)))
        await console.press("question_mark")
        shown = console.picture
        assert "Make the agent ask before it writes" not in shown
        assert ("Pin it" in shown, "Move the entry" in shown) == (False, False)
        assert ("Mark" in shown) is False
