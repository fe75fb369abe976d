"""The real program in a terminal: it gives back all it took, and goes on when the ground moves."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.sample import write_sample
from tests.console.pilots import JOURNAL_MODE, MEMORY_MODE
from tests.console.terminal import PATIENCE, SIGNOFF, Terminal, environment, plain, signoff

#: Modes a terminal starts with, as Textual's driver changes them: alternate screen, mouse, cursor,
#: focus and paste reports, line wrap.
NORMAL = {"1049": "l", "1000": "l", "1003": "l", "1006": "l", "25": "h", "1004": "l", "2004": "l"}
#: Two records of the sample; the older would not land.
READY, STALE = "b71d90e4", "81e5a2cc"
#: How a colour or a style is chosen.
SGR = re.compile(rb"\x1b\[([\d;]+)m")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The sample with these two records."""
    found = write_sample(tmp_path / "home", datetime.now(UTC))
    for path in found.glob("pending/*/*.json"):
        if path.stem not in (READY, STALE):
            path.unlink()
    return found


def modes(terminal: Terminal) -> dict[str, str]:
    """The last that was said of every mode: ``h`` set, ``l`` reset."""
    found = re.findall(rb"\x1b\[\?(\d+)([hl])", terminal.output)
    return {mode.decode(): last.decode() for mode, last in found}


def assert_restored(terminal: Terminal) -> None:
    said = modes(terminal)
    assert {mode: said.get(mode, value) for mode, value in NORMAL.items()} == NORMAL
    assert terminal.output.count(b"\x1b[>25u") == terminal.output.count(b"\x1b[<u")
    assert termios.tcgetattr(terminal.slave) == terminal.modes


def opened(terminal: Terminal) -> None:
    terminal.see("Queue (2)")
    terminal.see("of 2,200 chars")


def on_ready(terminal: Terminal) -> None:
    """Put the cursor on the record that would land, and wait for its preview."""
    terminal.press("j")
    terminal.see(f"{READY}, ")


# -- leaving ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_the_terminal_is_as_before(
    tmp_path: Path, home: Path, number: signal.Signals
) -> None:
    with signoff(tmp_path, home) as terminal:
        opened(terminal)
        assert modes(terminal)["1049"] == "h"
        assert modes(terminal)["25"] == "l"
        terminal.process.send_signal(number)
        assert terminal.leave() == 0
        assert_restored(terminal)


@pytest.mark.parametrize("seen", [b"\x1b[?1049h", b"opening", b"\x1b[?2026l"])
def test_a_signal_while_it_opens(tmp_path: Path, home: Path, seen: bytes) -> None:
    with signoff(tmp_path, home) as terminal:
        terminal.wait(lambda there: seen in there.output)
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.leave() == 0
        assert_restored(terminal)
        assert b"Traceback" not in terminal.output


def test_a_terminal_that_was_closed_leaves_no_process(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home) as terminal:
        opened(terminal)
        terminal.hang_up()
        terminal.process.wait(PATIENCE)


@pytest.mark.parametrize("keys", ["q", "\x11"], ids=["q", "ctrl+q"])
def test_the_keys_that_quit(tmp_path: Path, home: Path, keys: str) -> None:
    with signoff(tmp_path, home) as terminal:
        opened(terminal)
        terminal.press(keys)
        assert terminal.leave() == 0
        assert_restored(terminal)
        assert terminal.output.rstrip().endswith((b"l", b"h"))


def test_ctrl_c_ends_nothing_by_accident(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home) as terminal:
        opened(terminal)
        terminal.press("\x03")
        terminal.see("quit the app")
        terminal.press(MEMORY_MODE)
        terminal.see("MEMORY.md")
        terminal.press("q")
        assert terminal.leave() == 0
        assert_restored(terminal)


def test_no_mouse_leaves_the_mouse_to_the_terminal(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home, "--no-mouse") as terminal:
        opened(terminal)
        assert not {"1000", "1002", "1003", "1006", "1015", "1016"} & set(modes(terminal))
    with signoff(tmp_path, home) as terminal:
        opened(terminal)
        assert {"1000", "1003", "1006"} <= set(modes(terminal))


def test_a_folder_that_is_no_home_is_said_after_the_screen(tmp_path: Path) -> None:
    with signoff(tmp_path, tmp_path / "nowhere") as terminal:
        assert terminal.leave() == 2
        assert_restored(terminal)
        last = terminal.output.rpartition(b"\x1b[?1049l")[2]
        assert b"signoff: " in last
        assert b"Traceback" not in terminal.output


# -- the ground moves ------------------------------------------------------------------------


