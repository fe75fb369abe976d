"""The review screen driven by keys, its decisions checked on disk.

The sample home's records: ``console/sample/home/pending``. Their statuses are those of
``signoff pending`` on the same home (test_sample).
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from console.render.queue import QueueItem
from console.screens.note import NoteScreen
from core.journal import Journal
from tests.console.pilots import Console, open_console, sample, tree

READY_USER = "b71d90e4"
READY_MEMORY = "3f8a1c20"
READY_SKILL = "1a6fd3b8"
ATTENTION = "c85b3e92"
STALE = "81e5a2cc"
UNREADABLE = "e0c4529a"
INVISIBLE = "947acd31"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return sample(tmp_path)


def record(home: Path, name: str) -> Path:
    (found,) = home.glob(f"pending/*/{name}.json")
    return found


def leave_only(home: Path, *names: str) -> None:
    """Remove every pending record but these."""
    for path in home.glob("pending/*/*.json"):
        if path.stem not in names:
            path.unlink()


def stage(home: Path, name: str, content: str) -> Path:
    """A record as the agent would stage it: an entry for USER.md."""
    document = json.loads(record(home, READY_USER).read_text())
    document |= {"id": name, "created_at": document["created_at"] + 3000}
    document["payload"]["content"] = content
    path = home / "pending" / "memory" / f"{name}.json"
    path.write_text(json.dumps(document))
    return path


def verbs(console: Console) -> list[tuple[str, str, str]]:
    """Verb, subject and state of every journal entry, the oldest first."""
    entries = Journal(console.state).entries()
    return [(e.verb, e.subject, str(e.state)) for e in reversed(entries)]


def greyed(console: Console, action: str) -> bool:
    """Whether the footer shows ``action`` as one that cannot run."""
    found = [b for b in console.review.active_bindings.values() if b.binding.action == action]
    assert found, f"{action} has no key here"
    return not found[0].enabled


# -- deciding ------------------------------------------------------------------------------


async def test_a_applies_what_was_shown_and_u_brings_back_every_byte(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        row = await console.at(READY_USER)
        assert row.status == "ready"
        assert "Reads diffs side by side" in console.text
        await console.press("a")
        assert console.row(READY_USER) is None
        assert not (home / row.key).exists()
        assert "Reads diffs side by side" in (home / "memories/USER.md").read_text()
        assert console.flash == (
            "✓ Added 1 entry in USER.md; it then held 509 of 1,375 characters."
            f" ({READY_USER}; u takes it back, i says more)"
        )
        assert "23 waiting" in console.header
        await console.press("u")
        assert tree(home) == before
        assert console.row(READY_USER).status == "ready"
        assert "24 waiting" in console.header
    assert verbs(console) == [("approve", READY_USER, "done"), ("undo", READY_USER, "done")]


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_what_undo_brings_back_is_no_news_and_the_cursor_is_there(
    home: Path, size: tuple[int, int]
) -> None:
    """A newcomer's report: eight decisions taken back stood there as "4 new", out of sight."""
    async with open_console(home, size=size) as console:
        queue = console.review.queue
        first = queue.items[2].key
        queue.move_to(first)
        await console.press(*["space"] * 8, "r", "G")
        assert len(queue.items) == 17
        assert queue.cursor_key == queue.items[-1].key
        await console.press("u")
        assert len(queue.items) == 25
        assert queue.unseen == 0
        assert " new" not in str(queue.border_subtitle)
        assert queue.cursor_key == first


async def test_an_approval_says_who_would_not_fit_any_more(home: Path) -> None:
    """A newcomer's report: the row went from ready to over budget without a word."""
    config = home / "config.yaml"
    config.write_text(config.read_text().replace("user_char_limit: 1375", "user_char_limit: 520"))
    leave_only(home, READY_USER)
    stage(home, "feedbeef", "Is on call every third week of a month.")
    async with open_console(home, size=(80, 24)) as console:
        assert console.row("feedbeef").status == "ready"
        await console.at(READY_USER)
        await console.press("a")
        assert console.row("feedbeef").status == "over_budget"
        summary = console.row("feedbeef").summary[:23].rstrip()
        lost = f"“{summary}…” would not fit any more"
        assert console.flash == f"Approved; {lost}"
        await console.press("i")
        assert lost in console.words


