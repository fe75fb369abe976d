"""What the plain commands stand on: a state folder, settings, pipes, terminals, Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core import commit
from core.desk import decide
from tests.console.plain import NOW, Cli


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


# -- signoff's own folder and settings -------------------------------------------------------------


def test_an_unwritable_state_folder_stops_decisions_only(cli: Cli, tmp_path: Path) -> None:
    home = cli.copy("hermes-approval")
    state = tmp_path / "taken"
    state.write_text("a file where the folder should be")
    cli.setenv("SIGNOFF_STATE", str(state))
    for words in (["status"], ["pending"], ["show", "a02bff2f"], ["memory"], ["journal"]):
        answer = cli(*words, "--json", home=home)
        assert answer.code == 0
        assert answer.json["home"] == str(home)
        (line,) = answer.err.splitlines()
        assert "nothing can be decided" in line
    assert cli("doctor", home=home).code == 0
    for words in (["approve", "4ba71ab7"], ["approve", "--all"], ["reject", "4ba71ab7"], ["undo"]):
        answer = cli(*words, home=home)
        assert (answer.code, answer.out) == (1, "")
        assert answer.err.count("\n") == 1
    assert cli("gate", "off", home=home).code == 1
    assert cli("status", "--json", home=home).json["pending"]["memory"] == 23


def test_a_damaged_journal_is_no_journal(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    cli.state.mkdir()
    (cli.state / "journal.sqlite3").write_bytes(b"not a database, but long enough" * 40)
    shown = cli("show", "a02bff2f", "--json", home=home)
    assert shown.json["status"] == "ready"
    assert "cannot be used" in shown.err
    assert cli("approve", "a02bff2f", home=home).code == 1
    assert cli("journal", "--json", home=home).json["error"]["code"] == "state"


def test_reading_makes_nothing(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    for words in (["status"], ["pending"], ["memory"], ["journal"], ["doctor"]):
        cli(*words, home=home)
    assert not cli.state.exists()
    assert cli("approve", "--all", "--dry-run", home=home).code == 1
    assert not cli.state.exists()


def test_commits_that_did_not_end_are_told_aside(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    home = cli.copy("hermes-approval")

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(commit, "_write", dies)
        assert cli("approve", "4ba71ab7", home=home).code == 130
    answer = cli("pending", "--json", home=home)
    assert (
        answer.err == "signoff: Journal entry 1 (open) did not end; `signoff doctor` says more.\n"
    )
    assert "entry 1 (approve 4ba71ab7) did not end" in cli("doctor", home=home).out.replace(
        "\n  ", " "
    )
    assert cli("approve", "0b8e90e9", home=home).code == 0
    assert cli("pending", "--json", home=home).err == ""


def test_a_held_lock_is_named_and_waited_for_in_bounds(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    with (home / "memories/MEMORY.md.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "locks: memories/MEMORY.md.lock is held right now" in cli("doctor", home=home).out
        (result,) = cli("approve", "4ba71ab7", "--json", home=home).json["results"]
    assert (result["ok"], result["category"]) == (False, "locked")
    assert cli("approve", "4ba71ab7", home=home).code == 0


def test_deciding_can_be_kept_for_a_terminal(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    (cli.folder / "settings.toml").write_text("decide_needs_terminal = true\n")
    for words in (["approve", "--all"], ["approve", "4ba71ab7"], ["reject", "4ba71ab7"], ["undo"]):
        found = cli(*words, "--json", home=home)
        assert (found.code, found.json["error"]["code"]) == (1, "needs_terminal")
    assert cli("approve", "4ba71ab7", "--dry-run", home=home).code == 0
    assert cli("status", "--json", home=home).json["pending"]["memory"] == 23


@pytest.mark.parametrize("name", ["", " "])
@pytest.mark.parametrize("words", [["demo", "--into"], ["init"]])
def test_a_folder_without_a_name_is_wrong_usage(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, words: list[str], name: str
) -> None:
    """An empty name would be the folder one stands in, or a folder nobody asked for."""
    here = cli.folder / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    answer = cli(*words, name)
    assert (answer.code, answer.out) == (2, "")
    assert "names no folder" in answer.err
    assert cli(*words, name, "--json").json["error"]["code"] == "usage"
    assert list(here.iterdir()) == []


# -- terminals and pipes ---------------------------------------------------------------------------


def run(home: Path, cli: Cli, *words: str, **env: str) -> subprocess.Popen[bytes]:
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "console", "--home", str(home), "--now", NOW.isoformat(), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **env},
        cwd=Path(__file__).parents[2],
    )


def test_a_reader_that_goes_away_costs_nothing(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    process = run(home, cli, "approve", "--all")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait() != 0
    assert errors == b""
    assert len(cli("journal", "--json", home=home).json["entries"]) == 23


def test_a_terminal_without_unicode(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    for words in (["pending"], ["show", "0b8e90e9"], ["show", "060fb4db"], ["status"]):
        process = run(home, cli, *words, PYTHONIOENCODING="ascii", COLUMNS="80")
        out, errors = process.communicate()
        assert (process.returncode, errors) == (0, b"")
        assert out.isascii()
    assert b"+ ready" in run(home, cli, "pending", PYTHONIOENCODING="ascii").communicate()[0]


def test_ctrl_c_stops_between_two_decisions(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    home = cli.copy("hermes-approval")

    def pressed(*args: Any, **more: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return commit.commit(*args, **more)

    monkeypatch.setattr(decide, "commit", pressed)
    answer = cli("approve", "4ba71ab7", "0b8e90e9", "--json", home=home)
    assert answer.code == 130
    assert [r["id"] for r in answer.json["results"]] == ["4ba71ab7"]
    assert "Interrupted after 1 decision" in answer.err
    assert not (home / "pending/memory/4ba71ab7.json").exists()
    assert (home / "pending/memory/0b8e90e9.json").exists()


@pytest.mark.parametrize("columns", ["1", "16", "40", "80", "140", "300", "0", "wide"])
def test_no_width_breaks_or_loses_ids(cli: Cli, columns: str) -> None:
    home = cli.copy("hermes-approval")
    cli.setenv("COLUMNS", columns)
    rows = cli("pending", "--json", home=home).json["proposals"]
    lines = cli("pending", home=home).out.splitlines()
    assert [row["id"] for row in rows] == [
        line.split()[0] for line in lines if line.split()[0] in {row["id"] for row in rows}
    ]
    if columns.isdigit() and int(columns) >= 40:
        body = [line for line in lines[1:] if "signoff --home" not in line]
        assert max(map(len, body)) <= int(columns)
    for words in (["status"], ["memory"], ["show", "17f11a8a"], ["show", "93e8e040"], ["journal"]):
        assert cli(*words, home=home).code == 0


def test_no_color(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    cli.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m" in cli("pending", home=home).out
    cli.setenv("NO_COLOR", "1")
    assert "\x1b[32m" not in cli("pending", home=home).out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("aprove", "x"), "Perhaps you mean `signoff approve`"),
        (("pending", "--home", "x"), "--home stands before the command"),
        (("--json", "pending"), "--json stands after the command"),
        (("frobnicate",), "See `signoff --help`"),
        (("knowledge", "retir"), "Perhaps you mean `signoff knowledge retire`"),
        (("knowledge", "ingest"), "Perhaps you mean `signoff knowledge ingest-wiki`"),
        (("skill", "pin", "deploy"), "Perhaps you mean `signoff pin`"),
        (("skill", "deploy", "watering"), "See `signoff skill --help`"),
        (("knowledge", "projects"), "See `signoff knowledge --help`"),
    ],
)
def test_a_mistyped_command_names_the_one_that_was_meant(
    cli: Cli, words: tuple[str, ...], said: str
) -> None:
    answer = cli(*words)
    assert answer.code == 2
    assert said in answer.err + answer.out
