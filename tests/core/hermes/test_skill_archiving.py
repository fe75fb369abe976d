"""A delete that cannot become a move to the archive asks first, and ``--all`` leaves it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.desk.decide import Request
from core.homes.hermes.config import Config
from core.homes.hermes.status import Status, status_of
from core.model import Node, NodeKind, Outcome, Severity
from core.view import Tree, View
from tests.core.desks import approve, make_home, open_on, propose, write
from tests.core.hermes.skill_homes import guarded, home, link, skill, written

DELETE = {"action": "delete", "name": "deploy"}


def severity(outcome: Outcome) -> Severity:
    return next(f for f in outcome.findings if f.code == "guard_archive").severity


@pytest.mark.parametrize("place", [b"a file", link("../elsewhere"), Node(NodeKind.OTHER)])
def test_without_an_archive_a_delete_for_good_asks(place: bytes | Node) -> None:
    view = home(**{"skills/.archive": place})
    outcome = guarded(view, action="delete", name="probe")
    assert written(outcome) == {"skills/probe/SKILL.md": None}
    assert (severity(outcome), status_of(outcome)) == (Severity.WARNING, Status.ATTENTION)
    alone = guarded(view, off=frozenset({"archive"}), action="delete", name="probe")
    assert status_of(alone) is Status.READY


def test_an_archive_that_may_not_be_entered_is_none() -> None:
    """Every place in it looks taken: a free one is not sought for ever."""

    class Shut(Tree):
        def node(self, path: str, *, data: bool) -> Node | None:
            if path.startswith("skills/.archive/"):
                raise PermissionError(13, "Permission denied", path)
            return super().node(path, data=data)

    tree = Shut({"skills/probe/SKILL.md": skill("probe"), "skills/.archive": Node(NodeKind.DIR)})
    outcome = guarded(View(tree), action="delete", name="probe")
    assert written(outcome) == {"skills/probe/SKILL.md": None}
    assert status_of(outcome) is Status.ATTENTION


@pytest.mark.parametrize("external", ["/ext", "skills/mounted"])
def test_an_external_skill_asks_too(external: str) -> None:
    view = home(**{f"{external}/tool/SKILL.md": skill("tool")})
    outcome = guarded(view, Config(external_dirs=(external,)), action="delete", name="tool")
    assert (severity(outcome), status_of(outcome)) == (Severity.WARNING, Status.ATTENTION)


def test_a_skill_that_can_be_archived_asks_nothing() -> None:
    outcome = guarded(home(), action="delete", name="probe")
    assert (severity(outcome), status_of(outcome)) == (Severity.INFO, Status.READY)


def test_all_leaves_it_and_naming_it_is_the_answer(tmp_path: Path) -> None:
    root = make_home(tmp_path / "home")
    propose(root, "gone", DELETE)
    (root / "skills/.archive").symlink_to(tmp_path)
    opened = open_on(root, tmp_path / "state")
    (skipped,) = approve(opened, Request(None))
    assert (skipped.ok, skipped.category) == (False, "guard_archive")
    assert (root / "skills/ops/deploy/SKILL.md").exists()
    (done,) = approve(opened, Request(("gone",)))
    assert (done.ok, (root / "skills/ops/deploy").exists()) == (True, False)


def test_all_never_deletes_a_skill_whose_pin_cannot_be_read(tmp_path: Path) -> None:
    root = make_home(tmp_path / "home")
    propose(root, "gone", DELETE)
    write(root / "skills/.usage.json", json.dumps({"deploy": {"pinned": True}})[:-1])
    opened = open_on(root, tmp_path / "state")
    for request in (Request(None), Request(("gone",))):
        (refused,) = approve(opened, request)
        assert (refused.ok, refused.category) == (False, "unreadable_target")
    assert (root / "skills/ops/deploy/SKILL.md").exists()
    (alone,) = approve(opened, Request(("gone",), as_agent=True))
    assert alone.ok
    assert not (root / "skills/ops/deploy").exists()
