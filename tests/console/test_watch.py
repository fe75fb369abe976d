"""``signoff watch`` as a process: lines, signals, a reader that goes away."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PATIENCE = 90.0
NOW = "2026-11-29T12:00:00+00:00"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    (root / "pending/memory").mkdir(parents=True)
    (root / "memories").mkdir()
    (root / "config.yaml").write_text("memory:\n  write_approval: true\n")
    return root


@contextlib.contextmanager
def watch(home: Path, *, stdout: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "console", "--home", str(home), "--now", NOW, "watch"]
    environ = os.environ | {
        "SIGNOFF_STATE": str(home.parent / "state"),
        "SIGNOFF_SETTINGS": str(home.parent / "settings.toml"),
    }
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=stdout, stderr=pipe, env=environ) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def writing(home: Path) -> Iterator[None]:
    """Stage records until left: nobody can see from outside when the watcher has begun."""
    enough = threading.Event()

    def stage() -> None:
        number = 0
        while not enough.wait(0.1):
            number += 1
            (home / f"pending/memory/{number:08x}.json").write_text("{}")

    thread = threading.Thread(target=stage)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


def first_line(process: subprocess.Popen[bytes], home: Path) -> bytes:
    assert process.stdout is not None
    with writing(home):
        return process.stdout.readline()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_line_a_change_until_interrupted(home: Path, number: signal.Signals) -> None:
    # Contract, `watch`: {at, areas}; interrupted: exit status 0.
    with watch(home) as process:
        line = first_line(process, home)
        assert json.loads(line) == {"at": NOW, "areas": ["queue"]}
        (home / "memories/MEMORY.md").write_text("alpha")
        assert process.stdout is not None
        while json.loads(line)["areas"] != ["memory"]:
            line = process.stdout.readline()
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (0, b"", b"")


def test_areas_stand_in_the_order_of_the_contract(home: Path) -> None:
    with watch(home) as process:
        line = first_line(process, home)
        assert process.stdout is not None
        (home / "config.yaml").write_text("memory:\n  write_approval: false\n")
        while json.loads(line)["areas"] == ["queue"]:
            line = process.stdout.readline()
        assert json.loads(line)["areas"] == ["queue", "memory", "skills", "curator"]


def test_closed_pipe_ends_it_quietly(home: Path) -> None:
    with watch(home) as process:
        first_line(process, home)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with writing(home):
            process.wait(PATIENCE)
        assert process.stderr.read() == b""
        assert process.returncode == 0


def test_full_pipe_does_not_keep_it_from_leaving(home: Path) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(writer, b" " * 4096):
            pass
    os.set_blocking(writer, True)
    with watch(home, stdout=writer) as process:
        waits_in = Path(f"/proc/{process.pid}/wchan")
        deadline = time.monotonic() + PATIENCE
        with writing(home):
            while "pipe_write" not in _text(waits_in):
                if time.monotonic() > deadline:
                    pytest.skip("the system does not say what a process waits for")
                time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    os.close(reader)
    os.close(writer)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def test_no_home_is_one_sentence(tmp_path: Path) -> None:
    with watch(tmp_path / "missing") as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert out == b""
    assert err.startswith(b"signoff: There is no folder ")
