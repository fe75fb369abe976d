"""``learn``: one text is one note, whatever is said twice (specs, memory-rag 4 and 5)."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from core.desk import knowledge
from core.desk.knowledge import AmbiguousError, Shelf
from core.errors import NotFoundError, UsageError
from core.homes.rag.building import add_in_place
from core.homes.rag.nodes import Layer, Node, collection_of
from tests.core.rag.shelves import SIX_HOURS, SIX_HOURS_ID, learn, note, shelf_in, statuses

MEMORY = collection_of("api", Layer.MEMORY)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return shelf_in(tmp_path)


def events(shelf: Shelf) -> list[tuple[str, str]]:
    return [(event.event, event.detail) for event in shelf.store.events()]


def test_a_note_has_the_ids_and_fields_of_the_original(shelf: Shelf) -> None:
    found = learn(shelf, f"  {SIX_HOURS}\n", kind="rag:gotcha")
    assert (found.id, found.text, found.was) == (SIX_HOURS_ID, SIX_HOURS_ID, None)
    assert note(shelf, SIX_HOURS_ID).metadata == {
        "status": "active",
        "source": "learn",
        "created": "2026-11-29T12:00:01Z",
        "layer": "memory",
        "path": "memory",
        "kind": "rag:gotcha",
    }
    assert events(shelf) == [("learn", "rag:gotcha")]


def test_the_store_is_private(shelf: Shelf) -> None:
    learn(shelf, SIX_HOURS)
    folder = shelf.store.folder
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "signoff.sqlite3").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_a_blank_text_is_refused_before_anything_is_made(shelf: Shelf, text: str) -> None:
    with pytest.raises(UsageError):
        learn(shelf, text)
    assert not shelf.store.folder.exists()


def test_a_long_text_is_cut_before_its_id_is_made(shelf: Shelf) -> None:
    """Two long texts with the same first 497 characters are one note (section 4)."""
    first = learn(shelf, "a" * 497 + "bcde")
    assert note(shelf, first.id).document == "a" * 497 + "…"
    assert learn(shelf, "a" * 497 + "wxyz").was == "active"
    assert note(shelf, learn(shelf, "b" * 500).id).document == "b" * 500


def test_learning_twice_changes_nothing_whatever_the_status(shelf: Shelf) -> None:
    learn(shelf, SIX_HOURS, kind="rag:gotcha")
    other = learn(shelf, "another note").id
    knowledge.carry_out(shelf, knowledge.retire(shelf, "api", SIX_HOURS_ID, "wrong"))
    before = note(shelf, SIX_HOURS_ID)
    again = learn(shelf, SIX_HOURS, kind="else", supersedes=other)
    assert note(shelf, SIX_HOURS_ID) == before
    assert note(shelf, other).status == "active", "supersedes is ignored"
    assert again.was == "retired"
    assert again.text == (
        f"{SIX_HOURS_ID} || there already, retired; reactivate a2c03c47 brings it back"
    )
    assert events(shelf)[-1] == ("learn_dup", SIX_HOURS_ID)


def test_hostile_characters_are_kept_as_far_as_a_text_can_hold_them(shelf: Shelf) -> None:
    found = learn(shelf, "a\x1b[31mred\x07 [bold]b[/bold] \ud800 c\0d")
    assert note(shelf, found.id).document == "a\x1b[31mred\x07 [bold]b[/bold] \ufffd c\ufffdd"


# -- the cap ---------------------------------------------------------------------------------------


def test_past_the_cap_the_oldest_are_archived_and_said(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path, HERMES_RAG_MEMORY_CAP="3")
    texts = [f"note number {n}" for n in range(5)]
    answers = [learn(shelf, text).text for text in texts]
    assert answers[2].endswith(note_id(shelf, texts[2]))
    assert answers[3] == f"{note_id(shelf, texts[3])} || 1 oldest archived"
    assert list(statuses(shelf).values()) == ["archived", "archived", "active", "active", "active"]
    assert [event for event, _ in events(shelf)].count("archive") == 2


def test_mirrors_and_odd_statuses_are_never_archived(tmp_path: Path) -> None:
    """Archived are notes whose status is exactly active, or that have none (section 4, 5)."""
    shelf = shelf_in(tmp_path, HERMES_RAG_MEMORY_CAP="2")
    kept = {
        "mirror": {"source": "memory_file", "created": "2020-01-01T00:00:00Z"},
        "odd": {"status": "pinned", "created": "2020-01-01T00:00:00Z"},
        "bare": {"created": "2020-01-02T00:00:00Z"},
    }
    add_in_place(shelf.own, [Node(MEMORY, name, name, data) for name, data in kept.items()])
    learn(shelf, "new")
    assert statuses(shelf) == {
        "mirror": "active",
        "odd": "pinned",
        "bare": "archived",
        "new": "active",
    }


def test_a_merge_is_due_from_the_threshold_on(tmp_path: Path) -> None:
    shelf = shelf_in(tmp_path, HERMES_RAG_CONSOLIDATE_THRESHOLD="2")
    first = learn(shelf, "one", kind="memory:old")
    assert (first.due, "||" in first.text) == (False, False)
    second = learn(shelf, "two")
    assert second.text == (
        f"{second.id} || CONSOLIDATION DUE: staging at 2 >= 2,"
        " run signoff knowledge merge --project api"
    )


# -- supersedes, short ids -------------------------------------------------------------------------


def test_a_new_note_takes_the_place_of_another(shelf: Shelf) -> None:
    learn(shelf, SIX_HOURS)
    new = learn(shelf, "the queue keeps jobs for a day", supersedes="a2c03c47")
    assert new.text == f"{new.id} || replaced a2c03c47"
    old = note(shelf, SIX_HOURS_ID)
    assert (old.status, old.text("superseded_by")) == ("superseded", new.id)
    assert ("supersede", f"{SIX_HOURS_ID}->{new.id}") in events(shelf)
    assert [n.id for n in knowledge.chain(shelf, old)] == [SIX_HOURS_ID, new.id]


@pytest.mark.parametrize("written", ["feedbeef", "a2c", "A2C03C47", "a2*", "%"])
def test_what_names_no_note_marks_none_and_is_said(shelf: Shelf, written: str) -> None:
    learn(shelf, SIX_HOURS)
    new = learn(shelf, "another", supersedes=written)
    assert "supersedes matched no single note" in new.text
    assert set(statuses(shelf).values()) == {"active"}


def test_a_blank_beginning_is_refused_before_anything_is_stored(shelf: Shelf) -> None:
    """In the original it can hit the new note itself (section 4)."""
    learn(shelf, SIX_HOURS)
    with pytest.raises(UsageError):
        learn(shelf, "another", supersedes="  ")
    assert list(statuses(shelf)) == [SIX_HOURS]


def test_the_beginning_of_two_ids_names_none(shelf: Shelf) -> None:
    names = ["abcd0000-x", "abcd0000-y", "abcd0000"]
    add_in_place(shelf.own, [Node(MEMORY, name, name, {}) for name in names[:2]])
    with pytest.raises(AmbiguousError) as refused:
        knowledge.retire(shelf, "api", "abcd0000")
    assert (refused.value.exit_code, refused.value.code) == (1, "ambiguous")
    assert "abcd0000-x, abcd0000-y" in refused.value.hint
    assert "matched no single note" in learn(shelf, "new", supersedes="abcd").text
    assert set(statuses(shelf).values()) == {"active"}
    add_in_place(shelf.own, [Node(MEMORY, names[2], "exact", {})])
    plan = knowledge.retire(shelf, "api", "abcd0000")
    assert knowledge.carry_out(shelf, plan).ok
    assert statuses(shelf)["exact"] == "retired", "an exact id wins"


def test_a_note_of_every_project_needs_its_project(shelf: Shelf) -> None:
    found = learn(shelf, "never force push", project="global")
    with pytest.raises(NotFoundError, match="no single memory note matches") as missing:
        knowledge.retire(shelf, "api", found.id[:8])
    assert missing.value.hint == "api has none, but global has: --project global"
    with pytest.raises(NotFoundError) as unknown:
        knowledge.retire(shelf, "api", "ffffffff")
    assert unknown.value.hint == "See `signoff knowledge nodes`"
    plan = knowledge.retire(shelf, "global", f"#{found.id[:8]}", "over")
    assert knowledge.carry_out(shelf, plan).message == f"retired {found.id[:8]} (over)"


def note_id(shelf: Shelf, text: str) -> str:
    return next(node.id for node in shelf.store.nodes(MEMORY) if node.document == text)
