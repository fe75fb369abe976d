"""Triage, forecast, snooze, journal and profiles from the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.commit import commit
from core.homes.hermes.status import Status
from core.journal import Journal, State
from tests.console.plain import NOW, Cli
from tests.core.desks import MEMORY, add, make_home, patch, propose, queue, remove, swap, write
from tests.core.grounds import tree

DAY = 86400.0


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(tmp_path, monkeypatch, capsys)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home", limit=120)


def rows(cli: Cli, home: Path, *words: str) -> dict[str, Mapping[str, Any]]:
    found = cli("pending", *words, "--json", home=home).json["proposals"]
    return {row["id"]: row for row in found}


def ids(answer: Any) -> list[str]:
    return [result["id"] for result in answer.json["results"]]


# -- pending ---------------------------------------------------------------------------------------


def test_pending_is_filtered_and_grouped(cli: Cli, home: Path) -> None:
    propose(home, "old", remove("nowhere"), age=30 * DAY, origin="background_review")
    propose(home, "user", {**add("tea"), "target": "user"}, age=20 * DAY)
    propose(home, "new", swap("alpha", "x"), age=60.0)
    propose(home, "rival", swap("alpha", "y"), age=50.0)
    assert list(rows(cli, home, "--status", "stale")) == ["old"]
    assert list(rows(cli, home, "--target", "user")) == ["user"]
    assert list(rows(cli, home, "--origin", "background_review")) == ["old"]
    assert list(rows(cli, home, "--older-than", "14d")) == ["old", "user"]
    assert list(rows(cli, home, "--text", "tea")) == ["user"]
    # Rivals are told whether or not they are listed.
    assert rows(cli, home, "--text", "-> x")["new"]["rivals"] == ["rival"]
    grouped = cli("pending", "--group", "cluster", "--json", home=home).json["groups"]
    assert [group["ids"] for group in grouped] == [["old"], ["user"], ["new", "rival"]]
    by_status = cli("pending", "--group", "status", "--json", home=home).json["groups"]
    assert [(g["key"], g["ids"]) for g in by_status] == [
        ("stale", ["old"]),
        ("ready", ["user", "new", "rival"]),
    ]
    out = cli("pending", "--group", "target", home=home).out
    assert "memory memory: 3" in out
    assert "memory user: 1" in out
    assert cli("pending", "--older-than", "long", home=home).code == 2
    assert cli("pending", "--status", "odd", home=home).code == 2
    assert cli("pending", "--text", "no such", home=home).code == 0


def test_unreadable_ones_are_listed_unless_filtered(cli: Cli, home: Path) -> None:
    queue(home, {"a": add("x")})
    write(home / "pending/memory/broken.json", "{")
    assert len(cli("pending", "--json", home=home).json["unreadable"]) == 1
    assert cli("pending", "--status", "ready", "--json", home=home).json["unreadable"] == []
    found = cli("pending", "--status", "unreadable", "--json", home=home).json["unreadable"]
    assert len(found) == 1


# -- the dead --------------------------------------------------------------------------------------


def test_the_dead_are_shown_refused_and_brought_back(cli: Cli, home: Path) -> None:
    """D06: 75 of 357 were mechanically dead."""
    queue(
        home,
        {
            "stale": remove("nowhere"),
            "noop": add("alpha one"),
            "odd": {"action": "dance"},
            "fine": add("x"),
        },
    )
    before = tree(home)
    assert "reject --dead" in cli("pending", home=home).out
    told = cli("reject", "--dead", "--dry-run", "--json", home=home)
    assert ids(told) == ["stale", "noop", "odd"]
    assert told.json["results"][0]["message"].startswith("stale: no entry contains")
    assert tree(home) == before
    done = cli("reject", "--dead", "--note", "swept", "--json", home=home)
    assert (done.code, ids(done)) == (0, ["stale", "noop", "odd"])
    bulk = done.json["bulk"]
    entries = cli("journal", "--json", home=home).json["entries"]
    assert [(e["bulk"], e["note"]) for e in entries] == [(bulk, "swept")] * 3
    assert list(rows(cli, home)) == ["fine"]
    back = cli("undo", "--json", home=home)
    assert [r["category"] for r in back.json["results"]] == ["undone"] * 3
    assert tree(home) == before
    assert cli("undo", home=home).code == 3


def test_no_dead_ones_are_nothing_to_act_on(cli: Cli, home: Path) -> None:
    queue(home, {"fine": add("x")})
    assert cli("reject", "--dead", home=home).code == 3
    assert cli("reject", "--dead", "fine", home=home).code == 2
    assert cli("reject", "--dead", "--all", home=home).code == 2
    assert cli("reject", "fine", "--dry-run", home=home).code == 2


@pytest.mark.parametrize("name", ["hermes-approval", "hostile"])
def test_the_dead_of_a_real_queue(cli: Cli, name: str) -> None:
    home = cli.copy(name)
    before = tree(home)
    dead = [
        row["id"]
        for row in rows(cli, home).values()
        if Status(row["status"]) in (Status.STALE, Status.NOOP, Status.INVALID)
    ]
    assert len(dead) > 5
    done = cli("reject", "--dead", "--json", home=home)
    assert (done.code, ids(done)) == (0, dead)
    assert cli("undo", "--bulk", str(done.json["bulk"]), home=home).code == 0
    assert tree(home) == before


def test_newcomers_of_a_bulk_step_stay_and_are_announced(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Design, section 4: live changes are announced, never taken along."""
    queue(home, {"a": remove("nowhere"), "b": remove("elsewhere")})

    def meanwhile(*words: Any, **more: Any) -> Any:
        propose(home, "fresh", remove("nothing"))
        return commit(*words, **more)

    monkeypatch.setattr("core.desk.decide.commit", meanwhile)
    answer = cli("reject", "--dead", "--json", home=home)
    assert ids(answer) == ["a", "b"]
    assert answer.json["newcomers"] == ["pending/memory/fresh.json"]
    assert "1 proposal came meanwhile" in answer.err
    assert list(rows(cli, home)) == ["fresh"]


