"""Several who write notes at once, the agent among them, each with the file's own lock (spec 7.3)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from core.homes.vak.notes.grammar import parse

ROOT = Path(__file__).parents[3]
ATLAS = "67b506f04aa724b1"
EACH = 6
HEADING = "## 2026-09-20T12:00:00+00:00 [fact] tag=agent session=agent-{}"


def agent(folder: Path, failed: list[str]) -> None:
    """What vak itself does: the lock made exclusively, tried every 10 ms, deleted when done."""
    for number in range(EACH):
        for _ in range(1_000):
            try:
                handle = os.open(folder / "MEMORY.lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            except FileExistsError:
                time.sleep(0.01)
                continue
            break
        else:
            failed.append(f"no lock for {number}")
            return
        os.write(handle, f"pid={os.getpid()}\n".encode())
        os.close(handle)
        with (folder / "MEMORY.md").open("ab") as stream:
            stream.write(f"{HEADING.format(number)}\nThe agent says {number}.\n\n".encode())
        (folder / "MEMORY.lock").unlink()
        time.sleep(0.02)


@pytest.mark.timeout(120)
def test_no_note_is_lost_between_the_agent_and_two_of_us(tmp_path: Path) -> None:
    home = tmp_path / "vak"
    shutil.copytree(ROOT / "tests" / "data" / "vak", home)
    folder = home / "memory" / ATLAS
    (folder / "MEMORY.md").write_text("# Notes\n\n")
    command = (
        "for n in $(seq 0 5); do {python} -m console --home {home} remember"
        ' --workspace {atlas} "$1 says $n." --json > /dev/null || exit 1; done'
    )
    line = command.format(python=sys.executable, home=home, atlas=ATLAS)
    environ = {
        **os.environ,
        "SIGNOFF_STATE": str(tmp_path / "state"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    failed: list[str] = []
    writer = threading.Thread(target=agent, args=(folder, failed))
    people = [
        subprocess.Popen(["sh", "-c", line, "sh", who], env=environ, cwd=ROOT)
        for who in ("Ana", "Bo")
    ]
    writer.start()
    codes = [each.wait() for each in people]
    writer.join()
    assert (codes, failed) == ([0, 0], [])
    blocks = parse((folder / "MEMORY.md").read_text())
    said = {block.body for block in blocks if block.is_note}
    assert said == {f"{who} says {n}." for who in ("Ana", "Bo", "The agent") for n in range(EACH)}
    assert blocks[0].rest.startswith("# Notes\n")
    assert [path.name for path in folder.iterdir()] == ["MEMORY.md"]
