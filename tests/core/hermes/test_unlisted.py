"""Folders of skills that cannot be listed: what was not found may lie in them."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.homes.hermes.config import Config
from core.homes.hermes.rules import Rules
from core.homes.hermes.skills.tree import find_skill, list_skills, unlisted
from core.homes.hermes.status import Status, status_of
from core.model import Node
from core.view import Disk, Snapshot, Tree, View, holds
from tests.core.grounds import apart
from tests.core.hermes.skill_homes import run, skill

FILES = {
    "skills/probe/SKILL.md": skill("probe"),
    "skills/ops/deploy/SKILL.md": skill("deploy"),
}


class Shut(Tree):
    """A home in which the folder ``shut`` cannot be listed, or its entries not looked at."""

    def __init__(
        self, files: Mapping[str, bytes | Node], shut: str, number: int = errno.EACCES
    ) -> None:
        super().__init__(files)
        self.shut, self.number = shut, number

    def names(self, path: str) -> tuple[str, ...]:
        if path == self.shut or path.startswith(self.shut + "/"):
            raise OSError(self.number, os.strerror(self.number), path)
        return super().names(path)


PAYLOADS: dict[str, dict[str, Any]] = {
    "patch": {"name": "deploy", "old_string": "# Body", "new_string": "# New"},
    "edit": {"name": "deploy", "content": skill("deploy").decode()},
    "write_file": {"name": "deploy", "file_path": "assets/a", "file_content": "x"},
    "remove_file": {"name": "deploy", "file_path": "assets/a"},
    "delete": {"name": "deploy"},
    "create": {"name": "deploy", "content": skill("deploy").decode()},
}


@pytest.mark.parametrize("action", PAYLOADS)
@pytest.mark.parametrize("shut", ["skills", "skills/ops", "skills/ops/deploy"])
def test_a_skill_that_may_lie_there_is_unreadable(action: str, shut: str) -> None:
    outcome = run(View(Shut(FILES, shut)), action=action, **PAYLOADS[action])
    assert (outcome.category, outcome.changes) == ("unreadable_target", ())
    assert outcome.message.startswith(f"{shut} cannot be listed: permission denied")
    assert status_of(outcome) is Status.UNREADABLE


def test_a_batch_is_no_way_around() -> None:
    operations = [{"action": "patch", **PAYLOADS["patch"]}]
    view = View(Shut(FILES, "skills/ops"))
    outcome = run(view, None, Rules.NEWEST, action="batch", operations=operations)
    assert outcome.category == "unreadable_target"


def test_what_is_found_elsewhere_is_judged_as_ever() -> None:
    view = View(Shut(FILES, "skills/ops"))
    payload = {**PAYLOADS["patch"], "name": "probe"}
    assert run(view, action="patch", **payload).category == "ok"
    assert "unlisted" not in [fact.kind for fact in view.facts]


def test_a_successor_may_lie_there_too() -> None:
    view = View(Shut(FILES, "skills/ops"))
    outcome = run(view, action="delete", name="probe", absorbed_into="deploy")
    assert outcome.category == "unreadable_target"
    assert "its successor may lie there" in outcome.message


def test_the_answer_is_sealed_so_that_an_opened_folder_is_noticed() -> None:
    view = View(Snapshot(Shut(FILES, "skills/ops")))
    run(view, action="patch", **PAYLOADS["patch"])
    assert all(holds(fact, View(Shut(FILES, "skills/ops"))) for fact in view.facts)
    assert not all(holds(fact, View(Tree(FILES))) for fact in view.facts)


def test_entries_that_may_not_be_looked_at_count_as_well() -> None:
    """Mode 0400: the names can be read, what they are cannot."""

    class Blind(Tree):
        def node(self, path: str, *, data: bool) -> Node | None:
            if path.startswith("skills/"):
                raise PermissionError(errno.EACCES, "Permission denied", path)
            return super().node(path, data=data)

    view = View(Blind(FILES))
    assert find_skill(view, "deploy", Config(), Rules.V0_19) is None
    assert unlisted(view, Config(), Rules.V0_19) == "skills cannot be listed: permission denied"


def test_no_folder_of_skills_hides_nothing(tmp_path: Path) -> None:
    def said() -> str:
        return unlisted(View(Disk(tmp_path)), Config(), Rules.V0_19)

    assert said() == ""
    (tmp_path / "skills").symlink_to("nowhere")
    assert said() == "skills cannot be listed: a link to nothing"
    (tmp_path / "nowhere").mkdir()
    assert said() == ""


def test_several_are_counted() -> None:
    files = {**FILES, "skills/z/x/SKILL.md": skill("x")}

    class Two(Tree):
        def names(self, path: str) -> tuple[str, ...]:
            if path in ("skills/ops", "skills/z"):
                raise OSError(errno.EIO, "Input/output error", path)
            return super().names(path)

    said = unlisted(View(Two(files)), Config(), Rules.NEWEST)
    assert said == "skills/ops and 1 more cannot be listed: input/output error"


def test_a_folder_that_may_be_listed_and_not_entered_is_said_of_a_disk_read_once() -> None:
    with apart() as place:
        for path, data in FILES.items():
            (place.root / path).parent.mkdir(parents=True)
            (place.root / path).write_bytes(data)
        (place.root / "skills/ops").chmod(0o744)

        def look() -> list[str]:
            plain, once = (View(source) for source in (Disk(place.root), read_once(place.root)))
            return [unlisted(view, Config(), Rules.V0_19) for view in (plain, once)]

        seen = place.unprivileged(look)
        (place.root / "skills/ops").chmod(0o755)
    assert seen == ["skills/ops cannot be listed: permission denied"] * 2


def test_a_disk_read_once_has_the_same_skills(tmp_path: Path) -> None:
    for path, data in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "elsewhere/x").mkdir(parents=True)
    (tmp_path / "elsewhere/x/SKILL.md").write_bytes(skill("x"))
    (tmp_path / "skills/linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (tmp_path / "skills/file").write_bytes(b"")
    config = Config()
    for rules in Rules:
        plain = list_skills(View(Disk(tmp_path)), config, rules)
        once = list_skills(View(read_once(tmp_path)), config, rules)
        assert {each.folder for each in once} == {"skills/probe", "skills/ops/deploy"}
        assert once == plain


def read_once(root: Path) -> Snapshot:
    return Snapshot(Disk(root))


def test_a_skill_that_may_be_listed_and_not_entered_hides_nothing(tmp_path: Path) -> None:
    """It holds no folder, so no skill either; a plan made of one look holds on the next."""
    with apart() as place:
        folder = place.root / "skills/ops/deploy"
        (folder / "references").mkdir(parents=True)
        (folder / "SKILL.md").write_bytes(skill("deploy"))
        folder.chmod(0o744)

        def look() -> list[str]:
            views = [View(source) for source in (Disk(place.root), read_once(place.root))]
            found = [find_skill(view, "deploy", Config(), Rules.V0_19) for view in views]
            return [str(each) for each in found] + [
                unlisted(view, Config(), Rules.V0_19) for view in views
            ]

        seen = place.unprivileged(look)
        folder.chmod(0o755)
    assert seen == ["skills/ops/deploy", "skills/ops/deploy", "", ""]
