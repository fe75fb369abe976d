"""Folders without permission: what cannot be seen is neither stale nor absent."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.console import powerless
from tests.console.plain import DATA, Cli
from tests.core.desks import make_home, patch, propose

ATLAS = "67b506f04aa724b1"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home whose folders are opened again at the end, so that they can be removed."""
    root = make_home(tmp_path / "home")
    propose(root, "change", patch("deploy", "Step one.", "Step 1."))
    propose(root, "gone", {"action": "delete", "name": "deploy"})
    yield root
    for folder, names, _ in os.walk(tmp_path):
        for name in names:
            (Path(folder) / name).chmod(0o700)


@pytest.mark.parametrize("mode", [0o000, 0o400])
@pytest.mark.parametrize("shut", ["skills", "skills/ops", "skills/ops/deploy"])
def test_a_skill_behind_a_closed_folder_is_not_stale(
    cli: Cli, home: Path, shut: str, mode: int
) -> None:
    (home / shut).chmod(mode)
    rows = powerless.run("pending", "--json", home=home).json["proposals"]
    assert [(row["status"], row["category"]) for row in rows] == [
        ("unreadable", "unreadable_target")
    ] * 2
    answer = powerless.run("approve", "change", "--json", home=home)
    (result,) = answer.json["results"]
    assert (answer.code, result["category"]) == (1, "unreadable_target")
    assert shut in result["message"]
    assert powerless.run("reject", "--dead", home=home).code == 3
    (home / shut).chmod(0o700)
    rows = powerless.run("pending", "--json", home=home).json["proposals"]
    assert {row["status"] for row in rows} == {"ready"}


def test_the_doctor_names_what_it_could_not_list(cli: Cli, home: Path) -> None:
    (home / "skills/ops").chmod(0o000)
    checks = powerless.run("doctor", "--json", home=home).json["checks"]
    assert {
        "name": "skills",
        "ok": False,
        "message": "skills/ops cannot be listed: permission denied; there may be more",
    } in checks


@pytest.mark.parametrize("mode", [0o000, 0o400])
@pytest.mark.parametrize("named", ["--home", "HERMES_HOME", "default", "--kind"])
def test_a_closed_home_is_not_called_empty(
    cli: Cli, tmp_path: Path, home: Path, named: str, mode: int
) -> None:
    env: dict[str, str] = {}
    given: Path | None = None
    if named == "HERMES_HOME":
        env = {"HERMES_HOME": str(home)}
    elif named == "default":
        (tmp_path / "nobody").mkdir()
        home = home.rename(tmp_path / "nobody/.hermes")
    else:
        given = home
    words = ("--kind", "hermes", "status") if named == "--kind" else ("status",)
    home.chmod(mode)
    answer = powerless.run(*words, home=given, **env)
    home.chmod(0o700)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == (
        f"signoff: {home} cannot be read: permission denied. "
        "Give yourself the permission, or name another home with --home DIR.\n"
    )


def test_a_home_that_only_hides_its_names_opens(cli: Cli, home: Path) -> None:
    home.chmod(0o100)
    answer = powerless.run("status", "--json", home=home)
    assert (answer.code, answer.json["pending"]["skills"]) == (0, 2)


def test_a_closed_folder_of_profiles_is_said(cli: Cli, home: Path) -> None:
    (home / "profiles/work").mkdir(parents=True)
    (home / "profiles").chmod(0o000)
    answer = powerless.run("--profile", "work", "status", home=home)
    assert answer.code != 0
    assert "unforeseen" not in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize("closed", ["folder", "file"])
def test_a_journal_that_takes_no_entry_is_said_by_what_only_reads(
    cli: Cli, home: Path, closed: str
) -> None:
    assert powerless.run("approve", "change", home=home).code == 0
    if closed == "folder":
        cli.state.chmod(0o555)
    else:
        (cli.state / "journal.sqlite3").chmod(0o444)
    for words in (["status"], ["pending"], ["show", "gone"], ["memory"], ["journal"]):
        answer = powerless.run(*words, "--json", home=home)
        assert answer.code == 0
        assert "nothing can be decided" in answer.err
    refused = powerless.run("reject", "gone", home=home)
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    cli.state.chmod(0o700)
    (cli.state / "journal.sqlite3").chmod(0o600)
    assert powerless.run("status", "--json", home=home).err == ""


@pytest.mark.parametrize("folder", ["sessions", f"sessions/{ATLAS}", f"memory/{ATLAS}"])
def test_folders_of_a_vak_home_that_cannot_be_listed_are_said(tmp_path: Path, folder: str) -> None:
    home = tmp_path / "vak"
    shutil.copytree(DATA / "vak", home)
    (home / folder).chmod(0o000)
    try:
        said = powerless.run("status", "--json", home=home).json["warnings"]
        noted = powerless.run("notes", "--json", home=home)
    finally:
        (home / folder).chmod(0o755)
    assert f"{folder} cannot be read: permission denied" in said
    is_memory = folder.startswith("memory")
    assert noted.code == int(is_memory)
    assert bool(noted.json["unreadable"]) == is_memory
