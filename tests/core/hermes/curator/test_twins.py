"""Several folders of one name, and skills that nobody manages: what is said and done of each."""

from __future__ import annotations

from pathlib import Path

from core.desk import skill_table
from core.homes.hermes.curator.pinning import plan_adopt_all
from core.homes.hermes.skills import usage
from tests.core.hermes.curator.desks import home_on
from tests.core.hermes.curator.homes import (
    changed_rows,
    codes,
    config,
    row,
    rows,
    sample,
    small,
    terms,
    view,
)
from tests.core.hermes.skill_homes import skill


def test_each_of_twins_is_said_its_own_future(tmp_path: Path) -> None:
    """Spec 4.4: a run takes the first folder of a name; the others stay for ever."""
    files = {
        "config.yaml": config(more="_config_version: 44\n"),
        "skills/ops/probe/SKILL.md": skill("probe"),
        "skills/data/probe/SKILL.md": skill("probe"),
        usage.PATH: rows(probe=row()),
    }
    board = skill_table.board(home_on(tmp_path, files))
    assert {each.skill.folder: each.next for each in board.rows} == {
        "skills/data/probe": "skills/ops/probe has the same name, and only one row for both",
        "skills/ops/probe": "a run takes skills/data/probe for that name, and never looks here",
    }
    assert {each.forecast.archive_on for each in board.rows} == {None}


def test_adopting_all_says_when_nobody_knows_whose_they_are() -> None:
    """Spec 1.8: a hub's lock file that cannot be read makes nothing the curator's."""
    seen = view(sample(**{"skills/.hub/lock.json": b"{"}))
    outcome = plan_adopt_all(seen, terms(seen))
    assert (outcome.category, outcome.changes) == ("unreadable_target", ())


def test_adopting_all_takes_a_row_of_twins_once() -> None:
    twin = {
        "skills/data/probe/SKILL.md": skill("probe"),
        usage.PATH: rows(probe=row(created_by=None)),
    }
    seen = view(small(**twin))
    outcome = plan_adopt_all(seen, terms(seen))
    assert changed_rows(seen, outcome)["probe"]["created_by"] == [None, "agent"]
    assert codes(outcome).count("duplicate_name") == 2
