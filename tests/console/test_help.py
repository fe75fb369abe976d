"""Every command explains itself, and the README leaves none out."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from console.cli.main import COMMANDS, cli

README = Path(__file__).parents[2] / "README.md"
#: One speaks a protocol of its own; the commands of the other have it each.
WITHOUT_JSON = {"mcp", "knowledge"}


def command(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


def test_the_group_lists_what_it_has() -> None:
    assert cli.list_commands(click.Context(cli)) == list(COMMANDS)
    assert cli.get_command(click.Context(cli), "nothing") is None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str) -> None:
    found = command(name)
    assert found.name == name
    summary = found.get_short_help_str(limit=100)
    assert re.fullmatch(r"[A-Z].{10,}\.", summary), summary
    for option in found.params:
        if isinstance(option, click.Option):
            assert option.help, f"{name} {option.name}"
            assert option.help.endswith("."), option.help


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main([name, "--help"], prog_name="signoff", standalone_mode=False)
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: signoff {name} ")
    assert ("--json" in out) is (name not in WITHOUT_JSON)
    assert max(map(len, out.splitlines())) <= 80


def test_the_short_help_fits(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["--help"], prog_name="signoff", standalone_mode=False)
    listed = capsys.readouterr().out.partition("Review:")[2]
    assert listed.split("\n")[1:-1] != []
    assert "..." not in listed
    for name in COMMANDS:
        assert f"  {name} " in listed


@pytest.mark.skipif(not README.exists(), reason="the README is not written yet")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_readme_mentions_every_command(name: str) -> None:
    assert re.search(rf"\bsignoff (?:[^\n`]* )?{name}\b|`{name}\b", README.read_text("utf-8"))