# -- bulk steps ------------------------------------------------------------------------------------


def test_undo_bulk_words(cli: Cli, home: Path) -> None:
    queue(home, {"a": add("x"), "b": add("y")})
    done = cli("approve", "--all", "--json", home=home).json
    assert [r["ok"] for r in done["results"]] == [True, True]
    assert cli("undo", "--bulk", "99", home=home).code == 3
    assert cli("undo", "--bulk", "1", "1", home=home).code == 2
    assert cli("undo", "--bulk", "text", home=home).code == 2
    assert f"bulk {done['bulk']}" in cli("journal", home=home).out
    assert cli("undo", "--bulk", str(done["bulk"]), home=home).code == 0
    assert "Take it back as one" in cli("approve", "--all", home=home).out


# -- the forecast ----------------------------------------------------------------------------------


def test_a_dry_run_draws_the_curve_and_the_first_failure(cli: Cli, home: Path) -> None:
    """Spec 6 item 12: order matters, the agent gives no forecast."""
    queue(home, {"grow": add("c" * 95), "cut": remove("gamma"), "small": add("d")})
    answer = cli("approve", "grow", "cut", "small", "--dry-run", "--json", home=home)
    assert answer.code == 1
    found = answer.json["forecast"]
    assert [(row["id"], row["category"]) for row in found["rows"]] == [
        ("grow", "over_budget"),
        ("cut", "ok"),
        ("small", "ok"),
    ]
    assert found["curve"] == {"memory": {"limit": 120, "sizes": [34, 34, 20, 24]}}
    assert [row["budget"] for row in found["rows"]] == [
        {"memory": 34},
        {"memory": 20},
        {"memory": 24},
    ]
    assert found["first_failure"] == "grow"
    # Two of three land in every order; only the large one can give way.
    assert (found["better_order"], found["removal"]["leave_out"]) == (None, ["grow"])
    assert [r["id"] for r in answer.json["results"]] == ["grow", "cut", "small"]
    out = cli("approve", "grow", "cut", "small", "--dry-run", home=home).out
    assert "memory: 34 → 20 → 24 of 120 characters" in out
    assert "The first that fails is grow, number 1 of 3: " in out


