"""After a decision: what changed, when the agent sees it, what to do next; one key away."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.render.receipts import receipt_lines
from console.screens.sheet import Sheet
from core.desk.receipts import SEEN_NEXT_SESSION
from core.model import Receipt
from tests.console.pilots import JOURNAL_MODE, MEMORY_MODE, Console, open_console, sample

READY, STALE, OTHER = "b71d90e4", "81e5a2cc", "3f8a1c20"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return sample(tmp_path)


def sheet(console: Console) -> str:
    assert isinstance(console.app.screen, Sheet)
    return console.words


async def test_an_approval_says_what_changed_and_when_the_agent_sees_it(home: Path) -> None:
    """Field reports, demand 6: what changed, what did not, when it is seen, what to do next."""
    async with open_console(home) as console:
        await console.press("i")
        assert console.flash == "Nothing was decided yet; the journal has what was before"
        await console.at(READY)
        await console.press("a")
        assert console.flash.startswith("✓ Added 1 entry")
        await console.press("i")
        said = sheet(console)
        assert f"✓ {READY} ok" in said
        assert f"Changed: memories/USER.md, pending/memory/{READY}.json" in said
        assert said.endswith(f"Next {SEEN_NEXT_SESSION}")
        await console.press("i", JOURNAL_MODE)
        assert f"Next: {SEEN_NEXT_SESSION}" in console.words
        assert "Changed: memories/USER.md" in console.words


async def test_a_run_of_decisions_is_told_as_one_and_the_next_takes_its_place(home: Path) -> None:
    async with open_console(home) as console:
        for name in (READY, STALE):
            await console.at(name)
            await console.press("space")
        await console.press("a")
        await console.press("i")
        said = sheet(console)
        assert said.startswith("1 of 2 done")
        assert f"✗ {STALE} " in said
        assert "Nothing was changed." in said
        assert said.count(SEEN_NEXT_SESSION) == 1
        assert "It can no longer apply: r (refuse)." in said
        await console.press("escape")
        await console.at(OTHER)
        await console.press("r")
        await console.press("i")
        said = sheet(console)
        assert READY not in said
        assert f"✓ {OTHER} rejected" in said
        assert "The agent is not told" in said


async def test_forgetting_names_all_that_remains(home: Path) -> None:
    async with open_console(home) as console:
        await console.press(MEMORY_MODE)
        await console.press("d")
        await console.press("i")
        said = sheet(console)
        assert "Changed: memories/MEMORY.md" in said
        assert "Sessions that run now keep it in their prompt" in said
        assert "Messages of past sessions are not touched" in said
        assert said.endswith(f"Next {SEEN_NEXT_SESSION}")


async def test_what_was_refused_or_undone_promises_the_agent_nothing(home: Path) -> None:
    async with open_console(home) as console:
        await console.at(OTHER)
        await console.press("r")
        await console.press(JOURNAL_MODE)
        assert "The agent is not told" in console.words
        await console.press("u")
        assert SEEN_NEXT_SESSION not in console.words


@given(
    st.lists(
        st.builds(
            Receipt,
            st.text(max_size=20),
            st.booleans(),
            st.just("ok"),
            st.text(max_size=80),
            st.lists(st.text(max_size=30), max_size=2).map(tuple),
            next=st.text(max_size=80),
        ),
        max_size=6,
    ),
    st.integers(30, 100),
)
def test_a_receipt_fits_and_names_every_subject(receipts: list[Receipt], width: int) -> None:
    lines = receipt_lines(receipts, width)
    assert all(line.content.cell_length <= width for line in lines)
    assert sum(line.content.plain.startswith(("✓", "✗")) for line in lines) >= len(receipts)