async def test_r_refuses_and_changes_nothing_but_the_record(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        row = await console.at(STALE)
        await console.press("r")
        after = tree(home)
        assert set(before) - set(after) == {row.key}
        assert all(after[path] == before[path] for path in after)
        await console.press("u")
        assert tree(home) == before
    assert verbs(console)[0] == ("reject", STALE, "done")


async def test_the_cursor_goes_to_the_next_row_after_a_decision(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(READY_SKILL)
        await console.press("a")
        assert console.review.queue.cursor_item is not None
        assert console.review.queue.cursor_item.id == READY_USER
        assert "Reads diffs side by side" in console.text


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (STALE, "It would not land (stale): r refuses it"),
        ("6d10e8b7", "It would not land (over budget): e edits it, r refuses it"),
        ("17d4e8ba", "It would not land (refused): e edits it, r refuses it"),
        (INVISIBLE, "It would not land (refused): E changes its form, e edits it, r refuses it"),
        (UNREADABLE, "It would not land (unreadable): r refuses it"),
    ],
)
async def test_what_cannot_land_is_greyed_and_the_key_says_why(
    home: Path, name: str, reason: str
) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(name)
        assert greyed(console, "approve")
        assert not greyed(console, "reject")
        await console.press("a")
        assert console.flash == reason
        assert tree(home) == before


async def test_an_unreadable_record_can_only_be_refused(home: Path) -> None:
    async with open_console(home) as console:
        row = await console.at(UNREADABLE)
        assert "it can only be refused" in console.words
        await console.press("r")
        assert not (home / row.key).exists()
        assert console.row(UNREADABLE) is None


