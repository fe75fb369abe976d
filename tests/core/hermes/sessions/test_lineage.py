"""What sessions are to each other: spec hermes-sessions 1.7."""

from __future__ import annotations

from typing import Any

import pytest

from core.conversations import Relation
from core.homes.hermes.sessions.lineage import Known, Lineage
from core.homes.hermes.sessions.parts import Part

NOTHING = Part(
    "", "cli", "", 0.0, None, "", "", "", False, False, False, 0, 0, "", "", "", None, None, "", "", ""
)  # fmt: skip


def part(id_: str, parent_id: str = "", **fields: Any) -> Part:
    number = float(sum(map(ord, id_)))
    return NOTHING._replace(id=id_, parent_id=parent_id, started=number)._replace(**fields)


def lineage(*parts: Part) -> Lineage:
    return Lineage(Known(parts))


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        # branch
        ({}, {"branched": "a"}, Relation.BRANCH),
        ({"end_reason": "tui_shutdown"}, {"branched": "a"}, Relation.BRANCH),  # 20856
        ({"end_reason": "branched", "ended": 5.0}, {"started": 5.0}, Relation.BRANCH),
        ({"end_reason": "branched", "ended": 5.0}, {"started": 4.0}, Relation.DELEGATE),
        ({"end_reason": "branched"}, {"started": 4.0}, Relation.DELEGATE),
        ({"end_reason": "compression"}, {"branched": "a"}, Relation.BRANCH),
        # reset
        ({"end_reason": "idle"}, {"reset": "a"}, Relation.RESET),
        ({"end_reason": "daily", "session_key": "k"}, {"session_key": "k"}, Relation.RESET),
        ({"end_reason": "daily", "session_key": "k"}, {"session_key": "o"}, Relation.DELEGATE),
        ({"end_reason": "daily"}, {}, Relation.DELEGATE),
        ({"end_reason": "cli_close", "session_key": "k"}, {"session_key": "k"}, Relation.DELEGATE),
        # continuation
        ({"end_reason": "compression"}, {}, Relation.CONTINUATION),
        ({"end_reason": "compression", "ended": 9.0}, {"started": 1.0}, Relation.CONTINUATION),
        ({"end_reason": "compression"}, {"source": "tool"}, Relation.DELEGATE),
        ({"end_reason": "compression"}, {"delegated": "a"}, Relation.DELEGATE),
        ({"end_reason": "compression"}, {"reset": "a"}, Relation.RESET),  # 114271
        # a marker handed down from further up says nothing about this bond
        ({"end_reason": "compression"}, {"branched": "z"}, Relation.CONTINUATION),
        ({"end_reason": "compression"}, {"delegated": "z"}, Relation.CONTINUATION),
        ({"end_reason": "compression"}, {"reset": "z"}, Relation.CONTINUATION),
        # delegate
        ({}, {}, Relation.DELEGATE),
        ({}, {"source": "telegram", "delegated": "a"}, Relation.DELEGATE),
        ({}, {"delegated": "a", "branched": "a"}, Relation.DELEGATE),
    ],
)
def test_classes(parent: dict[str, Any], child: dict[str, Any], expected: Relation) -> None:
    above, below = part("a", **parent), part("b", "a", **child)
    assert lineage(above, below).relation(below) is expected
    assert lineage(above, below).relation(above) is Relation.ROOT


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, Relation.ROOT),
        ({"branched": "gone"}, Relation.BRANCH),
        ({"reset": "gone"}, Relation.RESET),
        ({"source": "subagent"}, Relation.DELEGATE),
        ({"delegated": "gone"}, Relation.DELEGATE),
    ],
)
def test_a_missing_parent(fields: dict[str, Any], expected: Relation) -> None:
    # Pruned or never imported: a conversation is not lost with its parent.
    orphan = part("b", "gone", **fields)
    relations = lineage(orphan)
    assert relations.relation(orphan) is expected
    assert relations.root(orphan) == "b"
    assert relations.parent(orphan) is None


def test_a_delegate_that_lost_its_parent() -> None:
    # 0.19.0 takes the parent from delegates whose parent is deleted, and marks them.
    orphan = part("b", delegated="__orphaned__")
    assert lineage(orphan).relation(orphan) is Relation.DELEGATE


