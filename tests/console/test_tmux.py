"""The real program in a real multiplexer, typed at as a person would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from console.sample import write_sample

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

READY = "3f8a1c20"


class Tmux:
    """One session on a socket of its own."""

    def __init__(self, socket: Path, command: str, env: dict[str, str]) -> None:
        self._tmux = ["tmux", "-f", os.devnull, "-S", str(socket)]
        size = ("-x", "100", "-y", "30")
        subprocess.run([*self._tmux, "new-session", "-d", *size, command], env=env, check=True)

    def type(self, *keys: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    @property
    def screen(self) -> str:
        pane = subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True)
        return pane.stdout

    def see(self, text: str, seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while text not in self.screen:
            assert time.monotonic() < end, f"no {text!r} in\n{self.screen}"
            time.sleep(0.05)

    def end(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return write_sample(tmp_path / "home", datetime.now(UTC))


@pytest.fixture
def session(tmp_path: Path, home: Path) -> Iterator[Tmux]:
    env = {**os.environ, "SIGNOFF_STATE": str(tmp_path / "state"), "TERM": "xterm-256color"}
    env.pop("NO_COLOR", None)
    session = Tmux(tmp_path / "socket", f"{sys.executable} -m console --home {home}", env)
    yield session
    session.end()


def test_decide_and_take_back_in_tmux(session: Tmux, home: Path) -> None:
    record = home / f"pending/memory/{READY}.json"
    before = {path: path.read_bytes() for path in (record, home / "memories/MEMORY.md")}
    session.see("24 waiting")
    session.type("G")
    session.type("k")
    session.see(READY)
    session.type("a")
    session.see("u takes it back")
    session.see("23 waiting")
    assert not record.exists()
    session.type("u")
    session.see("24 waiting")
    assert {path: path.read_bytes() for path in before} == before
    session.type("q")
    end = time.monotonic() + 10
    while session.screen and time.monotonic() < end:
        time.sleep(0.05)
    assert session.screen == ""