def test_a_better_order_can_be_copied_and_lands(cli: Cli, home: Path) -> None:
    queue(home, {"grow": add("c" * 90), "cut": remove("gamma")})
    found = cli("approve", "grow", "cut", "--dry-run", "--json", home=home).json["forecast"]
    assert found["better_order"] == ["cut", "grow"]
    assert found["removal"] is None
    assert found["looked"]["lands"] == 2
    out = cli("approve", "grow", "cut", "--dry-run", home=home).out
    assert "In another order 2 of 2 would land" in out
    assert "approve cut grow" in out
    assert cli("approve", *found["better_order"], home=home).code == 0


def test_what_to_leave_out_or_remove_is_said(cli: Cli, home: Path) -> None:
    queue(home, {"new": add("n" * 90)})
    found = cli("approve", "new", "--dry-run", "--json", home=home).json["forecast"]
    assert found["removal"]["leave_out"] == ["new"]
    (entry,) = found["removal"]["entries"]
    assert entry == {"target": "memory", "index": 2, "text": "beta two"}
    out = cli("approve", "new", "--dry-run", home=home).out
    assert "Without new the others have room." in out
    assert "memory entry 2: beta two" in out


def test_a_forecast_without_failure_suggests_nothing(cli: Cli, home: Path) -> None:
    queue(home, {"a": add("x"), "p": patch("deploy", "Step one.", "1.")})
    answer = cli("approve", "--all", "--dry-run", "--json", home=home)
    assert answer.code == 0
    found = answer.json["forecast"]
    assert found["first_failure"] is found["better_order"] is found["removal"] is None
    assert found["looked"] is None
    assert not cli.state.exists()


# -- rivals and receipts ---------------------------------------------------------------------------


def test_receipts_say_what_next_and_name_the_rivals(cli: Cli, home: Path) -> None:
    queue(home, {f"r{n}": swap("alpha", f"alpha {n}") for n in range(3)})
    (result,) = cli("approve", "r0", "--json", home=home).json["results"]
    assert result["next"] == (
        "The agent sees it from its next session. 2 rivals wait: `signoff reject r1 r2`."
    )
    (again,) = cli("approve", "r1", "--json", home=home).json["results"]
    assert again["next"] == (
        "The agent sees it from its next session. 1 rival waits: `signoff reject r2`."
    )
    propose(home, "last", remove("nowhere"))
    (failed,) = cli("approve", "last", "--json", home=home).json["results"]
    assert failed["next"] == "It can no longer apply: `signoff reject last`."
    out = cli("reject", "last", home=home).out
    assert "is recognised if it is proposed again" in out
    assert "It waits again: `signoff show last`." in cli("undo", home=home).out


# -- refused before, snoozed -----------------------------------------------------------------------


def test_a_refused_text_that_comes_again_is_recognised(cli: Cli, home: Path) -> None:
    """Issue 4: says when and why it was refused."""
    propose(home, "a", add("Deploys run at noon."))
    number = cli("reject", "a", "--note", "midnight", "--json", home=home).json["results"][0]
    propose(home, "b", add("deploys run at noon."))
    seen = {"at": NOW.isoformat(), "note": "midnight", "entry": number["journal"]}
    assert rows(cli, home)["b"]["refused_before"] == seen
    assert cli("show", "b", "--json", home=home).json["refused_before"] == seen
    assert "Refused before, 2026-11-29, entry 1: midnight" in cli("show", "b", home=home).out
    assert "(refused before, 2026-11-29)" in cli("pending", home=home).out


