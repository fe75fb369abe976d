"""Field reports on lists, differences and keys, each on the console itself.

One test a report; its id, and the case in one line, are in the docstring.
"""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.widgets import Input

from console.render.diffs import FOLD
from console.render.preview import PROPOSED
from console.sample import write_sample
from console.screens.confirm import Confirm
from console.screens.note import NoteScreen
from core.journal import Journal
from tests.console.pilots import Console, open_console, tree
from tests.console.terminal import signoff
from tests.core.desks import MEMORY, add, make_home, patch, propose, remove, swap, write

DAY = 86400.0
HUGE = 300_000_000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return make_home(tmp_path / ".hermes")


def shown(console: Console) -> list[str]:
    return [item.id for item in console.review.queue.items]


def row_of(console: Console, name: str) -> list[str]:
    """The lines of a record's row, as drawn."""
    queue = console.review.queue
    item = console.row(name)
    at = [each.key for each in queue.items].index(item.key) * 2 - queue.scroll_offset.y
    return [queue.render_line(at + line).text.rstrip() for line in (0, 1)]


async def test_d01_the_first_key_reads_the_warning_the_second_applies(home: Path) -> None:
    """D01: a fragment replace names what would be lost, and one press writes nothing."""
    write(home / MEMORY, "A; B; C")
    propose(home, "d01", swap("B", "B2"))
    before = tree(home)
    async with open_console(home) as console:
        assert "lost beside it: A, C." in console.words
        assert "- A; B; C" in console.text
        assert "+ B2" in console.text
        await console.press("a")
        assert tree(home) == before
        assert console.flash == "It asks first: read the warning; a again applies it"
        await console.press("a")
        assert (home / MEMORY).read_text() == "B2"


async def test_d03_the_first_screen_says_how_many_wait_and_since_when(home: Path) -> None:
    """D03: 77 + 164 records nobody noticed: number and oldest age are there without a key."""
    for number in range(77):
        propose(home, f"m{number:02}", add(f"fact {number}"), age=56 * DAY - number)
    for number in range(164):
        propose(home, f"s{number:03}", patch("deploy", "Step one.", f"Step {number}."), age=DAY)
    async with open_console(home) as console:
        assert "241 waiting" in console.header
        assert console.review.queue.border_title == "Queue (241)"
        # The oldest is the first row.
        assert shown(console)[0] == "m00"
        assert "8w" in " ".join(row_of(console, "m00")).split()


async def test_d04_what_did_not_land_stands_on_its_row_with_the_reason(home: Path) -> None:
    """D04: a patch whose old text is gone: no success is said, the row stays and says why."""
    propose(home, "d04", patch("deploy", "Step one.", "Step 1."), age=9.0)
    propose(home, "fine", add("x"), age=8.0)
    async with open_console(home) as console:
        path = home / "skills/ops/deploy/SKILL.md"
        path.write_text(path.read_text().replace("Step one.", "Begin."))
        await console.press("*", "a")
        assert shown(console) == ["d04"]
        assert console.flash.startswith("1 approved; 1 not, its row says why")
        first, second = row_of(console, "d04")
        assert "! failed" in first
        assert second.strip("▌ ").startswith(console.row("d04").note[:30])
        assert console.row("d04").note
        assert (home / "pending/skills/d04.json").exists()


@pytest.mark.parametrize("pause", [0.0, 0.02])
def test_d33_an_arrow_key_that_arrives_in_two_reads_is_an_arrow(
    tmp_path: Path, pause: float
) -> None:
    """D33: ESC, then `[B`: the cursor moves down; ESC alone never quits."""
    home = write_sample(tmp_path / "home", datetime.now(UTC))
    ready, stale = "b71d90e4", "81e5a2cc"
    for path in home.glob("pending/*/*.json"):
        if path.stem not in (ready, stale):
            path.unlink()
    with signoff(tmp_path, home, ESCDELAY="500") as terminal:
        terminal.see("Queue (2)")
        terminal.see(f"{stale}, ")
        terminal.press("\x1b")
        time.sleep(pause)
        terminal.press("[B")
        terminal.see(f"{ready}, ")
        for _ in range(3):
            terminal.press("\x1b")
            terminal.quiet(1.0)
        assert terminal.process.poll() is None
        assert "Queue (2)" in terminal.grid.text
        assert len(list(home.glob("pending/*/*.json"))) == 2
        terminal.press("q")
        assert terminal.leave() == 0


