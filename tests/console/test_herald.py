"""The terminal's title and its bell: off by default, safe, given back."""

from __future__ import annotations

import json
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.herald import BATCH, Herald
from console.sample import write_sample
from tests.console.terminal import Terminal, signoff
from tests.console.test_render import FORBIDDEN

KEEP, GIVE_BACK, BELL = b"\x1b[22;2t", b"\x1b]2;\x07\x1b[23;2t", "\x07"
READY = "b71d90e4"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_one_bell_for_a_batch_and_none_for_what_was_there() -> None:
    clock = Clock()
    herald = Herald(title=False, bell=True, clock=clock)
    assert herald.news("/h", "default", "2 waiting", ["a", "b"]) == ""
    assert herald.news("/h", "default", "3 waiting", ["a", "b", "c"]) == BELL
    clock.now += BATCH / 2
    assert herald.news("/h", "default", "4 waiting", ["a", "b", "c", "d"]) == ""
    clock.now += BATCH / 2
    # A burst goes on for as long as something new comes.
    assert herald.news("/h", "default", "5 waiting", ["a", "b", "c", "d", "e"]) == ""
    clock.now += BATCH * 2
    assert herald.news("/h", "default", "4 waiting", ["a", "b", "c", "d"]) == ""
    assert herald.news("/h", "default", "5 waiting", ["a", "b", "c", "d", "e"]) == ""
    assert herald.news("/h", "default", "6 waiting", ["f"]) == BELL


def test_another_home_is_not_news() -> None:
    herald = Herald(title=False, bell=True, clock=Clock())
    assert herald.news("/h", "default", "1 waiting", ["a"]) == ""
    assert herald.news("/h/profiles/x", "x", "2 waiting", ["b", "c"]) == ""
    assert herald.news("/h", "default", "1 waiting", ["a"]) == ""


def test_the_title_is_kept_once_and_given_back() -> None:
    herald = Herald(title=True, bell=False)
    assert herald.farewell() == ""
    first = herald.news("/h", "default", "12 waiting", [])
    assert first == f"{KEEP.decode()}\x1b]2;signoff: 12 waiting (default)\x07"
    assert herald.news("/h", "default", "12 waiting", []) == ""
    assert herald.news("/h", "work", "0 waiting", []) == "\x1b]2;signoff: 0 waiting (work)\x07"
    assert herald.farewell() == GIVE_BACK.decode()


def test_neither_unless_asked_for() -> None:
    herald = Herald(title=False, bell=False)
    assert herald.news("/h", "default", "1 waiting", ["a"]) == ""
    assert herald.news("/h", "default", "2 waiting", ["a", "b"]) == ""
    assert herald.farewell() == ""


@given(st.text(max_size=100) | st.sampled_from(["\x1b]52;c;aGk=\x07", "a\x9cb", "x\u202ey"]))
def test_a_name_cannot_end_the_title_or_hide_in_it(profile: str) -> None:
    said = Herald(title=True, bell=False).news("/h", profile, "1 waiting", [])
    title = said.removeprefix(KEEP.decode()).removeprefix("\x1b]2;").removesuffix("\x07")
    assert not FORBIDDEN.search(title)
    assert len(title) <= 400


# -- in a terminal -------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> Path:
    found = write_sample(tmp_path / "home", datetime.now(UTC))
    for path in found.glob("pending/*/*.json"):
        if path.stem != READY:
            path.unlink()
    return found


def ask_for(folder: Path, *names: str) -> None:
    lines = "".join(f"{name} = true\n" for name in names)
    (folder / "settings.toml").write_text(f"[console]\n{lines}", encoding="utf-8")


def stage(home: Path, *names: str) -> None:
    record = json.loads((home / f"pending/memory/{READY}.json").read_text())
    for name in names:
        record |= {"id": name, "payload": {**record["payload"], "content": f"A fact of {name}."}}
        new = home / f"pending/memory/.{name}.tmp"
        new.write_text(json.dumps(record))
        new.rename(home / f"pending/memory/{name}.json")


def bells(terminal: Terminal) -> int:
    """Bells, those that end an OSC left out."""
    output, count = terminal.output, 0
    while output:
        head, _, output = output.partition(b"\x1b]")
        count += head.count(b"\x07")
        output = output.partition(b"\x07")[2] if b"\x07" in output else b""
    return count


def test_the_title_follows_what_waits_and_is_given_back(tmp_path: Path, home: Path) -> None:
    ask_for(tmp_path, "title")
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (1)")
        terminal.wait(lambda t: b"\x1b]2;signoff: 1 waiting (default)\x07" in t.output)
        stage(home, "00000001")
        terminal.wait(lambda t: b"\x1b]2;signoff: 2 waiting (default)\x07" in t.output)
        assert bells(terminal) == 0
        terminal.press("q")
        assert terminal.leave() == 0
        assert terminal.output.count(KEEP) == 1
        assert terminal.output.rstrip().endswith(GIVE_BACK)


def test_a_signal_gives_the_title_back_too(tmp_path: Path, home: Path) -> None:
    ask_for(tmp_path, "title", "bell")
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (1)")
        terminal.wait(lambda t: KEEP in t.output)
        terminal.process.send_signal(signal.SIGTERM)
        terminal.leave()
        assert GIVE_BACK in terminal.output


def test_several_at_once_ring_once(tmp_path: Path, home: Path) -> None:
    ask_for(tmp_path, "bell")
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (1)")
        terminal.process.send_signal(signal.SIGSTOP)
        stage(home, *(f"0000000{number}" for number in range(1, 6)))
        terminal.process.send_signal(signal.SIGCONT)
        terminal.see("6 waiting")
        terminal.wait(lambda there: bells(there) > 0)
        terminal.quiet()
        assert bells(terminal) == 1
        assert KEEP not in terminal.output


def test_without_a_setting_nothing_of_it_is_written(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (1)")
        terminal.quiet()
        stage(home, "00000001")
        terminal.see("2 waiting")
        terminal.press("q")
        assert terminal.leave() == 0
        assert bells(terminal) == 0
        assert b"\x1b]2;" not in terminal.output
