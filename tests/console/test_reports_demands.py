"""What people ask for most (field reports, section a), one test or more a demand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from core.view import sha256
from tests.console.pilots import open_console
from tests.console.plain import Answer, Cli
from tests.core.desks import (
    MEMORY,
    SKILL,
    add,
    make_home,
    patch,
    propose,
    queue,
    remove,
    swap,
    write,
)
from tests.core.grounds import held_elsewhere, tree

DAY = 86400.0
SKILL_FILE = "skills/ops/deploy/SKILL.md"
#: Stores as the agent must not take them for empty: a bad byte, a folder, a link to nothing.
UNREADABLE = ("byte", "folder", "dangling")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return make_home(tmp_path / "home")


def one(answer: Answer) -> Any:
    (result,) = answer.json["results"]
    return result


def show(cli: Cli, home: Path, name: str) -> Any:
    return cli("show", name, "--json", home=home).json


def waiting(cli: Cli, home: Path) -> list[str]:
    return [row["id"] for row in cli("pending", "--json", home=home).json["proposals"]]


def entry(cli: Cli, home: Path, number: int) -> Any:
    (found,) = cli("journal", str(number), "--json", home=home).json["entries"]
    return found


def test_demand_1_count_and_list_follow_one_rule(cli: Cli, home: Path) -> None:
    """Demand 1: the agent's badge said 38 where its list showed 30: here they are one number."""
    for number in range(30):
        propose(home, f"r{number:02}", add(f"fact {number}"), age=DAY * number)
    for number in range(8):
        write(home / f"pending/memory/bad{number}.json", "{")
    write(home / "pending/memory/half.json.tmp", "{")
    write(home / "pending/skills/.DS_Store", "x")
    line = cli("status", "--line", home=home).out
    assert line == "30 waiting, oldest 4w, 8 unreadable\n"
    found = cli("pending", "--json", home=home).json
    assert (len(found["proposals"]), len(found["unreadable"])) == (30, 8)
    status = cli("status", "--json", home=home).json
    assert status["pending"] == {"memory": 30, "skills": 0, "unreadable": 8}
    assert status["oldest_seconds"] == DAY * 29
    assert cli("status", "--check", home=home).code == 1


