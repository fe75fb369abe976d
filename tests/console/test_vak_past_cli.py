"""The past of a vak home on the command line: exports, and the index made for a question."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console.cli import catching_up
from core.desk import indexing
from core.homes.base import Kind
from tests.console.plain import DATA, Cli
from tests.core.desks import open_on

ATLAS = "67b506f04aa724b1"
NOTE = "9e47ec659a17c656"
TALK, DAMAGED, BRANCHED = (
    "01a01e66-0e80-728c-9b72-075b8cbde5af",
    "01a0472b-1180-73ec-9de9-50fa47fcaea8",
    "01a061fd-8600-7c15-b005-37428c2c79f8",
)
NOW = "2026-09-20T12:00:00Z"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    return cli.copy("vak")


Run = Callable[..., Any]


@pytest.fixture
def run(cli: Cli, home: Path) -> Run:
    def call(*words: str, code: int = 0) -> Any:
        answer = cli("--home", str(home), "--now", NOW, *words, "--json")
        assert answer.code == code, answer
        return answer.json

    return call


@pytest.mark.parametrize("form", ["jsonl", "md", "qmd", "html"])
def test_ledgers_and_notes_are_exported(run: Run, tmp_path: Path, form: str) -> None:
    out = tmp_path / "out"
    done = run("export", TALK, f"memory/{NOTE}", "--format", form, "--out", str(out))["exported"]
    assert [(each["session_id"], each["messages"]) for each in done] == [
        (TALK, 14),
        (f"memory/{NOTE}", 1),
    ]
    text = "".join(Path(path).read_text() for path in {each["path"] for each in done})
    assert "How does the deploy script handle rollbacks?" in text
    assert "The deploy script pauses ninety seconds before any rollback." in text
    assert "/home/dev/atlas" in text


def test_an_export_of_lines_has_every_field_and_every_line(run: Run, tmp_path: Path) -> None:
    def exported(key: str, *words: str) -> Any:
        (done,) = run("export", key, *words, "--out", str(tmp_path / key), "--force")["exported"]
        return json.loads(Path(done["path"]).read_text())

    ledger = DATA / "vak" / "sessions" / ATLAS / f"{TALK}.jsonl"
    stored = [json.loads(line) for line in ledger.read_text().split("\n") if line.strip()]
    talk = exported(TALK)
    assert talk["messages"] == stored
    assert (talk["workspace"], talk["message_count"]) == ("/home/dev/atlas", 10)
    damaged = exported(DAMAGED)["messages"]
    odd = [each for each in damaged if "unreadable" in each]
    assert len(odd) == 10
    assert {"line", "unreadable", "text"} == set(odd[0])
    # Lines 4 to 6 were taken back (as `read` says).
    assert len(exported(BRANCHED)["messages"]) == 5
    assert len(exported(BRANCHED, "--all-rows")["messages"]) == 8


def test_an_encrypted_ledger_is_not_exported(run: Run, home: Path, tmp_path: Path) -> None:
    (sealed,) = [path.parent.name for path in home.glob("sessions/*/*/seg-*")]
    error = run("export", sealed, "--out", str(tmp_path / "out"), code=1)["error"]
    assert "encrypted" in error["message"]
    assert not list((tmp_path / "out").glob("*"))


def test_the_arguments_of_recall_are_text(run: Run) -> None:
    """Contract: ``--limit=many`` is no usage error; the default is 8 and 1 to 50 are possible."""
    for said, count in (("many", 8), ("", 8), ("1e3", 8), ("0", 1), ("-5", 1), ("2", 2)):
        assert len(run("recall", "--query", "deploy", f"--limit={said}")["hits"]) == count
    # What another agent's tool takes is said to be unknown, not left aside.
    refused = run("recall", "--query", "deploy", "--exclude-session-ids", TALK, code=2)
    assert "--exclude-session-ids" in refused["error"]["message"]


# -- the index -----------------------------------------------------------------------------


def test_a_question_over_many_ledgers_makes_the_index_first(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recalled = run("recall", "--query", "deploy script")
    assert run("search", "deploy script")["engine"] == "scan"
    monkeypatch.setattr(catching_up, "MUCH", 1)
    time.sleep(0.1)
    assert run("search", "deploy script")["engine"] == "index"
    assert run("recall", "--query", "deploy script") == recalled
    ledger = home / "sessions" / ATLAS / f"{TALK}.jsonl"
    line = {
        "id": "new",
        "ts": "2026-09-20T11:00:00Z",
        "kind": "message",
        "message": {"role": "user", "content": [{"type": "text", "text": "the quillneedle"}]},
    }
    with ledger.open("a") as stream:
        stream.write(json.dumps(line) + "\n")
    time.sleep(0.1)
    for words in (("search", "quillneedle"), ("recall", "--query", "quillneedle")):
        assert run(*words)["hits"][0]["session_id"] == TALK


@pytest.mark.parametrize("ends", ["in time", "by hand"])
def test_a_build_ends_and_the_question_is_answered_all_the_same(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    hits = run("search", "deploy script")["hits"]
    monkeypatch.setattr(catching_up, "MUCH", 1)
    if ends == "in time":
        monkeypatch.setattr(catching_up, "PATIENCE", -1.0)
    else:
        real = indexing.update

        def interrupted(*words: Any, **more: Any) -> bool:
            signal.raise_signal(signal.SIGINT)
            return real(*words, **more)

        monkeypatch.setattr(indexing, "update", interrupted)
    assert run("search", "deploy script")["hits"] == hits != []
    monkeypatch.undo()
    left = sum(path.stat().st_size for path in home.glob("sessions/*/*.jsonl"))
    assert indexing.behind(open_on(home, home.parent / "state", kind=Kind.VAK)) == left
