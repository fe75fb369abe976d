"""Triage by keys: bulk steps and their undo, the dead, rivals, filter, edit, forecast, snooze.

Demands 1 to 6, 11, 12, 16 and 17 of the field reports.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from textual.widgets import Input

from console.screens.choose import Choose
from console.screens.confirm import Confirm
from console.screens.note import NoteScreen
from core.desk.decide import Request
from core.journal import Journal
from tests.console.pilots import NOW, Console, open_console, start_of, tree
from tests.core.desks import MEMORY, add, make_home, propose, reject, remove, swap

DAY = 86400.0
BATCH = {
    "action": "batch",
    "target": "memory",
    "operations": [
        {"action": "add", "content": "first of two"},
        {"action": "remove", "old_text": "no such entry"},
    ],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return make_home(tmp_path / ".hermes", limit=120)


def shown(console: Console) -> list[str]:
    return [item.id for item in console.review.queue.items]


def bulks(console: Console) -> list[int | None]:
    """The bulk step of every decision, the oldest first."""
    return [entry.tags.bulk for entry in reversed(Journal(console.state).entries())]


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """An editor that runs ``script`` on the path it is given."""
    path = folder / "editor.py"
    path.write_text(f"import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\n{script}\n")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {path}")
    monkeypatch.setattr("console.screens.editor.suspended", lambda _app: nullcontext())


# -- bulk steps ----------------------------------------------------------------------------


async def test_marked_rows_are_one_step_and_one_u_brings_all_back(home: Path) -> None:
    for number in range(4):
        propose(home, f"r{number}", add(f"tea {number}"), age=10.0 - number)
    before = tree(home)
    async with open_console(home) as console:
        await console.press("space", "space", "space", "a")
        assert shown(console) == ["r3"]
        assert console.flash == "3 approved; u takes them back"
        (step,) = set(bulks(console))
        assert step is not None
        await console.press("u")
        assert console.flash == "3 decisions of one step taken back"
        assert tree(home) == before
        assert shown(console) == ["r0", "r1", "r2", "r3"]
        await console.press("*", "r")
        assert shown(console) == []
        await console.press("u")
        assert tree(home) == before


async def test_rows_that_did_not_land_return_with_their_reasons(home: Path) -> None:
    propose(home, "one", swap("alpha", "alpha new"), age=3.0)
    propose(home, "two", swap("alpha one", "alpha other"), age=2.0)
    propose(home, "big", add("x" * 119), age=1.0)
    async with open_console(home) as console:
        await console.press("*", "a")
        assert console.row("one") is None
        assert console.row("two").fate == "failed"
        assert "alpha one" in console.row("two").note
        assert "characters" in console.row("big").note
        assert console.flash.startswith("1 approved; 2 not, their rows say why; 1 rival left")


async def test_rows_without_a_label_and_unreadable_ones_go_in_the_same_step(home: Path) -> None:
    propose(home, "one", add("tea"), age=3.0)
    (home / "pending/memory/broken.json").write_text("{")
    before = tree(home)
    async with open_console(home) as console:
        await console.press("*", "r")
        assert shown(console) == []
        assert len(set(bulks(console))) == 1
        await console.press("u")
        assert tree(home) == before
        # Approving answers no question by name: what is not judged stays.
        await console.press("*", "a")
        assert console.flash == "1 approved; 1 not, its row says why; u takes it back"
        assert console.row("broken").fate == "failed"


# -- the dead ------------------------------------------------------------------------------


async def test_the_dead_are_listed_refused_and_brought_back(home: Path) -> None:
    """D06: 75 of 357 could no longer apply."""
    propose(home, "live", add("tea"), age=9.0)
    propose(home, "stale", remove("nowhere"), age=8.0)
    propose(home, "done", add("alpha one"), age=7.0)
    propose(home, "broken", {"action": "odd", "target": "memory"}, age=6.0)
    before = tree(home)
    async with open_console(home) as console:
        await console.press("D")
        assert isinstance(console.app.screen, Confirm)
        assert "Refuse 3 that can no longer apply?" in console.picture
        assert [line.split()[0] for line in console.text.splitlines() if "→ memory: " in line] == [
            "stale",
            "done",
            "broken",
        ]
        await console.press("escape")
        assert tree(home) == before
        await console.press("D", "y")
        assert shown(console) == ["live"]
        assert console.flash == "3 refused; u takes them back"
        assert console.review.why_not("refuse_dead") is not None
        await console.press("D")
        assert console.flash == "Nothing on screen is known to be past applying"
        await console.press("u")
        assert tree(home) == before


async def test_only_shown_rows_are_refused_and_newcomers_are_announced(home: Path) -> None:
    propose(home, "stale1", remove("nowhere"), age=8.0)
    propose(home, "stale2", remove("no where"), age=7.0)
    async with open_console(home) as console:
        await console.press("D")
        propose(home, "late", remove("never"), age=1.0)
        # Meanwhile the text one of them looks for came into being, and the other was decided.
        path = home / MEMORY
        path.write_text(path.read_text() + "\n§\nnowhere")
        await console.press("y")
        await console.reload()
        assert shown(console) == ["stale1", "late"]
        assert "stood otherwise" in console.row("stale1").note
        assert console.flash.startswith("1 refused; 1 not")
        assert console.flash.endswith("; 1 came meanwhile and stays; u takes it back")


async def test_dead_rows_decided_while_the_list_is_open_are_left_alone(home: Path) -> None:
    propose(home, "stale", remove("nowhere"))
    async with open_console(home) as console:
        await console.press("D")
        reject(start_of(home)(), Request(("stale",)))
        await console.press("y")
        assert console.flash.startswith("✗ The proposal is gone")


# -- rivals --------------------------------------------------------------------------------


async def test_the_rivals_of_an_approved_one_are_offered_and_refused(home: Path) -> None:
    """One edit proposed five times in other words: approve one, refuse the rest."""
    for number in range(4):
        propose(home, f"r{number}", swap("alpha", f"alpha in words {number}"), age=9.0 - number)
    propose(home, "other", add("tea"), age=1.0)
    async with open_console(home) as console:
        await console.press("X")
        assert console.flash == "No rival waits of what was approved last"
        await console.press("a")
        assert console.flash.endswith("; 3 rivals left, X refuses")
        between = tree(home)
        await console.press("X")
        assert isinstance(console.app.screen, Confirm)
        assert "Refuse 3 that want what was just approved?" in console.picture
        await console.press("y")
        assert shown(console) == ["other"]
        await console.press("u")
        assert tree(home) == between
        await console.at("other")
        await console.press("a")
        assert "rival" not in console.flash


async def test_an_approval_that_was_taken_back_has_no_rivals_to_refuse(home: Path) -> None:
    propose(home, "r0", swap("alpha", "alpha again"), age=9.0)
    propose(home, "r1", swap("alpha", "alpha once more"), age=8.0)
    async with open_console(home) as console:
        await console.press("a")
        assert console.flash.endswith("; 1 rival left, X refuses")
        assert console.review.why_not("refuse_rivals") is None
        await console.press("u")
        await console.press("X")
        assert console.flash == "No rival waits of what was approved last"
        assert shown(console) == ["r0", "r1"]


# -- the filter ----------------------------------------------------------------------------


async def test_the_filter_narrows_keeps_and_clears(home: Path) -> None:
    propose(home, "old", remove("nowhere"), age=30 * DAY, origin="background_review")
    propose(home, "tea", add("green tea"), age=60.0)
    propose(home, "cup", add("a cup"), age=50.0)
    async with open_console(home) as console:
        review = console.review
        await console.at("tea")
        await console.press("slash", *"green")
        assert shown(console) == ["tea"]
        assert review.queue.border_title == "Queue (1 of 3)"
        # Letters are text here, deciding keys too.
        await console.press(*["backspace"] * 5, *"ar")
        assert review.query_one("#filter", Input).value == "ar"
        assert console.flash == "enter keeps the filter, esc takes it off"
        await console.press(*["backspace"] * 2, *"status:stale", "enter")
        assert shown(console) == ["old"]
        assert review.queue.has_focus
        await console.press("escape")
        assert shown(console) == ["old", "tea", "cup"]
        assert review.queue.border_title == "Queue (3)"
        assert review.queue.unseen == 0
        await console.press("slash", *"age:14d", "escape")
        assert len(shown(console)) == 3
        await console.press("slash", *"status:odd", "enter")
        assert console.flash.startswith("No status is called odd. Write ready, ")
        assert not review.queue.has_focus
        await console.press("escape", "slash", *"nothing like it", "enter")
        assert shown(console) == []
        assert "No row is shown" in console.words


async def test_cursor_and_marks_stay_on_their_rows_and_hidden_rows_are_not_decided(
    home: Path,
) -> None:
    propose(home, "stale", remove("nowhere"), age=9.0)
    propose(home, "tea", add("green tea"), age=8.0)
    propose(home, "cup", add("a cup"), age=7.0)
    async with open_console(home) as console:
        await console.press("*", "slash", *"target:memory cup", "enter", "r")
        assert console.row("cup") is None
        await console.press("escape")
        assert shown(console) == ["stale", "tea"]
        await console.press("slash", *"tea", "enter", "D")
        assert console.flash == "Nothing on screen is known to be past applying"


# -- edit and convert ----------------------------------------------------------------------


async def test_e_edits_exactly_the_text_and_judges_it_anew(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(home, "long", add("y" * 119))
    before = tree(home)
    editor(
        tmp_path,
        monkeypatch,
        "assert file.read_text() == 'y' * 119 + '\\n'; file.write_text('tea')",
    )
    async with open_console(home) as console:
        assert console.row("long").status == "over_budget"
        await console.press("e")
        assert isinstance(console.app.screen, Choose)
        await console.press("1")
        assert console.row("long").status == "ready"
        assert console.flash.startswith("✎ Edited and written, not decided yet")
        assert "tea" in console.text
        await console.press("u")
        assert tree(home) == before
        await console.press("e", "1")
        await console.press("a")
        assert (home / MEMORY).read_text().endswith("§\ntea")
        # The original and the edit are both in the journal.
        assert [e.verb for e in Journal(console.state).entries()] == [
            "approve",
            "edit",
            "undo",
            "edit",
        ]


async def test_an_editor_that_fails_or_changes_nothing_leaves_all(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(home, "one", add("tea"))
    before = tree(home)
    async with open_console(home) as console:
        editor(tmp_path, monkeypatch, "sys.exit(3)")
        await console.press("e", "1")
        assert "ended with 3" in console.flash
        editor(tmp_path, monkeypatch, "pass")
        await console.press("e", "1")
        assert console.flash == "The text is as it was; nothing was changed"
        monkeypatch.delenv("EDITOR")
        monkeypatch.setenv("PATH", str(tmp_path))
        await console.press("e")
        assert console.flash.startswith("No editor is named")
        await console.press("e", "escape")
        assert tree(home) == before


async def test_a_terminal_that_cannot_be_lent_is_said(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose(home, "one", add("tea"))
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.delenv("VISUAL", raising=False)
    async with open_console(home) as console:
        await console.press("e", "1")
        assert console.flash.startswith("This terminal cannot be lent to an editor")


async def test_capital_e_drops_an_operation_of_a_batch(home: Path) -> None:
    propose(home, "both", BATCH)
    before = tree(home)
    async with open_console(home) as console:
        assert console.row("both").status == "stale"
        await console.press("E")
        assert "Drop operation 2: remove → no such entry" in console.picture
        await console.press("2")
        assert console.row("both").status == "ready"
        assert "no such entry" not in (home / "pending/memory/both.json").read_text()
        await console.press("u")
        assert tree(home) == before


async def test_capital_e_makes_a_create_of_a_skill_that_exists_an_edit(home: Path) -> None:
    text = "---\nname: deploy\ndescription: Use when testing.\n---\n\n# Other\n\n1. New.\n"
    propose(home, "made", {"action": "create", "name": "deploy", "content": text})
    async with open_console(home) as console:
        assert console.row("made").status != "ready"
        await console.press("E")
        assert "Make it an edit of the skill that exists" in console.picture
        await console.press("1")
        assert console.row("made").action == "edit"
        assert console.row("made").status in ("ready", "attention")


async def test_what_has_no_other_form_or_cannot_be_read_says_so(home: Path) -> None:
    propose(home, "one", add("tea"))
    (home / "pending/memory/broken.json").write_text("{")
    async with open_console(home) as console:
        await console.press("E")
        assert console.flash == "It has no other form"
        await console.at("broken")
        for key in ("e", "E", "Z"):
            await console.press("j", "k", "j", key)
            assert console.flash == "It cannot be read, only refused"


async def test_a_filter_finds_the_records_that_cannot_be_read(home: Path) -> None:
    propose(home, "one", add("tea"))
    (home / "pending/memory/broken.json").write_text("{")
    async with open_console(home) as console:
        for line, found in (
            ("status:unreadable", ["broken"]),
            ("not json", ["broken"]),
            ("subsystem:memory", ["one", "broken"]),
            ("subsystem:skills", []),
            ("status:unreadable target:memory", []),
            ("status:ready", ["one"]),
        ):
            await console.press("slash")
            console.review.filter.value = line
            await console.press("enter")
            assert shown(console) == found, line
            assert console.flash == ""
            await console.press("escape")


async def test_a_queue_that_shows_no_row_says_so_where_the_preview_has_no_room(home: Path) -> None:
    propose(home, "one", remove("nowhere"))
    propose(home, "two", add("tea"))
    async with open_console(home, size=(80, 24)) as console:
        await console.press("slash", *"status:stale", "enter", "D", "y")
        assert "the filter hides all: esc takes it off" in console.picture
        await console.press("escape")
        assert "no row fits" not in console.picture
        await console.press("Z", *"7d", "enter")
        assert "all are snoozed: /is:snoozed shows them" in console.picture


async def test_what_was_just_edited_stays_on_screen_until_the_filter_changes(home: Path) -> None:
    """The new preview is what an edit is for: it must not give way to the next row's."""
    path = home / MEMORY
    path.write_text("keeps X; wants B; owns C")
    propose(home, "one", swap("wants B", "wants B2"), age=9.0)
    propose(home, "two", swap("owns C", "owns C2"), age=8.0)
    async with open_console(home) as console:
        await console.press("slash", *"status:attention", "enter")
        assert shown(console) == ["one", "two"]
        await console.press("E", "1")
        assert console.row("one").status == "ready"
        assert console.review.queue.cursor_item is console.row("one")
        assert "+ keeps X; wants B2; owns C" in console.text
        await console.press("escape", "slash", *"status:attention", "enter")
        assert shown(console) == ["two"]


