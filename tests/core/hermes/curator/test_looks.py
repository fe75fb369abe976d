"""What a skill's page needs beside itself, and several skills decided as one step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.desk import skills as desk
from core.desk.skill_looks import contents, counts, decisions, row_of, stored_text
from core.desk.skill_steps import Step, in_one_step
from core.desk.skill_table import board
from core.errors import UnreadableError
from tests.core.desks import open_on
from tests.core.grounds import tree
from tests.core.hermes.curator.desks import done, sample_on, undone


def test_counts_come_from_the_snapshots_oldest_first(tmp_path: Path) -> None:
    found = counts(sample_on(tmp_path))
    assert [f"{each.at:%Y-%m-%d}" for each in found] == ["2026-10-18", "2026-10-25"]
    assert found[1].uses["nginx-tls-renewal"] >= found[0].uses["nginx-tls-renewal"] > 0


def test_a_broken_snapshot_is_left_out(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    backups = opened.found.home / "skills/.curator_backups"
    (backups / "2026-10-18T03-00-00Z/skills.tar.gz").write_bytes(b"no tarball")
    assert [f"{each.at:%Y-%m-%d}" for each in counts(opened)] == ["2026-10-25"]


def test_contents_are_those_of_the_folder_named_not_of_a_live_namesake(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    held = contents(opened, "skills/.archive/twin-name")
    assert "# Twin (archived)" in held.text
    assert [each.path for each in held.files] == ["SKILL.md"]


def test_stored_text_is_whole_and_never_guessed(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    path = opened.found.home / "skills/zulu-clock/SKILL.md"
    path.write_bytes(b"---\r\nname: zulu-clock\r\n---\r\n")
    assert stored_text(opened, "skills/zulu-clock") == "---\r\nname: zulu-clock\r\n---\r\n"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(UnreadableError, match=r"no UTF-8 text \(byte 3\)"):
        stored_text(opened, "skills/zulu-clock")
    path.unlink()
    with pytest.raises(UnreadableError, match="it is not there"):
        stored_text(opened, "skills/zulu-clock")


def test_a_row_that_is_no_object_is_none(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    assert row_of(opened, "nginx-tls-renewal")["use_count"] == 6
    assert row_of(opened, "corrupt-row") == {}


def test_why_a_skill_was_archived_is_said_with_it(tmp_path: Path) -> None:
    """Spec 7.3: the agent keeps no reason; the journal does."""
    opened = sample_on(tmp_path)
    desk.carry_out(opened, desk.archive(opened, "zulu-clock"), note="no cluster any more")
    (found,) = decisions(opened, "skills/.archive/zulu-clock", {"zulu-clock"})
    assert found.text.endswith("Note: no cluster any more")


def test_decisions_are_found_by_place_and_by_name(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    done(opened, desk.pin(opened, "zulu-clock"))
    done(opened, desk.unpin(opened, "zulu-clock"))
    done(opened, desk.archive(opened, "zulu-clock"))
    done(opened, desk.pin(opened, "nginx-tls-renewal"))
    undone(opened, 2)
    found = decisions(opened, "skills/zulu-clock", {"zulu-clock"})
    verbs = [event.text.partition(":")[0] for event in found]
    assert verbs[-3:] == ["archive", "unpin", "pin"]
    assert "(undone by " in found[-3].text
    assert not any("nginx" in event.text for event in found)


def test_several_are_one_bulk_step_and_one_that_changed_is_left_alone(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    home = opened.found.home
    before = tree(home)
    names = ("zulu-clock", "git-bisect-helper", "incident-timeline")
    steps = [
        Step(desk.archive(opened, name), lambda o, name=name: desk.archive(o, name))  # type: ignore[misc]
        for name in names
    ]
    rows = home / "skills/.usage.json"
    found = json.loads(rows.read_text())
    found["git-bisect-helper"]["pinned"] = True
    rows.write_text(json.dumps(found, indent=2, sort_keys=True))
    receipts = list(in_one_step(opened, steps))
    assert [receipt.category for receipt in receipts] == ["archived", "moved", "archived"]
    assert receipts[1].message.endswith("changed since it was shown; nothing was written")
    assert len({receipt.bulk for receipt in receipts if receipt.ok}) == 1
    assert (home / "skills/git-bisect-helper/SKILL.md").is_file()
    undone(opened, 2)
    assert {k: v for k, v in tree(home).items() if "usage" not in k} == {
        k: v for k, v in before.items() if "usage" not in k
    }


def test_the_table_says_what_the_next_run_makes_of_each(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    shown = {row.skill.name: row.becomes for row in board(opened).rows}
    predicted = desk.curate(opened).prediction
    assert predicted is not None
    assert {k: v for k, v in shown.items() if v} == {
        each.name: each.to for each in predicted.transitions
    }
    assert len(predicted.transitions) > 5


def test_rows_that_cannot_be_read_are_said_with_the_table(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    assert board(opened).blocked == ""
    (opened.found.home / "skills/.usage.json").write_text("[]")
    assert board(open_on(opened.found.home, tmp_path / "state", opened.clock)).blocked != ""


def test_what_a_plan_rests_on_is_called_by_words_or_by_a_path(tmp_path: Path) -> None:
    """It is named when it changed meanwhile: a key that only signoff reads is no name."""
    opened = sample_on(tmp_path)
    plans = [
        desk.pin(opened, "zulu-clock"),
        desk.archive(opened, "k8s-rollout-recovery"),
        desk.restore(opened, "retired"),
        desk.adopt_all(opened),
        desk.curate(opened),
        desk.rollback(opened, None),
        desk.edit(opened, "zulu-clock", "---\nname: zulu-clock\ndescription: x\n---\n\nbody\n"),
    ]
    facts = [fact for planned in plans for fact in planned.plan.facts]
    assert {fact.kind for fact in facts} > {"curator-pass", "curator-skill"}
    assert [fact.shown for fact in facts if fact.shown.startswith(("[", "{"))] == []
