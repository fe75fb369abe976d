"""Forecasts: a home as it would be reads like the home it becomes (design, section 1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files import Writer
from core.model import Change, Move, Node, NodeKind
from core.overlay import Overlay
from core.view import Disk, Snapshot, Source, Tree, View, parent
from tests.core.grounds import file, folder, link

NOTES = "memories/MEMORY.md"


def test_a_forecast_writes_where_a_link_leads() -> None:
    base = Tree({NOTES: link("real.md"), "memories/real.md": b"old"})
    view = View(Overlay(base, [Change(NOTES, file(b"old"), file(b"new"))]))
    assert view.read(NOTES).data == b"new"
    assert view.kind(NOTES) is NodeKind.LINK
    assert view.read("memories/real.md").data == b"new"


def test_many_forecasts_on_each_other_stay_flat() -> None:
    source: Source = Tree({"pending/0": b"0"})
    for number in range(3000):
        change = Change(f"pending/{number + 1}", None, file(b"%d" % number))
        source = Overlay(source, [change, Change(f"pending/{number}", file(b""), None)])
    assert View(source).names("pending") == ("3000",)
    assert View(source).read("pending/3000").data == b"2999"


def test_a_forecast_leaves_what_it_lies_on_alone() -> None:
    first = Overlay(Tree({"a": b"1"}), [Change("b", None, file(b"2"))])
    second = Overlay(first, [Change("b", file(b"2"), None), Change("c", None, file(b"3"))])
    assert View(first).names("") == ("a", "b")
    assert View(second).names("") == ("a", "c")
    assert View(first).read("b").data == b"2"


def test_what_lay_behind_a_removed_link_is_gone(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/SKILL.md").write_bytes(b"1")
    (tmp_path / "skill").symlink_to("real")
    gone = Change("skill", link("real"), None)
    view = View(Overlay(Disk(tmp_path), [gone]))
    assert view.kind("skill/SKILL.md") is None
    assert view.names("skill") == ()
    again = View(Overlay(Overlay(Disk(tmp_path), [gone]), [Change("skill", None, folder())]))
    assert (again.names("skill"), again.read("skill/SKILL.md").absent) == ((), True)
    assert again.read("real/SKILL.md").data == b"1"


NAMES = ("a", "b", "c")
PATHS = [
    *NAMES,
    *(f"{one}/{two}" for one in NAMES for two in NAMES),
    *(f"{one}/{two}/{three}" for one in NAMES for two in NAMES for three in NAMES),
]
Model = dict[str, Node]


def _clear(model: Model, path: str) -> bool:
    """Whether a thing can be made at ``path``."""
    above = parent(path)
    return path not in model and (not above or model.get(above, file(b"")).kind is NodeKind.DIR)


def _below(model: Model, path: str) -> list[str]:
    return [found for found in model if found.startswith(f"{path}/")]


def _make(draw: st.DrawFn, model: Model) -> Change | None:
    free = [path for path in PATHS if _clear(model, path)]
    if not free:
        return None
    nodes = st.one_of(
        st.just(folder()), st.binary(max_size=2).map(file), st.sampled_from(NAMES).map(link)
    )
    path = draw(st.sampled_from(free))
    model[path] = draw(nodes)
    return Change(path, None, model[path])


def _write(draw: st.DrawFn, model: Model) -> Change | None:
    there = [path for path, node in model.items() if node.kind is NodeKind.FILE]
    if not there:
        return None
    path = draw(st.sampled_from(there))
    before, model[path] = model[path], file(draw(st.binary(max_size=2)), 0o640)
    return Change(path, before, model[path])


def _remove(draw: st.DrawFn, model: Model) -> Change | None:
    bare = [path for path in model if not _below(model, path)]
    if not bare:
        return None
    path = draw(st.sampled_from(bare))
    return Change(path, model.pop(path), None)


def _move(draw: st.DrawFn, model: Model) -> Move | None:
    folders = [path for path, node in model.items() if node.kind is NodeKind.DIR]
    pairs = [
        (path, to)
        for path in folders
        for to in PATHS
        if _clear(model, to) and not to.startswith(f"{path}/")
    ]
    if not pairs:
        return None
    path, to = draw(st.sampled_from(pairs))
    for found in [path, *_below(model, path)]:
        model[to + found[len(path) :]] = model.pop(found)
    return Move(path, to)


@st.composite
def homes_and_changes(draw: st.DrawFn) -> tuple[Model, list[Change | Move], Model]:
    """A home, valid changes to it in order, and the home with them made by the book."""
    model: Model = {}
    for _ in range(draw(st.integers(0, 8))):
        _make(draw, model)
    before = dict(model)
    changes: list[Change | Move] = []
    for _ in range(draw(st.integers(1, 8))):
        act = draw(st.sampled_from([_make, _write, _remove, _move]))
        if change := act(draw, model):
            changes.append(change)
    return before, changes, model


def _seen(view: View) -> dict[str, object]:
    seen: dict[str, object] = {"": sorted(view.names(""))}
    for path in PATHS:
        node, reading = view.node(path), view.read(path)
        seen[path] = (node, reading, view.kind(path), sorted(view.names(path)), view.resolve(path))
        if node is not None and node.kind is NodeKind.DIR:
            seen[path] = (seen[path], list(view.tree(path)))
    return seen


@given(homes_and_changes())
@settings(max_examples=150)
def test_a_forecast_reads_like_the_home_it_foretells(
    case: tuple[Model, list[Change | Move], Model],
) -> None:
    before, changes, after = case
    assert _seen(View(Overlay(Tree(before), changes))) == _seen(View(Tree(after)))


@given(homes_and_changes(), st.integers(0, 8))
@settings(max_examples=60)
def test_forecasts_in_two_layers_read_like_one(
    case: tuple[Model, list[Change | Move], Model], split: int
) -> None:
    before, changes, after = case
    below = Overlay(Tree(before), changes[:split])
    assert _seen(View(Overlay(below, changes[split:]))) == _seen(View(Tree(after)))
    snapshot = Overlay(Snapshot(below), changes[split:])
    assert _seen(View(snapshot)) == _seen(View(Tree(after)))


@given(homes_and_changes())
@settings(max_examples=40)
def test_a_forecast_reads_like_the_disk_once_it_is_written(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[Model, list[Change | Move], Model]
) -> None:
    before, changes, after = case
    root = tmp_path_factory.mktemp("home")
    writer = Writer(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.files.os.fsync", lambda _handle: None)
        for path in sorted(before):
            writer.put(Change(path, None, before[path]), 0)
        foretold = View(Overlay(Snapshot(Disk(root)), changes))
        told = _looks(foretold, after)
        for number, change in enumerate(changes):
            if isinstance(change, Move):
                writer.move(change)
            else:
                writer.put(change, number)
    made = View(Disk(root))
    assert _looks(made, after) == told
    assert {path: made.node(path) for path in after} == after


def _looks(view: View, model: Model) -> dict[str, object]:
    return {
        path: (view.read(path).data, view.kind(path), sorted(view.names(path)))
        for path in _plain(model)
        if path not in model or model[path].kind is not NodeKind.LINK
    }


def _plain(model: Model) -> list[str]:
    """Paths that lead through no link: the disk follows those, a tree in memory does not."""
    links = [path for path, node in model.items() if node.kind is NodeKind.LINK]
    return [path for path in PATHS if not any(path.startswith(f"{found}/") for found in links)]