# -- the forecast --------------------------------------------------------------------------


async def test_marked_rows_show_what_approving_them_would_do(home: Path) -> None:
    propose(home, "add", add("z" * 85), age=9.0)
    propose(home, "drop", remove("alpha one"), age=8.0)
    propose(home, "tea", add("t"), age=7.0)
    async with open_console(home) as console:
        await console.press("space")
        assert "marked were approved" not in console.text
        await console.press("space", "space")
        assert console.text.startswith(
            "If the 3 marked were approved, in this order\n2 would land, 1 would not"
        )
        assert "The first that fails is add, number 1:" in console.words
        assert "In another order 3 of 3 would land: drop, " in console.words
        assert "of 120 characters" in console.words
        await console.press("escape")
        assert "marked were approved" not in console.text
        # What fails alone lands once another made room: as foreseen, in one step.
        propose(home, "late", add("w" * 85), age=1.0)
        await console.reload()
        await console.at("drop")
        await console.press("space", "j", "space")
        assert console.text.startswith("If the 2 marked were approved, in this order\n2 would land")
        assert console.row("late").status == "over_budget"
        await console.press("a")
        assert console.flash == "2 approved; u takes them back"


# -- later ---------------------------------------------------------------------------------


async def test_a_snoozed_row_leaves_is_counted_and_wakes(home: Path) -> None:
    propose(home, "one", add("tea"), age=9.0)
    propose(home, "two", remove("nowhere"), age=8.0)
    before = tree(home)
    async with open_console(home) as console:
        await console.at("two")
        await console.press("Z")
        assert isinstance(console.app.screen, NoteScreen)
        await console.press(*"soon", "enter")
        assert "'soon' is no time" in console.picture
        await console.press("ctrl+u", *"7d", "enter")
        assert shown(console) == ["one"]
        assert "1 snoozed" in str(console.review.queue.border_subtitle)
        assert console.flash.startswith("two sleeps until 2026-12-06 12:00 UTC")
        assert tree(home) == before
        # No bulk step reaches it.
        await console.press("D")
        assert console.flash == "Nothing on screen is known to be past applying"
        await console.press("slash", *"is:snoozed", "enter")
        assert shown(console) == ["two"]
        await console.press("Z", *"now", "enter", "escape")
        assert shown(console) == ["one", "two"]


