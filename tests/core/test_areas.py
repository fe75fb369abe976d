"""Which path of a home belongs to which area, and which to none."""

from __future__ import annotations

import pytest

from core.areas import areas_of, is_entered
from tests.core.watching import IGNORED


@pytest.mark.parametrize(
    ("path", "areas"),
    [
        ("pending/memory/0a0a0a0a.json", "queue"),
        ("pending/skills/b.json", "queue"),
        ("pending/memory/.hidden.json", "queue"),  # the contract counts dot files
        ("pending/memory/.mem_x.json", "queue"),  # and every other name that ends so
        ("pending/memory/odd\nname.json", "queue"),
        ("memories/MEMORY.md", "memory"),
        ("memories/USER.md", "memory"),
        ("config.yaml", "curator memory queue skills"),
        ("skills/ops/deploy/SKILL.md", "skills"),
        ("skills/ops", "skills"),
        ("skills/flat/references/deep/er/a.md", "skills"),
        ("skills/.bundled_manifest", "skills"),
        ("skills/.hub/lock.json", "skills"),
        ("skills/.usage.json", "curator skills"),
        ("skills/.curator_state", "curator"),
        ("skills/.curator_ledger.jsonl", "curator"),
        ("skills/.curator_backups/20261129", "curator"),
        ("skills/.archive/old/SKILL.md", "curator"),
        ("cron/jobs.json", "curator"),
        ("state.db", "sessions"),
        ("state.db-wal", "sessions"),
        ("sessions/67b506f04aa724b1/01a0.jsonl", "sessions"),  # vak spec 1
        ("memory/user/USER.md", "notes"),
        ("memory/67b506f04aa724b1/MEMORY.md", "notes"),
        ("agents/scout/memory/67b506f04aa724b1/MEMORY.md", "notes"),
        ("skill-proposals/67b506f04aa724b1/01a0.md", "queue"),
        ("chroma.sqlite3", "knowledge"),
        ("signoff.sqlite3-wal", "knowledge"),
    ],
)
def test_area_of_a_path(path: str, areas: str) -> None:
    assert " ".join(sorted(areas_of(path))) == areas


@pytest.mark.parametrize("path", IGNORED)
def test_path_without_an_area(path: str) -> None:
    # Approval spec 4.8 item 6, curator spec 2.9, vak spec 11.
    assert areas_of(path) == frozenset()


def test_entered_folders_are_few() -> None:
    assert is_entered("pending/memory")
    assert is_entered("skills/ops/deploy/references")
    assert is_entered("agents/scout/sessions/67b506f04aa724b1")
    assert not is_entered("pending/memory/a.json")
    assert not is_entered("skills/x/node_modules")
    assert not is_entered("skills/.curator_backups/20261129")
    assert not is_entered("logs")
