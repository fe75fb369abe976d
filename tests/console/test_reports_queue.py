"""Field reports on the queue and on approving it, each on a real folder by the plain commands.

One test a report; its id, and the case in one line, are in the docstring.
"""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.console.plain import Answer, Cli
from tests.core.desks import MEMORY, NOW, SKILL, add, make_home, patch, propose, queue, swap, write
from tests.core.grounds import tree

DAY = 86400.0
SKILL_FILE = "skills/ops/deploy/SKILL.md"
PAYLOAD = {"action": "add", "target": "memory", "content": "fine"}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


def one(answer: Answer) -> Any:
    (result,) = answer.json["results"]
    return result


def results(answer: Answer) -> list[tuple[str, bool, str]]:
    return [(each["id"], each["ok"], each["category"]) for each in answer.json["results"]]


def statuses(cli: Cli, home: Path) -> dict[str, str]:
    rows = cli("pending", "--json", home=home).json["proposals"]
    return {row["id"]: row["status"] for row in rows}


def rivals(cli: Cli, home: Path) -> dict[str, list[str]]:
    rows = cli("pending", "--json", home=home).json["proposals"]
    return {row["id"]: row["rivals"] for row in rows}


def write_file(path: str, name: str = "deploy", **fields: object) -> dict[str, object]:
    return {"action": "write_file", "name": name, "file_path": path, **fields}


def test_d03_a_status_line_says_how_much_waits_and_since_when(cli: Cli, home: Path) -> None:
    """D03: 77 + 164 records unnoticed for eight weeks: count and age in one line, and a code."""
    assert cli("status", "--line", home=home).out == "0 waiting\n"
    assert cli("status", "--check", home=home).code == 0
    for number in range(77):
        propose(home, f"m{number:02}", add(f"fact {number}"), age=56 * DAY - number)
    for number in range(164):
        propose(home, f"s{number:03}", patch("deploy", "Step one.", f"Step {number}."), age=DAY)
    assert cli("status", "--line", home=home).out == "241 waiting, oldest 8w\n"
    found = cli("status", "--json", home=home).json
    assert found["pending"] == {"memory": 77, "skills": 164, "unreadable": 0}
    assert found["oldest_seconds"] == 56 * DAY
    assert cli("status", "--check", home=home).code == 1
    # The badge and the list count by one rule.
    assert len(statuses(cli, home)) == 241


@pytest.mark.parametrize(
    ("old", "new", "category", "status"),
    [
        ("Step nought.", "x", "patch_no_match", "stale"),
        ("Step one.", "Step one.", "patch_identical", "noop"),
    ],
)
def test_d04_an_approval_that_wrote_nothing_is_no_success(
    cli: Cli, home: Path, old: str, new: str, category: str, status: str
) -> None:
    """D04: old_string gone, or equal to new_string: failed, the record stays, the row says why."""
    queue(home, {"d04": patch("deploy", old, new)})
    before = tree(home)
    answer = cli("approve", "d04", "--json", home=home)
    assert answer.code == 1
    result = one(answer)
    assert (result["ok"], result["category"], result["changed"]) == (False, category, [])
    assert tree(home) == before
    assert statuses(cli, home) == {"d04": status}
    out = cli("approve", "d04", home=home).out
    assert "✗ d04  not done: " in out
    assert "✓" not in out


