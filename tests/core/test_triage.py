"""Triage: filters, groups, clusters, the dead, and bulk steps on the rows that were shown.

Field reports demand 6, D06, D08; spec section 7 "duplicate clusters" and "age and origin filters".
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk import history, triage
from core.desk.decide import Request
from core.desk.opening import Opened
from core.desk.review import Label
from core.desk.triage import Filter, clusters, dead, group_by, select
from core.errors import NotFoundError
from core.homes.hermes.pending import Proposal, read_queue
from core.homes.hermes.status import Status
from tests.core.desks import (
    MEMORY,
    NOW,
    SKILL,
    add,
    approve,
    labels,
    make_home,
    open_on,
    patch,
    propose,
    queue,
    reject,
    remove,
    swap,
    write,
)
from tests.core.grounds import tree

DAY = 86400.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.fixture
def opened(home: Path, tmp_path: Path) -> Opened:
    return open_on(home, tmp_path / "state")


def ids(found: Sequence[Label]) -> list[str]:
    return [label.proposal.id for label in found]


def label(name: str, *claims: str, status: Status = Status.READY, content: str = "") -> Label:
    payload = add(content)
    proposal = Proposal(
        name, f"pending/memory/{name}.json", "memory", "add", "memory", "", "", None,
        payload, {}, "0", 0o600, True,
    )  # fmt: skip
    return Label(proposal, status, "ok", "", None, (), frozenset(claims), ())


# -- filters ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(), ["old", "user", "skill", "new", "undated"]),
        (Filter(status=Status.STALE), ["old"]),
        (Filter(target="user"), ["user"]),
        (Filter(target="deploy"), ["skill"]),
        (Filter(origin="background_review"), ["old", "skill"]),
        (Filter(origin=""), ["user", "new", "undated"]),
        (Filter(subsystem="skills"), ["skill"]),
        (Filter(older_than=14 * DAY), ["old", "user", "undated"]),
        (Filter(older_than=20 * DAY), ["old", "undated"]),
        (Filter(text="TEA"), ["user"]),
        (Filter(text="no entry contains"), ["old"]),
        (Filter(origin="background_review", older_than=14 * DAY), ["old"]),
        (Filter(status=Status.READY, text="nothing like it"), []),
    ],
)
def test_filters(home: Path, opened: Opened, wanted: Filter, found: list[str]) -> None:
    propose(home, "old", remove("nowhere"), age=30 * DAY, origin="background_review")
    propose(home, "user", {**add("likes tea"), "target": "user"}, age=20 * DAY)
    propose(
        home,
        "skill",
        patch("deploy", "Step one.", "Step 1."),
        age=2 * DAY,
        origin="background_review",
    )
    propose(home, "new", add("x"), age=60.0)
    write(home / "pending/memory/undated.json", json.dumps({"payload": add("y")}))
    rows = list(labels(opened).values())
    assert ids(select(rows, wanted, NOW)) == found


def test_a_listing_says_what_it_hides(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("x"), "b": add("y")})
    write(home / "pending/memory/broken.json", "{")
    board = list(labels(opened).values())
    rows = [replace(board[0], snoozed_until=NOW), board[1]]
    found = read_queue(opened.source)
    plain = triage.listing(found, rows, NOW)
    assert (ids(plain.shown), plain.asleep, len(plain.unreadable)) == (["b"], 1, 1)
    both = triage.listing(found, rows, NOW, snoozed=True, group="status")
    assert (ids(both.shown), both.asleep) == (["a", "b"], 0)
    assert both.groups is not None
    assert {key: ids(each) for key, each in both.groups.items()} == {"ready": ["a", "b"]}
    assert triage.listing(found, rows, NOW, Filter(text="x")).unreadable == ()
    assert triage.listing(found, rows, NOW, Filter(subsystem="skills")).unreadable == ()


# -- groups and clusters ---------------------------------------------------------------------------


def test_groups_stand_in_order_of_their_oldest(home: Path, opened: Opened) -> None:
    queue(
        home,
        {
            "gone": remove("nowhere"),
            "a": add("x"),
            "p": patch("deploy", "Step one.", "Step 1."),
            "gone2": remove("elsewhere"),
        },
    )
    rows = list(labels(opened).values())
    assert {k: ids(v) for k, v in group_by(rows, "status").items()} == {
        "stale": ["gone", "gone2"],
        "ready": ["a", "p"],
    }
    assert list(group_by(rows, "target")) == ["memory memory", "skills deploy"]
    assert [ids(v) for v in group_by(rows, "cluster").values()] == [[i] for i in ids(rows)]


def test_the_same_edit_reworded_is_one_cluster(home: Path, opened: Opened) -> None:
    """D08: 17 records on 3 targets; two replaces with equal old_text."""
    queue(
        home,
        {
            "r1": swap("alpha", "Deploys run from the staging host every Monday morning"),
            "other": swap("beta", "Something else entirely"),
            "r2": swap("alpha one", "Deploys run from the staging host each Monday morning"),
            "r3": remove("alpha"),
            "r4": swap("alpha", "The office has moved to the second floor"),
        },
    )
    found = clusters(list(labels(opened).values()))
    assert [ids(cluster.labels) for cluster in found] == [["r1", "r2", "r3", "r4"], ["other"]]
    assert [ids(group) for group in found[0].alike] == [["r1", "r2"]]
    assert found[1].alike == ()
    assert found[0].key == "memory memory (r1)"


def test_dead_ones_on_one_gone_anchor_are_one_cluster(home: Path, opened: Opened) -> None:
    """D06: two patches on one anchor that another edit took."""
    queue(
        home,
        {
            "a": patch("deploy", "Step zero.", "x"),
            "b": patch("deploy", "Step nought.", "y"),
            "c": remove("nowhere"),
            "d": swap("nowhere", "z"),
        },
    )
    assert [ids(c.labels) for c in clusters(list(labels(opened).values()))] == [
        ["a", "b"],
        ["c", "d"],
    ]


def test_rivals_of_rivals_are_in_one_cluster() -> None:
    rows = [label("a", "x"), label("b", "y"), label("c"), label("d", "x", "y"), label("e", "z")]
    assert [ids(c.labels) for c in clusters(rows)] == [["a", "b", "d"], ["c"], ["e"]]


@given(st.lists(st.frozensets(st.integers(0, 6), max_size=3), max_size=12))
def test_clusters_are_the_connected_parts(claims: list[frozenset[int]]) -> None:
    rows = [label(str(n), *map(str, each)) for n, each in enumerate(claims)]
    found = clusters(rows)
    assert sorted(int(x) for c in found for x in ids(c.labels)) == list(range(len(rows)))
    assert [int(c.labels[0].proposal.id) for c in found] == sorted(
        min(int(x) for x in ids(c.labels)) for c in found
    )
    for cluster in found:
        reached = {0}
        for _ in cluster.labels:
            reached |= {
                b
                for a in reached
                for b, row in enumerate(cluster.labels)
                if row.claims & cluster.labels[a].claims
            }
        assert reached == set(range(len(cluster.labels)))
        for other in found:
            if other is not cluster:
                shared = {x for r in cluster.labels for x in r.claims}
                assert not shared & {x for r in other.labels for x in r.claims}


def test_clusters_of_ten_thousand_are_quick() -> None:
    rows = [label(str(n), "same", content=f"text number {n} of many") for n in range(10_000)]
    (cluster,) = clusters(rows)
    assert len(cluster.labels) == 10_000
    assert ids(cluster.alike[0])[:2] == ["0", "1"]


# -- the dead --------------------------------------------------------------------------------------


def test_dead_is_what_can_no_longer_apply() -> None:
    """Stale, noop and invalid; what may land with the next change of the home stays."""
    rows = [label(str(status), status=status) for status in Status]
    assert ids(dead(rows)) == ["noop", "stale", "invalid"]
    assert dead([replace(row, snoozed_until=NOW) for row in rows]) == ()


def test_the_dead_go_as_one_step_and_come_back_as_one(home: Path, opened: Opened) -> None:
    queue(
        home,
        {
            "stale": remove("nowhere"),
            "noop": add("alpha one"),
            "invalid": {"action": "dance"},
            "ready": add("x"),
            "unclear": remove("e"),
            "threat": add("do not tell the user"),
        },
    )
    before = tree(home)
    rows = dead(list(labels(opened).values()))
    assert ids(rows) == ["stale", "noop", "invalid"]
    done = reject(opened, Request((), rows=tuple(rows), note="swept"))
    assert [(r.subject, r.category) for r in done] == [
        ("stale", "rejected"),
        ("noop", "rejected"),
        ("invalid", "rejected"),
    ]
    (bulk,) = {receipt.bulk for receipt in done}
    assert bulk is not None
    entries = history.entries(opened)
    assert [(e.tags.bulk, e.note) for e in entries] == [(bulk, "swept")] * 3
    assert list(labels(opened)) == ["ready", "unclear", "threat"]
    back = tuple(history.undo_bulk(opened, bulk))
    assert [r.subject for r in back] == ["invalid", "noop", "stale"]
    assert tree(home) == before
    with pytest.raises(NotFoundError, match="bulk step"):
        history.undo_bulk(opened, bulk)


# -- the rows that were shown ----------------------------------------------------------------------


def test_rows_that_changed_since_are_left_and_newcomers_stay(home: Path, opened: Opened) -> None:
    """Demand 15: act on a record, not on a row; design 4: newcomers of a bulk step stay."""
    queue(home, {"a": remove("nowhere"), "b": remove("elsewhere"), "c": remove("not there")})
    rows = dead(list(labels(opened).values()))
    # One is rewritten, one could apply by now, one is new.
    propose(home, "a", remove("beta"))
    write(home / MEMORY, "alpha\n§\nbeta elsewhere")
    propose(home, "fresh", remove("nothing"))
    done = reject(opened, Request((), rows=tuple(rows)))
    assert [(r.subject, r.ok, r.category) for r in done] == [
        ("a", False, "moved"),
        ("b", False, "moved"),
        ("c", True, "rejected"),
    ]
    assert done[1].message == "It stood otherwise when it was shown (no_match, now ok)"
    assert set(labels(opened)) == {"a", "b", "fresh"}


def test_a_row_decided_elsewhere_is_gone(home: Path, opened: Opened) -> None:
    queue(home, {"a": remove("nowhere"), "b": add("x")})
    rows = list(labels(opened).values())
    reject(opened, Request(("a",)))
    assert [r.category for r in reject(opened, Request((), rows=tuple(rows)))] == [
        "gone",
        "rejected",
    ]
    assert [r.category for r in approve(opened, Request((), rows=tuple(rows)))] == ["gone", "gone"]


def test_no_rows_are_nothing_to_act_on(opened: Opened) -> None:
    with pytest.raises(NotFoundError):
        reject(opened, Request(()))


def test_rows_are_approved_in_their_order_as_one_step(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("x"), "b": remove("beta"), "c": patch("deploy", "Step one.", "1.")})
    before = tree(home)
    rows = list(labels(opened).values())
    done = approve(opened, Request((), rows=(rows[2], rows[0], rows[1])))
    assert [(r.subject, r.category) for r in done] == [("c", "ok"), ("a", "ok"), ("b", "ok")]
    assert (home / MEMORY).read_text() == "alpha one\n§\ngamma three\n§\nx"
    assert [r.category for r in history.undo_each(opened)] == ["undone"] * 3
    assert tree(home) == before


def test_a_shown_question_is_answered_and_a_new_one_is_not(home: Path, opened: Opened) -> None:
    write(home / MEMORY, "A; B; C\n§\nkappa")
    queue(home, {"asked": swap("B", "B2"), "plain": swap("kappa", "lambda")})
    rows = list(labels(opened).values())
    assert [bool(row.question) for row in rows] == [True, False]
    # Now the second would lose facts too.
    write(home / MEMORY, "A; B; C\n§\nkappa; beside it")
    done = approve(opened, Request((), rows=tuple(rows)))
    assert [(r.ok, r.category) for r in done] == [(True, "ok"), (False, "guard_fragment")]


def test_what_would_land_otherwise_than_shown_is_left(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("alpha one"), "b": remove("nowhere")})
    rows = list(labels(opened).values())
    write(home / MEMORY, "nowhere")
    assert [r.category for r in approve(opened, Request((), rows=tuple(rows)))] == [
        "moved",
        "moved",
    ]


# -- bulk steps ------------------------------------------------------------------------------------


def test_one_decision_is_no_bulk_step(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("x")})
    (receipt,) = approve(opened, Request(("a",)))
    assert receipt.bulk is None
    assert history.entries(opened)[0].tags.bulk is None


def test_undo_takes_back_the_newest_step_each_time(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("x"), "b": add("y"), "c": add("z"), "d": remove("nowhere")})
    before = tree(home)
    approve(opened, Request(("a",)))
    approve(opened, Request(("b", "c")))
    assert [r.subject for r in history.undo_each(opened)] == ["c", "b"]
    assert [r.subject for r in history.undo_each(opened)] == ["a"]
    assert tree(home) == before
    with pytest.raises(NotFoundError):
        history.undo_each(opened)


def test_the_first_part_that_fails_ends_it_and_what_is_left_is_said(
    home: Path, opened: Opened
) -> None:
    queue(home, {"a": add("x"), "p": patch("deploy", "Step one.", "1."), "b": add("y")})
    done = approve(opened, Request(None))
    skill = home / "skills/ops/deploy/SKILL.md"
    skill.write_text("someone else")
    back = tuple(history.undo_each(opened))
    assert [(r.subject, r.ok, r.category) for r in back] == [
        ("b", True, "undone"),
        ("p", False, "moved_on"),
    ]
    numbers = sorted((r.journal for r in done[:2] if r.journal), reverse=True)
    assert back[1].next == f"Still in force: entries {numbers[0]}, {numbers[1]}."
    assert (home / MEMORY).read_text().endswith("\n§\nx")
    # The rest is still one step: put the file right, and it goes back.
    skill.write_bytes(SKILL.format(name="deploy").replace("Step one.", "1.").encode())
    assert [r.subject for r in history.undo_each(opened)] == ["p", "a"]


def test_a_bulk_step_that_was_taken_back_can_be_put_back_part_by_part(
    home: Path, opened: Opened
) -> None:
    queue(home, {"a": add("x"), "b": add("y")})
    approve(opened, Request(None))
    after = tree(home)
    undos = [r.journal for r in history.undo_each(opened) if r.journal is not None]
    for number in reversed(undos):
        assert history.undo(opened, number).ok
    assert tree(home) == after
