"""The memory of decisions: refused before, snoozed, how often whose asks are met, search.

Issue 4 "memory of decisions"; field reports D08 and demands 12 and 16; spec section 7 "reason log".
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.desk import decisions, history
from core.desk.decide import Request
from core.desk.decisions import Acceptance, SeenBefore, length_of, matter, time_until
from core.desk.opening import Opened
from core.desk.review import show
from core.errors import NotFoundError, UnreadableError, UsageError
from core.homes.hermes.pending import Proposal, find, read_queue
from tests.core.desks import (
    NOW,
    add,
    approve,
    labels,
    later,
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


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path / "home")


@pytest.fixture
def opened(home: Path, tmp_path: Path) -> Opened:
    return open_on(home, tmp_path / "state")


def proposal(opened: Opened, name: str) -> Proposal:
    found = find(read_queue(opened.source), name)
    assert isinstance(found, Proposal)
    return found


# -- refused before --------------------------------------------------------------------------------


def test_a_refused_text_that_comes_again_says_when_and_why(home: Path, opened: Opened) -> None:
    propose(home, "first", swap("alpha", "Deploys run at noon."), origin="background_review")
    (receipt,) = reject(opened, Request(("first",), "it is midnight"))
    propose(home, "again", swap(" alpha ", "deploys  run\nat noon."), origin="foreground")
    propose(home, "other", swap("alpha", "Deploys run at night."))
    found = labels(opened)
    assert receipt.journal is not None
    seen = SeenBefore(NOW.isoformat(), "it is midnight", receipt.journal)
    assert found["again"].seen_before == seen
    assert found["other"].seen_before is None
    assert show(opened, "again").seen_before == seen
    assert show(opened, "other").seen_before is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (add("x"), {"action": "add", "content": "X "}, True),
        (add("x"), add("x", matched_entry="e", memory_provider_mode=None), True),
        (add("x"), add("x", old_text=None), True),
        (add("cafe\u0301"), add("caf\u00e9"), True),
        (add("x"), {**add("x"), "target": "user"}, False),
        (add("x"), swap("alpha", "x"), False),
        (swap("alpha", "x"), swap("beta", "x"), False),
        (patch("deploy", "a", "b"), patch("deploy", "a", "b") | {"replace_all": False}, True),
        (patch("deploy", "a", "b"), patch("deploy", "a", "b") | {"replace_all": True}, False),
        (patch("deploy", "a", "b"), patch("other", "a", "b"), False),
        (
            {"action": "batch", "operations": [add("x"), remove("a")]},
            {"action": "batch", "operations": [remove("a"), add("x")]},
            False,
        ),
    ],
)
def test_what_counts_as_the_same_text(
    home: Path, opened: Opened, one: dict[str, Any], other: dict[str, Any], same: bool
) -> None:
    propose(home, "one", one, session="s1")
    propose(home, "other", other, session="s2", age=99.0)
    assert (matter(proposal(opened, "one")) == matter(proposal(opened, "other"))) is same


def test_only_a_refusal_in_force_counts(home: Path, opened: Opened) -> None:
    propose(home, "a", add("x"))
    reject(opened, Request(("a",)))
    (undo,) = history.undo_each(opened)
    assert labels(opened)["a"].seen_before is None
    assert undo.journal is not None
    # The undo is undone: refused again.
    assert history.undo(opened, undo.journal).ok
    propose(home, "b", add("x"))
    assert labels(opened)["b"].seen_before is not None
    approve(opened, Request(("b",)))
    assert labels(opened) == {}


def test_the_newest_refusal_is_told(home: Path, opened: Opened) -> None:
    for note in ("first", "second"):
        propose(home, "a", add("x"))
        reject(opened, Request(("a",), note))
    propose(home, "a", add("x"))
    seen = labels(opened)["a"].seen_before
    assert seen is not None
    assert seen.note == "second"


def test_a_refusal_in_another_home_does_not_count(tmp_path: Path) -> None:
    one, other = make_home(tmp_path / "one"), make_home(tmp_path / "other")
    for root in (one, other):
        propose(root, "a", add("x"))
    reject(open_on(one, tmp_path / "state"), Request(("a",)))
    assert labels(open_on(other, tmp_path / "state"))["a"].seen_before is None


# -- snoozed ---------------------------------------------------------------------------------------


def test_a_snoozed_record_sleeps_until_its_time(home: Path, tmp_path: Path) -> None:
    queue(home, {"a": add("x"), "b": add("y")})
    opened = open_on(home, tmp_path / "state")
    before = tree(home)
    decisions.snooze(opened, "a", later(7))
    assert tree(home) == before, "nothing is ever written into a home"
    assert labels(opened)["a"].snoozed_until == later(7)
    assert labels(opened)["b"].snoozed_until is None
    almost = open_on(home, tmp_path / "state", lambda: later(6.99))
    assert labels(almost)["a"].snoozed_until == later(7)
    after = open_on(home, tmp_path / "state", lambda: later(7))
    assert labels(after)["a"].snoozed_until is None


def test_all_skips_who_sleeps_and_says_so_and_naming_decides(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("x"), "b": add("y"), "c": add("z")})
    decisions.snooze(opened, "a", later(7))
    done = approve(opened, Request(None))
    assert [(r.subject, r.ok, r.category) for r in done] == [
        ("a", False, "snoozed"),
        ("b", True, "ok"),
        ("c", True, "ok"),
    ]
    assert "2026-12-06" in done[0].message
    assert done[0].next == "Wake it with `signoff snooze --wake a`."
    (kept,) = reject(opened, Request(None))
    assert (kept.ok, kept.category) == (False, "snoozed")
    (named,) = approve(opened, Request(("a",)))
    assert named.ok


def test_a_woken_and_a_rewritten_record_are_awake(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("x"), "b": add("y")})
    for name in ("a", "b"):
        decisions.snooze(opened, name, later(7))
    decisions.snooze(opened, "a", None)
    propose(home, "b", add("y, and more"))
    assert [label.snoozed_until for label in labels(opened).values()] == [None, None]


def test_a_snooze_that_makes_no_sense(home: Path, opened: Opened) -> None:
    queue(home, {"a": add("x")})
    write(home / "pending/memory/broken.json", "{")
    with pytest.raises(NotFoundError):
        decisions.snooze(opened, "nope", later(1))
    with pytest.raises(UsageError, match="past"):
        decisions.snooze(opened, "a", NOW)
    with pytest.raises(UnreadableError):
        decisions.snooze(opened, "broken", later(1))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7d", later(7)),
        ("12h", NOW + timedelta(hours=12)),
        ("30m", NOW + timedelta(minutes=30)),
        (" 2w ", later(14)),
        ("2026-12-24", datetime(2026, 12, 24, tzinfo=UTC)),
        ("2026-12-24T09:00+02:00", datetime(2026, 12, 24, 7, 0, tzinfo=UTC)),
    ],
)
def test_times(text: str, moment: datetime) -> None:
    assert time_until(text, NOW) == moment


@pytest.mark.parametrize("text", ["", "7", "d", "-7d", "7y", "soon", "999999w", "2026-13-01", "٧d"])
def test_no_times(text: str) -> None:
    with pytest.raises(UsageError, match="no time"):
        time_until(text, NOW)


def test_lengths() -> None:
    assert (length_of("14d"), length_of("2w"), length_of("90m")) == (1209600, 1209600, 5400)
    for text in ("14", "", "2026-12-24"):
        with pytest.raises(UsageError, match="no length"):
            length_of(text)


# -- origins ---------------------------------------------------------------------------------------


def test_acceptance_by_origin_leaves_out_what_was_undone(home: Path, opened: Opened) -> None:
    for number in range(4):
        propose(home, f"b{number}", add(f"b{number}"), origin="background_review")
    propose(home, "f", add("f"), origin="foreground")
    propose(home, "n", add("n"))
    write(home / "pending/memory/broken.json", "{")
    approve(opened, Request(("b0", "b1", "f")))
    reject(opened, Request(("b2", "n")))
    reject(opened, Request(("broken",)))
    reject(opened, Request(("b3",)))
    history.undo(opened)
    assert decisions.acceptance(opened) == {
        "background_review": Acceptance(2, 1),
        "foreground": Acceptance(1, 0),
        "unknown": Acceptance(0, 2),
    }
    assert Acceptance(2, 1).rate == pytest.approx(2 / 3)


def test_a_failed_decision_is_none(home: Path, opened: Opened) -> None:
    queue(home, {"a": remove("nowhere")})
    approve(opened, Request(("a",)))
    assert decisions.acceptance(opened) == {}


# -- search ----------------------------------------------------------------------------------------


def test_the_journal_is_searched_by_what_a_person_remembers(home: Path, opened: Opened) -> None:
    propose(home, "a", swap("alpha one", "Deploys run at NOON"), origin="foreground")
    propose(home, "b", patch("deploy", "Step one.", "1."))
    approve(opened, Request(("a",), "asked the team"))
    approve(opened, Request(("b",)))
    entries = history.entries(opened)

    def found(text: str) -> list[str]:
        return [entry.subject for entry in decisions.search(entries, text)]

    assert found("at noon") == found("alpha") == found("THE TEAM") == found("foreground") == ["a"]
    assert found("skills/ops/deploy") == ["b"]
    assert found("approve") == ["b", "a"]
    assert found("no such thing") == []