def test_d04_a_write_that_the_disk_refuses_is_no_success(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D04: success is what the disk holds afterwards, not what was meant."""
    queue(home, {"d04": add("x")})
    before = tree(home)

    def full(*_words: object, **_more: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        patched.setattr(os, "rename", full)
        answer = cli("approve", "d04", "--json", home=home)
    assert (answer.code, results(answer)) == (1, [("d04", False, "io_error")])
    assert tree(home) == before
    assert cli("approve", "d04", home=home).code == 0


def test_d05_every_id_given_is_answered(cli: Cli, home: Path) -> None:
    """D05: several ids given, one applied: here each has its own result, and the code tells."""
    queue(home, {"a": add("x"), "b": add("y"), "c": patch("deploy", "nowhere", "z"), "d": add("d")})
    answer = cli("approve", "d", "a", "gone", "c", "b", "--json", home=home)
    assert answer.code == 1
    assert results(answer) == [
        ("d", True, "ok"),
        ("a", True, "ok"),
        ("gone", False, "gone"),
        ("c", False, "patch_no_match"),
        ("b", True, "ok"),
    ]
    assert (home / MEMORY).read_text().split("\n§\n")[-3:] == ["d", "x", "y"]
    assert list(statuses(cli, home)) == ["c"]


def test_d05_a_patch_has_a_preview_that_is_not_empty(cli: Cli, home: Path) -> None:
    """D05: the preview of a patch was drawn empty."""
    queue(home, {"p": patch("deploy", "Step one.", "Step 1.")})
    out = cli("show", "p", home=home).out
    assert "- 1. Step one.\n" in out
    assert "+ 1. Step 1.\n" in out


def test_d06_a_patch_whose_anchor_another_took_is_dead_at_the_next_look(
    cli: Cli, home: Path
) -> None:
    """D06: two patches on one anchor: rivals while both live; one landed, the other is stale."""
    one_line = "1. Step one.\n2. Step two."
    queue(
        home,
        {
            "first": patch("deploy", one_line, "Read the whole manual."),
            "second": patch("deploy", one_line, "Ask whoever is on duty."),
            "apart": add("x"),
        },
    )
    assert statuses(cli, home) == {"first": "ready", "second": "ready", "apart": "ready"}
    assert rivals(cli, home) == {"first": ["second"], "second": ["first"], "apart": []}
    groups = cli("pending", "--group", "cluster", "--json", home=home).json["groups"]
    assert [group["ids"] for group in groups] == [["first", "second"], ["apart"]]
    assert cli("approve", "first", home=home).code == 0
    assert statuses(cli, home) == {"second": "stale", "apart": "ready"}
    swept = cli("reject", "--dead", "--json", home=home)
    assert results(swept) == [("second", True, "rejected")]


def test_d07_a_body_under_the_wrong_field_is_seen_in_the_list(cli: Cli, home: Path) -> None:
    """D07: write_file with `content` for `file_content`: invalid at once, the field is named."""
    queue(home, {"d07": write_file("references/a.md", content="the body\n")})
    assert statuses(cli, home) == {"d07": "invalid"}
    shown = cli("show", "d07", "--json", home=home).json
    assert shown["category"] == "missing_argument"
    assert "file_content" in shown["message"]
    assert "under content" in shown["message"]
    assert cli("edit", "d07", "--move", home=home).code == 0
    assert cli("approve", "d07", home=home).code == 0
    assert (home / "skills/ops/deploy/references/a.md").read_text() == "the body\n"


def test_d08_one_edit_in_many_wordings_is_one_cluster(cli: Cli, home: Path) -> None:
    """D08: 17 records for 3 entries: three clusters; approve one, the rest is offered for refusal."""
    sizes = {"alpha": 6, "beta": 6, "gamma": 5}
    queue(
        home,
        {
            f"{word}{n}": swap(word, f"{word}, wording {n}")
            for n in range(6)
            for word, size in sizes.items()
            if n < size
        },
    )
    groups = cli("pending", "--group", "cluster", "--json", home=home).json["groups"]
    assert [len(group["ids"]) for group in groups] == [6, 6, 5]
    done = one(cli("approve", "gamma2", "--json", home=home))
    left = "gamma0 gamma1 gamma3 gamma4"
    assert done["next"].endswith(f"4 rivals wait: `signoff reject {left}`.")
    assert cli("reject", *left.split(), home=home).code == 0
    assert (home / MEMORY).read_text() == "alpha one\n§\nbeta two\n§\ngamma, wording 2"
    assert len(statuses(cli, home)) == 12


def test_d09_records_are_decided_and_explained_though_the_gate_is_off(cli: Cli, home: Path) -> None:
    """D09: write_approval false, yet an unattended replace was staged: the inbox works all the same."""
    write(home / "config.yaml", "memory:\n  write_approval: false\n")
    assert "all the same" not in cli("status", home=home).out
    propose(home, "d09", swap("beta two", "beta 2"), age=DAY, origin="background_review")
    said = " ".join(cli("status", home=home).out.split())
    assert "1 waiting, oldest 1d" in said
    assert "The memory gate is off: the agent writes without asking" in said
    assert "What waits can be decided all the same" in said
    assert cli("status", "--json", home=home).json["gate"]["memory"]["state"] == "off"
    assert cli("approve", "d09", home=home).code == 0
    assert (home / MEMORY).read_text() == "alpha one\n§\nbeta 2\n§\ngamma three"


def test_d10_an_agent_with_a_shell_does_not_decide_and_the_actor_is_on_record(
    cli: Cli, home: Path
) -> None:
    """D10: the agent approved its own proposals: a setting asks for a terminal, the journal names who."""
    queue(home, {"d10": add("x")})
    settings = cli.folder / "settings.toml"
    settings.write_text("decide_needs_terminal = true\n")
    before = tree(home)
    for words in (["approve", "d10"], ["approve", "--all", "--as-agent"], ["reject", "d10"]):
        refused = cli(*words, "--json", home=home)
        assert (refused.code, refused.json["error"]["code"]) == (1, "needs_terminal")
    assert tree(home) == before
    settings.unlink()
    assert cli("approve", "d10", home=home).code == 0
    (entry,) = cli("journal", "--json", home=home).json["entries"]
    assert set(entry["actor"]) == {"user", "terminal", "parent"}
    assert entry["actor"]["user"]
    assert entry["actor"]["parent"].split()[0] == str(os.getppid())


def test_d51_a_name_that_climbs_reads_nothing(cli: Cli, home: Path) -> None:
    """D51: name `../outside-skill`, file `.env`: refused before a path is joined, in previews too."""
    secret = "TOKEN=tell-nobody"
    for folder in (home, home / "skills"):
        write(folder / "outside-skill/SKILL.md", SKILL.format(name="outside-skill") + secret)
        write(folder / "outside-skill/references/.env", secret)
    climbing = "../outside-skill"
    queue(
        home,
        {
            "file": write_file(".env", climbing, file_content="x"),
            "inside": write_file("references/.env", climbing, file_content="x"),
            "patch": patch(climbing, "TOKEN", "x") | {"file_path": "references/.env"},
            "edit": {"action": "edit", "name": climbing, "content": SKILL.format(name="x")},
            "delete": {"action": "delete", "name": climbing},
            "create": {"action": "create", "name": climbing, "content": SKILL.format(name="x")},
        },
    )
    before = tree(home)
    for name in statuses(cli, home):
        for words in (["show", name], ["show", name, "--as-agent"], ["approve", name, "--dry-run"]):
            assert secret not in cli(*words, home=home).out, words
            assert secret not in cli(*words, "--json", home=home).out, words
        shown = cli("show", name, "--json", home=home).json
        assert shown["category"] in ("invalid_name", "path_not_allowed", "skill_not_found"), name
        assert shown["changes"] == []
        answer = cli("approve", name, "--json", home=home)
        assert results(answer) == [(name, False, shown["category"])]
        assert tree(home) == before


def test_r01_one_odd_record_does_not_take_the_list_down(cli: Cli, home: Path) -> None:
    """R01: a list, a text created_at beside a number, no id: each is a row, the good ones land."""
    odd = {
        "list": json.dumps([{"id": "list", "payload": PAYLOAD}]),
        "text": json.dumps({"id": "text", "created_at": "yesterday", "payload": PAYLOAD}),
        "null": json.dumps({"id": "null", "created_at": None, "payload": PAYLOAD}),
        "noid": json.dumps({"created_at": NOW.timestamp() - 5, "payload": PAYLOAD}),
        "nopayload": json.dumps({"id": "nopayload", "created_at": 1}),
        "cut": '{"id": "cut", "created_at": 1.0, "payl',
        "empty": "",
    }
    for name, body in odd.items():
        write(home / f"pending/memory/{name}.json", body)
    propose(home, "good", add("good"), age=10.0)
    found = cli("pending", "--json", home=home).json
    rows = {row["id"]: row["status"] for row in found["proposals"]}
    assert rows == {
        "nopayload": "invalid",
        "good": "ready",
        "noid": "ready",
        "null": "ready",
        "text": "ready",
    }
    reasons = {row["id"]: row["reason"] for row in found["unreadable"]}
    assert set(reasons) == {"list", "cut", "empty"}
    assert all(reasons.values())
    listed = cli("pending", home=home).out
    assert all(name in listed for name in [*odd, "good"])
    assert cli("approve", "good", "noid", home=home).code == 0
    assert cli("reject", *reasons, home=home).code == 0
    assert not (home / "pending/memory/list.json").exists()


def test_r03_preview_and_apply_refuse_a_path_outside_alike(cli: Cli, home: Path) -> None:
    """R03: file_path `../../../memories/USER.md`: the agent's preview shows that file, ours none."""
    write(home / "memories/USER.md", "a private fact")
    climbing = "../../../memories/USER.md"
    queue(
        home,
        {
            "write": write_file(climbing, file_content="x"),
            "patch": patch("deploy", "private", "public") | {"file_path": climbing},
            "remove": {"action": "remove_file", "name": "deploy", "file_path": climbing},
        },
    )
    before = tree(home)
    for name in ("write", "patch", "remove"):
        shown = cli("show", name, "--json", home=home)
        assert (shown.json["category"], shown.json["changes"]) == ("path_traversal", [])
        assert "a private fact" not in shown.out
        assert "a private fact" not in cli("show", name, home=home).out
        assert one(cli("approve", name, "--json", home=home))["category"] == "path_traversal"
    assert tree(home) == before


def test_r04_preview_and_apply_agree_on_a_text_that_stands_three_times(
    cli: Cli, home: Path
) -> None:
    """R04: old_string three times: the agent previews three changes and refuses; ours does as shown."""
    before = SKILL.format(name="deploy") + "x is x or x\n"
    write(home / SKILL_FILE, before)
    queue(
        home,
        {
            "once": patch("deploy", "x ", "y "),
            "all": patch("deploy", "x ", "y ") | {"replace_all": True},
        },
    )
    write(home / SKILL_FILE, before.replace("or x\n", "or x \n"))
    shown = cli("show", "once", "--json", home=home).json
    assert (shown["category"], shown["changes"]) == ("patch_ambiguous", [])
    assert "3 places" in shown["message"]
    assert one(cli("approve", "once", "--json", home=home))["category"] == "patch_ambiguous"
    shown = cli("show", "all", "--json", home=home).json
    assert (shown["match"]["strategy"], len(shown["match"]["spans"])) == ("exact", 3)
    after = next(c for c in shown["changes"] if c["path"] == SKILL_FILE)
    assert after["diff"].splitlines()[-2:] == ["-x is x or x ", "+y is y or y "]
    assert cli("approve", "all", "--seal", shown["seal"], home=home).code == 0
    assert (home / SKILL_FILE).read_text().endswith("y is y or y \n")


def test_d44_a_huge_record_and_a_huge_target_are_named_with_their_reason(
    cli: Cli, home: Path
) -> None:
    """D44: files of 300 MB: said to be too large, and no hint leads in a circle."""
    references = home / "skills/ops/deploy/references"
    references.mkdir()
    queue(home, {"t": patch("deploy", "x", "y") | {"file_path": "references/huge.md"}})
    for path in (home / "pending/skills/huge.json", references / "huge.md"):
        with path.open("wb") as file:
            file.truncate(300_000_000)
    (row,) = cli("pending", "--json", home=home).json["unreadable"]
    assert row["reason"] == "larger than 64 MiB"
    way_out = "cannot be read: larger than 64 MiB; remove pending/skills/huge.json by hand"
    assert way_out in " ".join(cli("pending", home=home).out.split())
    assert "Remove it by hand: it could not be brought back." in cli("show", "huge", home=home).err
    refused = one(cli("approve", "huge", "--json", home=home))
    assert refused["message"].endswith("; remove pending/skills/huge.json by hand")
    assert "reject" not in refused["next"]
    shown = cli("show", "t", "--json", home=home).json
    assert (shown["status"], shown["category"]) == ("unreadable", "unreadable_target")
    where = "skills/ops/deploy/references/huge.md"
    assert shown["message"] == f"{where} cannot be read: larger than 64 MiB."
    kept = one(cli("reject", "huge", "--json", home=home))
    assert (kept["ok"], kept["category"], kept["next"]) == (False, "unsafe_target", "")
    assert kept["message"].endswith("remove it by hand")
