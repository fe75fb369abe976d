"""The plain commands on a vak home: the contract's rows, and every change taken back again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.console.plain import Cli

ATLAS = "67b506f04aa724b1"
NOTES = f"memory/{ATLAS}/MEMORY.md"
READY, CLASH = "01a01e6d61807e15986d8d3bb4b327e4", "01a0238c6a80789dbf80ebb80a447b7e"
BAD_NAME, BROKEN = "01a032ff7e80797391ce03dfde2d8ac0", "01a02dd922807ddfa2236c9aa381a26a"
NOTE = "9e47ec659a17c656"
NOW = "2026-09-20T12:00:00Z"
OLD, FRESH = 1_788_000_000, 1_789_905_600


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


def snapshot(home: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(home)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(home.rglob("*"))
        if path.is_file()
    }


def test_status(run: Run) -> None:
    said = run("status")
    assert (said["kind"], said["agent_rules"]) == ("vak", "vak")
    assert said["pending"] == {"memory": 0, "skills": 9, "unreadable": 1}
    assert said["by_status"] == {"ready": 6, "refused": 1, "invalid": 2}
    assert said["settings"] == {
        "search_enabled": True,
        "write_enabled": True,
        "skill_proposals": True,
        "reflection": False,
    }
    assert said["warnings"] == ["1 ledger is encrypted: only the agent has the key"]


def test_unknown_settings_warn(run: Run, home: Path) -> None:
    (home / "config.toml").write_text("[memory]\nskill_proposals = false\nreflect = true\n")
    said = run("status")
    assert said["settings"]["skill_proposals"] is False
    assert "config.toml: [memory] has no key reflect" in said["warnings"]
    assert said["pending"]["skills"] == 9
    checks = run("doctor")["checks"]
    assert {"name": "settings", "ok": False, "message": said["warnings"][0]} in checks


def test_what_settings_forbid_is_said_where_it_matters(cli: Cli, home: Path) -> None:
    start = ("--home", str(home), "--now", NOW)
    asked = {
        "search_enabled": ("recall", "--query", "deploy"),
        "write_enabled": ("notes",),
        "skill_proposals": ("pending",),
    }
    for words in asked.values():
        assert "is off in the home's [memory] settings" not in cli(*start, *words).out
    switches = "\n".join(f"{name} = false" for name in asked)
    (home / "config.toml").write_text(f"[memory]\n{switches}\n")
    for name, words in asked.items():
        said = " ".join(cli(*start, *words).out.split())
        assert said.count("is off in the home's [memory] settings") == 1
        assert f"{name} is off" in said
    rows = {row["name"]: row["message"] for row in cli(*start, "doctor", "--json").json["checks"]}
    assert rows["layout"] == "1 ledger is encrypted: only the agent has the key"


def test_pending_and_show(run: Run) -> None:
    rows = {row["id"]: row for row in run("pending")["proposals"]}
    assert rows[READY]["action"] == "promote"
    assert rows[READY]["created_at"] == 1_787_216_880.0
    assert rows[CLASH]["category"] == "skill_exists"
    said = run("show", READY)
    assert [change["path"] for change in said["changes"]] == [
        "skills/rotate-release-tags/SKILL.md",
        f"skill-proposals/{ATLAS}/{READY}.md",
    ]
    assert said["source"]["session_id"] == "01a01e66-0e80-728c-9b72-075b8cbde5af"
    assert "+Run the linters, then the smoke tests" in run("show", CLASH)["conflict"]


@pytest.mark.parametrize("verb", ["approve", "promote"])
def test_a_promotion_is_verbatim_and_can_be_taken_back(run: Run, home: Path, verb: str) -> None:
    before = snapshot(home)
    text = (home / f"skill-proposals/{ATLAS}/{READY}.md").read_bytes()
    (result,) = run(verb, READY)["results"]
    assert result["installed"] == "rotate-release-tags"
    assert (home / "skills/rotate-release-tags/SKILL.md").read_bytes() == text
    assert not (home / f"skill-proposals/{ATLAS}/{READY}.md").exists()
    (undone,) = run("undo")["results"]
    assert (undone["category"], undone["installed"]) == ("undone", None)
    assert snapshot(home) == before
    assert not (home / "skills/rotate-release-tags").exists()


def test_a_clash_is_refused_and_lands_under_another_name(run: Run, home: Path) -> None:
    before = snapshot(home)
    (refused,) = run("approve", CLASH, code=1)["results"]
    assert (refused["category"], refused["installed"]) == ("skill_exists", None)
    assert snapshot(home) == before
    (result,) = run("approve", CLASH, "--as", "second-list")["results"]
    assert result["installed"] == "second-list"
    text = (home / "skills/second-list/SKILL.md").read_text()
    assert 'name: "second-list"' in text
    assert f"proposal id {CLASH}" in text
    run("undo")
    assert snapshot(home) == before


def test_a_proposal_can_be_edited_and_then_lands(run: Run, home: Path, tmp_path: Path) -> None:
    before = snapshot(home)
    file = home / f"skill-proposals/{ATLAS}/{BAD_NAME}.md"
    text = tmp_path / "new.md"
    text.write_text(file.read_text().replace("Bad_Name", "good-name"))
    run("edit", BAD_NAME, "--content-file", str(text))
    assert file.read_text() == text.read_text()
    (result,) = run("approve", BAD_NAME)["results"]
    assert result["installed"] == "good-name"
    run("undo")
    run("undo")
    assert snapshot(home) == before


def test_reject_all_and_undo(run: Run, home: Path) -> None:
    before = snapshot(home)
    results = run("reject", "--all")["results"]
    assert {result["category"] for result in results} == {"rejected"}
    assert len(results) == 10
    run("undo")
    assert snapshot(home) == before


def test_approve_all_takes_what_is_ready(run: Run, home: Path) -> None:
    before = snapshot(home)
    results = run("approve", "--all", code=1)["results"]
    assert sum(result["ok"] for result in results) == 6
    run("undo")
    assert snapshot(home) == before


def test_notes(run: Run) -> None:
    said = run("notes")["notes"]
    assert len(said) == 17
    first = next(note for note in said if note["id"] == NOTE)
    assert first == {
        "id": NOTE,
        "ts": "2026-08-20T09:06:00.123456789Z",
        "kind": "decision",
        "tag": "deploy-rollbacks",
        "session_id": "01a01e66-0e80-728c-9b72-075b8cbde5af",
        "text": "The deploy script pauses ninety seconds before any rollback.",
        "scope": "workspace",
        "path": NOTES,
        "workspace": "/home/dev/atlas",
        "findings": [],
    }
    only = run("notes", "--workspace", "/home/dev/billing-api")["notes"]
    assert [note["scope"] for note in only] == ["workspace", "workspace", "profile", "profile"]


@pytest.mark.parametrize(
    "words",
    [
        ("remember", "new", "--workspace", "/home/dev/atlas", "--kind", "decision", "--tag", "t"),
        ("remember", "new", "--scope", "profile"),
        ("remember", "new", "--workspace", "/somewhere/new"),
        ("amend", NOTE, "It pauses for two minutes."),
        ("amend", f"memory/{NOTE}", "two\nlines"),
        ("forget", NOTE),
        ("forget", NOTE[:8]),
    ],
)
def test_every_change_of_notes_can_be_taken_back(
    run: Run, home: Path, words: tuple[str, ...]
) -> None:
    before = snapshot(home)
    run(*words, "--dry-run")
    assert snapshot(home) == before
    (result,) = run(*words)["results"]
    assert result["ok"]
    assert snapshot(home) != before
    run("undo")
    assert snapshot(home) == before


def test_a_held_lock_is_waited_for_and_respected(run: Run, home: Path) -> None:
    lock = home / f"memory/{ATLAS}/MEMORY.lock"
    lock.write_text("pid=1\n")
    (result,) = run("forget", NOTE, code=1)["results"]
    assert result["category"] == "locked"
    assert lock.read_text() == "pid=1\n"
    os.utime(lock, (OLD, OLD))
    (result,) = run("forget", NOTE)["results"]
    assert result["ok"]
    assert not lock.exists()


def test_unknown_notes_and_unclear_workspaces(run: Run) -> None:
    assert run("forget", "ffff", code=3)["error"]["code"] == "not_found"
    assert run("amend", "zz", "x", code=3)["error"]["code"] == "not_found"
    assert run("remember", "x", code=2)["error"]["code"] == "usage"
    assert run("remember", "x", "--target", "user", code=2)["error"]["code"] == "usage"


def test_clean_shows_first_and_comes_back(run: Run, home: Path) -> None:
    left = home / "memory/3a72cab8b2ed5690"
    for path in left.iterdir():
        os.utime(path, (FRESH, FRESH))
    assert run("clean")["removed_locks"] == []
    for path in left.iterdir():
        os.utime(path, (OLD, OLD))
    before = snapshot(home)
    said = run("clean")
    assert said["removed_locks"] == ["memory/3a72cab8b2ed5690/MEMORY.lock"]
    assert said["removed_temps"] == ["memory/3a72cab8b2ed5690/MEMORY.tmp.4242"]
    assert said["removed_empty_dirs"] == ["memory/3a72cab8b2ed5690"]
    assert snapshot(home) == before
    run("clean", "--apply")
    assert not left.exists()
    run("undo")
    assert snapshot(home) == before


@pytest.mark.parametrize(
    "words",
    [
        ("pin", "x"),
        ("archive", "x"),
        ("curate",),
        ("skills",),
        ("gate", "on"),
        ("memory",),
        ("normalise",),
        ("rollback", "x"),
    ],
)
def test_what_vak_has_no_notion_of_is_said(run: Run, words: tuple[str, ...]) -> None:
    error = run(*words, code=2)["error"]
    assert error["code"] == "not_for_kind"
    assert error["hint"]


def test_a_note_behind_a_byte_order_mark_is_said(cli: Cli, home: Path) -> None:
    file = home / "memory" / "00000000000000aa" / "MEMORY.md"
    file.parent.mkdir()
    note = "## 2026-08-23T12:00:00+00:00 [fact] tag=t session=s\nhidden\n"
    said = "a byte order mark stands before its first heading"
    start = ("--home", str(home), "--now", NOW)
    for text, is_said in ((note, False), (f"\ufeff{note}", True), ("\ufeff# Notes\n", False)):
        file.write_text(text, encoding="utf-8")
        answer = cli(*start, "notes")
        assert answer.code == 0
        assert (said in answer.err) == is_said
        doctor = " ".join(cli(*start, "doctor").out.split())
        assert (said in doctor) == is_said


def test_notes_are_only_of_vak(cli: Cli) -> None:
    home = cli.sample()
    answer = cli("--home", str(home), "notes", "--json")
    assert (answer.code, answer.json["error"]["code"]) == (2, "not_for_kind")


def test_the_past(run: Run) -> None:
    said = run("sessions")
    assert said["total"] == 14
    assert said["left_out"]["hidden"] == 2
    damaged = next(row for row in said["sessions"] if row["session_id"].startswith("01a0472b"))
    assert damaged["notes"] == ["10 lines cannot be read"]
    talk = run("read", "01a061fd")
    assert [message["id"] for message in talk["messages"]] == [1, 2, 3, 7, 8]
    around = run("read", "01a061fd", "--around", "5", "--window", "1")
    assert [each["visibility"] for each in around["messages"]] == ["undone"] * 3
    assert run("stats")["by_source"] == {"vak": 13, "worker": 2, "encrypted": 1}
    assert run("read", "ses_0199f", code=1)["error"]["code"] == "unreadable"


def test_search_finds_messages_and_notes(run: Run) -> None:
    said = run("search", "deploy", "script")
    assert [(hit["source"], hit["role"]) for hit in said["hits"]][:2] == [
        ("notes", "memory"),
        ("worker", "user"),
    ]
    assert run("search", "in:01a061fd-8600", "postgres")["total_sessions"] == 1


def test_recall_is_the_agents_own(run: Run) -> None:
    """Oracle case p02."""
    said = run(
        *("recall", "--query", "rollback", "--limit", "3", "--workspace", "/home/dev/atlas"),
        *("--exclude", "01a0be79-0f80-7e55-976d-eadbb36956fb"),
    )
    assert said["matches"] == 7
    assert [hit["session_id"] for hit in said["hits"]] == [
        f"memory/{NOTE}",
        "memory/829f03eff6f052df",
        "01a01e66-0e80-728c-9b72-075b8cbde5af",
    ]
    assert said["hits"][0]["score"] == pytest.approx(7.19316, abs=0.0005)
    bare = run("recall", "--query", "rollback", "--no-curated")
    assert not any(hit["role"] == "memory" for hit in bare["hits"])
    assert run("recall", "--query", "x", "--sort", "newest", code=2)["error"]["code"] == "usage"


def test_people_are_told_in_words(cli: Cli, home: Path) -> None:
    start = ("--home", str(home), "--now", NOW)
    for words in (("status",), ("notes",), ("doctor",), ("clean",), ("sessions",), ("show", CLASH)):
        answer = cli(*start, *words)
        assert answer.code == 0, answer
        assert str(home) in answer.out
    shown = cli(*start, "show", CLASH).out
    assert "what stands there, and what is proposed" in shown
    assert "`signoff approve ID --as NAME`" in " ".join(shown.split())
    assert "13 notes" not in cli(*start, "notes").out


@pytest.mark.parametrize("what", ["pipe", "folder", "link", "empty folder"])
def test_what_undo_could_not_bring_back_is_left_to_a_person(
    run: Run, home: Path, what: str
) -> None:
    odd = home / "skill-proposals" / ATLAS / "odd.md"
    if what == "pipe":
        os.mkfifo(odd)
    elif what == "link":
        odd.symlink_to("/etc/hostname")
    else:
        odd.mkdir()
        if what == "folder":
            (odd / "inside").write_text("x")
    assert "odd" in [each["id"] for each in run("pending")["unreadable"]]
    by_hand = what in ("pipe", "folder")
    (result,) = run("approve", "odd", code=1)["results"]
    assert ("by hand" in result["message"]) == by_hand
    (result,) = run("reject", "odd", code=int(by_hand))["results"]
    assert os.path.lexists(odd) == by_hand
    if not by_hand:
        run("undo")
        assert os.path.lexists(odd)


def test_the_broken_draft_can_only_be_refused(run: Run) -> None:
    (result,) = run("approve", BROKEN, code=1)["results"]
    assert result["category"] == "unreadable_target"
    (result,) = run("reject", BROKEN)["results"]
    assert result["ok"]