async def test_d34_letters_typed_into_the_filter_are_text(home: Path) -> None:
    """D34: `data`, `quit`, `undo` typed into an empty filter delete and quit nothing."""
    propose(home, "one", remove("nowhere data"), age=9.0)
    propose(home, "two", add("tea"), age=8.0)
    before = tree(home)
    async with open_console(home) as console:
        for word in ("data", "quit", "undo", "aArRDXeEzZ?123"):
            await console.press("slash", *word)
            assert console.review.query_one("#filter", Input).value == word
            assert console.app.screen is console.review
            await console.press("escape")
        await console.press("slash", *"data", "enter")
        assert shown(console) == ["one"]
        assert console.app.is_running
        assert tree(home) == before
        assert Journal(console.state).entries() == ()


async def test_d39_a_row_is_two_lines_however_long_its_text(home: Path) -> None:
    """D39: cells of a hundred lines made a table slow: ours are one line each, cut to the width."""
    long = "\n".join(f"line {number} " + "word " * 20 for number in range(100))
    for number in range(20):
        propose(home, f"r{number:02}", add(f"{number} {long}"), age=99.0 - number)
    async with open_console(home) as console:
        queue = console.review.queue
        assert queue.virtual_size.height == 2 * 20
        assert all("\n" not in line for line in row_of(console, "r00"))
        for y in range(queue.size.height):
            assert cell_len(queue.render_line(y).text) <= queue.size.width
        await console.press("G")
        assert queue.cursor_item is not None
        assert queue.cursor_item.id == "r19"


@pytest.mark.parametrize(
    ("lines", "status", "kept"), [(2_400, "ready", FOLD), (9_000, "invalid", PROPOSED)]
)
async def test_d39_a_large_body_is_folded(home: Path, lines: int, status: str, kept: int) -> None:
    """D39: a few hundred KB of Markdown froze the screen: what is not shown is counted, not drawn."""
    body = "\n".join(f"- **item {number}** `code` [link](x)" for number in range(lines))
    payload = {
        "action": "write_file",
        "name": "deploy",
        "file_path": "references/big.md",
        "file_content": body,
    }
    propose(home, "d39", payload)
    async with open_console(home) as console:
        assert console.row("d39").status == status
        assert f"⋯ {lines - kept:,} more lines" in console.text
        assert len(console.text.splitlines()) < kept + 40
        await console.press("z")
        assert f"item {lines - 1}" in console.text


