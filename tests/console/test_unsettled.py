"""Decisions that did not end, full journals, no-ops: what a tester with ``kill -9`` found."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import StateError
from core.journal import Intent, Journal
from tests.console.plain import Cli

TWO = ("f4830ba6", "3f8a1c20")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    return cli.sample()


def crash(cli: Cli, number: int) -> None:
    """Entry ``number`` as a process leaves it that died right before it could close it."""
    with closing(sqlite3.connect(cli.state / "journal.sqlite3")) as db, db:
        db.execute("UPDATE entries SET state = 'open' WHERE id = ?", (number,))


def test_undo_settles_first_and_takes_the_newest(cli: Cli, home: Path) -> None:
    cli("approve", *TWO, home=home)
    memory = (home / "memories/MEMORY.md").read_bytes()
    crash(cli, 2)
    undone = cli("undo", "2", "--json", home=home).json["results"][0]
    assert (undone["ok"], undone["id"]) == (True, "3f8a1c20")
    assert (home / "memories/MEMORY.md").read_bytes() != memory
    assert (home / "pending/memory/3f8a1c20.json").exists()


def test_a_lone_crashed_decision_can_be_undone(cli: Cli, home: Path) -> None:
    cli("approve", "3f8a1c20", home=home)
    crash(cli, 1)
    assert cli("undo", "--json", home=home).json["results"][0]["id"] == "3f8a1c20"


@pytest.mark.parametrize("words", [("approve", "81e5a2cc"), ("reject", "ffffffff")])
def test_commands_that_change_nothing_settle_too(
    cli: Cli, home: Path, words: tuple[str, ...]
) -> None:
    """A stale approval and an unknown id are changing commands all the same."""
    cli("approve", "3f8a1c20", home=home)
    crash(cli, 1)
    cli(*words, home=home)
    assert cli("journal", "--json", home=home).json["entries"][0]["state"] == "done"


def test_a_journal_that_fills_up_ends_neither_the_rest_nor_the_answer(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seven were approved, then the disk was full, and the answer said nothing was changed."""
    real = Journal.open

    def full(self: Journal, intent: Intent) -> int:
        if intent.subject == "38d7b2e1":
            raise StateError("The journal is full", "Free some room")
        return real(self, intent)

    monkeypatch.setattr(Journal, "open", full)
    answer = cli("approve", "--all", "--json", home=home)
    assert answer.code == 1
    results = {row["id"]: row for row in answer.json["results"]}
    assert results["38d7b2e1"]["category"] == "io_error"
    assert results["38d7b2e1"]["message"] == "The journal is full; nothing was changed"
    assert results["f4830ba6"]["journal"] is not None
    assert results["3f8a1c20"]["ok"]
    assert (home / "pending/skills/38d7b2e1.json").exists()


def test_undo_reaches_an_external_folder_the_config_no_longer_names(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    skill = tmp_path / "shared/notes-style/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: notes-style\ndescription: d\n---\n\nOne line.\n")
    config = home / "config.yaml"
    before = config.read_text()
    config.write_text(
        before.replace("skills:\n", f"skills:\n  external_dirs: [{skill.parents[1]}]\n")
    )
    payload = '{"action": "patch", "name": "notes-style", "old_string": "One", "new_string": "Two"}'
    (home / "pending/skills/0c0c0c0c.json").write_text(f'{{"payload": {payload}}}')
    assert cli("approve", "0c0c0c0c", home=home).code == 0
    assert "Two line." in skill.read_text()
    config.write_text(before)
    assert cli("undo", home=home).code == 0
    assert "One line." in skill.read_text()


def test_a_torn_entry_is_put_away_by_hand(cli: Cli, home: Path) -> None:
    cli("approve", "3f8a1c20", home=home)
    crash(cli, 1)
    with (home / "memories/MEMORY.md").open("a", encoding="utf-8") as file:
        file.write(" and more")
    cli("undo", home=home)
    assert "torn" in cli("status", home=home).err
    refused = cli("undo", "1", home=home)
    assert refused.code == 2
    assert "signoff journal 1 --seen" in refused.err
    assert cli("journal", "1", "--seen", home=home).code == 0
    assert cli("status", home=home).err == ""
    assert cli("journal", "1", "--seen", home=home).code == 2
    assert (home / "memories/MEMORY.md").read_text(encoding="utf-8").endswith(" and more")


def test_a_gate_that_is_on_already_is_no_decision(cli: Cli, home: Path) -> None:
    cli("approve", "3f8a1c20", home=home)
    assert cli("gate", "on", home=home).code == 0
    assert cli("undo", "--json", home=home).json["results"][0]["id"] == "3f8a1c20"
