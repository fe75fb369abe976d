"""The journal screen: what was decided, what it changed, taking back one entry of many."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from console.screens.confirm import Confirm
from core.desk.knowledge_board import beside
from core.desk.knowledge_work import undo
from core.homes.rag.nodes import Layer, collection_of
from core.homes.rag.store import Store
from core.journal import Journal, State
from tests.console.pilots import JOURNAL_MODE, NOW, Console, open_console, sample, start_of, tree
from tests.console.shelves import knowledge_on, on, with_store

USER = "b71d90e4"
SKILL = "1a6fd3b8"
PATCH = "c31e9f60"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(
        "core.journal.actor", lambda: {"user": "sam", "terminal": "pts/1", "parent": "42 zsh"}
    )
    return sample(tmp_path)


def asked(console: Console) -> tuple[str, str]:
    """Title and keys of the question that stands before the room."""
    assert isinstance(console.app.screen, Confirm)
    (box,) = console.app.screen.query(".dialog")
    return str(box.border_title), str(box.border_subtitle)


async def decide(console: Console, *names: str) -> None:
    for name in names:
        row = await console.at(name)
        if row.word == "attention":
            await console.press("a")
        await console.press("a")


def paths(store: Store, collection: str) -> set[str]:
    return {node.text("path") for node in store.nodes(collection)}


def rows(console: Console) -> list[tuple[int, str, str]]:
    return [(item.number, item.verb, item.state) for item in console.journal.rows.items]


async def test_an_empty_journal_says_what_it_is_for(home: Path) -> None:
    for size in ((80, 24), (120, 36)):
        async with open_console(home, size=size) as console:
            await console.press(JOURNAL_MODE)
            assert "Nothing was decided here yet." in console.picture
            await console.press("U")
            assert console.flash == "Nothing was decided here yet"


async def test_the_newest_decision_is_on_top_with_what_it_changed(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, SKILL, USER)
        await console.press(JOURNAL_MODE)
        assert rows(console) == [(2, "approve", "done"), (1, "approve", "done")]
        assert f"2  approve {USER}" in console.text
        assert "2026-11-29 12:00:00  ~/.hermes  default" in console.text
        assert "by sam, pts/1, from 42 zsh" in console.text
        assert "Entry added\n1 + Reads diffs side by side" in console.text
        assert "pending/memory" not in console.text
        await console.press("j")
        assert "New skills/" in console.text
        assert "flaky-browser-tests/SKILL.md" in console.text


async def test_taking_back_an_entry_that_is_not_the_newest(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await decide(console, SKILL, USER)
        await console.press(JOURNAL_MODE, "j", "U")
        assert console.flash == f"Entry 1 (approve {SKILL}) was taken back"
        assert rows(console) == [
            (3, "undo", "done"),
            (2, "approve", "done"),
            (1, "approve", "undone"),
        ]
        assert (home / f"pending/skills/{SKILL}.json").exists()
        await console.press("G", "U")
        assert console.flash == "Entry 1 is undone already"
        await console.press("u")
        assert tree(home) == before


async def test_taking_back_an_undo_decides_again(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, USER)
        after = tree(home)
        await console.press("u", JOURNAL_MODE, "U")
        assert console.flash == f"Entry 2 (undo {USER}) was taken back"
        assert tree(home) == after


async def test_an_undo_that_would_lose_later_work_is_refused(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, USER)
        user = home / "memories/USER.md"
        user.write_text(user.read_text().replace("file names", "names"))
        before = tree(home)
        await console.press(JOURNAL_MODE, "U")
        assert tree(home) == before
        assert "USER.md" in console.flash
        assert rows(console)[-1] == (1, "approve", "done")


async def test_later_decisions_in_the_way_are_offered_to_go_back_first(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await decide(console, USER)
        await console.press("4", "G", "K", JOURNAL_MODE, "j", "U")
        assert asked(console) == (
            "Later decisions changed the same files",
            "y takes these 2 back, in this order, n or esc leaves all as it is",
        )
        assert console.text.index("2  move") < console.text.index(f"1  approve {USER}")
        await console.press("n")
        assert console.flash == "Nothing was taken back"
        assert rows(console)[0] == (2, "move", "done")
        await console.press("U", "y")
        assert [state for _, _, state in rows(console)] == ["done", "undone", "undone"]
        assert tree(home) == before


async def test_the_undo_key_asks_for_what_was_not_decided_just_now(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await decide(console, USER)
        after = tree(home)
        console.app.started = NOW + timedelta(seconds=1)
        await console.press("u")
        assert asked(console)[0] == "It was not decided just now, or not here"
        assert f"1  approve {USER}: just now." in console.text
        assert tree(home) == after
        await console.press("escape")
        assert (console.flash, tree(home)) == ("Nothing was taken back", after)
        await console.press("u", "y")
        assert console.flash == f"Entry 1 (approve {USER}) was taken back"
        assert tree(home) == before


async def test_the_undo_key_asks_for_what_another_terminal_decided(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_console(home) as console:
        await decide(console, USER)
        after = tree(home)
        other = {"user": "sam", "terminal": "pts/2", "parent": "43 zsh"}
        monkeypatch.setattr("core.journal.actor", lambda: other)
        await console.press("u")
        assert asked(console)[0] == "It was not decided just now, or not here"
        assert tree(home) == after


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (State.OPEN, "Entry 1 did not end: the next decision settles it"),
        (State.TORN, "Entry 1 is torn: look at its files, then p puts it away"),
    ],
)
async def test_what_did_not_end_stands_first_and_is_said_in_review(
    home: Path, state: State, reason: str
) -> None:
    async with open_console(home) as console:
        await decide(console, SKILL, USER)
        Journal(console.state).close(1, state, "torn", "interrupted")
        await console.press("f5")
        assert f"! Journal entry 1 ({state}) did not end" in console.picture
        await console.press(JOURNAL_MODE)
        assert rows(console)[0] == (1, "approve", str(state))
        await console.press("g", "U")
        assert console.flash == reason


async def test_a_note_and_who_decided_are_shown(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(USER)
        await console.press("R", *"wrong", "enter", JOURNAL_MODE)
        assert "Note: wrong" in console.text
        assert "“wrong”" in console.picture


async def test_enter_z_s_and_escape(home: Path) -> None:
    async with open_console(home) as console:
        await decide(console, PATCH)
        await console.press(JOURNAL_MODE, "enter")
        assert console.journal.detail.has_focus
        assert "⋯ 11 unchanged lines" in console.text
        await console.press("z")
        assert "unchanged" not in console.text
        await console.press("z", "s")
        assert " │ " in console.text
        await console.press("escape")
        assert console.journal.rows.has_focus


async def test_one_pane_at_a_time_when_narrow(home: Path) -> None:
    async with open_console(home, size=(80, 24)) as console:
        await decide(console, USER)
        await console.press(JOURNAL_MODE)
        assert "Entry added" not in console.picture
        await console.press("o")
        assert "Entry added" in console.picture


async def test_a_bulk_step_on_notes_takes_the_pages_it_brings_back_in_anew(tmp_path: Path) -> None:
    """Undone as one, a merge is found no more; that undone as one, it is found again."""
    home = with_store(tmp_path)
    wiki = collection_of("tallyport", Layer.WIKI)
    async with knowledge_on(home, "tallyport") as console:
        await on(console, "round")
        await console.press("A", "m", "y")
        shelf = beside(start_of(home)())
        merged = paths(shelf.store, wiki)
        assert all(receipt.ok for receipt in undo(shelf, [1, 2]))
        before = paths(shelf.store, wiki)
        assert merged - before == {"modules/migrations.md"}
        await console.press("H", "U")
        assert console.flash.startswith("2 decisions of bulk step")
        assert paths(shelf.store, wiki) == merged


async def test_the_record_of_a_decision_taken_back_is_not_shown_beside_what_it_changed(
    home: Path,
) -> None:
    async with open_console(home) as console:
        await decide(console, SKILL)
        await console.press("u", JOURNAL_MODE)
        assert rows(console)[0] == (2, "undo", "done")
        assert "flaky-browser-tests/SKILL.md" in console.text
        assert "created_at" not in console.text
