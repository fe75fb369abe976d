"""``gate``: a success only when the gate then stands as asked, and nothing known is kept back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console.plain import Cli

OPEN = "memory:\n  write_approval: false\nskills:\n  write_approval: false\n"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


def home_with(cli: Cli, config: str) -> Path:
    home = cli.folder / "home"
    home.mkdir()
    (home / "config.yaml").write_text(config)
    return home


def states(cli: Cli, home: Path) -> list[str]:
    gates = cli("status", "--json", home=home).json["gate"]
    return [gates["memory"]["state"], gates["skills"]["state"]]


def test_a_managed_file_that_overrules_is_named_and_nothing_is_written(cli: Cli) -> None:
    home = home_with(cli, OPEN)
    managed = cli.folder / "managed/config.yaml"
    managed.parent.mkdir()
    managed.write_text("memory: {write_approval: false}\n")
    answer = cli("gate", "on", "--json", home=home)
    (result,) = answer.json["results"]
    assert (answer.code, result["ok"], result["category"]) == (1, False, "invalid")
    assert str(managed) in result["message"]
    assert [found["code"] for found in result["findings"]] == ["managed_overrules"]
    assert (home / "config.yaml").read_text() == OPEN
    assert str(managed) in cli("gate", "on", home=home).out.replace("\n  ", "")
    assert states(cli, home) == ["off", "off"]
    assert cli("gate", "on", "--subsystem", "skills", home=home).code == 0
    assert states(cli, home) == ["off", "on"]


def test_a_config_the_agent_cannot_load_is_refused(cli: Cli) -> None:
    home = home_with(cli, "agent: 3\n" + OPEN)
    answer = cli("gate", "on", "--json", home=home)
    (result,) = answer.json["results"]
    assert (answer.code, result["category"]) == (1, "unreadable_target")
    assert (home / "config.yaml").read_text() == "agent: 3\n" + OPEN


def test_what_a_migration_would_do_is_said_with_the_success(cli: Cli) -> None:
    home = home_with(cli, "memory:\n  write_mode: 'off'\n")
    answer = cli("gate", "on", "--subsystem", "memory", "--json", home=home)
    (result,) = answer.json["results"]
    assert (answer.code, result["ok"]) == (0, True)
    assert "memory.write_mode is an old key" in result["message"]
    assert [found["code"] for found in result["findings"]] == ["legacy_key"]
    assert states(cli, home)[0] == "on"


def test_without_a_terminal_no_gate_is_opened_where_deciding_needs_one(cli: Cli) -> None:
    """Contract, ``decide_needs_terminal``: an agent with a shell cannot decide for the person."""
    closed = OPEN.replace("false", "true")
    home = home_with(cli, closed)
    (cli.folder / "settings.toml").write_text("decide_needs_terminal = true\n")
    answer = cli("gate", "off", "--json", home=home)
    assert (answer.code, answer.json["error"]["code"]) == (1, "needs_terminal")
    assert (home / "config.yaml").read_text() == closed
    (home / "config.yaml").write_text(OPEN)
    assert cli("gate", "on", "--json", home=home).code == 0
    assert states(cli, home) == ["on", "on"]
