"""How a plan reads: recorded facts, links, odd nodes, forecasts (design, section 1)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from core import disk
from core import view as views
from core.model import Node, NodeKind
from core.view import Disk, Snapshot, Tree, View, holds, join, name, parent, seal
from tests.core.grounds import apart, file, folder, link

NOTES = "memories/MEMORY.md"


# -- paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "path"),
    [
        (("", "a"), "a"),
        (("a", "", "b"), "a/b"),
        (("a/", "b"), "a/b"),
        (("/", "x"), "/x"),
        (("a", "/abs", "b"), "/abs/b"),
        ((), ""),
    ],
)
def test_join(parts: Sequence[str], path: str) -> None:
    assert join(*parts) == path


def test_parent_and_name() -> None:
    assert (parent("a/b"), name("a/b")) == ("a", "b")
    assert (parent("a"), name("a")) == ("", "a")
    assert (parent("/a"), name("/a")) == ("/", "a")
    assert parent("/") == "/"


# -- facts and seal --------------------------------------------------------------------------


def test_every_read_is_recorded_once_in_a_fixed_order() -> None:
    view = View(Tree({NOTES: b"a", "skills/x/SKILL.md": b"s"}))
    view.names("skills")
    view.read(NOTES)
    view.kind("skills/x")
    view.read(NOTES)
    view.node("gone")
    assert [(fact.kind, fact.key) for fact in view.facts] == [
        ("file", NOTES),
        ("kind", "skills/x"),
        ("names", "skills"),
        ("node", "gone"),
    ]
    assert {fact.kind: fact.value for fact in view.facts}["node"] == "absent"


def test_the_first_sight_is_what_counts() -> None:
    """A file that changes between two reads of one plan must not pass the seal."""
    nodes = {NOTES: file(b"first")}

    @dataclass
    class Moving:
        def node(self, path: str, *, data: bool) -> Node | None:
            return nodes.get(path)

        def names(self, path: str) -> tuple[str, ...]:
            return ()

        def relative(self, path: str) -> str:
            return path

    view = View(Moving())
    view.read(NOTES)
    nodes[NOTES] = file(b"second")
    view.read(NOTES)
    (fact,) = view.facts
    assert not holds(fact, View(Moving()))
    nodes[NOTES] = file(b"first")
    assert holds(fact, View(Moving()))


def test_a_quiet_view_records_nothing() -> None:
    view = View(Tree({NOTES: b"a"}))
    twin = view.quiet()
    assert twin.read(NOTES).data == b"a"
    assert twin.quiet() is twin
    assert (view.facts, twin.facts) == ((), ())


@pytest.mark.parametrize(
    ("look", "after"),
    [
        (lambda view: view.read("a"), {"a": b"2"}),
        (lambda view: view.read("a"), {}),
        (lambda view: view.read("a"), {"a": file(b"1", 0o600)}),
        (lambda view: view.read("a"), {"a": link("b"), "b": b"1"}),
        (lambda view: view.node("a"), {"a": link("b"), "b": b"1"}),
        (lambda view: view.node("a"), {"a/b": b"1"}),
        (lambda view: view.kind("a"), {}),
        (lambda view: view.names(""), {"a": b"1", "b": b""}),
        (lambda view: view.read("new"), {"a": b"1", "new": b""}),
    ],
)
def test_what_breaks_a_fact(look: Callable[[View], object], after: dict[str, bytes | Node]) -> None:
    view = View(Tree({"a": b"1"}))
    look(view)
    (fact,) = view.facts
    assert holds(fact, View(Tree({"a": b"1"})))
    assert not holds(fact, View(Tree(after)))


def _first_skill(view: View, key: str) -> str:
    return next((child for child in view.names("skills") if child.startswith(key)), "")


def test_a_question_is_recorded_by_its_answer_only() -> None:
    view = View(Tree({"skills/deploy/SKILL.md": b"1"}))
    assert view.ask("skill", "dep", _first_skill) == "deploy"
    (fact,) = view.facts
    assert (fact.kind, fact.key, fact.value) == ("skill", "dep", "deploy")
    more = {"skills/deploy/SKILL.md": b"2", "skills/other/SKILL.md": b""}
    assert holds(fact, View(Tree(more)))
    assert not holds(fact, View(Tree({"skills/depot/SKILL.md": b"1"})))


def test_shared_answers_are_made_once_for_a_snapshot() -> None:
    calls: list[View] = []

    def make(view: View) -> int:
        calls.append(view)
        view.read(NOTES)
        return len(calls)

    snapshot = Snapshot(Tree({NOTES: b"a"}))
    first = View(snapshot)
    assert [first.shared("k", make), View(snapshot).shared("k", make)] == [1, 1]
    assert first.shared("other", make) == 2
    assert first.facts == ()
    plain = View(Tree({}))
    assert [plain.shared("k", make), plain.shared("k", make)] == [3, 4]


def test_two_different_sets_of_facts_never_share_a_seal() -> None:
    """A name with a line of its own cannot pose as another fact."""
    one = View(Tree({"x/a": b"", "x/kind": b"", "x/y": b""}))
    one.names("x")
    listed = one.facts[0]
    split = [
        views.Fact("names", "x", "a", listed.resolve),
        views.Fact("kind", "y", "", listed.resolve),
    ]
    assert listed.value == "a\0kind\0y"
    assert seal([listed]) != seal(split)
    assert seal(split) == seal(list(split))


def test_a_seal_takes_names_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff")).write_bytes(b"1")
    view = View(Disk(tmp_path))
    assert view.names("") == ("\udcff",)
    assert view.read("\udcff").data == b"1"
    assert len(seal(view.facts)) == 64


# -- reading ---------------------------------------------------------------------------------


def test_absent_readable_unreadable(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"1")
    (tmp_path / "f").chmod(0o604)
    (tmp_path / "d").mkdir()
    view = View(Disk(tmp_path))
    assert (view.read("f").data, view.read("f").mode) == (b"1", 0o604)
    assert view.read("gone").absent
    assert view.read("f/below").absent
    assert view.read("d").reason == "a folder, not a file"
    assert not view.read("d").absent
    assert view.read("d").digest == "unreadable:a folder, not a file"


@pytest.mark.parametrize("make", ["pipe", "socket"])
def test_pipes_and_sockets_are_seen_and_never_opened(make: str, tmp_path: Path) -> None:
    path = tmp_path / "odd"
    if make == "pipe":
        os.mkfifo(path)
    else:
        with socket.socket(socket.AF_UNIX) as ear, pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            ear.bind("odd")
    view = View(Disk(tmp_path))
    found = view.node("odd")
    assert found is not None
    assert (view.kind("odd"), found.kind, found.data) == (NodeKind.OTHER, NodeKind.OTHER, b"")
    assert view.read("odd").reason == "not a regular file"


def test_a_file_swapped_for_a_pipe_is_unreadable_not_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"1")
    real = os.open

    def late(target: str, flags: int, mode: int = 0o777) -> int:
        path.unlink()
        os.mkfifo(path)
        return real(target, flags, mode)

    monkeypatch.setattr("core.disk.os.open", late)
    assert View(Disk(tmp_path)).read("f").reason == "no regular file any more"


def test_a_path_no_system_has(tmp_path: Path) -> None:
    view = View(Disk(tmp_path))
    for path in ("a\0b", "half\ud800"):
        assert view.read(path).reason == "a path the system does not allow"
        assert view.kind(path) is NodeKind.OTHER
        assert view.node(path) == Node(NodeKind.OTHER)
        assert view.names(path) == ()
        assert view.resolve(path) is None
    assert View(Disk(tmp_path)).read("x" * 300).reason == "file name too long"


def test_a_huge_file_is_unreadable(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(disk.MAX_BYTES + 1)
    assert View(Disk(tmp_path)).read("big").reason == "larger than 64 MiB"


def test_closed_files_and_folders_are_not_taken_for_absent() -> None:
    with apart() as place:
        (place.root / "shut").write_bytes(b"1")
        (place.root / "shut").chmod(0)
        (place.root / "d").mkdir()
        (place.root / "d/f").write_bytes(b"1")
        (place.root / "d").chmod(0)

        def look() -> list[str]:
            view = View(Disk(place.root))
            return [
                view.read("shut").reason,
                str(view.kind("shut")),
                str(view.node("shut") == Node(NodeKind.OTHER)),
                view.read("d/f").reason,
                str(view.kind("d/f")),
            ]

        seen = place.unprivileged(look)
    assert seen == ["permission denied", "file", "True", "permission denied", "other"]


# -- links -----------------------------------------------------------------------------------


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    home = tmp_path / "up" / "home"
    (home / "memories").mkdir(parents=True)
    (home / "memories/real.md").write_bytes(b"inside")
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles/MEMORY.md").write_bytes(b"outside")
    return home


@pytest.mark.parametrize(
    ("target", "leads", "data"),
    [
        ("real.md", "memories/real.md", b"inside"),
        ("./real.md", "memories/real.md", b"inside"),
        ("../memories/real.md", "memories/real.md", b"inside"),
        ("../../home/memories/real.md", "memories/real.md", b"inside"),
        ("../../../dotfiles/MEMORY.md", "{top}/dotfiles/MEMORY.md", b"outside"),
        ("../../../up/../dotfiles/MEMORY.md", "{top}/dotfiles/MEMORY.md", b"outside"),
        ("{top}/dotfiles/MEMORY.md", "{top}/dotfiles/MEMORY.md", b"outside"),
        ("{top}/up/home/memories/real.md", "memories/real.md", b"inside"),
        ("{top}/alias/home/memories/real.md", "memories/real.md", b"inside"),
        ("{top}/dotfiles/../up/home/memories/real.md", "memories/real.md", b"inside"),
        ("/" + "../" * 40 + "{top}/dotfiles/MEMORY.md", "{top}/dotfiles/MEMORY.md", b"outside"),
        ("../" * 40 + "{top}/dotfiles/MEMORY.md", "{top}/dotfiles/MEMORY.md", b"outside"),
    ],
)
def test_links_lead_where_the_system_says(
    linked: Path, target: str, leads: str, data: bytes
) -> None:
    top = linked.parent.parent
    (top / "alias").symlink_to("up")
    at = linked / NOTES
    at.symlink_to(target.format(top=top))
    view = View(Disk(linked))
    assert at.read_bytes() == data, "the case itself"
    reading = view.read(NOTES)
    assert (reading.data, reading.link) == (data, leads.format(top=top))
    found = view.node(NOTES)
    assert found is not None
    assert found.kind is NodeKind.LINK


@pytest.mark.parametrize("target", ["MEMORY.md", "b", "../memories/MEMORY.md"])
def test_loops_end(linked: Path, target: str) -> None:
    (linked / NOTES).symlink_to(target)
    (linked / "memories/b").symlink_to("MEMORY.md")
    view = View(Disk(linked))
    assert view.resolve(NOTES) is None
    assert view.read(NOTES).reason == "a link that leads in a circle"


def test_a_loop_on_the_way_is_unreadable(linked: Path) -> None:
    (linked / "skills").symlink_to("skills")
    view = View(Disk(linked))
    assert view.read("skills/x/SKILL.md").reason == "too many levels of symbolic links"
    assert view.kind("skills/x") is NodeKind.OTHER


def test_a_link_to_nothing_is_not_absent(linked: Path) -> None:
    (linked / NOTES).symlink_to("gone.md")
    reading = View(Disk(linked)).read(NOTES)
    assert (reading.reason, reading.link) == ("a link to nothing", "memories/gone.md")
    assert not reading.absent


def test_long_chains_end_at_the_bound(linked: Path) -> None:
    for number in range(views.MAX_LINKS + 1):
        (linked / f"l{number}").symlink_to(f"l{number + 1}" if number else "memories/real.md")
    (linked / f"l{views.MAX_LINKS + 1}").symlink_to("memories/real.md")
    view = View(Disk(linked))
    assert view.resolve("l2") == "memories/real.md"
    assert view.resolve("l1") is None


def test_a_folder_that_is_a_link(linked: Path) -> None:
    (linked / "skills").symlink_to("../../dotfiles")
    view = View(Disk(linked))
    assert view.names("skills") == ("MEMORY.md",)
    assert view.read("skills/MEMORY.md").data == b"outside"
    assert view.resolve("skills/MEMORY.md") == f"{linked.parent.parent}/dotfiles/MEMORY.md"
    assert [path for path, _ in view.tree("skills")] == ["skills"], "links are not entered"


@pytest.mark.parametrize(
    ("path", "leads"),
    [
        ("a/../b", "b"),
        ("../x", "../x"),
        ("../../x", "../../x"),
        ("a/../../../x", "../../x"),
        ("../x/../y", "../y"),
        ("/a/../../b", "/b"),
        ("./a//b/.", "a/b"),
        ("", ""),
    ],
)
def test_dots_in_memory(path: str, leads: str) -> None:
    assert View(Tree({})).resolve(path) == leads


def test_the_root_is_resolved_once(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    (tmp_path / "one/f").write_bytes(b"1")
    (tmp_path / "home").symlink_to("one")
    disk = Disk(tmp_path / "home")
    (tmp_path / "home").unlink()
    (tmp_path / "home").symlink_to("two")
    assert View(disk).read("f").data == b"1"
    assert disk.relative(f"{tmp_path}/one/f") == "f"
    assert disk.relative(f"{tmp_path}/one") == ""
    assert disk.relative(f"{tmp_path}/onetwo/f") == f"{tmp_path}/onetwo/f"


# -- trees and snapshots ---------------------------------------------------------------------


def test_a_tree_implies_folders_also_above_the_home() -> None:
    tree = Tree({"skills/a/SKILL.md": b"1", "/ext/b/SKILL.md": b"2"})
    view = View(tree)
    assert view.names("") == ("skills",)
    assert view.names("/") == ("ext",)
    assert view.names("/ext") == ("b",)
    assert [path for path, _ in view.tree("skills")] == [
        "skills",
        "skills/a",
        "skills/a/SKILL.md",
    ]
    assert view.node("skills/a") == folder()


def test_a_snapshot_reads_once_and_remembers_trouble(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"1")
    snapshot = Snapshot(Disk(tmp_path))
    view = View(snapshot)
    assert view.read("f").data == b"1"
    assert view.names("") == ("f",)
    assert view.names("gone") == ()
    assert view.kind("x" * 300) is NodeKind.OTHER
    (tmp_path / "f").write_bytes(b"2")
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/x").write_bytes(b"")
    again = View(snapshot)
    assert again.read("f").data == b"1"
    assert again.names("gone") == ()
    assert again.names("") == ("f",)
    assert again.kind("x" * 300) is NodeKind.OTHER
    assert View(Disk(tmp_path)).read("f").data == b"2"


def test_a_file_that_a_listing_told_of_is_opened_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops/f").write_bytes(b"1")
    (tmp_path / "ops/link").symlink_to("f")
    looked: list[str] = []
    plain = Disk.node

    def node(self: Disk, path: str, *, data: bool) -> Node | None:
        looked.append(path)
        return plain(self, path, data=data)

    monkeypatch.setattr(Disk, "node", node)
    view = View(Snapshot(Disk(tmp_path)))
    assert set(view.names("ops")) == {"f", "link"}
    assert view.read("ops/f").data == b"1"
    assert looked == []
    assert view.read("ops/link").link == "ops/f"
    (tmp_path / "ops/f").unlink()
    again = View(Snapshot(Disk(tmp_path)))
    assert again.read("ops/f").absent
