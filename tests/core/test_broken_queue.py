"""A folder of the queue that cannot be read: what waits there is unknown, never "nothing"."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from core.desk.decide import Request
from core.desk.forecast import forecast
from core.errors import NotFoundError
from core.homes.hermes.pending import read_queue
from core.model import Node, NodeKind, Receipt
from core.view import Disk, Tree
from tests.core.desks import add, approve, make_home, open_on, propose, reject


def _file(folder: Path) -> None:
    folder.write_text("")


def _dangling(folder: Path) -> None:
    folder.symlink_to("nowhere")


def _dangling_above(folder: Path) -> None:
    folder.parent.rmdir()
    folder.parent.symlink_to("nowhere")


BREAKS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a file in its place": (_file, "not a directory"),
    "a link to nothing": (_dangling, "a link to nothing"),
    "a link to nothing above it": (_dangling_above, "a link to nothing"),
}


def broken_home(tmp_path: Path, how: str) -> Path:
    """A home whose ``pending/memory`` cannot be read."""
    root = make_home(tmp_path / "home")
    (root / "pending").mkdir()
    BREAKS[how][0](root / "pending/memory")
    return root


@pytest.mark.parametrize("how", BREAKS)
def test_a_link_to_nothing_is_broken_too(tmp_path: Path, how: str) -> None:
    queue = read_queue(Disk(broken_home(tmp_path, how)), "memory")
    assert queue.broken == (("pending/memory", BREAKS[how][1]),)


def test_a_link_to_a_folder_and_no_folder_at_all_are_whole(tmp_path: Path) -> None:
    root = make_home(tmp_path / "home")
    assert read_queue(Disk(root)).broken == ()
    (root / "pending").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "pending/memory").symlink_to(tmp_path / "elsewhere")
    assert read_queue(Disk(root)).broken == ()


def test_a_folder_without_permission_is_broken() -> None:
    class Shut(Tree):
        def names(self, path: str) -> tuple[str, ...]:
            if path == "pending/memory":
                raise PermissionError(13, "Permission denied", path)
            return super().names(path)

    queue = read_queue(Shut({"pending/memory": Node(NodeKind.DIR)}))
    assert queue.broken == (("pending/memory", "permission denied"),)


@pytest.mark.parametrize("how", BREAKS)
@pytest.mark.parametrize("decide", [approve, reject])
def test_all_says_which_folder_it_could_not_read(
    tmp_path: Path, how: str, decide: Callable[..., tuple[Receipt, ...]]
) -> None:
    opened = open_on(broken_home(tmp_path, how), tmp_path / "state")
    (row,) = [each for each in decide(opened, Request(None)) if each.subject == "pending/memory"]
    assert (row.ok, row.category, row.journal) == (False, "unreadable_target", None)
    assert row.message == f"pending/memory cannot be read: {BREAKS[how][1]}"
    assert "doctor" in row.next


@pytest.mark.parametrize("decide", [approve, reject])
def test_all_decides_what_can_be_read(
    tmp_path: Path, decide: Callable[..., tuple[Receipt, ...]]
) -> None:
    root = broken_home(tmp_path, "a file in its place")
    payload = {"action": "delete", "name": "deploy"}
    propose(root, "good", payload)
    opened = open_on(root, tmp_path / "state")
    done, row = decide(opened, Request(None))
    assert (done.subject, done.ok, done.bulk) == ("good", True, None)
    assert (row.subject, row.ok) == ("pending/memory", False)
    assert (root / "pending/memory").is_file()


def test_a_forecast_says_it_as_well(tmp_path: Path) -> None:
    opened = open_on(broken_home(tmp_path, "a link to nothing"), tmp_path / "state")
    found = forecast(opened, Request(None))
    assert [row.receipt.category for row in found.rows] == ["unreadable_target"]
    assert found.first_failure == 0


def test_whether_a_name_waits_in_it_is_unknown_as_well(tmp_path: Path) -> None:
    root = broken_home(tmp_path, "a file in its place")
    opened = open_on(root, tmp_path / "state")
    (row,) = approve(opened, Request(("some",)))
    assert (row.subject, row.category) == ("some", "unreadable_target")
    with pytest.raises(NotFoundError):
        approve(opened, Request(("skills/some",)))
    (root / "pending/memory").unlink()
    propose(root, "other", add("x"))
    with pytest.raises(NotFoundError):
        approve(opened, Request(("some",)))