def test_demand_2_a_write_that_did_not_reach_the_disk_is_no_success(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Demand 2: success only after the disk was read again; what failed stays, with its reason."""
    queue(home, {"lost": add("x"), "fine": patch("deploy", "Step one.", "Step 1.")})
    real, before = os.replace, (home / MEMORY).read_bytes()

    def lossy(source: Any, target: Any, **more: Any) -> None:
        if str(target).endswith("MEMORY.md"):
            os.unlink(source, **{k: v for k, v in more.items() if k == "src_dir_fd"})
            return
        real(source, target, **more)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", lossy)
        answer = cli("approve", "lost", "fine", "--json", home=home)
    lost, fine = answer.json["results"]
    assert answer.code == 1
    assert (lost["ok"], lost["category"]) == (False, "torn")
    assert MEMORY in lost["message"]
    assert (lost["id"], fine["id"]) == ("lost", "fine")
    assert fine["ok"] is True
    assert (home / MEMORY).read_bytes() == before
    assert waiting(cli, home) == ["lost"]
    assert "pending/memory/lost.json" not in lost["changed"]
    assert "Step 1." in (home / SKILL_FILE).read_text()
    assert cli("approve", "lost", home=home).code == 0
    assert (home / MEMORY).read_bytes() == before + "\n§\nx".encode()


async def test_demand_3_the_change_is_shown_word_by_word_before_the_key(home: Path) -> None:
    """Demand 3: whole entry before and after, words marked, long lines wrapped, hunks by key."""
    long = "The harbour office opens at seven in summer and " + "at eight in winter, " * 12
    write(home / MEMORY, long.strip())
    propose(home, "m", swap(long.strip(), long.replace("seven", "nine").strip()))
    async with open_console(home) as console:
        assert console.app.screen is console.review
        lines = console.review.preview.lines
        assert all(line.content.cell_length <= console.review.preview.size.width for line in lines)
        (old,) = (line for line in lines if "seven" in line.content.plain)
        (new,) = (line for line in lines if "nine" in line.content.plain)
        for line, word in ((old, "[-seven-]"), (new, "nine")):
            plain, spans = line.content.plain, line.content.spans
            assert word in [plain[span.start : span.end] for span in spans]
        await console.press("a")
    assert (home / MEMORY).read_text() == long.replace("seven", "nine").strip()


def test_demand_3_the_preview_is_the_plan_that_is_committed(cli: Cli, home: Path) -> None:
    """Demand 3: a whitespace match the agent previews as no change: shown and applied alike."""
    write(home / SKILL_FILE, SKILL.format(name="deploy").replace("Step one.", "Step   one."))
    queue(home, {"p": patch("deploy", "1. Step one.", "1. Step 1.")})
    shown = show(cli, home, "p")
    assert shown["match"]["strategy"] == "whitespace_normalized"
    (change,) = (c for c in shown["changes"] if c["path"] == SKILL_FILE)
    assert "+1. Step 1.\n" in change["diff"]
    assert cli("approve", "p", "--seal", shown["seal"], home=home).code == 0
    assert sha256((home / SKILL_FILE).read_bytes()) == change["after_sha256"]


@pytest.mark.parametrize("how", UNREADABLE)
def test_demand_4_what_cannot_be_read_is_never_taken_for_empty(
    cli: Cli, home: Path, how: str
) -> None:
    """Demand 4: a store that cannot be read is left as it is by every command that writes."""
    path = home / MEMORY
    path.unlink()
    if how == "byte":
        path.write_bytes(b"\xff\xfe")
    elif how == "folder":
        path.mkdir()
    else:
        path.symlink_to("nowhere.md")
    queue(home, {"a": add("x")})
    before = tree(home)
    for words in (["approve", "a"], ["approve", "--all"], ["remember", "y"], ["normalise"]):
        assert cli(*words, home=home).code == 1, words
        assert tree(home) == before, words
    assert cli("memory", "--target", "memory", "--json", home=home).json["state"] == "unreadable"


def test_demand_4_the_agents_own_locks_are_held_and_unknown_keys_kept(cli: Cli, home: Path) -> None:
    """Demand 4: the same lock files as the agent; the pins and keys of others stay in the rows."""
    rows = '{"deploy": {"pinned": true, "patch_count": 3, "mine": [1]}, "ghost": {"x": 1}}'
    write(home / "skills/.usage.json", rows)
    queue(home, {"m": add("x"), "s": patch("deploy", "Step one.", "Step 1.")})
    before = tree(home)
    with held_elsewhere(home / f"{MEMORY}.lock"):
        assert one(cli("approve", "m", "--json", home=home))["category"] == "locked"
    with held_elsewhere(home / "skills/.usage.json.lock"):
        assert one(cli("approve", "s", "--json", home=home))["category"] == "locked"
    assert tree(home) == before
    assert cli("approve", "--all", home=home).code == 0
    after = (home / "skills/.usage.json").read_text()
    assert '"pinned": true' in after
    assert '"patch_count": 4' in after
    assert '"ghost"' in after
    assert '"mine"' in after
    assert cli("undo", home=home).code == 0
    left = tree(home)
    assert {path: left[path] for path in before if not path.endswith(".usage.json")} == {
        path: node for path, node in before.items() if not path.endswith(".usage.json")
    }


def test_demand_5_an_archived_skill_falls_on_none_and_comes_back_where_it_was(
    cli: Cli, home: Path
) -> None:
    """Demand 5: two deletes of one name: no overwrite in the archive, each restored exactly."""
    write(home / "skills/.archive/deploy/SKILL.md", "an older one")
    queue(home, {"d": {"action": "delete", "name": "deploy"}})
    before = tree(home)
    assert cli("approve", "d", home=home).code == 0
    assert (home / "skills/.archive/deploy/SKILL.md").read_text() == "an older one"
    (stamped,) = (home / "skills/.archive").glob("deploy-*")
    assert (stamped / "SKILL.md").read_text() == SKILL.format(name="deploy")
    assert cli("undo", home=home).code == 0
    left = tree(home)
    assert {path: left[path] for path in before} == before
    assert not stamped.exists()


def test_demand_6_dead_double_and_rival_ones_are_told_apart_and_refused_in_one_step(
    cli: Cli, home: Path
) -> None:
    """Demand 6: 21% could not apply any more: dead, doubles and rivals are marked as they stand now."""
    queue(
        home,
        {
            "dead": remove("nowhere"),
            "double": add("alpha one"),
            "rival1": swap("beta", "beta, once"),
            "rival2": swap("beta", "beta, twice"),
            "free": add("x"),
        },
    )
    found = cli("pending", "--json", home=home).json["proposals"]
    assert [(r["id"], r["status"], r["rivals"]) for r in found] == [
        ("dead", "stale", []),
        ("double", "noop", []),
        ("rival1", "ready", ["rival2"]),
        ("rival2", "ready", ["rival1"]),
        ("free", "ready", []),
    ]
    told = cli("reject", "--dead", "--note", "swept", "--json", home=home).json
    assert [r["id"] for r in told["results"]] == ["dead", "double"]
    assert {entry(cli, home, n)["note"] for n in (1, 2)} == {"swept"}
    assert waiting(cli, home) == ["rival1", "rival2", "free"]


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        ("به زبان فارسی می\u200cنویسد.", [("memory_scan", "info")]),
        ("Signs as 👩🏽\u200d💻 in chats.", [("memory_scan", "info")]),
        ("pay\u200bpal", [("memory_scan", "warning")]),
        ("soft\u00adhyphen", [("zero_width", "warning")]),
        ("hi\U000e0041", [("tag", "danger")]),
    ],
)
def test_demand_11_hidden_characters_are_graded(
    cli: Cli, home: Path, content: str, codes: list[tuple[str, str]]
) -> None:
    """Demand 11: joiners in emoji and Persian are quiet, tags alarm, the agent's refusal is said."""
    queue(home, {"h": add(content)})
    found = show(cli, home, "h")
    graded = [(f["code"], f["severity"]) for f in found["findings"] if f["code"] != "guard_modes"]
    if found["category"] == "threat_invisible_unicode":
        assert found["message"].startswith("The agent refuses this text: ")
    assert graded == codes


def test_demand_12_every_decision_is_on_record_and_can_be_taken_back(cli: Cli, home: Path) -> None:
    """Demand 12: what, when, from which record, by whom, before and after; one or all undone."""
    propose(home, "a", add("x"), age=DAY, origin="background_review")
    propose(home, "b", add("y"), age=DAY)
    propose(home, "c", add("z"), age=DAY)
    before = tree(home)
    old = (home / MEMORY).read_bytes()
    done = one(cli("approve", "a", "--note", "wanted", "--json", home=home))
    new = (home / MEMORY).read_bytes()
    assert new == old + "\n§\nx".encode(), "the agent's file keeps its format"
    found = entry(cli, home, done["journal"])
    assert (found["verb"], found["subject"], found["note"]) == ("approve", "a", "wanted")
    assert (found["origin"], found["home"]) == ("background_review", str(home.resolve()))
    assert found["at"].startswith("2026-11-29T12:00:00")
    assert found["actor"]["user"]
    (change, gone) = found["changes"]
    assert (change["path"], change["before_sha256"]) == (MEMORY, sha256(old))
    assert change["after_sha256"] == sha256(new)
    assert (gone["path"], gone["kind"]) == ("pending/memory/a.json", "delete")
    bulk = cli("approve", "b", "c", "--json", home=home).json["bulk"]
    assert cli("undo", "--bulk", str(bulk), home=home).code == 0
    assert (home / MEMORY).read_bytes() == new
    assert cli("undo", str(done["journal"]), home=home).code == 0
    assert tree(home) == before
    verbs = [e["verb"] for e in cli("journal", "--json", home=home).json["entries"]]
    assert verbs == ["undo", "undo", "undo", "approve", "approve", "approve"]


def test_demand_16_edited_before_approving_and_refused_with_a_reason(cli: Cli, home: Path) -> None:
    """Demand 16: the wording is changed, looked at again and approved; a refusal says why."""
    queue(home, {"e": add("Deploys on Freitag."), "r": add("Likes noise.")})
    file = cli.folder / "text"
    file.write_text("Deploys on Friday.")
    edited = cli("edit", "e", "--content-file", str(file), "--json", home=home)
    assert edited.json["proposal"]["status"] == "ready"
    assert "+Deploys on Friday." in edited.json["proposal"]["changes"][0]["diff"]
    seal = edited.json["proposal"]["seal"]
    assert cli("approve", "e", "--seal", seal, home=home).code == 0
    assert (home / MEMORY).read_text().endswith("\n§\nDeploys on Friday.")
    assert "Freitag" in entry(cli, home, 1)["changes"][0]["diff"]
    assert "Friday" in entry(cli, home, 1)["changes"][0]["diff"]
    assert cli("reject", "r", "--note", "not about work", home=home).code == 0
    assert entry(cli, home, 3)["note"] == "not about work"
    propose(home, "again", add("likes noise."))
    assert "not about work" in cli("show", "again", home=home).out


def test_demand_17_the_home_is_said_and_no_other_is_touched(cli: Cli, tmp_path: Path) -> None:
    """Demand 17: review of one profile acted on another's memory: each answer and entry names its own."""
    root = make_home(tmp_path / "root")
    work = make_home(root / "profiles/work")
    for folder in (root, work):
        queue(folder, {"same": add(f"for {folder.name}")})
    cli.setenv("HERMES_HOME", str(root))
    assert cli("status").out.splitlines()[0] == f"{root} (hermes, profile default)"
    other = tree(work)
    done = cli("approve", "same", "--json").json
    assert (done["home"], done["profile"]) == (str(root), "default")
    assert tree(work) == other
    mine = (root / MEMORY).read_bytes()
    done = cli("--profile", "work", "approve", "same", "--json").json
    assert (done["home"], done["profile"]) == (str(work), "work")
    assert (work / MEMORY).read_text().endswith("for work")
    assert (root / MEMORY).read_bytes() == mine
    (line,) = cli("--profile", "work", "journal", "--json").json["entries"]
    assert (line["home"], line["profile"]) == (str(work), "work")
    # The newest decision of this profile is taken back, not that of the other.
    assert cli("undo").code == 0
    assert (root / MEMORY).read_text() == "alpha one\n§\nbeta two\n§\ngamma three"
    assert (work / MEMORY).read_text().endswith("for work")


async def test_demand_17_the_home_stands_on_every_screen(tmp_path: Path, home: Path) -> None:
    """Demand 17: home and profile are on the screen in every room."""
    async with open_console(home) as console:
        for key in "123":
            await console.press(key)
            assert "~/home" in console.header
            assert "hermes default" in console.header
