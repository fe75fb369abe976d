"""The whole path through the past in a terminal: type, step, scroll, family, export, and back."""

from __future__ import annotations

import hashlib
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.sample import write_sample
from tests.console.pilots import SESSIONS_MODE
from tests.console.terminal import Terminal, environment, signoff

ESC, ENTER = "\x1b", "\r"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "home", datetime.now(UTC))


def row(terminal: Terminal) -> str:
    """The title of the row at the cursor of the list."""
    return next(line for line in terminal.grid.lines if line[:2] in ("│▌", "┃▌"))[:40]


def test_the_whole_path(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (25)")
        terminal.press(SESSIONS_MODE)
        terminal.see("Sessions (9)")
        terminal.see("The invoice preview shows the old logo although")
        terminal.press("j")
        terminal.see("staging answers")
        here = row(terminal)
        terminal.press("/")
        terminal.see("source:cli role:user")
        terminal.press("import")
        terminal.see("for “import”")
        terminal.see("hit ")
        terminal.press(ENTER)
        terminal.quiet()
        terminal.press(ENTER)
        terminal.see("unfold")
        terminal.press("nn")
        terminal.quiet()
        terminal.see("Suppose we had kept import-v1")
        terminal.press("G")
        terminal.see("▏   Then the move was right.")
        terminal.press("f")
        terminal.see("The family of this conversation")
        terminal.see("delegate")
        terminal.press(ESC)
        terminal.gone("The family of this conversation")
        terminal.press("x")
        terminal.see("Quarto")
        terminal.press("3")
        terminal.see("Export into which folder")
        terminal.press(f"{tmp_path / 'out'}{ENTER}")
        terminal.see("sha256")
        (made,) = (tmp_path / "out").glob("*.md")
        assert hashlib.sha256(made.read_bytes()).hexdigest()[:20] in terminal.grid.text
        terminal.press(ESC)
        terminal.gone("sha256")
        terminal.press(ESC)
        terminal.gone("unfold")
        terminal.press(ESC)
        terminal.see("Sessions (9)")
        assert row(terminal) == here
        terminal.press("q")
        assert terminal.leave() == 0
        assert b"Traceback" not in terminal.output


def test_what_the_agent_says_meanwhile_appears_by_itself(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (25)")
        terminal.press(SESSIONS_MODE)
        terminal.see("The invoice preview shows the old logo although")
        terminal.press(ENTER)
        terminal.see("unfold")
        terminal.press("G")
        terminal.see("it waits in the queue under 3f8a1c20")
        with closing(sqlite3.connect(home / "state.db")) as db:
            (key,) = db.execute(
                "SELECT id FROM sessions WHERE title LIKE 'Invoice preview%'"
            ).fetchone()
            db.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, ?, ?, ?)",
                (key, "user", "thanks, that was quick", datetime.now(UTC).timestamp()),
            )
            db.commit()
        terminal.see("thanks, that was quick")
        terminal.press("q")
        assert terminal.leave() == 0


def test_no_colour_and_a_small_terminal(tmp_path: Path, home: Path) -> None:
    words = ["-c", "from console.cli.main import main; main()", "--home", str(home)]
    env = environment(tmp_path, NO_COLOR="1")
    with Terminal([sys.executable, *words], env, (80, 24)) as terminal:
        terminal.see("Queue (25)")
        terminal.press(SESSIONS_MODE)
        terminal.see("+6 cron runs: c")
        terminal.press("/")
        terminal.see("source:cli role:user")
        terminal.press("canary")
        terminal.see("for “canary”")
        terminal.press(ENTER)
        terminal.quiet()
        terminal.press("n")
        terminal.see("»")
        terminal.press(ESC)
        terminal.see("for “canary”")
        terminal.press("q")
        assert terminal.leave() == 0


def test_keys_of_one_burst_reach_what_the_key_before_them_opened(
    tmp_path: Path, home: Path
) -> None:
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (25)")
        terminal.press(f"{SESSIONS_MODE}/invoice{ENTER}")
        terminal.see("for “invoice”")
        terminal.press(f"/canary{ENTER}")
        terminal.see("for “canary”")
        terminal.press(ESC)
        terminal.see("Sessions (9)")
        terminal.press("q")
        assert terminal.leave() == 0
        assert b"Traceback" not in terminal.output
