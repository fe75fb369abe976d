"""The command line against its contract: JSON keys and types, exit codes, ids, `--all`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.status import Status
from tests.console.plain import NOW, Answer, Cli

#: A type for each key; a tuple is any of them, a mapping an object, a list of one its elements.
HOME = {"home": str, "kind": str, "profile": str}
FINDING = {"code": str, "severity": str, "message": str, "at": (str, None)}
GATE = {"state": str, "from": str, "reason": str}
STATUS = {
    **HOME,
    "agent_rules": str,
    "pending": {"memory": int, "skills": int, "unreadable": int},
    "oldest_seconds": (float, None),
    "by_status": {},
    "gate": {"memory": GATE, "skills": GATE},
    "others": [{"home": str, "kind": str}],
}
ROW = {
    "id": str,
    "file": str,
    "subsystem": str,
    "action": str,
    "target": str,
    "summary": str,
    "origin": str,
    "created_at": (float, None),
    "status": str,
    "category": str,
    "rivals": [str],
}
PENDING = {**HOME, "proposals": [ROW], "unreadable": [{"id": str, "file": str, "reason": str}]}
CHANGE = {
    "path": str,
    "kind": str,
    "to": (str, None),
    "before_sha256": (str, None),
    "after_sha256": (str, None),
    "after_mode": (str, None),
    "diff": str,
}
SHOW = {
    "id": str,
    "subsystem": str,
    "action": str,
    "target": str,
    "status": str,
    "category": str,
    "seal": str,
    "changes": [CHANGE],
    "findings": [FINDING],
    "budget": ({"target": str, "before": int, "after": int, "limit": int}, None),
    "match": ({"strategy": str, "spans": [[int]]}, None),
    "source": ({"session_id": str, "message_id": str}, None),
}
RESULTS = {
    "results": [
        {
            "id": str,
            "ok": bool,
            "category": str,
            "message": str,
            "changed": [str],
            "entries": [{"before": (str, None), "after": (str, None)}],
            "journal": (int, None),
        }
    ]
}
JOURNAL = {
    "entries": [
        {
            "id": int,
            "at": str,
            "home": str,
            "profile": str,
            "verb": str,
            "subject": str,
            "ok": bool,
            "category": str,
            "changed": [str],
            "note": str,
            "undone_by": (int, None),
        }
    ]
}
MEMORY = {
    "target": str,
    "path": str,
    "state": str,
    "drift": ({"kind": str}, None),
    "used": int,
    "limit": int,
    "entries": [{"index": int, "text": str, "size": int, "findings": [FINDING]}],
}
DOCTOR = {**HOME, "checks": [{"name": str, "ok": (bool, None), "message": str}]}
ERROR = {"ok": bool, "error": {"code": str, "message": str, "hint": str}}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture(params=["sample", "hermes-approval"])
def home(request: pytest.FixtureRequest, cli: Cli) -> Path:
    return cli.sample() if request.param == "sample" else cli.copy(request.param)


def fits(value: Any, shape: Any, at: str = "answer") -> None:
    """Assert that ``value`` has at least the keys of ``shape``, each of its type."""
    if isinstance(shape, tuple):
        if value is not None:
            fits(value, shape[0], at)
    elif isinstance(shape, Mapping):
        assert isinstance(value, dict), at
        for key, inner in shape.items():
            assert key in value, f"{at}.{key}"
            fits(value[key], inner, f"{at}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), at
        for number, item in enumerate(value):
            fits(item, shape[0], f"{at}[{number}]")
    else:
        assert type(value) is shape, f"{at} is {value!r}"


def answers(answer: Answer, shape: Any, code: int = 0) -> Any:
    """The document of ``answer``, held to ``shape``; stdout is it and nothing else, in ASCII."""
    assert answer.code == code, answer
    assert answer.out.isascii()
    fits(answer.json, shape)
    return answer.json


# -- shapes ----------------------------------------------------------------------------------------


def test_status(cli: Cli, home: Path) -> None:
    found = answers(cli("status", "--json", home=home), STATUS)
    assert found["home"] == str(home.resolve())
    assert (found["kind"], found["profile"]) == ("hermes", "default")
    assert (
        sum(found["by_status"].values()) == found["pending"]["memory"] + found["pending"]["skills"]
    )
    assert set(found["by_status"]) <= set(Status)
    assert found["gate"]["memory"] == {
        "state": "on",
        "from": "config",
        "reason": "memory.write_approval is true",
    }


def test_pending(cli: Cli, home: Path) -> None:
    found = answers(cli("pending", "--json", home=home), PENDING)
    times = [row["created_at"] for row in found["proposals"]]
    assert times == sorted(times)
    for row in found["proposals"]:
        assert row["file"] == f"pending/{row['subsystem']}/{row['id']}.json"
        assert row["status"] in set(Status)
        assert row["id"] not in row["rivals"]
    for subsystem in ("memory", "skills"):
        part = answers(cli("pending", "--subsystem", subsystem, "--json", home=home), PENDING)
        assert part["proposals"] == [
            row for row in found["proposals"] if row["subsystem"] == subsystem
        ]


def test_every_proposal_can_be_shown(cli: Cli, home: Path) -> None:
    for row in cli("pending", "--json", home=home).json["proposals"]:
        found = answers(cli("show", row["id"], "--json", home=home), SHOW)
        for key in ("id", "subsystem", "action", "target", "status", "category"):
            assert found[key] == row[key]
        lands = found["status"] in ("ready", "attention") or found["category"] == "noop"
        assert bool(found["changes"]) == lands
        if lands:
            record = found["changes"][-1]
            assert (record["path"], record["kind"]) == (row["file"], "delete")


def test_memory_journal_and_doctor(cli: Cli, home: Path) -> None:
    for target in ("memory", "user"):
        found = answers(cli("memory", "--target", target, "--json", home=home), MEMORY)
        assert found["target"] == target
        assert [entry["index"] for entry in found["entries"]] == list(
            range(1, len(found["entries"]) + 1)
        )
    both = answers(cli("memory", "--json", home=home), MEMORY)
    assert [store["target"] for store in both["stores"]] == ["memory", "user"]
    assert answers(cli("journal", "--json", home=home), JOURNAL)["entries"] == []
    checks = answers(cli("doctor", "--json", home=home), DOCTOR)["checks"]
    names = [check["name"] for check in checks]
    for name in ("home", "queue", "memory gate", "locks", "journal", "live events"):
        assert name in names


def test_decisions_and_undo(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    done = answers(cli("approve", "4ba71ab7", "--note", "seen", "--json", home=home), RESULTS)
    (result,) = done["results"]
    assert (result["id"], result["ok"], result["category"]) == ("4ba71ab7", True, "ok")
    assert result["changed"] == ["memories/MEMORY.md", "pending/memory/4ba71ab7.json"]
    (entry,) = result["entries"]
    assert entry["before"] is None
    assert entry["after"].startswith("Gauge firmware 2.4")
    (line,) = answers(cli("journal", "--json", home=home), JOURNAL)["entries"]
    assert (line["id"], line["verb"], line["subject"]) == (result["journal"], "approve", "4ba71ab7")
    assert (line["note"], line["at"], line["undone_by"]) == ("seen", NOW.isoformat(), None)
    back = answers(cli("undo", "--json", home=home), RESULTS)["results"][0]
    assert (back["ok"], back["category"]) == (True, "undone")
    lines = answers(cli("journal", "--json", home=home), JOURNAL)["entries"]
    assert lines[1]["undone_by"] == lines[0]["id"]
    assert (
        len(answers(cli("journal", "--limit", "1", "--json", home=home), JOURNAL)["entries"]) == 1
    )
    refused = answers(cli("reject", "5ec0ffee", "--json", home=home), RESULTS)["results"][0]
    assert (refused["ok"], refused["category"]) == (True, "rejected")
    assert not (home / "pending/memory/5ec0ffee.json").exists()


def test_demo_and_init(cli: Cli, tmp_path: Path) -> None:
    into = tmp_path / "new"
    assert cli("demo", "--into", str(into), "--json").json["home"] == str(into)
    assert cli("status", "--check", home=into).code == 1
    fresh = tmp_path / "fresh"
    assert cli("init", str(fresh), "--json").code == 0
    found = answers(cli("status", "--json", home=fresh), STATUS)
    assert found["agent_rules"] == "newest"
    assert {gate["state"] for gate in found["gate"].values()} == {"on"}
    assert cli("memory", "--json", home=fresh).json["limit"] == 2200
    assert cli("memory", "--target", "user", "--json", home=fresh).json["limit"] == 1375
    again = answers(cli("init", str(fresh), "--json"), ERROR, code=1)
    assert again["error"]["code"] == "occupied"


def test_gate(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    assert cli("gate", "off", "--subsystem", "skills", home=home).code == 0
    gates = cli("status", "--json", home=home).json["gate"]
    assert (gates["memory"]["state"], gates["skills"]["state"]) == ("on", "off")
    assert "without asking" in cli("status", home=home).out
    assert "without asking" in cli("doctor", home=home).out
    answers(cli("undo", "--json", home=home), RESULTS)
    assert cli("status", "--json", home=home).json["gate"]["skills"]["state"] == "on"


# -- the sample of the real agent --------------------------------------------------------------


def test_the_agents_own_home_has_51_proposals_in_order_and_one_unreadable(cli: Cli) -> None:
    found = cli("pending", "--json", home=cli.copy("hermes-approval")).json
    ids = [row["id"] for row in found["proposals"]]
    assert len(ids) == len(set(ids)) == 51
    assert (ids[0], ids[22], ids[23], ids[-1]) == ("4ba71ab7", "17f11a8a", "47691992", "90b9882b")
    (broken,) = found["unreadable"]
    assert broken["file"] == "pending/memory/5ec0ffee.json"
    assert broken["reason"].startswith("not JSON: Unterminated string")
    categories = {row["id"]: row["category"] for row in found["proposals"]}
    assert categories["87a152f4"] == "ambiguous"
    assert categories["55cc5d61"] == "batch_over_budget"
    assert categories["93e8e040"] == "patch_breaks_frontmatter"


# -- exit codes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["status"], 0),
        (["status", "--check"], 1),
        (["pending"], 0),
        (["show", "4ba71ab7"], 0),
        (["show", "5ec0ffee"], 1),
        (["show", "nope"], 3),
        (["show", "memory/nope"], 3),
        (["show"], 2),
        (["show", "a", "b"], 2),
        (["pending", "--subsystem", "notes"], 2),
        (["pending", "--rules", "0.18"], 2),
        (["frobnicate"], 2),
        (["approve"], 2),
        (["approve", "--all", "4ba71ab7"], 2),
        (["approve", "--all", "--seal", "x"], 2),
        (["approve", "4ba71ab7", "a02bff2f", "--seal", "x"], 2),
        (["approve", "4ba71ab7", "--seal", "x"], 1),
        (["approve", "nope"], 3),
        (["approve", "nope", "neither"], 3),
        (["approve", "4ba71ab7", "nope"], 1),
        (["approve", "25318bf2"], 1),
        (["approve", "5ec0ffee"], 1),
        (["approve", "4ba71ab7", "--dry-run"], 0),
        (["approve", "c4e08e67"], 0),
        (["approve", "--all"], 1),
        (["reject", "5ec0ffee"], 0),
        (["reject", "nope"], 3),
        (["reject", "--all"], 0),
        (["undo"], 3),
        (["undo", "99"], 3),
        (["undo", "text"], 2),
        (["journal"], 0),
        (["journal", "--limit", "0"], 2),
        (["memory", "--target", "both"], 2),
        (["gate", "on"], 0),
        (["gate", "ajar"], 2),
        (["doctor"], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_codes(cli: Cli, words: list[str], code: int) -> None:
    home = cli.copy("hermes-approval")
    plain = cli(*words, home=home)
    assert plain.code == code
    unreadable = words[:2] == ["show", "5ec0ffee"]
    if code > 1 or unreadable:
        # Of what cannot be read, stdout holds the beginning.
        assert bool(plain.out) == unreadable
        (line,) = plain.err.splitlines()
        assert line.startswith("signoff: ")
        assert line.endswith(".")


@pytest.mark.parametrize(
    ("words", "code", "word"),
    [
        (["show", "nope"], 3, "not_found"),
        (["show", "5ec0ffee"], 1, "unreadable"),
        (["approve"], 2, "usage"),
        (["show"], 2, "usage"),
        (["frobnicate"], 2, "usage"),
        (["--kind", "rag", "pending"], 2, "no_home"),
        (["--profile", "nobody", "pending"], 3, "not_found"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_errors_in_json(cli: Cli, words: list[str], code: int, word: str) -> None:
    answer = cli(*words, "--json", home=cli.copy("hermes-approval"))
    found = answers(answer, ERROR, code)
    assert (found["ok"], found["error"]["code"]) == (False, word)
    assert answer.err == ""


def test_status_check_and_line(cli: Cli) -> None:
    home = cli.copy("hermes-approval")
    assert cli("status", "--line", home=home).out == "51 waiting, oldest 11w, 1 unreadable\n"
    assert cli("reject", "--all", home=home).code == 0
    assert cli("status", "--line", "--check", home=home).code == 0
    (home / "pending/skills").rmdir()
    (home / "pending/skills").write_text("no folder")
    broken = cli("status", "--line", "--check", home=home)
    assert broken.code == 2
    assert "a queue cannot be read" in broken.out
    assert "pending/skills cannot be read: not a directory" in broken.err
    assert cli("pending", home=home).code == 1


def test_an_empty_queue(cli: Cli, tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    cli("init", str(home))
    assert cli("pending", home=home).code == 0
    assert cli("pending", home=home).out.endswith("Nothing waits.\n")
    assert cli("approve", "--all", home=home).code == 3
    assert cli("reject", "--all", home=home).code == 3


def test_no_home_is_one_sentence(cli: Cli) -> None:
    answer = cli("pending")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.count("\n") == 1
    assert "--home DIR" in answer.err
    assert "signoff demo" in answer.err


def test_other_homes_that_were_found_are_listed(cli: Cli) -> None:
    home, other = cli.copy("hermes-approval"), cli.folder / "vak"
    (other / "skill-proposals").mkdir(parents=True)
    cli.setenv("HERMES_HOME", str(home))
    cli.setenv("VAK_HOME", str(other))
    for words in (["status"], ["pending"], ["show", "4ba71ab7"], ["memory"], ["journal"]):
        found = cli(*words, "--json").json
        assert found["home"] == str(home)
        assert found["others"] == [{"home": str(other), "kind": "vak"}]
        assert f"also found: {other} (vak)" in cli(*words).out
