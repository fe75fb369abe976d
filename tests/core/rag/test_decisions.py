"""Statuses as plans: sealed, journalled, undone, and whole after a crash (design, section 1)."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from core import locks
from core.commit import commit
from core.desk import history, knowledge
from core.desk.knowledge import Shelf
from core.errors import UsageError
from core.homes.rag import schema
from core.homes.rag.building import add_in_place
from core.homes.rag.chroma import ChromaReader
from core.homes.rag.nodes import Layer, Node, Scalar, collection_of, encode
from core.homes.rag.own import OwnStore
from core.homes.rag.statuses import Place
from core.homes.rag.store import MODE, record_of, record_path
from core.journal import State
from core.model import Change, NodeKind, Outcome
from core.model import Node as FileNode
from core.plan import Plan, bind
from core.recover import reconcile
from core.view import View
from tests.core.rag.shelves import NOW, SIX_HOURS, SIX_HOURS_ID, learn, note, shelf_in

MEMORY = collection_of("api", Layer.MEMORY)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = shelf_in(tmp_path)
    learn(shelf, SIX_HOURS, kind="rag:gotcha")
    return shelf


def fields(shelf: Shelf, name: str = SIX_HOURS_ID) -> dict[str, object]:
    before = {"source", "created", "layer", "path", "kind"}
    return {key: v for key, v in note(shelf, name).metadata.items() if key not in before}


# -- each change -----------------------------------------------------------------------------------


def test_retired_with_a_reason_and_taken_back_byte_for_byte(shelf: Shelf) -> None:
    before = note(shelf, SIX_HOURS_ID)
    plan = knowledge.retire(shelf, "api", "a2c03c47", "x" * 300)
    assert note(shelf, SIX_HOURS_ID) == before, "a plan changes nothing"
    receipt = knowledge.carry_out(shelf, plan, "because")
    assert receipt.message == f"retired a2c03c47 ({'x' * 80})"
    assert fields(shelf) == {"status": "retired", "retired_reason": "x" * 200}
    (entry,) = history.entries(shelf)
    assert (entry.verb, entry.subject, entry.note) == ("retire", "a2c03c47", "because")
    assert entry.changed == (f"signoff.sqlite3/{MEMORY}/{SIX_HOURS_ID}",)
    assert history.undo(shelf).ok
    assert note(shelf, SIX_HOURS_ID) == before


def test_what_is_not_live_is_not_retired_again(shelf: Shelf) -> None:
    knowledge.carry_out(shelf, knowledge.archive(shelf, "api", "a2c03c47"))
    receipt = knowledge.carry_out(shelf, knowledge.retire(shelf, "api", "a2c03c47"))
    assert (receipt.ok, receipt.category) == (True, "noop")
    assert receipt.message == "already archived — nothing changed"
    assert len(history.entries(shelf)) == 1, "nothing done is no decision"


@pytest.mark.parametrize("how", ["retire", "archive", "supersede"])
def test_reactivated_it_is_what_it_was(shelf: Shelf, how: str) -> None:
    before = note(shelf, SIX_HOURS_ID)
    other = learn(shelf, "another").id
    plans: dict[str, Callable[[], Plan]] = {
        "retire": lambda: knowledge.retire(shelf, "api", "a2c03c47", "wrong"),
        "archive": lambda: knowledge.archive(shelf, "api", "a2c03c47"),
        "supersede": lambda: knowledge.supersede(shelf, "api", "a2c03c47", other[:8]),
    }
    assert knowledge.carry_out(shelf, plans[how]()).ok
    assert not note(shelf, SIX_HOURS_ID).live
    receipt = knowledge.carry_out(shelf, knowledge.reactivate(shelf, "api", "a2c03c47"))
    assert (receipt.ok, receipt.category) == (True, "restored")
    assert note(shelf, SIX_HOURS_ID) == before
    assert shelf.store.events()[-1].event == "reactivate"
    again = knowledge.reactivate(shelf, "api", "a2c03c47")
    assert again.outcome.category == "noop"


def test_an_unknown_status_word_counts_as_live(shelf: Shelf) -> None:
    """Section 3: unknown words are shown as they are and treated as live."""
    odd = Node(MEMORY, "abcd-odd", "odd", {"status": "pinned"})
    assert odd.live
    assert Node(MEMORY, "x", "", {"status": ""}).status == "active"


def test_notes_are_counted_and_listed_by_the_status_that_each_one_tells(shelf: Shelf) -> None:
    """Section 3: a status that is missing, empty or no text is active, an odd word its own."""
    odd: list[dict[str, Scalar]] = [{}, {"status": ""}, {"status": None}, {"status": 5}]
    odd += [{"status": True}, {"status": "pinned"}, {"status": "é \" 'x"}, {"status": "retired"}]
    nodes = [Node(MEMORY, f"abcd-{n}", str(n), fields) for n, fields in enumerate(odd)]
    add_in_place(shelf.own, nodes)
    store = shelf.store
    assert store.statuses(MEMORY) == Counter(node.status for node in store.nodes(MEMORY))
    assert store.statuses(MEMORY) == {"active": 6, "pinned": 1, "é \" 'x": 1, "retired": 1}
    assert store.statuses("rag_none__memory") == {}
    newest = store.newest(MEMORY)
    assert [node.id for node in newest[1:]] == [node.id for node in reversed(nodes)]
    for status in ("active", "pinned", "é \" 'x", "retired", "unheard of"):
        assert store.newest(MEMORY, status=status) == [n for n in newest if n.status == status]
    live = [node for node in newest if node.live]
    assert store.newest(MEMORY, status="live", limit=3) == live[:3]


def test_no_note_takes_its_own_place_nor_makes_a_ring(shelf: Shelf) -> None:
    b, c = learn(shelf, "b").id, learn(shelf, "c").id
    itself = knowledge.supersede(shelf, "api", "a2c03c47", SIX_HOURS_ID)
    assert itself.outcome.category == "invalid"
    assert knowledge.carry_out(shelf, knowledge.supersede(shelf, "api", "a2c03c47", b)).ok
    assert knowledge.carry_out(shelf, knowledge.supersede(shelf, "api", b, c)).ok
    ring = knowledge.carry_out(shelf, knowledge.supersede(shelf, "api", c, SIX_HOURS_ID))
    assert (ring.ok, ring.category) == (False, "invalid")
    assert [n.id for n in knowledge.chain(shelf, note(shelf, SIX_HOURS_ID))] == [SIX_HOURS_ID, b, c]


def test_a_ring_that_is_there_is_walked_once(shelf: Shelf) -> None:
    b = learn(shelf, "b").id
    assert knowledge.carry_out(shelf, knowledge.supersede(shelf, "api", "a2c03c47", b)).ok
    with schema.writing(shelf.store.folder) as db:
        db.execute(
            "UPDATE nodes_1 SET metadata = json_set(metadata, '$.superseded_by', ?) WHERE id = ?",
            (SIX_HOURS_ID, b),
        )
    assert [n.id for n in knowledge.chain(shelf, note(shelf, b))] == [b, SIX_HOURS_ID]
    assert len(knowledge.timeline(shelf, note(shelf, b))) == 2


def test_a_note_stands_between_its_past_and_its_future(shelf: Shelf) -> None:
    b = learn(shelf, "b", supersedes="a2c03c47").id
    other = learn(shelf, "other").id
    c = learn(shelf, "c", supersedes=b).id
    d = learn(shelf, "d", supersedes=c).id
    assert knowledge.carry_out(shelf, knowledge.supersede(shelf, "api", other, c)).ok
    for name in (SIX_HOURS_ID, b):
        found = [each.id for each in knowledge.timeline(shelf, note(shelf, name))]
        assert found == [SIX_HOURS_ID, b, c, d]
    found = [each.id for each in knowledge.timeline(shelf, note(shelf, c))]
    assert found == [SIX_HOURS_ID, b, other, c, d]


# -- the seal --------------------------------------------------------------------------------------


def test_a_note_that_another_changed_meanwhile_is_left_alone(shelf: Shelf) -> None:
    plan = knowledge.retire(shelf, "api", "a2c03c47", "mine")
    assert knowledge.carry_out(shelf, knowledge.archive(shelf, "api", "a2c03c47")).ok
    receipt = knowledge.carry_out(shelf, plan)
    assert (receipt.ok, receipt.category) == (False, "moved")
    assert fields(shelf) == {"status": "archived"}


def test_an_undo_is_refused_when_the_note_moved_on(shelf: Shelf) -> None:
    assert knowledge.carry_out(shelf, knowledge.retire(shelf, "api", "a2c03c47")).ok
    assert knowledge.carry_out(shelf, knowledge.reactivate(shelf, "api", "a2c03c47")).ok
    receipt = history.undo(shelf, 1)
    assert (receipt.ok, receipt.category) == (False, "moved_on")
    assert "undo 2 first" in receipt.message


def test_a_writer_in_the_last_moment_is_never_written_over(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check and the write the row is compared once more, in the same transaction."""
    plan = knowledge.retire(shelf, "api", "a2c03c47", "mine")
    put = OwnStore.put

    def late(self: OwnStore, path: str, before: FileNode | None, after: FileNode | None) -> None:
        other = shelf_in(shelf.state.parent)
        now = other.store.node(path)
        assert now is not None
        put(
            other.own,
            path,
            now,
            FileNode(NodeKind.FILE, now.data.replace(b"active", b"archived"), MODE),
        )
        put(self, path, before, after)

    monkeypatch.setattr(OwnStore, "put", late)
    receipt = knowledge.carry_out(shelf, plan)
    assert (receipt.ok, receipt.category) == (False, "torn")
    assert "Another process changed the note meanwhile" in receipt.message
    assert note(shelf, SIX_HOURS_ID).status == "archived"


