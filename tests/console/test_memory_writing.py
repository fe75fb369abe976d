"""``remember``, ``forget``, ``normalise`` and ``memory`` with its drift assistant."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.console.plain import Cli

MEMORY = "memories/MEMORY.md"
FINDING = {"code", "severity", "message", "at"}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(cli: Cli) -> Path:
    """Two files, each with a few entries."""
    home = cli.folder / "home"
    (home / "memories").mkdir(parents=True)
    (home / "config.yaml").write_text("memory:\n  memory_char_limit: 60\n", encoding="utf-8")
    (home / MEMORY).write_text("kiln soak 40 minutes\n§\nglaze batch 7\n§\n3", encoding="utf-8")
    (home / "memories/USER.md").write_text("owns the kiln\n§\nmetric units", encoding="utf-8")
    return home


@pytest.fixture
def hostile(cli: Cli) -> Path:
    return cli.copy("hostile")


def text(home: Path, path: str = MEMORY) -> str:
    return (home / path).read_bytes().decode()


def result(document: dict[str, Any]) -> dict[str, Any]:
    (found,) = document["results"]
    assert all(set(finding) >= FINDING for finding in found["findings"])
    assert isinstance(found, dict)
    return found


# -- forget ----------------------------------------------------------------------------------------


def test_forget_answers_like_approve_with_the_store_as_it_then_is(cli: Cli, home: Path) -> None:
    before = text(home)
    answer = cli("forget", "2", "--note", "used up", "--json", home=home)
    found = result(answer.json)
    assert (answer.code, found["ok"], found["category"]) == (0, True, "ok")
    assert found["entries"] == [{"before": "glaze batch 7", "after": None}]
    assert found["changed"] == [MEMORY]
    assert "next session" in found["next"]
    assert found["budget"] == {"target": "memory", "before": 40, "after": 24, "limit": 60}
    assert {f["code"] for f in found["findings"]} == {"remains"}
    assert [e["text"] for e in answer.json["entries"]] == ["kiln soak 40 minutes", "3"]
    assert (answer.json["target"], answer.json["used"]) == ("memory", 24)
    assert text(home) == "kiln soak 40 minutes\n§\n3"
    (line,) = cli("journal", "--json", home=home).json["entries"]
    assert (line["verb"], line["subject"], line["note"]) == ("forget", "MEMORY.md", "used up")
    assert cli("undo", home=home).code == 0
    assert text(home) == before


def test_digits_are_a_number_and_a_number_is_memorys(cli: Cli, home: Path) -> None:
    """Entry 3 says "3": both mean the same; "2" is never sought as text."""
    assert cli("forget", "3", home=home).code == 0
    assert text(home) == "kiln soak 40 minutes\n§\nglaze batch 7"
    assert cli("forget", "7", home=home).code == 3
    assert cli("forget", "2", "--target", "user", home=home).code == 0
    assert text(home, "memories/USER.md") == "owns the kiln"


def test_text_is_sought_in_both_files(cli: Cli, home: Path) -> None:
    both = cli("forget", "kiln", "--json", home=home)
    found = result(both.json)
    assert (both.code, found["category"], found["changed"]) == (1, "ambiguous", [])
    for words in ("--target", "kiln soak 40 minutes", "owns the kiln"):
        assert words in found["message"]
    assert cli("forget", "metric", home=home).code == 0
    assert text(home, "memories/USER.md") == "owns the kiln"
    (home / MEMORY).write_text("owns the kiln since May\n§\nx", encoding="utf-8")
    assert cli("forget", "owns the kiln", home=home).code == 0, "a whole entry goes before a part"
    assert text(home, "memories/USER.md") == ""
    assert cli("forget", "since May", home=home).code == 0
    assert text(home) == "x"


def test_nothing_of_that_name(cli: Cli, home: Path) -> None:
    answer = cli("forget", "cobalt", "--json", home=home)
    assert (answer.code, answer.json["error"]["code"]) == (3, "not_found")
    assert cli("forget", "99", home=home).err.startswith("signoff: There is no entry 99")
    assert cli("forget", " ", home=home).code == 1
    assert cli("journal", "--json", home=home).json["entries"] == []


def test_a_dry_run_writes_nothing(cli: Cli, home: Path) -> None:
    before = text(home)
    answer = cli("forget", "1", "--dry-run", "--json", home=home)
    found = result(answer.json)
    assert (answer.code, found["ok"], found["dry_run"], found["journal"]) == (0, True, True, None)
    (change,) = found["changes"]
    assert change["path"] == MEMORY
    assert "-kiln soak 40 minutes" in change["diff"]
    assert "Would land: " in cli("forget", "1", "--dry-run", home=home).out
    assert text(home) == before
    assert not cli.state.exists()


def test_an_agent_with_a_shell_cannot_write_when_a_terminal_is_asked_for(
    cli: Cli, home: Path
) -> None:
    (cli.folder / "settings.toml").write_text("decide_needs_terminal = true\n", encoding="utf-8")
    before = text(home)
    for words in (["forget", "1"], ["remember", "x"], ["normalise"], ["memory", "move", "1", "2"]):
        assert cli(*words, home=home).code == 1
        assert cli(*words, "--json", home=home).json["error"]["code"] == "needs_terminal"
    assert text(home) == before


# -- remember, edit, move --------------------------------------------------------------------------


def test_remember(cli: Cli, home: Path) -> None:
    assert cli("remember", "cone 6", home=home).code == 0
    assert text(home).endswith("\n§\n3\n§\ncone 6")
    assert cli("remember", "left-handed", "--target", "user", home=home).code == 0
    assert text(home, "memories/USER.md").endswith("\n§\nleft-handed")
    again = result(cli("remember", "cone 6", "--json", home=home).json)
    assert (again["ok"], again["category"], again["journal"]) == (True, "noop", None)
    full = cli("remember", "x" * 20, "--json", home=home)
    assert (full.code, result(full.json)["category"]) == (1, "over_budget")
    assert "72 of 60" in result(full.json)["message"]
    assert cli("remember", "a\n§\nb", home=home).code == 1
    blocked = result(cli("remember", "~/.ssh", "--json", "--target", "user", home=home).json)
    assert "blocked_at_load" in {finding["code"] for finding in blocked["findings"]}


def test_edit_takes_the_text_from_a_file(cli: Cli, home: Path) -> None:
    new = cli.folder / "new.md"
    new.write_text("glaze batch 8\n", encoding="utf-8")
    words = ("memory", "edit", "2", "--content-file", str(new), "--json")
    found = result(cli(*words, home=home).json)
    assert found["entries"] == [{"before": "glaze batch 7", "after": "glaze batch 8"}]
    assert text(home) == "kiln soak 40 minutes\n§\nglaze batch 8\n§\n3"
    assert cli("memory", "edit", "9", "--content-file", str(new), home=home).code == 3
    new.write_bytes(b"\xff")
    assert cli(*words, home=home).json["error"]["code"] == "usage"
    assert cli("memory", "edit", "2", home=home).code == 2, "no terminal for an editor"
    assert cli("memory", "--json", "edit", "2", home=home).code == 2


def test_move(cli: Cli, home: Path) -> None:
    assert cli("memory", "move", "3", "1", home=home).code == 0
    assert text(home) == "3\n§\nkiln soak 40 minutes\n§\nglaze batch 7"
    assert cli("memory", "move", "1", "4", home=home).code == 3


# -- what the agent stumbles over ------------------------------------------------------------------


def test_the_drift_assistant(cli: Cli, hostile: Path) -> None:
    """D13, D14, D-50: the line is named, the way out is a command, the copies are compared."""
    folder = hostile / "profiles/cosmetic/memories"
    file = folder / "MEMORY.md"
    before = file.read_bytes()
    (folder / "MEMORY.md.bak.1795910000").write_bytes(before)
    (folder / "MEMORY.md.bak.1795913600").write_bytes(before.replace(b"third", b"fourth"))
    shown = cli("--profile", "cosmetic", "memory", "--target", "memory", home=hostile).out
    assert "Line 2 is blank" in shown
    assert "normalise --target memory --dry-run" in shown
    assert "the same as the file" in shown
    found = cli("--profile", "cosmetic", "memory", "--json", home=hostile).json
    assert found["backups"] == [
        {
            "file": "memories/MEMORY.md.bak.1795913600",
            "at": "2026-11-29T00:53:20+00:00",
            "size": 28,
            "same": False,
        },
        {
            "file": "memories/MEMORY.md.bak.1795910000",
            "at": "2026-11-28T23:53:20+00:00",
            "size": 27,
            "same": True,
        },
    ]
    compared = cli(
        "--profile",
        "cosmetic",
        "memory",
        "--compare",
        "MEMORY.md.bak.1795913600",
        "--json",
        home=hostile,
    ).json
    assert "-fourth" in compared["diff"]
    assert "+third" in compared["diff"]
    for name in ("MEMORY.md.bak.1", "../MEMORY.md.bak.1795910000", "MEMORY.md"):
        assert cli("--profile", "cosmetic", "memory", "--compare", name, home=hostile).code == 3
    dry = cli("--profile", "cosmetic", "normalise", "--dry-run", home=hostile).out
    assert "Line 2: a blank line beside the §" in dry
    assert "every character" in dry
    assert file.read_bytes() == before
    assert cli("--profile", "cosmetic", "normalise", home=hostile).code == 0
    assert file.read_bytes() == b"first\n\xc2\xa7\nsecond\n\xc2\xa7\nthird\n"
    assert cli("--profile", "cosmetic", "memory", "--json", home=hostile).json["drift"] is None
    assert not (folder / "USER.md").exists()
    assert sorted(path.name for path in folder.glob("*.bak.*")) == [
        "MEMORY.md.bak.1795910000",
        "MEMORY.md.bak.1795913600",
    ]


def test_an_entry_longer_than_the_budget(cli: Cli, home: Path) -> None:
    (home / MEMORY).write_text("a\n§\n" + "x" * 61, encoding="utf-8")
    shown = cli("memory", home=home).out
    assert "memory edit 2 --target memory" in shown
    assert "forget 2 --target memory" in shown
    answer = cli("normalise", "--target", "memory", "--json", home=home)
    assert (answer.code, result(answer.json)["category"]) == (1, "external_drift")
    assert "entry 2" in result(answer.json)["message"]


@pytest.mark.parametrize(
    ("profile", "before", "after"),
    [
        (
            "crlf",
            b"first\r\n\xc2\xa7\r\nsecond\r\n\xc2\xa7\r\nthird",
            b"first\r\n\xc2\xa7\r\nthird\r\n\xc2\xa7\r\none\r\ntwo",
        ),
        ("bom", b"\xef\xbb\xbffirst\n\xc2\xa7\nsecond", b"\xef\xbb\xbffirst\n\xc2\xa7\none\ntwo"),
        (
            "cosmetic",
            b"first\n\n\xc2\xa7\nsecond\n\xc2\xa7\n\nthird\n",
            b"first\n\xc2\xa7\n\nthird\n\xc2\xa7\none\ntwo\n",
        ),
        ("linked", b"kept elsewhere\n\xc2\xa7\nsecond", b"kept elsewhere\n\xc2\xa7\none\ntwo"),
    ],
)
def test_files_stay_as_they_are(
    cli: Cli, hostile: Path, profile: str, before: bytes, after: bytes
) -> None:
    """D-48 to D-51, D18: line ends, byte order mark, mode 0660 and links are kept; undo is exact."""
    file = hostile / "profiles" / profile / MEMORY
    real = file.resolve()
    real.chmod(0o660)
    assert file.read_bytes() == before
    assert cli("--profile", profile, "forget", "2", home=hostile).code == 0
    assert cli("--profile", profile, "remember", "one\ntwo", home=hostile).code == 0
    assert file.read_bytes() == after
    assert stat.S_IMODE(real.stat().st_mode) == 0o660
    if profile == "linked":
        assert os.readlink(file) == "../real/MEMORY.md"
    assert cli("--profile", profile, "undo", home=hostile).code == 0
    assert cli("--profile", profile, "undo", home=hostile).code == 0
    assert file.read_bytes() == before
    assert stat.S_IMODE(real.stat().st_mode) == 0o660


def test_what_the_files_cost(cli: Cli, home: Path) -> None:
    stores = cli("memory", "--json", home=home).json["stores"]
    # Two rules of 46, a title of 28 or 30, the numbers, three line ends and the entries.
    assert stores[0]["tokens"] == -(-(92 + 28 + len(" [66% — 40/60 chars]") + 3 + 40) // 4)
    assert stores[1]["tokens"] == -(-(92 + 30 + len(" [2% — 28/1,375 chars]") + 3 + 28) // 4)
    assert f"about {stores[0]['tokens']} tokens in every prompt" in cli("memory", home=home).out
    (home / "config.yaml").write_text("memory:\n  memory_enabled: false\n", encoding="utf-8")
    off = cli("memory", "--json", home=home).json
    assert (off["enabled"], off["tokens"]) == (False, 0)
    assert "turned off" in cli("memory", home=home).out


def test_forget_names_the_copies_and_the_provider(cli: Cli, home: Path) -> None:
    (home / "config.yaml").write_text("memory:\n  provider: mem0\n", encoding="utf-8")
    (home / "memories/MEMORY.md.bak.1795910000").write_text("glaze batch 7", encoding="utf-8")
    said = " ".join(cli("forget", "2", home=home).out.split())
    for words in (
        "next session or compaction",
        "MEMORY.md.bak.1795910000",
        "mem0",
        "past sessions",
    ):
        assert words in said
    assert (home / "memories/MEMORY.md.bak.1795910000").read_text("utf-8") == "glaze batch 7"


def test_two_hands_at_once(cli: Cli, home: Path) -> None:
    """A change between the look and the write: nothing is written over (D12)."""
    from core.desk import remember
    from core.desk.opening import Opened, open_home
    from core.settings import Settings
    from tests.console.plain import NOW

    opened: Opened = open_home(
        home=str(home),
        kind=None,
        profile=None,
        environ={"HERMES_MANAGED_DIR": str(cli.folder / "managed")},
        user_home=cli.folder,
        state=cli.state,
        settings=Settings(),
        clock=lambda: NOW,
    )
    plan = remember.forget(opened, "glaze batch 7", "memory")
    (home / MEMORY).write_text("new\n§\nglaze batch 7", encoding="utf-8")
    receipt = remember.carry_out(opened, plan)
    assert (receipt.ok, receipt.category) == (False, "moved")
    assert text(home) == "new\n§\nglaze batch 7"
    assert remember.carry_out(opened, remember.forget(opened, "glaze batch 7", "memory")).ok
    assert text(home) == "new"
