"""Deciding from the command line: ids, several at once, all, dry runs, seals, undo."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from core.desk import decide
from core.desk.review import names
from core.homes.hermes.pending import Queue
from core.tense import in_past
from tests.console.plain import Cli


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


# -- ids -------------------------------------------------------------------------------------------


def add(text: str, **envelope: object) -> str:
    payload = {"action": "add", "target": "memory", "content": text, "old_text": None}
    return json.dumps({"created_at": 1.0, **envelope, "payload": payload})


@pytest.fixture
def twins(cli: Cli) -> Path:
    """An id both subsystems have, one like an option, one like a flag of ours, one with a space."""
    home = cli.copy("hermes-approval")
    skill = {"action": "delete", "name": "old-gauge-notes", "absorbed_into": None}
    (home / "pending/memory/both.json").write_text(add("One."))
    (home / "pending/skills/both.json").write_text(json.dumps({"payload": skill}))
    (home / "pending/memory/-x.json").write_text(add("Two."))
    (home / "pending/memory/--all.json").write_text(add("Three."))
    (home / "pending/memory/a b.json").write_text(add("Four."))
    return home


def test_an_id_both_subsystems_have(cli: Cli, twins: Path) -> None:
    rows = {row["id"]: row for row in cli("pending", "--json", home=twins).json["proposals"]}
    assert "both" not in rows
    assert rows["memory/both"]["file"] == "pending/memory/both.json"
    assert "skills/both" in rows["90b9882b"]["rivals"]
    assert cli("show", "both", home=twins).code == 2
    assert cli("approve", "4ba71ab7", "both", home=twins).code == 2
    assert (twins / "pending/memory/4ba71ab7.json").exists()
    assert cli("show", "skills/both", "--json", home=twins).json["id"] == "skills/both"
    done = cli("approve", "memory/both", "--json", home=twins).json["results"][0]
    assert (done["id"], done["ok"]) == ("memory/both", True)
    assert (twins / "pending/skills/both.json").exists()
    assert cli("journal", "--json", home=twins).json["entries"][0]["subject"] == "memory/both"
    assert cli("show", "both", "--json", home=twins).json["subsystem"] == "skills"


def test_ids_that_look_like_options_follow_two_dashes(cli: Cli, twins: Path) -> None:
    assert cli("show", "-x", home=twins).code == 2
    assert cli("show", "--json", "--", "-x", home=twins).json["id"] == "-x"
    assert "approve -- -x" in cli("show", "--", "-x", home=twins).out
    done = cli("approve", "--json", "--", "--all", home=twins).json["results"]
    assert [result["id"] for result in done] == ["--all"]
    assert (twins / "pending/memory/4ba71ab7.json").exists()


def test_ids_are_printed_as_a_shell_takes_them(cli: Cli, twins: Path) -> None:
    (twins / "pending/memory/e\x1b[2Jsc.json").write_text(add("Five."))
    out = cli("pending", home=twins).out
    assert "'a b'" in out
    assert r"$'e\x1b[2Jsc'" in out
    echoed = subprocess.run(
        ["bash", "-c", r"printf %s $'e\x1b[2Jsc'"], capture_output=True, check=True
    )
    assert cli("show", os.fsdecode(echoed.stdout), home=twins).code == 0


def test_several_ids_are_reported_each(cli: Cli) -> None:
    # D05: two ids given, only the first applied.
    home = cli.copy("hermes-approval")
    ids = ["4ba71ab7", "25318bf2", "nope", "memory/4ba71ab7", "47691992"]
    answer = cli("approve", *ids, "--json", home=home)
    assert answer.code == 1
    assert [(r["id"], r["ok"], r["category"]) for r in answer.json["results"]] == [
        ("4ba71ab7", True, "ok"),
        ("25318bf2", False, "no_match"),
        ("nope", False, "gone"),
        ("47691992", True, "ok"),
    ]


# -- approving all ---------------------------------------------------------------------------------


def test_all_skips_open_questions_and_naming_the_id_answers_them(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    asking = [
        row["id"]
        for row in cli("pending", "--json", home=home).json["proposals"]
        if row["status"] == "attention"
    ]
    assert asking == ["0aa6453f", "060fb4db", "17f11a8a", "4b8d4b03"]
    results = cli("approve", "--all", "--json", home=home).json["results"]
    assert len(results) == 51
    skipped = {r["id"]: r for r in results if r["id"] in asking}
    assert [r["ok"] for r in skipped.values()] == [False] * 4
    assert skipped["0aa6453f"]["category"] == "guard_delimiter"
    assert all("it wants an answer" in r["message"] for r in skipped.values())
    for name in asking[:2]:
        assert cli("approve", name, "--json", home=home).json["results"][0]["ok"]


def test_all_as_agent_skips_none(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    results = cli("approve", "--all", "--as-agent", "--json", home=home).json["results"]
    assert not [r for r in results if r["category"].startswith("guard_")]
    assert len([r for r in results if r["ok"]]) > 25


def test_a_dry_run_is_what_then_happens(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    words = ["approve", "--all", "--json"]
    told = cli(*words, "--dry-run", home=home).json["results"]
    assert cli("pending", "--json", home=home).json["proposals"][0]["id"] == "4ba71ab7"
    done = cli(*words, home=home).json["results"]
    for expected, real in zip(told, done, strict=True):
        assert expected["journal"] is None
        # What is done is said in the past.
        message = in_past(expected["message"]) if expected["ok"] else expected["message"]
        assert {**real, "journal": None} == {**expected, "message": message}


def test_a_record_rewritten_under_us_is_not_decided(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = cli.copy("hermes-approval")
    record = home / "pending/memory/4ba71ab7.json"

    def rewritten(queue: Queue) -> dict[str, str]:
        record.write_text(add("Something else."))
        return names(queue)

    monkeypatch.setattr(decide, "names", rewritten)
    for verb in ("approve", "reject"):
        record.write_text(add("First."))
        (result,) = cli(verb, "4ba71ab7", "--json", home=home).json["results"]
        assert (result["ok"], result["category"]) == (False, "moved")
        assert record.exists()


# -- seals -----------------------------------------------------------------------------------------


def test_a_seal_applies_only_that_plan(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    shown = cli("show", "90b9882b", "--json", home=home).json
    assert shown["changes"][0]["kind"] == "move"
    sealed = ["approve", "90b9882b", "--seal", shown["seal"], "--json"]
    # The agent would delete what signoff archives: that is not what was shown.
    (other,) = cli(*sealed, "--as-agent", home=home).json["results"]
    assert (other["ok"], other["category"]) == (False, "moved")
    notes = home / "skills/old-gauge-notes/SKILL.md"
    text = notes.read_bytes()
    notes.write_bytes(text + b"more\n")
    (moved,) = cli(*sealed, home=home).json["results"]
    assert (moved["ok"], moved["category"]) == (False, "moved")
    notes.write_bytes(text)
    (done,) = cli(*sealed, home=home).json["results"]
    assert (done["ok"], done["category"]) == (True, "ok")


def test_show_is_the_same_twice(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    for name in ("a02bff2f", "060fb4db", "90b9882b"):
        first, second = (cli("show", name, "--json", home=home).json for _ in range(2))
        assert first == second


# -- undo ------------------------------------------------------------------------------------------


def test_undo_names_the_later_entries_and_takes_them_together(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    before = (home / "memories/MEMORY.md").read_bytes()
    ids = ["4ba71ab7", "0b8e90e9"]
    first, second = (
        r["journal"] for r in cli("approve", *ids, "--json", home=home).json["results"]
    )
    refused = cli("undo", str(first), "--json", home=home)
    assert refused.code == 1
    (result,) = refused.json["results"]
    assert (result["ok"], result["category"]) == (False, "moved_on")
    assert f"undo {second}" in result["message"]
    assert result["next"] == f"Take them back together: `signoff undo {second} {first}`."
    both = cli("undo", str(first), str(second), "--json", home=home)
    assert [r["category"] for r in both.json["results"]] == ["undone", "undone"]
    assert (home / "memories/MEMORY.md").read_bytes() == before


def test_what_is_not_in_the_way_is_not_taken_back_with_it(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    (first,) = cli("approve", "4ba71ab7", "--json", home=home).json["results"]
    (refusal,) = cli("reject", "060fb4db", "--json", home=home).json["results"]
    (second,) = cli("approve", "0b8e90e9", "--json", home=home).json["results"]
    (result,) = cli("undo", str(first["journal"]), "--json", home=home).json["results"]
    assert refusal["ok"]
    line = f"signoff undo {second['journal']} {first['journal']}"
    assert result["next"] == f"Take them back together: `{line}`."
    (home / "memories/MEMORY.md").write_text("someone else")
    (result,) = cli("undo", str(second["journal"]), "--json", home=home).json["results"]
    assert result["next"] == "See `signoff journal`."


def test_undo_refuses_what_someone_else_wrote_since(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    number = cli("approve", "4ba71ab7", "--json", home=home).json["results"][0]["journal"]
    (home / "memories/MEMORY.md").write_text("someone else")
    (result,) = cli("undo", str(number), "--json", home=home).json["results"]
    assert (result["ok"], result["category"]) == (False, "moved_on")
    assert "memories/MEMORY.md" in result["message"]
    assert (home / "memories/MEMORY.md").read_text() == "someone else"