def test_a_locked_store_is_an_answer_and_changes_nothing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = knowledge.retire(shelf, "api", "a2c03c47")
    monkeypatch.setattr(schema, "BUSY", 0.05)
    db = sqlite3.connect(shelf.store.folder / "signoff.sqlite3", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    receipt = knowledge.carry_out(shelf, plan)
    db.close()
    assert (receipt.ok, receipt.category) == (False, "io_error")
    assert "another process is writing to it" in receipt.message
    assert note(shelf, SIX_HOURS_ID).live


# -- records ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a/b", "../..", "%2F", "ä ", ".", "x" * 300])
def test_any_id_names_one_record(name: str) -> None:
    path = record_path("signoff.sqlite3", "rag_a/b__memory", name)
    assert record_of("signoff.sqlite3", path) == ("rag_a/b__memory", name)
    assert path.count("/") == 2


@pytest.mark.parametrize(
    "path",
    [
        "signoff.sqlite3",
        "signoff.sqlite3/a",
        "other/a/b",
        "signoff.sqlite3/a/b/c",
        "signoff.sqlite3//b",
    ],
)
def test_any_other_path_is_no_record(path: str) -> None:
    assert record_of("signoff.sqlite3", path) is None


def test_no_note_is_ever_made_or_removed_by_a_plan(shelf: Shelf) -> None:
    path = Place(shelf.store.file, MEMORY).of(SIX_HOURS_ID)
    view = View(shelf.source)
    gone = bind(view, "x", "x", Outcome("ok", "x", (Change(path, view.node(path), None),)))
    receipt = commit(gone, shelf.ground(), shelf.journal, now=NOW)
    assert (receipt.ok, receipt.category) == (False, "io_error")
    assert note(shelf, SIX_HOURS_ID).live


def test_a_chroma_store_is_only_read_without_the_extra(shelf: Shelf) -> None:
    reader = ChromaReader(shelf.store.folder)
    file = FileNode(NodeKind.FILE, b"", MODE)
    with pytest.raises(OSError, match="only read"):
        reader.put("chroma.sqlite3/a/b", file, file)


def test_learning_into_a_chroma_store_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "chroma.sqlite3").write_bytes(b"")
    with pytest.raises(UsageError, match="is a Chroma store") as refused:
        learn(shelf_in(tmp_path), SIX_HOURS)
    assert "export" in refused.value.hint