def cut(id_: str, parent_id: str = "", **fields: Any) -> Part:
    return part(id_, parent_id, end_reason="compression", ended=1.0, **fields)


def ids(parts: tuple[Part, ...]) -> list[str]:
    return [each.id for each in parts]


def test_a_chain_is_the_same_from_each_of_its_parts() -> None:
    parts = (cut("a"), cut("b", "a"), part("c", "b"), part("d", "c"), part("e", "a", branched="a"))
    relations = lineage(*parts)
    for each in parts[:3]:
        assert ids(relations.chain(each)) == ["a", "b", "c"]
    assert ids(relations.chain(parts[3])) == ["d"]
    assert ids(relations.chain(parts[4])) == ["e"]
    assert [relations.root(each) for each in parts] == ["a"] * 5


@pytest.mark.parametrize(
    ("one", "other", "chosen"),
    [
        # What goes on to be cut again, then what is open, then what is closed.
        ({"end_reason": "compression", "last": 1.0}, {"last": 9.0}, "b"),
        ({"last": 1.0}, {"ended": 9.0, "end_reason": "ws_orphan_reap", "last": 9.0}, "b"),
        # Then the latest message, else the start, then the start, then the id.
        ({"last": 9.0}, {"last": 8.0}, "b"),
        ({"last": 9.0}, {"started": 99.0}, "c"),
        ({"started": 5.0, "last": 9.0}, {"started": 6.0, "last": 9.0}, "c"),
        ({"started": 5.0}, {"started": 5.0}, "c"),
        # A child that is no continuation is never chosen, a stolen tip (114271) neither.
        ({"last": 1.0}, {"last": 9.0, "reset": "a"}, "b"),
        ({"last": 1.0}, {"last": 9.0, "branched": "a"}, "b"),
        ({"last": 1.0}, {"last": 9.0, "delegated": "a"}, "b"),
        ({"last": 1.0}, {"last": 9.0, "source": "tool"}, "b"),
    ],
)
def test_the_newest_part(one: dict[str, Any], other: dict[str, Any], chosen: str) -> None:
    root = cut("a")
    relations = lineage(root, part("c", "a", **other), part("b", "a", **one))
    assert ids(relations.chain(root))[1] == chosen


def test_a_part_that_was_not_chosen_has_its_own_chain() -> None:
    root, open_, stale = cut("a"), part("b", "a"), part("c", "a", ended=5.0)
    relations = lineage(root, open_, stale)
    assert ids(relations.chain(root)) == ["a", "b"]
    assert ids(relations.chain(stale)) == ["a", "c"]


def test_its_own_parent() -> None:
    alone = cut("a", "a")
    relations = lineage(alone)
    assert relations.root(alone) == "a"
    assert relations.relation(alone) is Relation.ROOT
    assert ids(relations.chain(alone)) == ["a"]
    assert [(each.id, depth) for each, depth in relations.tree(alone)] == [("a", 0)]


def test_a_loop_has_one_root_whoever_asks() -> None:
    parts = (cut("b", "c"), cut("c", "d"), cut("d", "b"), part("e", "d"))
    for asked in parts:
        relations = lineage(*parts)
        assert relations.root(asked) == "b"
    relations = lineage(*parts)
    assert relations.relation(parts[0]) is Relation.ROOT
    assert ids(relations.chain(parts[0])) == ["b", "d", "c"]
    assert [each.id for each, _ in relations.tree(parts[0])] == ["b", "d", "c", "e"]


def test_a_chain_without_end_is_cut() -> None:
    # 1.7: a hundred steps at most
    parts = [cut("x0000"), *(cut(f"x{n:04}", f"x{n - 1:04}") for n in range(1, 3_000))]
    relations = lineage(*parts)
    assert len(list(relations.forward(parts[0]))) == 101
    assert relations.root(parts[-1]) == "x0000"
    assert sum(1 for _ in relations.tree(parts[0])) == 3_000


def test_a_tree_is_depth_first_and_oldest_first() -> None:
    parts = (part("a"), part("c", "a"), part("b", "a"), part("d", "b"))
    assert [(each.id, depth) for each, depth in lineage(*parts).tree(parts[0])] == [
        ("a", 0), ("b", 1), ("d", 2), ("c", 1)
    ]  # fmt: skip
