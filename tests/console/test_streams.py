"""Closed and full streams, numbers without bounds: one line said, never a traceback."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.console.plain import NOW, Answer, Cli
from tests.console.terminal import signoff

HUGE = "99999999999999999999"
BROKEN = [">&-", ">/dev/full"]

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    return cli.copy("hermes-approval")


def shell(home: Path, words: str, streams: str, unbuffered: str = "") -> Answer:
    """One command in a shell that redirects its streams."""
    named = [sys.executable, "-m", "console", "--home", str(home), "--now", NOW.isoformat()]
    done = subprocess.run(
        ["sh", "-c", f"{shlex.join(named)} {words} {streams}"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PYTHONUNBUFFERED": unbuffered,
        },
        cwd=Path(__file__).parents[2],
    )
    return Answer(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("streams", BROKEN)
@pytest.mark.parametrize("words", ["status --json", "pending", "status --check", "show x --json"])
def test_an_answer_that_cannot_be_printed_is_a_failure_said_once(
    cli: Cli, home: Path, words: str, streams: str, unbuffered: str
) -> None:
    answer = shell(home, words, streams, unbuffered)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("signoff: The answer cannot be printed: ")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("streams", BROKEN)
@pytest.mark.parametrize("more", ["", " --json"])
def test_a_decision_that_cannot_be_told_stays_in_the_journal(
    cli: Cli, home: Path, streams: str, more: str
) -> None:
    approved = shell(home, f"approve 4ba71ab7{more}", streams)
    assert (approved.code, approved.err.count("\n")) == (1, 1)
    assert "What was decided stands" in approved.err
    assert not (home / "pending/memory/4ba71ab7.json").exists()
    (entry,) = cli("journal", "--json", home=home).json["entries"]
    assert (entry["verb"], entry["subject"], entry["ok"]) == ("approve", "4ba71ab7", True)
    undone = shell(home, f"undo{more}", streams)
    assert (undone.code, undone.err.count("\n")) == (1, 1)
    assert (home / "pending/memory/4ba71ab7.json").exists()
    assert len(cli("journal", "--json", home=home).json["entries"]) == 2


@pytest.mark.parametrize("errors", ["2>&-", "2>/dev/full"])
@pytest.mark.parametrize("streams", BROKEN)
def test_with_no_stream_at_all_the_exit_code_tells(
    cli: Cli, home: Path, streams: str, errors: str
) -> None:
    assert shell(home, "reject 4ba71ab7", f"{streams} {errors}") == Answer(1, "", "")
    assert not (home / "pending/memory/4ba71ab7.json").exists()


@pytest.mark.parametrize("streams", ["2>&-", "2>/dev/full", "<&-"])
def test_a_remark_that_cannot_be_made_costs_no_answer(cli: Cli, home: Path, streams: str) -> None:
    cli.state.write_text("a file where the folder should be")
    answer = shell(home, "status --json", streams)
    assert (answer.code, answer.json["home"]) == (0, str(home))
    assert shell(home, "reject 4ba71ab7", streams).code == 1


@pytest.mark.parametrize("streams", BROKEN)
def test_help_is_an_answer_too(cli: Cli, home: Path, streams: str) -> None:
    answer = shell(home, "--help", streams)
    assert (answer.code, answer.err.count("\n")) == (1, 1)
    assert "cannot be printed" in answer.err


@pytest.mark.parametrize("number", [HUGE, f"-- -{HUGE}", str(2**63), f"1 {HUGE}"])
def test_a_number_that_no_entry_can_have_is_not_found(cli: Cli, home: Path, number: str) -> None:
    assert cli("reject", "4ba71ab7", home=home).code == 0
    answer = cli("undo", "--json", *number.split(), home=home)
    assert (answer.code, answer.json["error"]["code"]) == (3, "not_found")
    assert not (home / "pending/memory/4ba71ab7.json").exists()
    assert cli("journal", HUGE, home=home).code == 3
    assert cli("undo", "--bulk", HUGE, home=home).code == 3
    notes = ["--store", str(cli.folder / "notes")]
    assert cli("knowledge", "undo", *notes, *number.split()).code == 3


def test_a_limit_past_every_entry_lists_them_all(cli: Cli, home: Path) -> None:
    assert cli("reject", "4ba71ab7", home=home).code == 0
    for more in ([], ["--search", "4ba71ab7"]):
        answer = cli("journal", "--limit", HUGE, "--json", *more, home=home)
        assert (answer.code, len(answer.json["entries"])) == (0, 1)
    notes = ["--store", str(cli.folder / "notes")]
    assert cli("knowledge", "journal", "--limit", HUGE, *notes).code == 0
    past = cli.copy("hermes-sessions")
    listed = [cli("sessions", "--limit", each, "--json", home=past) for each in ("1000", HUGE)]
    assert listed[0].json == listed[1].json


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["--help", "show --help", "--version", "-h"])
def test_a_page_that_cannot_be_printed_is_no_bug(
    cli: Cli, home: Path, words: str, unbuffered: str
) -> None:
    """Long pages are lost by the buffer, short ones stay in it: both are said the same way."""
    answer = shell(home, words, ">/dev/full", unbuffered)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("signoff: The answer cannot be printed: no space left")
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    "size", ["1000000", HUGE, pytest.param("9" * 6000, id="unreadable"), "-1", "0", "many"]
)
@pytest.mark.parametrize("words", ["pending", "--help", "status --json"])
def test_a_width_no_terminal_has_changes_nothing(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch, words: str, size: str
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    usual = shell(home, words, "")
    monkeypatch.setenv("COLUMNS", size)
    monkeypatch.setenv("LINES", size)
    odd = shell(home, words, "")
    assert (odd.code, odd.out, odd.err) == (usual.code, usual.out, usual.err)


@pytest.mark.timeout(60)
def test_the_console_draws_in_the_terminal_there_is(tmp_path: Path, home: Path) -> None:
    with signoff(tmp_path, home, COLUMNS="1000000", LINES=HUGE) as terminal:
        terminal.see("Queue (")
        terminal.press("q")
        assert terminal.leave() == 0
