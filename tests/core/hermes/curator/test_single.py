"""One skill out of a snapshot (spec 7.12): it comes back to its place, all else stays."""

from __future__ import annotations

import json
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.desk import skills as desk
from core.errors import NotFoundError
from core.homes.hermes.config import Config
from core.homes.hermes.curator.single import plan_single
from core.homes.hermes.skills import usage
from core.model import Change, RowEdit
from tests.core.grounds import tree
from tests.core.hermes.curator.desks import done, home_on, undone
from tests.core.hermes.curator.homes import NOW, codes, row, rows, small, terms, view
from tests.core.hermes.curator.test_snapshots import ID, kept, member, packed
from tests.core.hermes.skill_homes import skill

OLD: dict[str, Any] = {
    "ops/probe/SKILL.md": skill("probe", "# As it was"),
    "ops/probe/scripts/run.sh": b"#!/bin/sh\n",
    "data/gone/SKILL.md": skill("gone"),
    "data/gone/references/old/SKILL.md": skill("old"),
    ".archive/kept/SKILL.md": skill("kept"),
    usage.PATH.removeprefix("skills/"): rows(probe=row(use_count=3), gone=row(use_count=9)),
}


def home(**files: Any) -> dict[str, Any]:
    return kept(packed(OLD), **files)


def test_a_skill_that_is_gone_comes_back_to_its_place_with_its_row(tmp_path: Path) -> None:
    opened = home_on(tmp_path, home())
    before = tree(opened.found.home)
    receipt = done(opened, desk.single(opened, ID, "gone"))
    assert receipt.category == "restored"
    root = opened.found.home / "skills"
    assert (root / "data/gone/SKILL.md").read_bytes() == OLD["data/gone/SKILL.md"]
    assert (root / "data/gone/references/old/SKILL.md").exists()
    held = json.loads((root / ".usage.json").read_bytes())
    assert (held["gone"]["use_count"], held["probe"]) == (9, row())
    undone(opened)
    assert tree(opened.found.home) == before


def test_a_live_skill_gets_its_content_and_keeps_its_counts(tmp_path: Path) -> None:
    files = home(
        **{
            "skills/ops/probe/references/new.md": b"later\n",
            usage.PATH: rows(probe=row(use_count=8, pinned=True)),
        }
    )
    opened = home_on(tmp_path, files)
    before = tree(opened.found.home)
    usage_before = (opened.found.home / usage.PATH).read_bytes()
    planned = desk.single(opened, None, "skills/ops/probe")
    assert codes(planned.plan.outcome) == ["files", "files_go"]
    done(opened, planned)
    root = opened.found.home / "skills/ops/probe"
    assert (root / "SKILL.md").read_bytes() == OLD["ops/probe/SKILL.md"]
    assert (root / "scripts/run.sh").read_bytes() == OLD["ops/probe/scripts/run.sh"]
    assert not (root / "references").exists()
    assert (opened.found.home / usage.PATH).read_bytes() == usage_before
    again = desk.single(opened, ID, "probe")
    assert (again.plan.outcome.category, again.plan.changes) == ("noop", ())
    undone(opened)
    assert tree(opened.found.home) == before


def test_a_row_that_says_archived_is_live_again() -> None:
    archived = row(state="archived", archived_at=NOW.isoformat(), use_count=12)
    seen = view(home(**{usage.PATH: rows(gone=archived)}))
    outcome = plan_single(seen, terms(seen), ID, "data/gone")
    edits = {e.field: e.new for e in outcome.changes if isinstance(e, RowEdit) and e.key == "gone"}
    assert edits == {"state": "active", "archived_at": None}


@pytest.mark.parametrize(
    ("token", "files", "category"),
    [
        ("nobody", {}, "skill_not_found"),
        ("kept", {}, "skill_not_found"),
        ("old", {}, "skill_not_found"),
        ("references", {}, "skill_not_found"),
        ("gone", {"skills/x/SKILL.md": skill("gone")}, "destination_exists"),
        ("gone", {"skills/data/gone/notes.md": b"x"}, "destination_exists"),
        ("gone", {"skills/data": b"no folder"}, "unsafe_target"),
        ("gone", {"skills/data/SKILL.md": skill("data")}, "unsafe_target"),
        (
            "gone",
            {"skills/.hub/lock.json": b'{"installed": {"gone": {}}}'},
            "name_is_hub_installed",
        ),
        ("probe", {"skills/.hub/lock.json": b'{"installed": {"probe": {}}}'}, "hub_installed"),
        ("probe", {"skills/ops/probe/more/SKILL.md": skill("more")}, "unsafe_target"),
        ("probe", {"skills/ops/probe/scripts": b"a file"}, "unsafe_target"),
        ("gone", {usage.PATH: b"{"}, "unreadable_target"),
    ],
)
def test_what_a_restore_would_refuse_is_refused(
    token: str, files: dict[str, Any], category: str
) -> None:
    seen = view(home(**files))
    outcome = plan_single(seen, terms(seen), ID, token)
    assert (outcome.category, outcome.changes) == (category, ())


def test_a_name_that_two_folders_had_is_told_by_its_path() -> None:
    twice = packed({"a/x/SKILL.md": skill("x"), "b/x/SKILL.md": skill("x")})
    seen = view(kept(twice))
    assert plan_single(seen, terms(seen), ID, "x").category == "ambiguous"
    for token in ("b/x", "skills/b/x"):
        outcome = plan_single(seen, terms(seen), ID, token)
        made = [c.path for c in outcome.changes if isinstance(c, Change) and c.after]
        assert made == ["skills/b", "skills/b/x", "skills/b/x/SKILL.md"]


def test_an_external_folder_below_skills_is_left_alone() -> None:
    seen = view(home())
    judged = replace(terms(seen), config=Config(external_dirs=("skills/data",)))
    assert plan_single(seen, judged, ID, "gone").category == "external_read_only"


def test_a_link_that_comes_back_is_said() -> None:
    linked = OLD | {"data/gone/etc": member("data/gone/etc", tarfile.SYMTYPE, "/etc")}
    seen = view(kept(packed(linked)))
    assert codes(plan_single(seen, terms(seen), ID, "gone")) == ["links"]


def test_a_snapshot_that_is_not_there() -> None:
    seen = view(small())
    with pytest.raises(NotFoundError):
        plan_single(seen, terms(seen), ID, "probe")