async def test_d44_a_file_of_some_hundred_megabytes_is_named_and_not_read(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D44: a huge file under the cursor froze everything: it is said to be large, and not read."""
    references = home / "skills/ops/deploy/references"
    references.mkdir()
    (home / "pending/memory").mkdir(parents=True)
    for path in (home / "pending/memory/huge.json", references / "huge.md"):
        with path.open("wb") as file:
            file.truncate(HUGE)
    big = patch("deploy", "x", "y") | {"file_path": "references/huge.md"}
    propose(home, "target", big, age=9.0)
    propose(home, "fine", add("x"), age=8.0)
    read: list[int] = []
    real = os.read

    def counted(handle: int, size: int, /) -> bytes:
        data = real(handle, size)
        read.append(len(data))
        return data

    monkeypatch.setattr(os, "read", counted)
    async with open_console(home) as console:
        assert console.row("target").status == "unreadable"
        await console.at("huge")
        way_out = "cannot be read: larger than 64 MiB; remove pending/memory/huge.json by hand"
        assert way_out in console.words
        assert console.row("huge").word == "unreadable"
        await console.at("fine")
        assert "Adds 1 entry" in console.words
        # What could not be brought back is not removed either, and no key says that it would be.
        await console.at("huge")
        await console.press("r")
        said = "It could not be brought back: remove pending/memory/huge.json by hand"
        assert console.flash == said
        await console.press("a")
        assert console.flash == "It would not land (unreadable): remove it by hand"
        await console.press("e")
        assert console.flash == "It cannot be read, remove it by hand"
        # Among several its row says why it stays.
        await console.press("*", "r")
        assert console.row("huge").fate == "failed"
        assert console.row("huge").note.endswith("could not be brought back; remove it by hand")
        await console.reload()
        second = row_of(console, "huge")[1]
        assert "It is no readable file" in second
        assert (home / "pending/memory/huge.json").stat().st_size == HUGE
    assert read
    assert max(read) < 100_000


async def test_d15_a_store_that_cannot_be_read_is_said_in_the_preview(home: Path) -> None:
    """D15: with a Latin-1 byte in MEMORY.md the preview says so, not only the row's sign."""
    (home / MEMORY).write_bytes(b"caf\xe9 at noon\n\xc2\xa7\nbeta")
    propose(home, "d15", add("x"))
    async with open_console(home) as console:
        assert console.row("d15").status == "unreadable"
        assert "byte 3 (0xe9) is not UTF-8" in console.words
        # The record itself is fine: what it asks is shown, and it can be edited and put off.
        assert "It proposes x" in console.words
        await console.press("a")
        assert console.flash == "It would not land (unreadable): r refuses it"
        await console.press("E")
        assert console.flash == "It has no other form"
        await console.press("Z", *"7d", "enter")
        assert console.row("d15") is None


async def test_d45_enter_alone_decides_nothing_in_an_empty_prompt(home: Path) -> None:
    """D45: Enter on an empty prompt does nothing: the filter's and that of a later date."""
    propose(home, "d45", remove("nowhere"))
    before = tree(home)
    async with open_console(home) as console:
        await console.press("enter")
        await console.press("escape", "slash", "enter")
        assert shown(console) == ["d45"]
        await console.press("Z")
        assert isinstance(console.app.screen, NoteScreen)
        await console.press("enter")
        await console.press("escape")
        assert shown(console) == ["d45"]
        assert tree(home) == before
        assert Journal(console.state).entries() == ()


async def test_d45_a_list_of_what_would_go_is_left_by_any_way_but_yes(home: Path) -> None:
    """D45: a key that refuses many asks, and what comes of it is taken back by one key."""
    propose(home, "d45", remove("nowhere"), age=9.0)
    propose(home, "more", remove("elsewhere"), age=8.0)
    before = tree(home)
    async with open_console(home) as console:
        for key in ("escape", "q", "n"):
            await console.press("D")
            assert isinstance(console.app.screen, Confirm)
            assert tree(home) == before
            await console.press(key)
            assert tree(home) == before
            assert console.app.is_running
        await console.press("D", "y")
        assert shown(console) == []
        await console.press("u")
        assert tree(home) == before


async def test_d45_enter_alone_agrees_to_no_list(home: Path) -> None:
    """D45: press d, then Enter, and it was gone: the default answer is no."""
    propose(home, "d45", remove("nowhere"))
    before = tree(home)
    async with open_console(home) as console:
        await console.press("D", "enter")
        assert isinstance(console.app.screen, Confirm)
        assert tree(home) == before
        assert "y refuses 1, n or esc leaves all as it is" in console.picture


@pytest.mark.parametrize("size", [(140, 42), (80, 24)])
async def test_d46_plus_and_minus_stand_in_the_gutter_without_any_colour(
    home: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """D46: red and green alone cannot be read by all: + and - are always there, NO_COLOR too."""
    monkeypatch.setenv("NO_COLOR", "1")
    propose(home, "skill", patch("deploy", "Step one.", "Step 1."), age=9.0)
    propose(home, "memory", swap("beta two", "beta 2"), age=8.0)
    async with open_console(home, size=size) as console:
        for name, old, new in (
            ("skill", "1. Step one.", "1. Step 1."),
            ("memory", "beta [-two-]", "beta 2"),
        ):
            await console.at(name)
            lines = [line.split() for line in console.text.splitlines()]
            assert any("-" in line and old.split()[-1] in line for line in lines), name
            assert any("+" in line and new.split()[-1] in line for line in lines), name
            # Side by side both signs stand in one line.
            await console.press("s")
            lines = [line.split() for line in console.text.splitlines()]
            assert any("-" in line and old.split()[-1] in line for line in lines), name
            assert any("+" in line and new.split()[-1] in line for line in lines), name
            await console.press("s")


async def test_r01_an_odd_record_is_a_row_beside_the_good_ones(home: Path) -> None:
    """R01: a top-level list and a text for a date: two rows more, and the good one is decided."""
    propose(home, "good", add("good"), age=5.0)
    payload = add("dated by a word")
    write(home / "pending/memory/list.json", json.dumps([1, 2]))
    write(
        home / "pending/memory/text.json",
        json.dumps({"id": "text", "created_at": "yesterday", "payload": payload}),
    )
    async with open_console(home) as console:
        assert set(shown(console)) == {"good", "text", "list"}
        await console.at("list")
        assert "it can only be refused" in console.words
        await console.at("good")
        await console.press("a")
        assert set(shown(console)) == {"text", "list"}
        assert (home / MEMORY).read_text().endswith("\n§\ngood")