async def test_a_question_is_answered_by_deciding_that_row_alone(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(ATTENTION)
        assert "stored as 2 entries, not one" in console.words
        await console.press("a")
        assert console.flash == "It asks first: read the warning; a again applies it"
        await console.press("j")
        assert console.flash == ""
        await console.press("k")
        await console.press("a")
        assert console.row(ATTENTION).word == "attention"
        await console.press("a")
        assert console.row(ATTENTION) is None
        assert "Second run: p95 310 ms at 450." in (home / "memories/MEMORY.md").read_text()


async def test_marks_are_decided_in_the_order_of_the_queue(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(READY_MEMORY)
        await console.press("space")
        await console.at(READY_SKILL)
        await console.press("space", "space")
        assert str(console.review.queue.border_subtitle) == "3 marked"
        await console.press("a")
        assert verbs(console) == [
            ("approve", name, "done") for name in (READY_SKILL, READY_USER, READY_MEMORY)
        ]
        assert console.review.queue.marked == ()


async def test_deciding_many_leaves_out_what_asks_and_says_so(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(ATTENTION)
        await console.press("space")
        await console.at(READY_USER)
        await console.press("space", "a")
        assert verbs(console) == [("approve", READY_USER, "done")]
        assert console.row(ATTENTION).word == "attention"
        assert console.flash == ("1 approved; 1 left that ask; u takes it back")


async def test_marked_rows_that_fail_return_with_their_reason(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(STALE)
        await console.press("space", "space", "a")
        row = console.row(STALE)
        assert (row.fate, row.note) == (
            "failed",
            "no entry contains “Deploys go out on Monday and Friday”.",
        )
        assert console.row("bd51c7f9").fate == "failed"
        assert "no entry contains" in console.picture
        assert tree(home) == before
        assert console.flash == "2 not, their rows say why"
        await console.press("f5")
        assert console.row(STALE).word == "stale"


async def test_a_home_that_moved_meanwhile_is_not_written(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(READY_USER)
        user = home / "memories/USER.md"
        user.write_text(user.read_text() + "\n§\nWritten by the agent meanwhile.")
        before = tree(home)
        await console.press("a")
        row = console.row(READY_USER)
        assert row.fate == "failed"
        assert row.note == "What was shown has changed; look at it again"
        assert tree(home) == before
        assert "Written by the agent" not in console.text
        assert "476 → 543 of 1,375 chars (+67)" in console.words
        await console.press("a")
        assert console.row(READY_USER) is None


async def test_an_agent_that_holds_the_lock_is_said_and_nothing_is_written(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(READY_USER)
        lock = os.open(home / "memories/USER.md.lock", os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            await console.press("a")
        finally:
            os.close(lock)
        row = console.row(READY_USER)
        assert (row.fate, row.word) == ("failed", "failed")
        assert "USER.md.lock" in row.note
        assert console.flash.endswith("; nothing was changed; try again in a moment (b71d90e4)")
        assert tree(home) == before
        await console.press("a")
        assert console.row(READY_USER) is None


async def test_a_record_decided_elsewhere_cannot_be_decided_again(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(READY_USER)
        record(home, READY_USER).unlink()
        await console.press("a")
        assert console.row(READY_USER).fate in ("failed", "gone")
        assert verbs(console) == []


async def test_gone_rows_say_so_and_f5_lets_them_leave(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(READY_USER)
        record(home, READY_USER).unlink()
        await console.reload()
        row = console.row(READY_USER)
        assert (row.word, row.note) == ("gone", "decided elsewhere; f5 clears it")
        assert console.review.queue.cursor_item is row
        assert greyed(console, "approve")
        assert greyed(console, "reject")
        await console.press("r")
        assert console.flash == f"{READY_USER} is gone"
        await console.press("f5")
        assert console.row(READY_USER) is None


async def test_new_records_are_counted_and_move_nothing(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("j", "space")
        top, key = console.review.queue.scroll_offset.y, console.review.queue.cursor_key
        for number in range(3):
            stage(home, f"ffff000{number}", f"Fact {number}")
        await console.reload()
        queue = console.review.queue
        assert str(queue.border_subtitle) == "1 marked  3 new"
        assert (queue.scroll_offset.y, queue.cursor_key) == (top, key)
        await console.press("G")
        assert str(queue.border_subtitle) == "1 marked"


# -- notes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "verb"), [("A", "approve"), ("R", "reject")])
async def test_a_note_reaches_the_journal(home: Path, key: str, verb: str) -> None:
    async with open_console(home) as console:
        await console.at(READY_USER)
        await console.press(key)
        assert isinstance(console.app.screen, NoteScreen)
        assert f"add → user ({READY_USER})" in console.picture
        await console.press(*"seen", "q", "enter")
        (entry,) = Journal(console.state).entries()
        assert (entry.verb, entry.subject, entry.note) == (verb, READY_USER, "seenq")


async def test_escape_leaves_all_as_it_is(home: Path) -> None:
    before = tree(home)
    async with open_console(home) as console:
        await console.at(READY_USER)
        await console.press("R", *"no", "escape")
        assert tree(home) == before
        assert verbs(console) == []
        assert console.review.queue.has_focus


async def test_a_note_for_many_names_how_many(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("space", "space", "R")
        assert "Refuse 2 marked" in console.picture
        await console.press("enter")
        assert [line[:2] for line in verbs(console)] == [("reject", STALE), ("reject", "bd51c7f9")]


async def test_approving_with_a_note_is_refused_as_without(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(STALE)
        await console.press("A")
        assert console.flash == "It would not land (stale): r refuses it"


# -- looking -------------------------------------------------------------------------------


async def test_enter_goes_into_the_preview_and_escape_back(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("enter")
        assert console.review.preview.has_focus
        await console.press("escape")
        assert console.review.queue.has_focus


async def test_deciding_from_inside_the_preview(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(READY_USER)
        await console.press("enter", "a")
        assert console.row(READY_USER) is None


async def test_escape_in_the_queue_takes_marks_off(home: Path) -> None:
    async with open_console(home) as console:
        await console.press("space", "space", "escape")
        assert console.review.queue.marked == ()


async def test_n_goes_round_what_would_land(home: Path) -> None:
    async with open_console(home) as console:
        seen = []
        for _ in range(12):
            await console.pilot.press("n")
            item = console.review.queue.cursor_item
            assert item is not None
            assert item.status in ("ready", "attention")
            seen.append(item.id)
        assert (seen[0], seen[1], len(set(seen))) == (ATTENTION, "c31e9f60", 12)


async def test_n_says_when_nothing_else_would_land(home: Path) -> None:
    leave_only(home, STALE)
    async with open_console(home) as console:
        await console.press("n")
        assert console.flash == "Nothing else would land"


async def test_z_shows_folded_lines(home: Path) -> None:
    async with open_console(home) as console:
        await console.at("c31e9f60")
        assert "⋯ 11 unchanged lines" in console.text
        await console.press("z")
        assert "unchanged" not in console.text
        await console.press("z")
        assert "⋯ 11 unchanged lines" in console.text


async def test_s_puts_old_and_new_side_by_side_and_is_kept(home: Path) -> None:
    async with open_console(home) as console:
        await console.at("c31e9f60")
        assert " │ " not in console.text
        await console.press("s")
        assert " │ " in console.text
    async with open_console(home) as console:
        await console.at("c31e9f60")
        assert " │ " in console.text


async def test_y_copies_the_text_as_it_is_stored(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(READY_USER)
        await console.press("y")
        assert console.app.clipboard == (
            "Reads diffs side by side; wants the file names before the hunks."
        )
        assert console.flash == "Sent to the terminal's clipboard, as it is stored"


async def test_y_has_nothing_to_copy_of_an_unreadable_record(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(UNREADABLE)
        await console.press("y")
        assert console.app.clipboard == ""
        assert console.flash == "There is nothing to copy here"


async def test_a_narrow_terminal_shows_one_pane_at_a_time(home: Path) -> None:
    async with open_console(home, size=(80, 24)) as console:
        review = console.review
        assert review.queue.display
        assert not review.preview.region.size.area
        await console.press("enter")
        assert review.preview.region.width == 80
        assert not review.queue.region.size.area
        assert "no entry contains" in console.picture
        await console.press("escape")
        assert review.queue.region.width == 80
        assert review.queue.has_focus
        await console.at(ATTENTION)
        await console.press("enter")
        assert "! The text holds the § separator: it is stored as 2 entries" in console.picture


# -- states --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_an_empty_queue_says_what_will_come_and_takes_new_records(
    home: Path, size: tuple[int, int]
) -> None:
    waiting = record(home, READY_USER).read_bytes()
    leave_only(home)
    async with open_console(home, size=size) as console:
        assert "Nothing waits for a decision." in console.picture
        assert greyed(console, "approve")
        await console.press("a")
        assert console.flash == "The queue is empty"
        (home / f"pending/memory/{READY_USER}.json").write_bytes(waiting)
        await console.reload()
        assert console.review.queue.has_focus
        assert "add → user" in console.picture
        await console.press("a")
        assert "Nothing waits for a decision." in console.picture
        await console.press("u")
        assert console.row(READY_USER) is not None


async def test_an_open_gate_is_said_with_what_mends_it(home: Path) -> None:
    config = home / "config.yaml"
    config.write_text(config.read_text().replace("write_approval: true", "write_approval: false"))
    async with open_console(home) as console:
        assert "gates OFF" in console.header
        assert (
            "! Both gates are off: the agent does not ask. ctrl+g (gates on) mends it."
        ) in console.picture


async def test_a_queue_that_cannot_be_listed_is_not_empty(home: Path) -> None:
    shutil.rmtree(home / "pending/memory")
    (home / "pending/memory").write_text("a file where a folder should be")
    async with open_console(home) as console:
        assert "! pending/memory cannot be read (not a directory): what waits" in console.picture
        assert all(
            isinstance(i, QueueItem) and i.subsystem == "skills" for i in console.review.queue.items
        )


async def test_the_notice_leaves_when_the_home_is_mended(home: Path) -> None:
    config = home / "config.yaml"
    right = config.read_text()
    config.write_text(right.replace("write_approval: true", "write_approval: false"))
    async with open_console(home) as console:
        config.write_text(right)
        await console.press("f5")
        assert "does not ask" not in console.picture
        assert "gates on" in console.header