# -- crashes ---------------------------------------------------------------------------------------


def three(shelf: Shelf) -> Plan:
    """Three notes archived as one plan."""
    place, view = Place(shelf.store.file, MEMORY), View(shelf.source)
    changes = []
    for text in ("one", "two", "three"):
        found = note(shelf, learn(shelf, text).id)
        before = view.node(place.of(found.id))
        after = Node(MEMORY, found.id, found.document, {**found.metadata, "status": "archived"})
        changes.append(
            Change(place.of(found.id), before, FileNode(NodeKind.FILE, encode(after), MODE))
        )
    return bind(view, "archive", "three", Outcome("ok", "three archived", tuple(changes)))


def killed(plan: Plan, shelf: Shelf, number: int, when: str) -> None:
    """Commit ``plan`` in a process that dies before or within its ``number``-th row."""
    child = os.fork()
    if child == 0:
        try:
            left = [number]
            update, put = schema.writing, OwnStore.put

            def dying(*args: object) -> None:
                left[0] -= 1
                if left[0] == 0:
                    if when == "within":
                        # The row is changed, and its transaction never ends.
                        writing = update(shelf.store.folder)
                        db = writing.__enter__()
                        db.execute("UPDATE nodes_1 SET live = 0, metadata = '{}'")
                    os._exit(9)
                put(*args)  # type: ignore[arg-type]

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(OwnStore, "put", dying)
                commit(plan, shelf.ground(), shelf.journal, now=NOW)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def settle(shelf: Shelf) -> State:
    with locks.hold([shelf.ground().lock]):
        (settled,) = reconcile(shelf.ground(), shelf.journal)
    return settled.state


