"""Undo gives back every byte and mode: after all was approved, and after each record alone.

What users ask for first is an undo they can trust (field reports, demands 2, 4 and 12). The agent
leaves lock files behind on purpose; they are the one thing that may be new.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from core.view import sha256
from tests.console.plain import Cli
from tests.core.grounds import tree


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


def make(cli: Cli, name: str) -> Path:
    home = cli.sample() if name == "sample" else cli.copy(name)
    # Modes and a cache the agent would not write: undo must bring back these, not its own.
    (home / "memories/MEMORY.md").chmod(0o640)
    (home / ".skills_prompt_snapshot.json").write_text('{"cached": true}')
    return home


def take_back(cli: Cli, home: Path, entries: list[int], *, as_one: bool) -> None:
    """As one step, or entry by entry, the newest first."""
    words: list[list[str]] = [[]] if as_one else [[str(number)] for number in reversed(entries)]
    done = [
        result
        for word in words
        for result in cli("undo", *word, "--json", home=home).json["results"]
    ]
    assert [(result["ok"], result["category"]) for result in done] == [(True, "undone")] * len(
        entries
    )
    assert cli("undo", home=home).code == 3


@pytest.mark.parametrize("as_one", [False, True], ids=["each", "as_one"])
@pytest.mark.parametrize("as_agent", [False, True], ids=["guarded", "as_agent"])
@pytest.mark.parametrize("name", ["sample", "hermes-approval", "hostile"])
def test_approve_all_then_undo(cli: Cli, name: str, as_agent: bool, as_one: bool) -> None:
    home = make(cli, name)
    before = tree(home)
    flags = ["--as-agent"] if as_agent else []
    results = cli("approve", "--all", *flags, "--json", home=home).json["results"]
    done = [result for result in results if result["ok"]]
    assert len(done) >= 10
    assert tree(home) != before
    take_back(cli, home, [result["journal"] for result in done], as_one=as_one)
    assert tree(home) == before


@pytest.mark.parametrize("as_one", [False, True], ids=["each", "as_one"])
@pytest.mark.parametrize("name", ["sample", "hermes-approval", "hostile"])
def test_reject_all_then_undo(cli: Cli, name: str, as_one: bool) -> None:
    home = make(cli, name)
    before = tree(home)
    results = cli("reject", "--all", "--json", home=home).json["results"]
    # A folder with something in it is left alone (D-25); all else goes.
    left = [result["id"] for result in results if not result["ok"]]
    assert left == (["d0000019"] if name == "hostile" else [])
    assert len(list(home.glob("pending/*/*.json"))) == len(left)
    entries = [result["journal"] for result in results if result["ok"]]
    take_back(cli, home, entries, as_one=as_one)
    assert tree(home) == before


@pytest.mark.parametrize("as_agent", [False, True], ids=["guarded", "as_agent"])
@pytest.mark.parametrize("name", ["sample", "hermes-approval", "hostile"])
def test_each_record_alone(cli: Cli, name: str, as_agent: bool) -> None:
    home = make(cli, name)
    before = tree(home)
    flags = ["--as-agent"] if as_agent else []
    landed = 0
    for row in cli("pending", "--json", home=home).json["proposals"]:
        record = f"{row['subsystem']}/{row['id']}"
        (result,) = cli("approve", record, *flags, "--json", home=home).json["results"]
        if not result["ok"]:
            assert tree(home) == before, record
            continue
        landed += 1
        assert not (home / row["file"]).exists(), record
        (back,) = cli("undo", "--json", home=home).json["results"]
        assert back["ok"], back
        assert tree(home) == before, record
    assert landed >= 10


#: A record whose plan a guard asks about or changes, and the guard's finding.
CHANGED = {
    "guard_fragment": "060fb4db",
    "guard_delimiter": "0aa6453f",
    "guard_approximate": "4b8d4b03",
    "guard_archive": "90b9882b",
    "guard_provenance": "031dd09c",
    "guard_modes": "a02bff2f",
    "guard_line_endings": "a02bff2f",
}


@pytest.mark.parametrize("code", CHANGED)
def test_each_guards_changed_form(cli: Cli, code: str) -> None:
    home = make(cli, "hermes-approval")
    memory = home / "memories/MEMORY.md"
    if code == "guard_line_endings":
        memory.write_bytes(memory.read_bytes().replace(b"\n", b"\r\n"))
    before = tree(home)
    name = CHANGED[code]
    shown = cli("show", name, "--json", home=home).json
    assert code in [finding["code"] for finding in shown["findings"]]
    (result,) = cli("approve", name, "--seal", shown["seal"], "--json", home=home).json["results"]
    assert result["ok"], result
    if code == "guard_line_endings":
        assert memory.read_bytes().count(b"\n") == memory.read_bytes().count(b"\r\n")
    (back,) = cli("undo", "--json", home=home).json["results"]
    assert back["ok"], back
    assert tree(home) == before


def test_what_was_shown_is_what_is_written(cli: Cli) -> None:
    home = make(cli, "hermes-approval")
    twin = cli.folder / "twin"
    for row in cli("pending", "--json", home=home).json["proposals"]:
        shown = cli("show", row["id"], "--json", home=home).json
        if shown["category"] != "ok":
            continue
        shutil.copytree(home, twin, symlinks=True)
        cli("approve", row["id"], home=twin)
        after = tree(twin)
        for change in shown["changes"]:
            if change["kind"] == "move":
                assert change["path"] not in after
                assert after[change["to"]][0] == "dir"
            elif change["after_sha256"] is None:
                assert change["path"] not in after
            else:
                _, mode, data = after[change["path"]]
                assert oct(mode) == change["after_mode"], change["path"]
                assert sha256(data) == change["after_sha256"], change["path"]
        shutil.rmtree(twin)
