"""A vak home in a real terminal: what another process writes appears by itself (issue 7)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.console.pilots import MEMORY_MODE
from tests.console.plain import Cli
from tests.console.terminal import signoff

ATLAS = "67b506f04aa724b1"
READY = "01a01e6d61807e15986d8d3bb4b327e4"
NOTE = "## 2026-09-19T08:00:00Z [fact] tag=quay session=x\nThe quay gauge is 4 cm high.\n"
WRITE = "import sys; open(sys.argv[1], 'a').write(sys.argv[2])"


def another_process_appends(path: Path, text: str) -> None:
    subprocess.run([sys.executable, "-c", WRITE, str(path), text], check=True)


def test_a_note_and_a_proposal_of_another_process_appear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = Cli(tmp_path, monkeypatch, capsys).copy("vak")
    proposals = home / "skill-proposals" / ATLAS
    other = (proposals / f"{READY}.md").read_text().replace("rotate-release-tags", "paint-the-quay")
    with signoff(tmp_path, home) as terminal:
        terminal.see("Queue (10)")
        another_process_appends(proposals / f"{'f' * 32}.md", other)
        terminal.see("Queue (11)")
        terminal.press(MEMORY_MODE)
        terminal.see("Notes (17)")
        another_process_appends(home / f"memory/{ATLAS}/MEMORY.md", f"\n{NOTE}")
        terminal.see("Notes (18)")
        terminal.press("q")
        assert terminal.leave() == 0
