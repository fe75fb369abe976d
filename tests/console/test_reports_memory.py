"""Field reports on the memory files, each on a real folder by the plain commands.

One test a report; its id, and the case in one line, are in the docstring.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.console.plain import Answer, Cli
from tests.core.desks import MEMORY, add, make_home, queue, remove, swap, write
from tests.core.grounds import tree

PERSIAN = "به زبان فارسی می\u200cنویسد."
EMOJI = "Signs as 👩🏽\u200d💻 in chats."


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


def text(home: Path) -> str:
    return (home / MEMORY).read_bytes().decode()


def one(answer: Answer) -> Any:
    (result,) = answer.json["results"]
    return result


def entries(cli: Cli, home: Path) -> list[str]:
    found = cli("memory", "--target", "memory", "--json", home=home).json["entries"]
    return [entry["text"] for entry in found]


def codes(found: Any) -> list[tuple[str, str]]:
    return [(each["code"], each["severity"]) for each in found["findings"]]


def test_d01_a_fragment_replace_shows_what_is_lost_and_waits_for_a_yes(
    cli: Cli, home: Path
) -> None:
    """D01: `A; B; C`, replace `B` by `B2`: A and C would go, so nothing happens unasked."""
    write(home / MEMORY, "A; B; C\n§\nother")
    queue(home, {"d01": swap("B", "B2")})
    before = tree(home)
    shown = cli("show", "d01", "--json", home=home).json
    assert (shown["status"], shown["category"]) == ("attention", "ok")
    assert shown["changes"][0]["diff"].splitlines()[3:5] == ["-A; B; C", "+B2"]
    said = " ".join(cli("show", "d01", home=home).out.split())
    assert "lost beside it: A, C." in said
    assert "- A; B; C + B2" in said
    skipped = one(cli("approve", "--all", "--json", home=home))
    assert (skipped["ok"], skipped["category"]) == (False, "guard_fragment")
    assert "A, C" in skipped["message"]
    assert tree(home) == before
    done = one(cli("approve", "d01", "--json", home=home))
    assert done["entries"] == [{"before": "A; B; C", "after": "B2"}]
    assert text(home) == "B2\n§\nother"
    assert cli("undo", home=home).code == 0
    assert tree(home) == before
    assert cli("edit", "d01", "--splice", home=home).code == 0
    assert cli("approve", "--all", home=home).code == 0
    assert text(home) == "A; B2; C\n§\nother"


def test_d02_the_first_approval_makes_the_file_with_no_agent_about(
    cli: Cli, tmp_path: Path
) -> None:
    """D02: no agent runs, there is no memories folder: approving works from the disk alone."""
    home = tmp_path / "home"
    write(home / "config.yaml", "memory:\n  write_approval: true\n")
    queue(home, {"one": add("alpha"), "user": {**add("tea"), "target": "user"}, "two": add("beta")})
    before = tree(home)
    assert cli("approve", "--all", home=home).code == 0
    assert text(home) == "alpha\n§\nbeta"
    assert (home / "memories/USER.md").read_text() == "tea"
    assert stat.S_IMODE((home / MEMORY).stat().st_mode) == 0o600
    assert not list(home.glob("pending/memory/*.json"))
    assert cli("undo", home=home).code == 0
    after = tree(home)
    # The folder stays for the lock files, which nobody ever removes.
    assert after.pop("memories") == ("dir", 0o755, b"")
    assert after == before


def test_d12_what_a_shell_appended_meanwhile_is_never_lost(cli: Cli, home: Path) -> None:
    """D12: a shell appends after the preview: the plan shown is not written; a fresh one keeps it."""
    queue(home, {"d12": swap("beta two", "beta 2")})
    seal = cli("show", "d12", "--json", home=home).json["seal"]
    with (home / MEMORY).open("a") as file:
        file.write("\n§\n" + "appended by a shell " * 80)
    before = tree(home)
    moved = one(cli("approve", "d12", "--seal", seal, "--json", home=home))
    assert (moved["ok"], moved["category"]) == (False, "moved")
    assert tree(home) == before
    kept = text(home)
    assert cli("approve", "d12", home=home).code == 0
    assert text(home) == kept.replace("beta two", "beta 2").rstrip()


def test_d13_a_blank_line_is_named_tidied_and_no_entry_changes(cli: Cli, home: Path) -> None:
    """D13: `a`, blank line, sign, `b` is no tampering: one command tidies, then all edits land."""
    write(home / MEMORY, "a\n\n§\nb")
    queue(home, {"d13": remove("b")})
    refused = one(cli("approve", "d13", "--json", home=home))
    assert (refused["ok"], refused["category"]) == (False, "external_drift")
    assert "Line 2 is blank" in refused["message"]
    drift = cli("memory", "--target", "memory", "--json", home=home).json["drift"]
    assert (drift["kind"], drift["line"]) == ("blank_line", 2)
    assert entries(cli, home) == ["a", "b"]
    assert cli("normalise", "--target", "memory", home=home).code == 0
    assert text(home) == "a\n§\nb"
    assert entries(cli, home) == ["a", "b"]
    assert cli("approve", "d13", home=home).code == 0
    assert text(home) == "a"


def test_d14_asked_three_times_it_says_three_times_what_differs_and_leaves_no_copy(
    cli: Cli, home: Path
) -> None:
    """D14: the same refused call three times leaves no pile of `.bak` files beside the store."""
    write(home / MEMORY, "a\n§\nb \n§\nc")
    queue(home, {"d14": swap("c", "d")})
    before = tree(home)
    said = {one(cli("approve", "d14", "--json", home=home))["message"] for _ in range(3)}
    assert len(said) == 1
    assert "line 3" in said.pop().lower()
    assert tree(home) == before
    assert [p.name for p in (home / "memories").iterdir() if ".bak" in p.name] == []


def test_d15_one_odd_byte_is_shown_and_nothing_is_written(cli: Cli, home: Path) -> None:
    """D15: a Latin-1 byte must not read as an empty memory that the next write wipes."""
    (home / MEMORY).write_bytes(b"caf\xe9 at noon\n\xc2\xa7\nbeta")
    queue(home, {"d15": add("x"), "gone": remove("beta")})
    before = tree(home)
    found = cli("memory", "--target", "memory", "--json", home=home).json
    assert (found["state"], found["reason"]) == ("unreadable", "byte 3 (0xe9) is not UTF-8")
    rows = cli("pending", "--json", home=home).json["proposals"]
    assert [row["status"] for row in rows] == ["unreadable", "unreadable"]
    for words in (
        ["approve", "d15"],
        ["approve", "gone"],
        ["remember", "y"],
        ["forget", "1"],
        ["normalise", "--target", "memory"],
        ["memory", "move", "1", "2"],
    ):
        answer = cli(*words, "--json", home=home)
        assert answer.code == 1, words
        assert one(answer)["category"] == "unreadable_target", words
        assert tree(home) == before, words


def test_d16_text_with_the_delimiter_is_shown_as_the_two_entries_it_becomes(
    cli: Cli, home: Path
) -> None:
    """D16: `x`, sign line, `y` is two entries to the next reader: never told as one."""
    queue(home, {"d16": add("x\n§\ny")})
    shown = cli("show", "d16", "--json", home=home).json
    assert shown["status"] == "attention"
    assert shown["findings"][0]["code"] == "guard_delimiter"
    assert "stored as 2 entries" in shown["findings"][0]["message"]
    assert one(cli("approve", "--all", "--json", home=home))["category"] == "guard_delimiter"
    done = one(cli("approve", "d16", "--json", home=home))
    assert done["entries"] == [{"before": None, "after": "x"}, {"before": None, "after": "y"}]
    assert entries(cli, home)[-2:] == ["x", "y"]
    by_hand = one(cli("remember", "x\n§\ny", "--json", home=home))
    assert (by_hand["ok"], by_hand["category"]) == (False, "guard_unstorable")


def test_d17_a_section_sign_in_a_sentence_cuts_nothing(cli: Cli, home: Path) -> None:
    """D17: `section § 4` is one entry, before and after its neighbours are edited."""
    write(home / MEMORY, "section § 4\n§\nbeta")
    queue(home, {"d17": swap("section § 4", "section § 5, not §\u00a05"), "more": remove("beta")})
    assert entries(cli, home) == ["section § 4", "beta"]
    assert cli("approve", "--all", home=home).code == 0
    assert text(home) == "section § 5, not §\u00a05"
    assert entries(cli, home) == ["section § 5, not §\u00a05"]


def test_d18_a_linked_memory_file_stays_a_link(cli: Cli, home: Path) -> None:
    """D18: MEMORY.md -> ../real/MEMORY.md is written where it leads; link and mode stay."""
    real = home / "real/MEMORY.md"
    write(real, "alpha")
    real.chmod(0o640)
    (home / MEMORY).unlink()
    (home / MEMORY).symlink_to("../real/MEMORY.md")
    queue(home, {"d18": add("beta"), "swap": swap("alpha", "omega")})
    before = tree(home)
    assert cli("approve", "--all", home=home).code == 0
    assert os.readlink(home / MEMORY) == "../real/MEMORY.md"
    assert real.read_text() == "omega\n§\nbeta"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert cli("undo", home=home).code == 0
    assert tree(home) == before


@pytest.mark.parametrize(("content", "kind"), [(PERSIAN, "Persian"), (EMOJI, "emoji")])
def test_d19_ordinary_joiners_are_no_alarm_and_the_agents_refusal_is_told(
    cli: Cli, home: Path, content: str, kind: str
) -> None:
    """D19: Persian half-space, joined emoji: quiet for us, but the agent will refuse the entry."""
    queue(home, {"d19": add(content)})
    shown = cli("show", "d19", "--json", home=home).json
    assert (shown["status"], shown["category"]) == ("refused", "threat_invisible_unicode")
    assert shown["message"].startswith("The agent refuses this text")
    assert codes(shown) == [("memory_scan", "info")]
    assert shown["findings"][0]["message"].startswith("A false alarm: ")
    assert kind in shown["findings"][0]["message"]
    # The text is shown as people write it, the joiner not made into a token.
    assert content in cli("show", "d19", home=home).out
    by_hand = cli("remember", content, "--dry-run", "--json", home=home)
    assert ("blocked_at_load", "warning") in codes(one(by_hand))
    assert cli("edit", "d19", "--clean", home=home).code == 0
    assert cli("approve", "d19", home=home).code == 0
    assert "\u200c" not in text(home)
    assert "\u200d" not in text(home)


def test_r09_a_store_that_does_not_exist_is_not_taken_for_memory(cli: Cli, home: Path) -> None:
    """R09: target `../../x` silently means MEMORY.md to the agent: here it is refused."""
    queue(home, {"r09": {**add("x"), "target": "../../x"}, "case": {**add("y"), "target": "User"}})
    before = tree(home)
    for name in ("r09", "case"):
        shown = cli("show", name, "--json", home=home).json
        assert (shown["status"], shown["category"]) == ("refused", "guard_target")
        assert shown["changes"] == []
        assert one(cli("approve", name, "--json", home=home))["category"] == "guard_target"
    assert tree(home) == before