async def test_u_wakes_what_was_put_off_last_then_takes_decisions_back(home: Path) -> None:
    """A newcomer's report: u after Z took back the decision before it."""
    for number, name in enumerate(("one", "two", "three")):
        propose(home, name, add(name), age=9.0 - number)
    async with open_console(home) as console:
        await console.at("one")
        await console.press("a")
        await console.press("*", "Z", *"7d", "enter")
        assert console.flash.startswith("2 records sleep until 2026-12-06 12:00 UTC; u wakes them")
        assert shown(console) == []
        await console.press("u")
        assert console.flash == "2 records are awake again"
        assert shown(console) == ["two", "three"]
        await console.press("u")
        assert shown(console) == ["one", "two", "three"]
        # A decision since is the newest: it goes first, and what slept stays asleep.
        await console.at("two")
        await console.press("Z", *"7d", "enter")
        await console.at("one")
        await console.press("a", "u")
        assert shown(console) == ["one", "three"]


async def test_u_puts_a_date_that_was_changed_back(home: Path) -> None:
    propose(home, "one", add("tea"), age=9.0)
    async with open_console(home) as console:
        await console.press("Z", *"7d", "enter", "slash", *"is:snoozed", "enter")
        await console.press("Z", *"now", "enter", "u")
        assert console.flash == "one is put off as before"
        assert shown(console) == ["one"]
        (until,) = Journal(console.state).snoozes(str(home)).values()
        assert until == NOW + timedelta(days=7)


async def test_hostile_words_stay_words_in_every_sheet(home: Path) -> None:
    for number in range(2):
        evil = f"[@click=app.quit]q[/] [/x] \x1b[31m {number}"
        propose(home, f"evil{number}", remove(evil), age=9.0 - number)
    async with open_console(home) as console:
        await console.press("D")
        assert "[@click=app.quit]" in console.words
        assert "\x1b" not in console.picture
        await console.press("escape", "e")
        assert "[@click=app.quit]" in console.picture
        await console.press("escape", "*")
        assert "[@click=app.quit]" in console.words