def archived(shelf: Shelf) -> int:
    return sum(node.status == "archived" for node in shelf.store.nodes(MEMORY))


@pytest.mark.parametrize("when", ["before", "within"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_crash_leaves_all_or_nothing_after_the_next_command(
    shelf: Shelf, number: int, when: str
) -> None:
    plan = three(shelf)
    killed(plan, shelf, number, when)
    assert archived(shelf) == number - 1
    state = settle(shelf)
    if number == 1:
        assert (state, archived(shelf)) == (State.DROPPED, 0)
        return
    assert (state, archived(shelf)) == (State.DONE, 3)
    assert history.undo(shelf).ok
    assert archived(shelf) == 0


def test_rows_that_another_changed_after_the_crash_are_left_and_told(shelf: Shelf) -> None:
    plan = three(shelf)
    killed(plan, shelf, 2, "before")
    two = next(node for node in shelf.store.nodes(MEMORY) if node.document == "two")
    with schema.writing(shelf.store.folder) as db:
        db.execute(
            'UPDATE nodes_1 SET metadata = \'{"status": "retired"}\' WHERE id = ?', (two.id,)
        )
    assert settle(shelf) is State.TORN
    assert archived(shelf) == 1
    assert note(shelf, two.id).status == "retired"


def test_a_failure_in_the_middle_is_taken_back(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = three(shelf)
    put, left = OwnStore.put, [2]

    def failing(self: OwnStore, path: str, before: FileNode | None, after: FileNode | None) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        put(self, path, before, after)

    monkeypatch.setattr(OwnStore, "put", failing)
    receipt = knowledge.carry_out(shelf, plan)
    assert (receipt.ok, receipt.category) == (False, "io_error")
    assert archived(shelf) == 0
