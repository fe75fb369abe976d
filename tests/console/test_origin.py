"""Where a proposal came from and what to highlight, as ``show`` says it (contract, ``show``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.screens.review_rows import preview_of
from core.desk.review import Board, show
from core.homes.hermes import origin
from tests.console.plain import NOW, Cli
from tests.core.desks import open_on

ID, SESSION = "c197285c", "20261120_091500_a1b2c3"
WORDS = 'from session "Staging server notes" (2026-11-30 00:07 UTC), message 3'


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    return cli.copy("origin")


def rewritten(home: Path, **fields: object) -> None:
    record = home / f"pending/memory/{ID}.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), **fields}))


def test_show_says_which_message(cli: Cli, home: Path) -> None:
    assert cli("show", ID, "--json", home=home).json["source"] == {
        "session_id": SESSION,
        "message_id": "3",
    }
    said = " ".join(cli("show", ID, home=home).out.split())
    assert f"by foreground, {WORDS}" in said
    preview = preview_of(show(open_on(home, cli.state), ID), NOW)
    assert preview.origin.endswith(f", {WORDS}")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"origin": "background_review"}, "the background review leaves no conversation"),
        ({}, "there is no state.db, so no conversation is kept"),
    ],
)
def test_show_says_why_there_is_none(
    cli: Cli, home: Path, fields: dict[str, object], words: str
) -> None:
    (home / "state.db").unlink()
    rewritten(home, **fields)
    assert cli("show", ID, "--json", home=home).json["source"] is None
    assert f"; {words}" in " ".join(cli("show", ID, home=home).out.split())
    preview = preview_of(show(open_on(home, cli.state), ID), NOW)
    assert preview.origin.count("leaves no conversation") == ("background" in words)


def test_labelling_never_looks(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("state.db was asked")

    monkeypatch.setattr(origin, "trace", never)
    board = Board(open_on(home, cli.state))
    board.read()
    assert [label.proposal.id for label in board.labels()] == [ID]


def test_findings_say_what_to_highlight(cli: Cli, home: Path) -> None:
    content = "See https://8.8.8.8/ \u202e now."
    rewritten(home, payload={"action": "add", "target": "memory", "content": content})
    (refused,) = cli("show", ID, "--json", home=home).json["findings"]
    assert (refused["code"], refused["at"]) == ("memory_scan", "content:21")
    assert (refused["severity"], refused["spans"]) == ("warning", [[21, 22]])
    rewritten(
        home, payload={"action": "add", "target": "memory", "content": "See https://8.8.8.8/x."}
    )
    (url,) = cli("show", ID, "--json", home=home).json["findings"]
    assert (url["code"], url["severity"], url["at"]) == ("url", "danger", "memories/MEMORY.md:4")
    assert url["spans"] == [[4, 21]]
