"""Staged notes into wiki pages: routing, the gate, the fallback, one step to undo (specs 10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk import history, knowledge, knowledge_work
from core.desk.knowledge import Shelf
from core.errors import UsageError
from core.homes.rag import merge
from core.homes.rag.building import add_in_place
from core.homes.rag.merge import HEADING, appended, objections, page_of
from core.homes.rag.nodes import Layer, Node, collection_of
from core.homes.rag.statuses import Place
from core.model import Receipt
from core.view import View
from tests.core.rag.shelves import SIX_HOURS, SIX_HOURS_ID, learn, note, shelf_in, statuses

MEMORY = collection_of("api", Layer.MEMORY)
LONG = "the nightly import of orders takes two locks and must never run beside a backup"
PAGE = f"""# queue

## Limits

```sh
queue --limit 3
```

{"The queue has limits. " * 20}

## Other

text
"""


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return shelf_in(tmp_path)


def merged(shelf: Shelf, project: str = "api") -> Receipt:
    found, plan = knowledge_work.plan_merge(shelf, project)
    receipt, warning = knowledge_work.carry_out_merge(shelf, found, plan)
    assert warning == ""
    return receipt


def page(tmp_path: Path, name: str, text: str = "") -> Path:
    path = tmp_path / "wikis" / "api" / "modules" / f"{name}.md"
    if text:
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("rag:gotcha", "modules/rag.md"),
        ("a_b-9:x", "modules/a_b-9.md"),
        ("memory:", "modules/memory.md"),
        ("learning", ""),
        ("Rag:gotcha", ""),
        ("a b:c", ""),
        ("../x:y", ""),
        (":x", ""),
        ("", ""),
    ],
)
def test_routing_by_kind(kind: str, expected: str) -> None:
    assert page_of(kind) == expected


def test_a_new_page_and_its_notes_archived(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    learn(shelf, "jobs\nare small", kind="queue:fact")
    learn(shelf, "of no page")
    receipt = merged(shelf)
    assert (receipt.ok, receipt.message) == (True, "2 notes merged into 1 page")
    assert page(tmp_path, "queue").read_text() == (
        f"# queue\n\n{HEADING}\n\n- {SIX_HOURS}\n- jobs are small\n"
    )
    assert list(statuses(shelf).values()) == ["archived", "archived", "active"]
    assert note(shelf, SIX_HOURS_ID).text("merged_into") == "modules/queue.md"
    text = knowledge.recall(shelf, "six hours", "api").recalled.text
    assert "[wiki modules/queue.md]" in text, "the pages are taken in anew"
    assert "[memory" not in text.replace("[memory: no results]", "")


def test_all_of_a_merge_is_one_step_to_undo(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    learn(shelf, LONG, kind="import:gotcha")
    before = [note(shelf, node.id) for node in shelf.store.nodes(MEMORY)]
    assert merged(shelf).ok
    assert len(history.entries(shelf)) == 1
    (receipt,) = knowledge_work.undo(shelf)
    assert receipt.ok
    assert list(shelf.store.nodes(MEMORY)) == before
    assert not (tmp_path / "wikis").exists()
    assert shelf.store.count(collection_of("api", Layer.WIKI)) == 0, "nor is it found any more"


def test_pages_that_a_bulk_step_takes_away_are_found_no_more(shelf: Shelf, tmp_path: Path) -> None:
    """Taking several back is a bulk step; so is taking that back, and that once more."""
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    gone = learn(shelf, "jobs are small").id
    assert merged(shelf).ok
    assert knowledge.carry_out(shelf, knowledge.retire(shelf, "api", gone)).ok
    wiki = collection_of("api", Layer.WIKI)
    for there in (False, True, False):
        newest = history.entries(shelf)[0].tags.bulk
        if newest is None:
            receipts = list(knowledge_work.undo(shelf, [1, 2]))
        else:
            receipts = list(knowledge_work.undo(shelf, bulk=newest))
        assert [receipt.ok for receipt in receipts] == [True, True]
        assert page(tmp_path, "queue").exists() == there
        assert bool(shelf.store.count(wiki)) == there


def test_only_live_notes_that_are_no_mirrors(shelf: Shelf) -> None:
    """The original takes every node, and deletes them (section 10, not to be copied)."""
    fields = {"kind": "q:x", "path": "memory"}
    notes = {
        "live": {},
        "archived": {"status": "archived"},
        "retired": {"status": "retired"},
        "superseded": {"status": "superseded"},
        "mirror": {"source": "memory_file"},
    }
    add_in_place(
        shelf.own, [Node(MEMORY, name, name, fields | more) for name, more in notes.items()]
    )
    found, _ = knowledge_work.plan_merge(shelf, "api")
    assert [node.id for node in found.pages[0].notes] == ["live"]
    assert merged(shelf).ok
    assert shelf.store.count(MEMORY) == 5
    assert knowledge_work.plan_merge(shelf, "api")[1].outcome.category == "noop"


def test_notes_come_oldest_first(shelf: Shelf) -> None:
    notes = [
        Node(MEMORY, name, name, {"kind": "q:x", "created": f"2026-0{n}"})
        for n, name in ((3, "c"), (1, "a"), (2, "b"))
    ]
    add_in_place(shelf.own, notes)
    found, _ = knowledge_work.plan_merge(shelf, "api")
    assert [node.id for node in found.pages[0].notes] == ["a", "b", "c"]


def test_a_page_that_changed_since_it_was_shown_is_left_alone(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    path = page(tmp_path, "queue", PAGE)
    found, plan = knowledge_work.plan_merge(shelf, "api")
    path.write_text("by hand")
    receipt, _ = knowledge_work.carry_out_merge(shelf, found, plan)
    assert (receipt.ok, receipt.category) == (False, "moved")
    assert path.read_text() == "by hand"
    assert note(shelf, SIX_HOURS_ID).live


def test_a_note_that_changed_since_it_was_shown_keeps_all_from_happening(
    shelf: Shelf, tmp_path: Path
) -> None:
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    found, plan = knowledge_work.plan_merge(shelf, "api")
    assert knowledge.carry_out(shelf, knowledge.retire(shelf, "api", SIX_HOURS_ID)).ok
    receipt, _ = knowledge_work.carry_out_merge(shelf, found, plan)
    assert receipt.category == "moved"
    assert not page(tmp_path, "queue").exists()


def test_a_page_that_is_no_text_keeps_its_notes_staged(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    page(tmp_path, "queue", "x").write_bytes(b"\xff\xfe")
    found, plan = knowledge_work.plan_merge(shelf, "api")
    assert (plan.changes, found.manual[0][1]) == ((), "modules/queue.md is no UTF-8 text")


@pytest.mark.parametrize("project", ["../out", "/etc", "a/../../b", " "])
def test_a_project_that_leads_out_of_the_wikis_is_refused(shelf: Shelf, project: str) -> None:
    learn(shelf, SIX_HOURS, project, kind="queue:gotcha")
    with pytest.raises(UsageError):
        knowledge_work.plan_merge(shelf, project)


def test_a_link_that_leads_out_of_the_wikis_is_not_written(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    (tmp_path / "outside").mkdir()
    (tmp_path / "wikis" / "api").mkdir(parents=True)
    (tmp_path / "wikis" / "api" / "modules").symlink_to(tmp_path / "outside")
    found, plan = knowledge_work.plan_merge(shelf, "api")
    receipt, _ = knowledge_work.carry_out_merge(shelf, found, plan)
    assert (receipt.ok, receipt.category) == (False, "path_escape")
    assert list((tmp_path / "outside").iterdir()) == []
    assert note(shelf, SIX_HOURS_ID).live


# -- the fallback ----------------------------------------------------------------------------------


def test_one_heading_however_often_and_no_bullet_twice() -> None:
    """In the original the heading repeats at every run (section 10)."""
    once = appended("# q\n\ntext\n\n\n", "q", ["one", "two", "one"])
    assert once == f"# q\n\ntext\n\n{HEADING}\n\n- one\n- two\n"
    assert (
        appended(once, "q", ["two", "three"])
        == f"# q\n\ntext\n\n{HEADING}\n\n- one\n- two\n- three\n"
    )
    assert appended(once, "q", ["two"]) == once


def test_a_section_in_the_middle_is_filled_where_it_is() -> None:
    page = f"# q\n\n{HEADING}\n\n- one\n\n## Next\n\nmore\n"
    assert appended(page, "q", ["two"]) == f"# q\n\n{HEADING}\n\n- one\n- two\n\n## Next\n\nmore\n"


def test_line_ends_stay() -> None:
    assert (
        appended("# q\r\ntext\r\n", "q", ["one"])
        == f"# q\r\ntext\r\n\r\n{HEADING}\r\n\r\n- one\r\n"
    )


@given(
    st.lists(st.text("ab #-`\n", min_size=1, max_size=12).filter(str.strip), max_size=5),
    st.text("a#\n -`", max_size=40),
)
def test_appended_twice_is_appended_once_and_loses_nothing(notes: list[str], old: str) -> None:
    once = appended(old, "t", notes)
    assert appended(once, "t", notes) == once
    assert once.split("\n").count(HEADING) >= 1
    kept = [line for line in old.split("\n") if line.strip()]
    rest = iter(once.split("\n"))
    assert all(any(line == other for other in rest) for line in kept), "in their order"


# -- the gate --------------------------------------------------------------------------------------

GOOD = PAGE.replace("text\n", f"text\n\n{LONG.capitalize()}.\n")


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (GOOD, ""),
        (GOOD.replace("## Other", "## Others"), "loses the heading '## Other'"),
        (GOOD + "x" * len(PAGE), "its length"),
        ("## Limits\n## Other\n" + LONG, "its length"),
        (PAGE, "1 of 1 notes"),
        (PAGE.replace("text", LONG.replace("must", "should")), ""),
        (PAGE.replace("text", LONG.replace("locks", "mutexes")), "1 of 1 notes"),
        (GOOD.replace("```\n\n", "\n\n", 1), "code fences"),
        (GOOD + "```\n", "code fences"),
    ],
    ids=["good", "heading", "long", "short", "no note", "eight words", "seven", "lost", "odd"],
)
def test_the_gate(new: str, why: str) -> None:
    found = objections(PAGE, new, [LONG])
    assert (found == ()) if not why else any(why in each for each in found)


def test_a_note_of_fewer_than_eight_words_never_passes() -> None:
    assert objections("## a\n", "## a\n", ["one two three four five six seven"])


@pytest.mark.parametrize(("answer", "rewritten"), [(GOOD, True), (PAGE, False), (None, False)])
def test_a_rewrite_is_proposed_only_through_the_gate(
    shelf: Shelf, tmp_path: Path, answer: str | None, rewritten: bool
) -> None:
    learn(shelf, LONG, kind="queue:gotcha")
    page(tmp_path, "queue", PAGE)
    root = shelf.rag.wiki_root
    notes = list(shelf.store.nodes(MEMORY))
    found = merge.plan_merge(
        View(shelf.source),
        Place(shelf.store.file, MEMORY),
        root / "api",
        root,
        notes,
        lambda *_: answer,
    )
    assert found.pages[0].rewritten is rewritten
    assert bool(found.pages[0].why) is not rewritten
    change = found.outcome.changes[0]
    after = getattr(change, "after").data.decode()  # noqa: B009
    assert after == (GOOD if rewritten else f"{PAGE}\n{HEADING}\n\n- {LONG}\n")


def test_the_token_stands_for_exactly_one_merge(shelf: Shelf, tmp_path: Path) -> None:
    learn(shelf, SIX_HOURS, kind="queue:gotcha")
    first = knowledge_work.merge_token(knowledge_work.plan_merge(shelf, "api")[1])
    assert knowledge_work.merge_token(knowledge_work.plan_merge(shelf, "api")[1]) == first
    page(tmp_path, "queue", PAGE)
    assert knowledge_work.merge_token(knowledge_work.plan_merge(shelf, "api")[1]) != first
