"""Archived, restored, taken back: the same bytes, modes, place, row and pin (It shows 2)."""

from __future__ import annotations

import json
import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from core.desk import skill_table
from core.desk import skills as desk
from core.homes.hermes.skills import usage
from tests.core.grounds import tree
from tests.core.hermes.curator.desks import done, home_on, sample_on, undone
from tests.core.hermes.curator.homes import NOW, row, rows, small
from tests.core.hermes.skill_homes import skill

REFUSED = {
    "SQL Explain Helper": "hub_installed",
    "csv-profiler": "hub_installed",
    "plan": "protected_builtin",
    "team-oncall": "external_read_only",
    "disk-pressure-runbook": "pinned",
}
#: Their names are taken in the archive already: what was archived gets a stamp.
STAMPED = {"git-bisect-helper", "twin-name"}


def test_every_skill_of_the_sample_home_comes_back(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    root = opened.found.home
    before = tree(root)
    assert len(skill_table.board(opened).rows) == 39
    for line in skill_table.board(opened).rows:
        named, folder = line.skill.name, line.skill.folder
        planned = desk.archive(opened, named)
        if named in REFUSED:
            assert planned.plan.outcome.category == REFUSED[named]
            assert not desk.carry_out(opened, planned).ok
            assert tree(root) == before
            continue
        done(opened, planned)
        (kept,) = planned.moved.values()
        assert (kept.rpartition("/")[2] == line.skill.named) is (named not in STAMPED)
        assert kept.removeprefix("skills/.archive/") in {
            each.package.folder
            for each in skill_table.board(opened).archived
            if each.original_path == folder
        }
        back = desk.restore(opened, kept, folder)
        done(opened, back)
        assert back.moved == {kept: folder}
        now = tree(root)
        moved_back = {path: node for path, node in now.items() if path.startswith(f"{folder}/")}
        assert moved_back == {p: n for p, n in before.items() if p.startswith(f"{folder}/")}
        undone(opened, 2)
        assert tree(root) == before, named


def test_the_default_place_and_undo_of_each(tmp_path: Path) -> None:
    opened = sample_on(tmp_path)
    root = opened.found.home
    before = tree(root)
    done(opened, desk.archive(opened, "flaky-test-hunt"))
    archived = tree(root)
    planned = desk.restore(opened, "flaky-test-hunt")
    done(opened, planned)
    assert planned.moved == {"skills/.archive/flaky-tests": "skills/flaky-tests"}
    held = json.loads((root / usage.PATH).read_bytes())
    assert (held["flaky-test-hunt"]["state"], "flaky-tests" in held) == ("active", False)
    undone(opened)
    assert tree(root) == archived
    undone(opened)
    assert tree(root) == before


ODD = {
    "twins": ("skills/a/twin/SKILL.md", "skills/b/twin/SKILL.md"),
    "nested": ("skills/ops/deep/er/probe-2/SKILL.md",),
    "spaces": ("skills/ops/with two words/SKILL.md",),
    "digit": ("skills/7-zip/SKILL.md",),
    "signs": ("skills/ops/ünï-☃/SKILL.md",),
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("kind", ["right", "malformed", "headless", "row_is_odd"])
def test_odd_places_and_heads_come_back(tmp_path: Path, case: str, kind: str) -> None:
    paths = ODD[case]
    folder = paths[0].removesuffix("/SKILL.md")
    own = folder.rpartition("/")[2]
    text = {
        "right": skill(own),
        "malformed": f"---\nname: {own}\ndescription: [open\n---\n\nbody\n".encode(),
        "headless": b"only prose\n",
        "row_is_odd": skill(own),
    }[kind]
    held = {own: "seen" if kind == "row_is_odd" else row(pinned=False), "probe": row()}
    files = small(**{usage.PATH: json.dumps(held).encode()})
    files |= dict.fromkeys(paths, text)
    files[f"{folder}/scripts/run.sh"] = b"#!/bin/sh\n"
    opened = home_on(tmp_path, files)
    root = opened.found.home
    (root / folder / "scripts/run.sh").chmod(0o750)
    before = tree(root)
    if case == "twins":
        assert desk.archive(opened, own).plan.outcome.category == "ambiguous"
    planned = desk.archive(opened, folder)
    done(opened, planned)
    assert planned.moved == {folder: f"skills/.archive/{own}"}
    back = desk.restore(opened, own, folder)
    if case == "twins":
        assert back.plan.outcome.category == "destination_exists"
    else:
        done(opened, back)
        assert tree(root).keys() == before.keys() | {"skills/.archive"}
        undone(opened)
    undone(opened)
    assert tree(root) == before


def test_a_collision_gets_a_stamp_and_the_copy_just_archived_is_the_one_named(
    tmp_path: Path,
) -> None:
    """Spec 4.6 and 4.7: two collisions within a second stand side by side."""
    files = small(
        **{
            "skills/.archive/probe/SKILL.md": skill("probe", "oldest\n"),
            "skills/.archive/probe-20261101000000/SKILL.md": skill("probe", "older\n"),
        }
    )
    opened = home_on(tmp_path, files)
    before = tree(opened.found.home)
    planned = desk.archive(opened, "probe")
    done(opened, planned)
    kept = "skills/.archive/probe-20261101000001"
    assert planned.moved == {"skills/ops/probe": kept}
    listed = {e.package.folder: e.archived_at for e in skill_table.board(opened).archived}
    # The row's time is that of the last one, not of the one without a stamp.
    assert listed == {
        "probe": None,
        "probe-20261101000000": NOW,
        "probe-20261101000001": NOW + timedelta(seconds=1),
    }
    oldest = desk.restore(opened, "probe")
    assert oldest.moved == {"skills/.archive/probe": "skills/probe"}
    newer, others = oldest.plan.outcome.findings[:2]
    assert newer.message == (
        "It is not the newest copy: probe-20261101000001 was archived after it."
    )
    assert others.code == "other_copies"
    done(opened, desk.restore(opened, "probe-20261101000001"))
    assert (opened.found.home / "skills/probe/SKILL.md").read_bytes() == skill("probe")
    undone(opened, 2)
    assert tree(opened.found.home) == before


def test_a_pin_survives_the_way_there_and_back(tmp_path: Path) -> None:
    opened = home_on(tmp_path, small())
    done(opened, desk.archive(opened, "probe"))
    done(opened, desk.restore(opened, "probe", pin=True))
    held = json.loads((opened.found.home / usage.PATH).read_bytes())["probe"]
    assert (held["state"], held["pinned"], held["archived_at"]) == ("active", True, None)
    assert held["last_used_at"] == "2026-02-01T00:00:00+00:00"
    undone(opened, 2)
    held = json.loads((opened.found.home / usage.PATH).read_bytes())["probe"]
    assert (held["state"], held["pinned"]) == ("active", False)


def test_a_plan_that_no_longer_holds_is_not_carried_out(tmp_path: Path) -> None:
    """Spec 7.1: apply refuses if the home changed since."""
    opened = home_on(tmp_path, small())
    root = opened.found.home
    planned = desk.curate(opened)
    held = json.loads((root / usage.PATH).read_bytes())
    held["probe"]["use_count"] += 1
    (root / usage.PATH).write_text(json.dumps(held))
    assert desk.carry_out(opened, planned).ok, "a counter alone changes nothing of it"
    undone(opened)
    planned = desk.curate(opened)
    held["probe"]["last_used_at"] = "2026-10-31T00:00:00+00:00"
    (root / usage.PATH).write_text(json.dumps(held))
    receipt = desk.carry_out(opened, planned)
    assert (receipt.ok, receipt.category) == (False, "moved")
    assert (root / "skills/ops/probe/SKILL.md").exists()


def test_another_run_holds_its_claim_and_an_old_one_is_taken_over(tmp_path: Path) -> None:
    """Spec 4.2: newer agents claim a run; one of more than an hour is left behind."""
    opened = home_on(tmp_path, small())
    root = opened.found.home
    claim = root / "skills/.locks/curator-run"
    claim.parent.mkdir()
    claim.write_text("12345")
    before = tree(root)
    receipt = desk.carry_out(opened, desk.curate(opened))
    assert (receipt.ok, receipt.category) == (False, "locked")
    assert tree(root) == before
    old = time.time() - 3700
    os.utime(claim, (old, old))
    done(opened, desk.curate(opened))
    assert not claim.exists()
    assert (root / "skills/.archive/probe/SKILL.md").exists()
    assert (root / usage.LOCK).exists()


def test_curate_takes_a_disabled_curator_at_its_word(tmp_path: Path) -> None:
    """Spec 4.2: a manual run goes past pause and interval, not past ``enabled: false``."""
    files = small(**{"config.yaml": b"curator: {enabled: false}\n", usage.PATH: rows(probe=row())})
    opened = home_on(tmp_path, files)
    planned = desk.curate(opened)
    assert planned.plan.outcome.category == "invalid"
    assert planned.prediction is not None
    assert [line.name for line in planned.prediction.transitions] == ["probe"]
    paused = home_on(tmp_path / "two", small())
    done(paused, desk.pause(paused))
    done(paused, desk.curate(paused))


def test_a_home_below_a_folder_called_venv_has_its_skills(tmp_path: Path) -> None:
    """Deviation, spec 1.2: the agent finds none there, so nothing could be archived."""
    (tmp_path / "venv/node_modules").mkdir(parents=True)
    opened = home_on(tmp_path / "venv/node_modules", small())
    assert [line.skill.name for line in skill_table.board(opened).rows] == ["probe"]
    done(opened, desk.archive(opened, "probe"))
    assert (opened.found.home / "skills/.archive/probe/SKILL.md").exists()


def test_a_swap_moves_both_and_undo_brings_both_back(tmp_path: Path) -> None:
    """Spec 7.6: the live one goes to the archive first."""
    opened = sample_on(tmp_path)
    root = opened.found.home
    before = tree(root)
    beside = desk.compare(opened, "twin-name")
    assert beside is not None
    assert (beside.live, [change.path for change in beside.files]) == (
        "skills/data/twin-name",
        ["SKILL.md"],
    )
    planned = desk.swap(opened, "twin-name")
    done(opened, planned)
    assert planned.moved == {
        "skills/data/twin-name": "skills/.archive/twin-name-20261101000000",
        "skills/.archive/twin-name": "skills/data/twin-name",
    }
    live = root / "skills/data/twin-name/SKILL.md"
    assert live.read_bytes() == before["skills/.archive/twin-name/SKILL.md"][2]
    undone(opened)
    assert tree(root) == before
    assert desk.swap(opened, "old-scraper").plan.outcome.category == "skill_not_found"
    assert desk.swap(opened, "csv-profiler").plan.outcome.category == "hub_installed"


def test_a_file_edited_by_hand_keeps_its_mode_and_is_judged(tmp_path: Path) -> None:
    """Spec 2.4: the frontmatter is checked, the executable bit stays."""
    opened = sample_on(tmp_path)
    root = opened.found.home
    before = tree(root)
    script = "scripts/first_failure.sh"
    done(opened, desk.edit(opened, "docker-compose-debug", "#!/bin/sh\nexit 1\n", script))
    written = root / "skills/devops/docker-compose-debug" / script
    assert (written.read_text(), written.stat().st_mode & 0o777) == ("#!/bin/sh\nexit 1\n", 0o755)
    undone(opened)
    assert tree(root) == before
    for text, path, category in (
        ("garbage", "SKILL.md", "invalid_frontmatter"),
        ("x", "../outside", "path_traversal"),
        ("x", "scripts/new.sh", "file_not_found"),
        ("x", "notes.md", "path_not_allowed"),
    ):
        planned = desk.edit(opened, "docker-compose-debug", text, path)
        assert planned.plan.outcome.category == category
    assert desk.edit(opened, "team-oncall", "x").plan.outcome.category == "external_read_only"


def test_a_folder_whose_name_is_no_text_goes_and_comes_back_without_a_row(tmp_path: Path) -> None:
    opened = home_on(tmp_path, small())
    root = opened.found.home
    name = os.fsdecode(b"bad\xff")
    (root / "skills" / name).mkdir()
    (root / "skills" / name / "SKILL.md").write_text("no head\n")
    before = tree(root)
    assert desk.pin(opened, name).plan.outcome.category == "unreadable_target"
    planned = desk.archive(opened, name)
    done(opened, planned)
    assert planned.rows == {}
    assert [found.code for found in planned.plan.outcome.findings] == ["row_not_understood"]
    done(opened, desk.restore(opened, name))
    undone(opened, 2)
    assert tree(root) == before
