"""Usage rows: the agent's serialisation, every row and field that is not ours kept (D20, D-S2)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import UnreadableError
from core.homes.hermes.skills import usage
from core.model import RowAction, RowEdit
from core.view import Reading, Snapshot, Tree, View
from tests.core.hermes.skill_homes import DATA, NOW, STAMP

APPROVAL = (DATA / "hermes-approval/skills/.usage.json").read_bytes()
HOSTILE = (DATA / "hostile-skills/skills/.usage.json").read_bytes()

words = st.text("abcdeäß/ .-", min_size=1, max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 9) | words,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=5,
)
row_maps = st.dictionaries(
    words,
    st.dictionaries(words, values, max_size=4).map(
        lambda extra: {**usage.empty_row(NOW), "created_at": "2026-01-01T00:00:00+00:00", **extra}
    )
    | values,
    max_size=5,
)


def rows_of(data: bytes | None) -> usage.Rows:
    return usage.read_rows(Reading(data))


def written(data: bytes | None, edits: tuple[RowEdit, ...]) -> dict[str, Any]:
    result = usage.apply(data, edits)
    assert result is not None
    parsed = json.loads(result)
    assert isinstance(parsed, dict)
    return parsed


def test_the_file_is_written_as_the_agent_writes_it() -> None:
    # hermes-agent 0.19.0: indent 2, sorted keys, non-ASCII kept, no final newline.
    edits = usage.put(rows_of(None), "prüfen", {"created_by": "agent"}, NOW)
    assert (
        usage.apply(None, edits)
        == (
            '{\n  "prüfen": {\n    "archived_at": null,\n'
            f'    "created_at": "{STAMP}",\n'
            '    "created_by": "agent",\n    "last_patched_at": null,\n    "last_used_at": null,\n'
            '    "last_viewed_at": null,\n    "patch_count": 0,\n    "pinned": false,\n'
            '    "state": "active",\n    "use_count": 0,\n    "view_count": 0\n  }\n}'
        ).encode()
    )


def test_a_file_of_the_real_agent_keeps_every_other_byte() -> None:
    edits = usage.bump(rows_of(APPROVAL), "chart-style", NOW)
    result = usage.apply(APPROVAL, edits)
    assert result == APPROVAL.replace(
        b'"last_patched_at": "2026-10-11T12:42:21.750000+00:00"',
        f'"last_patched_at": "{STAMP}"'.encode(),
        1,
    ).replace(b'"patch_count": 2', b'"patch_count": 3', 1)
    assert usage.reverse(result, edits) == APPROVAL


def test_a_counter_is_added_to_what_stands_there_at_the_commit() -> None:
    # D20: two processes bump at once; neither count is lost.
    edits = usage.bump(rows_of(b'{"a": {"patch_count": 1}}'), "a", NOW)
    moved = b'{"a": {"patch_count": 7, "use_count": 2}, "b": {}}'
    assert written(moved, edits) == {
        "a": {"patch_count": 8, "use_count": 2, "last_patched_at": STAMP},
        "b": {},
    }


@pytest.mark.parametrize(("count", "then"), [("7", 8), (None, 1), (2.9, 3), (True, 2), ("", 1)])
def test_counters_are_read_as_the_agent_reads_them(count: object, then: int) -> None:
    data = json.dumps({"a": {"patch_count": count}}).encode()
    assert written(data, usage.bump(rows_of(data), "a", NOW))["a"]["patch_count"] == then


def test_a_counter_that_is_no_number_is_never_bumped() -> None:
    # hermes-skills-curator 3.3: "a counter that holds text like `many` is never bumped again".
    assert usage.bump(rows_of(b'{"a": {"patch_count": "many"}}'), "a", NOW) == ()


def test_odd_rows_survive_an_edit_of_another_row() -> None:
    # D-S2: odd records are kept when another record is changed; the agent drops the list.
    before = json.loads(HOSTILE)
    changed = written(HOSTILE, usage.bump(rows_of(HOSTILE), "site-check", NOW))
    assert changed.pop("site-check") == {
        **before.pop("site-check"),
        "patch_count": 1,
        "last_patched_at": STAMP,
    }
    assert changed == before
    assert changed["esc-skill"] == ["not", "an", "object"]


def test_a_row_that_is_no_object_is_left_alone() -> None:
    rows = rows_of(HOSTILE)
    assert usage.bump(rows, "esc-skill", NOW) == ()
    assert usage.drop(rows, "esc-skill") == ()
    assert rows.row("esc-skill") is None


@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"\xff{}",
        b"\xef\xbb\xbf{}",
        b"1",
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_a_file_that_cannot_be_parsed_is_never_written_over(data: bytes) -> None:
    # hermes-skills-curator 3.4: the agent replaces it and loses every row.
    rows = rows_of(data)
    assert rows.problem
    assert usage.bump(rows, "a", NOW) == ()
    edits = usage.bump(rows_of(None), "a", NOW)
    for write in (usage.apply, usage.reverse):
        with pytest.raises(UnreadableError):
            write(data, edits)


def test_half_characters_cannot_be_stored() -> None:
    data = b'{"a": {"note": "\\ud83d"}}'
    with pytest.raises(UnreadableError, match="half characters"):
        usage.apply(data, usage.bump(rows_of(data), "a", NOW))


@pytest.mark.parametrize("data", [None, b"", b"  \n"])
def test_an_absent_or_empty_file_has_no_rows(data: bytes | None) -> None:
    assert rows_of(data) == usage.Rows()
    assert usage.drop(rows_of(data), "a") == ()


def test_an_unreadable_file_says_why() -> None:
    assert usage.read_rows(Reading(None, reason="permission denied")).problem == "permission denied"


def test_a_dropped_row_comes_back_by_undo_unless_it_is_there_again() -> None:
    data = b'{\n  "a": {\n    "x": 1\n  }\n}'
    edits = usage.drop(rows_of(data), "a")
    assert usage.apply(data, edits) == b"{}"
    assert usage.reverse(b"{}", edits) == data
    assert usage.reverse(b'{"a": {"x": 9}}', edits) is None


def test_undo_leaves_a_field_that_moved_on() -> None:
    data = b'{"a": {"state": "active", "archived_at": null}}'
    edits = usage.put(rows_of(data), "a", {"state": "archived", "archived_at": STAMP}, NOW)
    moved = b'{"a": {"state": "stale", "archived_at": "%s", "use_count": 4}}' % STAMP.encode()
    back = usage.reverse(moved, edits)
    assert back is not None
    assert json.loads(back) == {"a": {"state": "stale", "archived_at": None, "use_count": 4}}


def test_undo_keeps_a_row_that_was_made_and_then_used() -> None:
    edits = usage.bump(rows_of(None), "a", NOW)
    made = usage.apply(None, edits)
    assert made is not None
    assert usage.reverse(made, edits) == b"{}"
    used = made.replace(b'"use_count": 0', b'"use_count": 1')
    back = usage.reverse(used, edits)
    assert back is not None
    assert json.loads(back)["a"] == {**usage.empty_row(NOW), "use_count": 1}


def test_nothing_to_write_is_none() -> None:
    assert usage.apply(b"{}", (RowEdit(usage.PATH, "a", RowAction.DROP),)) is None
    same = usage.put(rows_of(b'{"a": {"pinned": true}}'), "a", {"pinned": True}, NOW)
    assert usage.apply(b'{"a": {"pinned": true}}', same) is None


def test_a_sealed_edit_holds_only_while_its_old_value_stands() -> None:
    edit = RowEdit(usage.PATH, "a", RowAction.SET, "pinned", False, True, sealed=True)
    assert usage.seal_holds(b'{"a": {"pinned": false}}', [edit])
    assert not usage.seal_holds(b'{"a": {"pinned": true}}', [edit])
    assert not usage.seal_holds(b"{", [edit])
    free = RowEdit(usage.PATH, "a", RowAction.SET, "pinned", False, True)
    assert usage.seal_holds(b"{", [free])


def test_made_tells_whether_the_edits_were_written() -> None:
    edits = usage.bump(rows_of(b'{"a": {"patch_count": 1}}'), "a", NOW)
    assert not usage.made(b'{"a": {"patch_count": 1}}', edits)
    done = usage.apply(b'{"a": {"patch_count": 1}}', edits)
    assert usage.made(done, edits)
    assert not usage.made(b'{"a": {"patch_count": 1}}', edits[:1])
    assert usage.made(b'{"a": {"patch_count": 2}}', edits[:1])
    gone = usage.drop(rows_of(b'{"a": {}}'), "a")
    assert usage.made(b"{}", gone)
    assert not usage.made(b'{"a": {}}', gone)


def test_one_field_is_recorded_not_the_whole_file() -> None:
    view = View(Tree({usage.PATH: b'{"a": {"pinned": "false"}}'}))
    assert usage.ask(view, "a", "pinned") == "false"
    assert usage.ask(view, "b", "pinned") is None
    assert [(fact.kind, fact.value) for fact in view.facts] == [
        ("usage-field", '"false"'),
        ("usage-field", "null"),
    ]
    other = View(Tree({usage.PATH: b'{"a": {"pinned": "false", "use_count": 9}}'}))
    assert all(fact.resolve(other, fact.key) == fact.value for fact in view.facts)


def test_the_file_is_parsed_once_a_snapshot() -> None:
    source = Snapshot(Tree({usage.PATH: APPROVAL}))
    assert usage.load(View(source)) is usage.load(View(source))


def filled(all_rows: dict[str, Any], key: str) -> dict[str, Any]:
    """``all_rows`` with the fields an undo may leave empty where there were none."""
    row = all_rows.get(key)
    if isinstance(row, dict):
        empty = {"patch_count": 0, "last_patched_at": None, "state": None, "archived_at": None}
        return {**all_rows, key: {**empty, **row}}
    return all_rows


@given(row_maps, words, st.sampled_from(["bump", "put", "drop"]))
def test_everything_else_survives_and_undo_gives_it_all_back(
    before: dict[str, Any], key: str, what: str
) -> None:
    data = json.dumps(before, indent=2, sort_keys=True, ensure_ascii=False).encode()
    rows = rows_of(data)
    edits = {
        "bump": lambda: usage.bump(rows, key, NOW),
        "put": lambda: usage.put(rows, key, {"state": "archived", "archived_at": STAMP}, NOW),
        "drop": lambda: usage.drop(rows, key),
    }[what]()
    result = usage.apply(data, edits)
    if result is None:
        return
    after = json.loads(result)
    touched = {edit.field for edit in edits}
    for name, row in before.items():
        if name != key:
            assert after[name] == row
        elif what != "drop":
            assert {f: v for f, v in after[name].items() if f not in touched} == {
                f: v for f, v in row.items() if f not in touched
            }
    assert usage.made(result, edits)
    assert usage.apply(result, usage.bump(rows_of(result), "someone else", NOW)) != result
    back = usage.reverse(result, edits)
    assert back is not None
    assert filled(json.loads(back), key) == filled(before, key)
