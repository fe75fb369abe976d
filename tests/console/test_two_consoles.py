"""Two consoles and a plain command on one home: each sees the others, and nothing lands twice."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.sample import write_sample
from core.journal import Journal
from tests.console.terminal import PATIENCE, SIGNOFF, Terminal, environment, plain, signoff

#: Records of the sample; the first would not land, the others would.
STALE, READY, OTHER = "81e5a2cc", "b71d90e4", "3f8a1c20"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    found = write_sample(tmp_path / "home", datetime.now(UTC))
    for path in found.glob("pending/*/*.json"):
        if path.stem not in (STALE, READY, OTHER):
            path.unlink()
    return found


@pytest.fixture
def consoles(tmp_path: Path, home: Path) -> Iterator[tuple[Terminal, Terminal]]:
    """Two consoles with one journal, both with their queue judged."""
    with ExitStack() as stack:
        both = [stack.enter_context(signoff(tmp_path, home)) for _ in range(2)]
        for console in both:
            console.see("Queue (3)")
            console.wait(lambda there: "judging" not in there.grid.text)
        yield both[0], both[1]
        for console in both:
            console.press("q")
            assert console.leave() == 0
            assert b"Something went wrong" not in console.output


def at(console: Terminal, name: str) -> None:
    """Put the cursor on a record and wait for its preview."""
    console.press("g")
    for other in (STALE, READY, OTHER):
        console.see(f"{other}, ")
        if other == name:
            break
        console.press("j")


def see_both(both: tuple[Terminal, Terminal], until: Callable[[Terminal], bool]) -> None:
    """Wait for both at once."""
    end = time.monotonic() + PATIENCE
    while not all(until(console) for console in both):
        assert time.monotonic() < end, "\n".join(console.grid.text for console in both)
        for console in both:
            console.read(0.02)


def words(text: str) -> Callable[[Terminal], bool]:
    return lambda console: text in console.grid.text


def decided(tmp_path: Path) -> list[tuple[str, str]]:
    """Verb and subject of what was done, the oldest first."""
    entries = Journal(tmp_path / "state").entries()
    return [(e.verb, e.subject) for e in reversed(entries) if str(e.state) == "done"]


def content_of(home: Path, name: str) -> str:
    record = json.loads((home / f"pending/memory/{name}.json").read_text())
    return str(record["payload"]["content"])


def test_each_sees_what_the_other_and_a_command_decide(
    tmp_path: Path, home: Path, consoles: tuple[Terminal, Terminal]
) -> None:
    first, second = consoles
    at(first, READY)
    at(second, READY)
    first.press("a")
    see_both((second, second), words("- gone"))
    assert "decided elsewhere" in second.grid.text
    assert "2 waiting" in second.grid.text
    second.press("a")
    second.see(f"{READY} is gone")
    see_both((first, first), words("Queue (2)"))
    assert plain(tmp_path, home, "reject", STALE).returncode == 0
    see_both(consoles, words("1 waiting"))
    see_both(consoles, words("- gone"))
    second.press("\x1b[15~")
    second.see("Queue (1)")
    second.press("u")
    second.see("It was not decided just now, or not here")
    second.press("y")
    see_both(consoles, words("2 waiting"))
    second.see("Queue (2)")
    assert decided(tmp_path) == [("approve", READY), ("reject", STALE), ("undo", STALE)]


@pytest.mark.parametrize("attempt", range(2))
def test_a_record_decided_by_three_at_once_lands_once(
    tmp_path: Path, home: Path, consoles: tuple[Terminal, Terminal], attempt: int
) -> None:
    content, user = content_of(home, READY), home / "memories/USER.md"
    for console in consoles:
        at(console, READY)
    command = [sys.executable, "-c", SIGNOFF, "--home", str(home), "approve", READY]
    # The command needs a moment to start; the keys come when it is about to write.
    third = subprocess.Popen(
        command,
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(0.35 * attempt)
    for console in consoles:
        console.press("a")
    see_both(consoles, words("2 waiting"))
    codes = third.wait(PATIENCE)
    assert user.read_text().count(content) == 1
    assert decided(tmp_path) == [("approve", READY)]

    def winners() -> int:
        return sum(words("✓ Added 1 entry")(console) for console in consoles) + (codes == 0)

    # What became of a key comes home after the count did.
    see_both(consoles, lambda _: winners() == 1)
    for console in consoles:
        console.quiet()
    assert winners() == 1


def test_a_record_that_is_edited_elsewhere_is_not_applied_unseen(
    tmp_path: Path, home: Path, consoles: tuple[Terminal, Terminal]
) -> None:
    """A key pressed on what is shown applies that, or nothing."""
    first, second = consoles
    at(first, READY)
    shown = content_of(home, READY)
    path = home / f"pending/memory/{READY}.json"
    record = json.loads(path.read_text())
    record["payload"]["content"] = "Something else entirely."
    half = path.with_suffix(".half")
    half.write_text(json.dumps(record))
    half.replace(path)
    first.press("a")
    refused = ("✗ What was shown", "✗ It stood otherwise", "changed since it was shown")
    ends = (*refused, "✓ Added 1 entry")
    first.wait(lambda there: any(words in there.grid.text for words in ends))
    user = (home / "memories/USER.md").read_text()
    assert shown not in user
    assert "Something else entirely." not in user
    second.see("Queue (3)")