def test_snoozed_rows_are_hidden_counted_and_skipped(cli: Cli, home: Path) -> None:
    queue(home, {"a": add("x"), "b": add("y")})
    before = tree(home)
    done = cli("snooze", "a", "--until", "7d", "--json", home=home)
    assert (done.code, done.json["until"]) == (0, "2026-12-06T12:00:00+00:00")
    assert tree(home) == before
    assert list(rows(cli, home)) == ["b"]
    assert cli("pending", "--json", home=home).json["snoozed"] == 1
    assert "1 proposal, 1 snoozed." in cli("pending", home=home).out
    both = rows(cli, home, "--snoozed")
    assert both["a"]["snoozed_until"] == "2026-12-06T12:00:00+00:00"
    assert both["b"]["snoozed_until"] is None
    assert cli("status", "--line", home=home).out.endswith(", 1 snoozed\n")
    assert cli("status", "--json", home=home).json["snoozed"] == 1
    dry = cli("approve", "--all", "--dry-run", "--json", home=home).json["results"]
    real = cli("approve", "--all", "--json", home=home).json["results"]
    for results in (dry, real):
        assert [(r["id"], r["category"]) for r in results] == [("a", "snoozed"), ("b", "ok")]
    assert cli("pending", home=home).out.endswith("Nothing waits, 1 snoozed.\n")
    assert cli("snooze", "a", "--wake", home=home).code == 0
    assert list(rows(cli, home)) == ["a"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["a"], 2),
        (["a", "--until", "soon"], 2),
        (["a", "--until", "7d", "--wake"], 2),
        (["a", "--until", "2020-01-01"], 2),
        (["nope", "--until", "7d"], 3),
        (["broken", "--until", "7d"], 1),
        (["a", "--until", "2026-12-24T09:00"], 0),
    ],
)
def test_snooze_words(cli: Cli, home: Path, words: list[str], code: int) -> None:
    queue(home, {"a": add("x")})
    write(home / "pending/memory/broken.json", "{")
    assert cli("snooze", *words, home=home).code == code


# -- the journal -----------------------------------------------------------------------------------


def test_stats_by_origin(cli: Cli, home: Path) -> None:
    for name in ("a", "b", "c"):
        propose(home, name, add(name), origin="background_review")
    assert cli("journal", "--stats", "--json", home=home).json["origins"] == {}
    cli("approve", "a", home=home)
    cli("reject", "b", "c", home=home)
    found = cli("journal", "--stats", "--json", home=home).json["origins"]
    assert found == {
        "background_review": {"approved": 1, "rejected": 2, "rate": pytest.approx(1 / 3)}
    }
    assert "33%" in cli("journal", "--stats", home=home).out
    assert {e["origin"] for e in cli("journal", "--json", home=home).json["entries"]} == {
        "background_review"
    }


def test_the_journal_is_searched(cli: Cli, home: Path) -> None:
    queue(home, {"a": add("Deploys at noon"), "b": add("tea"), "c": add("more tea")})
    cli("approve", "a", "b", "c", home=home)

    def found(*words: str) -> list[str]:
        entries = cli("journal", *words, "--json", home=home).json["entries"]
        return [entry["subject"] for entry in entries]

    assert found("--search", "NOON") == ["a"]
    assert found("--search", "tea") == ["c", "b"]
    assert found("--search", "tea", "--limit", "1") == ["c"]
    assert found("--search", "nothing like it") == []