def test_a_home_that_vanishes_and_comes_back(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home) as terminal:
        opened(terminal)
        on_ready(terminal)
        home.rename(tmp_path / "elsewhere")
        terminal.see("The home is not there any more")
        assert "gone" not in terminal.grid.text
        terminal.press("a")
        terminal.see(f"✗ Nothing pending is called memory/{READY}")
        terminal.press(MEMORY_MODE + JOURNAL_MODE)
        terminal.quiet()
        terminal.press("1")
        (tmp_path / "elsewhere").rename(home)
        terminal.gone("The home is not there")
        on_ready(terminal)
        terminal.press("a")
        terminal.see("✓ Added 1 entry")
        terminal.press("q")
        assert terminal.leave() == 0
        assert b"Something went wrong" not in terminal.output


def _unwritable(folder: Path) -> Path:
    (folder / "file").write_text("")
    return folder / "file" / "state"


def _read_only(folder: Path) -> Path:
    state = folder / "state"
    state.mkdir()
    state.chmod(0o500)
    return state


@pytest.mark.parametrize("state", [_unwritable, _read_only])
def test_without_a_journal_everything_is_read_and_nothing_decided(
    tmp_path: Path, home: Path, state: Callable[[Path], Path]
) -> None:
    if state is _read_only and os.geteuid() == 0:
        pytest.skip("nothing is read-only for root")
    before = (home / "memories/USER.md").read_bytes()
    with signoff(tmp_path, home, SIGNOFF_STATE=str(state(tmp_path))) as terminal:
        opened(terminal)
        terminal.see("nothing can be decided until it can")
        on_ready(terminal)
        for key in "ar":
            terminal.press(key)
            terminal.see("✗ The journal")
            terminal.see("! failed")
        for key in ("\x14", MEMORY_MODE, JOURNAL_MODE, "u", "1"):
            terminal.press(key)
            terminal.quiet()
        assert (home / f"pending/memory/{READY}.json").exists()
        assert (home / "memories/USER.md").read_bytes() == before
        terminal.press("q")
        assert terminal.leave() == 0
        assert b"Something went wrong" not in terminal.output
        assert b"Traceback" not in terminal.output


# -- a sudden end ----------------------------------------------------------------------------


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.06, 0.15])
def test_kill_leaves_nothing_half_done(tmp_path: Path, home: Path, delay: float) -> None:
    """Killed at any moment of a decision, the next one finds the record, or the entry: one."""
    record = home / f"pending/memory/{READY}.json"
    content = json.loads(record.read_text())["payload"]["content"]
    with signoff(tmp_path, home) as terminal:
        opened(terminal)
        on_ready(terminal)
        terminal.press("a")
        time.sleep(delay)
        terminal.process.kill()
        terminal.process.wait()
    assert plain(tmp_path, home, "reject", STALE).returncode == 0
    entries = (home / "memories/USER.md").read_text().count(content)
    assert entries == (0 if record.exists() else 1)
    assert not list(home.rglob("*.tmp"))
    assert "did not end" not in plain(tmp_path, home, "status").stderr


# -- another terminal ------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_in_tmux_a_proposal_is_decided_and_taken_back(tmp_path: Path, home: Path) -> None:
    env = environment(tmp_path, TMUX_TMPDIR=str(tmp_path))

    def tmux(*words: str) -> str:
        done = subprocess.run(
            ["tmux", "-f", "/dev/null", *words], env=env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def see(words: str) -> str:
        end = time.monotonic() + PATIENCE
        while words not in (screen := tmux("capture-pane", "-p")):
            assert time.monotonic() < end, screen
            time.sleep(0.05)
        return screen

    user = home / "memories/USER.md"
    before = user.read_bytes()
    command = [sys.executable, "-c", SIGNOFF, "--home", str(home)]
    tmux("new-session", "-d", "-x", "100", "-y", "30", *command)
    try:
        see("of 2,200 chars")
        tmux("send-keys", "j")
        see(f"{READY}, ")
        tmux("send-keys", "a")
        see("✓ Added 1 entry")
        assert user.read_bytes() != before
        see("1 waiting")
        tmux("send-keys", "u")
        see("2 waiting")
        assert user.read_bytes() == before
        tmux("send-keys", "q")
    finally:
        subprocess.run(["tmux", "kill-server"], env=env, check=False, capture_output=True)


def test_status_and_changes_keep_their_colours_where_there_are_sixteen(
    tmp_path: Path, home: Path
) -> None:
    """With TERM=xterm-16color dark greens and reds became grey."""
    with signoff(tmp_path, home, TERM="xterm-16color", COLORTERM="") as terminal:
        opened(terminal)
        on_ready(terminal)
        terminal.press("q")
        assert terminal.leave() == 0
        drawn = {code for found in SGR.findall(terminal.output) for code in found.split(b";")}
        assert {b"92", b"93", b"97"} <= drawn, "bright green, yellow and white"
        assert b"38" not in drawn