def test_an_open_entry_is_no_ok_with_nothing_to_say(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by a tester with kill -9, where nothing could be settled yet: what was meant to come
    is not what came."""
    queue(home, {"a": add("x")})
    cli("approve", "a", home=home)
    Journal(cli.state).close(1, State.OPEN, "ok", "")
    monkeypatch.setattr("core.desk.opening.settle", lambda *_: None)
    (line,) = cli("journal", "--json", home=home).json["entries"]
    assert (line["ok"], line["state"], line["category"]) == (False, "open", "torn")
    assert line["message"] == "did not end; the next changing command settles it"
    assert "! open" in (told := cli("journal", home=home).out)
    assert "did not end; the next" in told


def test_an_outside_edit_stands_in_the_journal_with_its_diff(cli: Cli, home: Path) -> None:
    """D11: writes past the gate are shown as external edits, not hidden."""
    queue(home, {"a": add("x")})
    cli("approve", "a", home=home)
    write(home / MEMORY, "the agent wrote this")
    line = cli("journal", "--json", home=home).json["entries"][0]
    assert (line["verb"], line["subject"], line["changed"]) == ("outside", MEMORY, [MEMORY])
    assert "changes" not in line
    (entry,) = cli("journal", str(line["id"]), "--json", home=home).json["entries"]
    (change,) = entry["changes"]
    assert "+the agent wrote this" in change["diff"]
    assert "-alpha one" in change["diff"]
    out = cli("journal", str(line["id"]), home=home).out
    assert "+the agent wrote this" in out
    assert "signoff undo" not in out
    refused = cli("undo", str(line["id"]), "--json", home=home)
    assert refused.code == 2
    assert "another writer" in refused.json["error"]["message"]
    assert cli("journal", "99", home=home).code == 3


def test_hostile_text_of_an_outside_edit_is_drawn_safe(cli: Cli, home: Path) -> None:
    queue(home, {"a": add("x")})
    cli("approve", "a", home=home)
    write(home / MEMORY, "bad \x1b]52;c;AAAA\x07 text")
    out = cli("journal", "2", home=home).out
    assert "\x1b]" not in out
    assert "bad " in out


# -- profiles --------------------------------------------------------------------------------------


def test_all_profiles_are_counted(cli: Cli, home: Path) -> None:
    """D03 and demand 17: every profile, its home said aloud."""
    queue(home, {"a": add("x"), "b": add("y")})
    for name, age in (("work", 3600.0), ("zoo", None)):
        write(home / f"profiles/{name}/config.yaml", "")
        if age is not None:
            propose(home / "profiles" / name, "c", add("z"), age=age)
    found = cli("status", "--all-profiles", "--json", home=home).json["profiles"]
    assert [(p["profile"], p["waiting"]) for p in found] == [
        ("default", 2),
        ("work", 1),
        ("zoo", 0),
    ]
    assert found[1]["home"] == str(home / "profiles/work")
    assert found[1]["oldest_seconds"] == 3600.0
    assert found[2]["oldest_seconds"] is None
    lines = cli("status", "--all-profiles", home=home).out.splitlines()
    assert [line.split()[:3] for line in lines[2:4]] == [
        ["default", "2", "2s"],
        ["work", "1", "1h"],
    ]


def test_a_profile_whose_queue_cannot_be_read_is_unknown_and_not_empty(
    cli: Cli, home: Path
) -> None:
    """HOME of the field reports: null and the reason, never a zero."""
    queue(home, {"a": add("x")})
    write(home / "profiles/work/config.yaml", "")
    (home / "profiles/work/pending").symlink_to("nowhere")
    found = cli("status", "--all-profiles", "--json", home=home).json["profiles"]
    assert [(p["waiting"], p["oldest_seconds"]) for p in found] == [(1, 1.0), (None, None)]
    assert found[0]["trouble"] == []
    assert found[1]["trouble"] == [
        "pending/memory cannot be read: a link to nothing",
        "pending/skills cannot be read: a link to nothing",
    ]
    told = cli("status", "--all-profiles", home=home)
    assert [line.split()[:2] for line in told.out.splitlines()[2:4]] == [
        ["default", "1"],
        ["work", "?"],
    ]
    assert "What waits in work is unknown: pending/memory" in told.err
    assert cli("status", "--all-profiles", "--check", home=home).code == 2
    (home / "profiles/work/pending").unlink()
    assert cli("status", "--all-profiles", "--check", home=home).code == 1


# -- ids -------------------------------------------------------------------------------------------


def test_the_beginning_of_an_id_names_it_where_only_one_begins_so(cli: Cli, home: Path) -> None:
    queue(home, {"c0ffee11": add("x"), "c0ffee22": add("y"), "c0": add("z")})
    assert cli("show", "c0ffee1", "--json", home=home).json["id"] == "c0ffee11"
    refused = cli("approve", "c0ffee", "--json", home=home)
    assert (refused.code, refused.json["error"]["code"]) == (2, "usage")
    assert "c0ffee11, c0ffee22" in refused.json["error"]["hint"]
    done = cli("approve", "c0ffee2", "c0ffee22", "c0", "--json", home=home)
    assert [each["id"] for each in done.json["results"]] == ["c0ffee22", "c0"]
    assert cli("reject", "d0", home=home).code == 3
