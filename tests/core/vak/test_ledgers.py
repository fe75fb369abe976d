"""Ledgers are read line by line without trusting any of them (vak spec 3)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from core.conversations import Filters, Handoff, Relation, Visibility
from core.errors import NotFoundError, UnreadableError
from core.homes.vak.home import encrypted, workspaces
from core.homes.vak.ledgers import Entry, Skipped, lines, parse, read_ledger
from core.homes.vak.store import Ledgers

HOME = Path(__file__).parents[2] / "data" / "vak"
ATLAS, BILLING = "67b506f04aa724b1", "07ec165512aff658"
DAMAGED = "01a0472b-1180-73ec-9de9-50fa47fcaea8"
BRANCHED = "01a061fd-8600-7c15-b005-37428c2c79f8"
TALK = "01a01e66-0e80-728c-9b72-075b8cbde5af"
WORKER = "child-01a01e6f364074c28eebafd1492b2eac"
SEALED = "ses_0199f000-1111-7222-8333-444455556666"


def entry(key: str, parent: str | None, **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "kind": "message",
        "message": {"role": "user", "content": [{"type": "text", "text": key}]},
    }
    return {"id": key, "parent_id": parent, "ts": "2026-08-20T09:00:00Z", **body, **more}


def write(home: Path, *objects: dict[str, Any] | bytes, name: str = "s") -> Path:
    folder = home / "sessions" / ATLAS
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_bytes(
        b"".join(o if isinstance(o, bytes) else json.dumps(o).encode() + b"\n" for o in objects)
    )
    return path


def test_a_damaged_ledger_keeps_what_can_be_read() -> None:
    """The sample's damaged ledger: ten lines are no entries, two are blank, none ends it."""
    found = read_ledger(HOME / "sessions" / ATLAS / f"{DAMAGED}.jsonl")
    assert [each.line.number for each in found.skipped] == [3, 4, 5, 8, 9, 10, 11, 12, 13, 14]
    assert [each.id for each in found.entries[2:5]] == ["no-parent", "empty-text", "two-blocks"]
    assert found.lines == 16


def test_damaged_lines_are_shown_in_their_place() -> None:
    past = Ledgers(HOME)
    marks = past.outline(DAMAGED)
    assert [mark.id for mark in marks] == sorted(mark.id for mark in marks)
    (shown,) = past.messages([14], DAMAGED, 1_000)
    assert shown.role == "unreadable"
    assert shown.notes == ("line 14: it is no UTF-8",)
    assert "\ufffd" in shown.text
    session = past.session(DAMAGED)
    assert session is not None
    assert session.notes == ("10 lines cannot be read",)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"id":"a","ts":"2026-08-20T09:00:00Z","kind":"goal","x":NaN}\n', "it is no JSON"),
        (b'{"id":"a","ts":"2026-08-20T09:00:00Z","kind":"goal","x":"\\ud800"}\n',
         "it holds half a character"),
        (b'{"id":"a","ts":"2026-08-20","kind":"goal"}\n', "it has no valid time"),
        (b'{"id":"a","ts":"2026-08-20T09:00:00","kind":"goal"}\n', "it has no valid time"),
        (b'{"id":"a","ts":"2026-02-30T09:00:00Z","kind":"goal"}\n', "it has no valid time"),
        (b'{"id":"a","ts":"2026-08-20T09:00:00Z","kind":"goal"', "it is cut off"),
        (b"[" * 100_000 + b"\n", "it is no JSON"),
    ],
)  # fmt: skip
def test_what_is_no_entry_says_why(raw: bytes, reason: str) -> None:
    (line,) = lines([raw])
    found = parse(line)
    assert isinstance(found, Skipped)
    assert found.reason == reason


def test_only_newlines_end_a_line() -> None:
    """A raw U+2028, U+0085 or form feed may stand in a string."""
    text = "one\u2028two\x85three"
    raw = json.dumps(entry("a", None, meta={"note": text}), ensure_ascii=False).encode() + b"\r\n"
    (line,) = lines([raw])
    found = parse(line)
    assert isinstance(found, Entry)
    assert found.meta["note"] == text


@pytest.mark.parametrize("blank", [b"\n", b" \t\r\n", "\u3000\u2028\n".encode(), b"\x0c\n"])
def test_blank_lines_are_no_lines(blank: bytes) -> None:
    assert list(lines([blank])) == []


def test_a_unit_separator_is_a_line() -> None:
    """It is white space to Python and to nobody else."""
    assert len(list(lines([b"\x1c\n"]))) == 1


def test_a_branch_takes_back_what_it_leaves() -> None:
    """Lines 4 to 6 (a compaction among them) are off the active chain of the sample."""
    marks = Ledgers(HOME).outline(BRANCHED)
    undone = [mark.id for mark in marks if mark.visibility is Visibility.UNDONE]
    assert undone == [4, 5, 6]


def test_a_compaction_summarises_what_it_did_not_keep(tmp_path: Path) -> None:
    write(
        tmp_path,
        entry("h", None, kind="header", cwd="/w"),
        entry("a", "h"),
        entry("b", "a"),
        entry("c", "b", kind="compaction", summary="so far", first_kept_entry_id="b"),
        entry("d", "c"),
    )
    marks = Ledgers(tmp_path).outline("s")
    assert [str(mark.visibility) for mark in marks] == [
        "live",
        "summarised",
        "live",
        "live",
        "live",
    ]
    shown = Ledgers(tmp_path).messages([4], "s", 100)[0]
    assert (shown.handoff, shown.text) == (Handoff.MODEL, "so far")


def test_an_entry_without_parent_id_follows_the_one_before(tmp_path: Path) -> None:
    second = entry("b", None)
    del second["parent_id"]
    write(tmp_path, entry("a", None), second, entry("c", "gone"))
    marks = Ledgers(tmp_path).outline("s")
    assert {mark.visibility for mark in marks} == {Visibility.LIVE}


def test_parents_in_a_circle_end(tmp_path: Path) -> None:
    write(tmp_path, entry("a", "b"), entry("b", "a"))
    assert len(Ledgers(tmp_path).outline("s")) == 2


def test_a_torn_last_line_is_no_harm_and_read_once_it_is_whole(tmp_path: Path) -> None:
    half = json.dumps(entry("b", "a")).encode()
    path = write(tmp_path, entry("a", None), half[:30])
    past = Ledgers(tmp_path)
    before = past.version()
    assert past.messages([2], "s", 100)[0].notes == ("line 2: it is cut off",)
    with path.open("ab") as stream:
        stream.write(half[30:] + b"\n")
    assert past.version() != before
    assert past.messages([2], "s", 100)[0].text == "b"


def test_blocks_are_shown_for_what_they_are() -> None:
    shown = {each.id: each for each in Ledgers(HOME).messages(range(20), TALK, 1_000)}
    assert shown[1].notes == ("frozen contract",)
    assert "permissions: workspace-write" in shown[1].text
    assert shown[3].tool_calls[0].name == "read_file"
    assert (shown[4].role, shown[4].tool_name, shown[4].tool_call_id) == (
        "tool",
        "read_file",
        "tu_1",
    )
    assert shown[14].notes == ("goal, active",)


def test_an_unknown_block_does_not_lose_its_message(tmp_path: Path) -> None:
    content = [{"type": "provider", "kind": "x", "raw": {}}, {"type": "text", "text": "kept"}]
    write(tmp_path, entry("a", None, message={"role": "assistant", "content": content}))
    (shown,) = Ledgers(tmp_path).messages([1], "s", 100)
    assert (shown.text, shown.notes) == ("kept", ("1 of its blocks are not known",))


def test_workers_lie_under_their_parent() -> None:
    past = Ledgers(HOME)
    listed = past.listing(Filters(), 50)
    assert WORKER not in [each.id for each in listed.sessions]
    assert listed.hidden == 2
    assert [(each.session.id, each.depth) for each in past.family(WORKER)] == [
        (TALK, 0),
        (WORKER, 1),
    ]
    session = past.session(WORKER)
    assert session is not None
    assert (session.relation, session.root_id) == (Relation.DELEGATE, TALK)


def test_an_orphan_worker_is_listed(tmp_path: Path) -> None:
    write(
        tmp_path,
        entry("h", None, kind="header", parent_session_id="gone"),
        name="child-1",
    )
    (session,) = Ledgers(tmp_path).listing(Filters(), 5).sessions
    assert (session.id, session.relation, session.source) == ("child-1", Relation.ROOT, "worker")


def test_encrypted_ledgers_are_listed_and_said() -> None:
    """Never "no sessions" for a home of the newest layout (spec 0)."""
    assert encrypted(HOME) == [(BILLING, SEALED)]
    past = Ledgers(HOME)
    session = past.session(SEALED)
    assert session is not None
    assert session.title == "encrypted ledger, not readable"
    with pytest.raises(UnreadableError, match="encrypted"):
        past.outline(SEALED)


def test_only_jsonl_files_are_ledgers() -> None:
    past = Ledgers(HOME)
    assert past.totals().sessions == 16
    with pytest.raises(NotFoundError):
        past.resolve("notes")


def test_sessions_are_found_by_their_beginning() -> None:
    past = Ledgers(HOME)
    assert past.resolve("01a061") == BRANCHED
    assert past.resolve(f"@session:default/{BRANCHED}") == BRANCHED
    with pytest.raises(NotFoundError, match="Several"):
        past.resolve("01a")


def test_the_same_id_in_two_workspaces_is_two_sessions(tmp_path: Path) -> None:
    path = write(tmp_path, entry("a", None))
    other = tmp_path / "sessions" / BILLING
    other.mkdir()
    shutil.copy(path, other / path.name)
    ids = {each.id for each in Ledgers(tmp_path).listing(Filters(), 5).sessions}
    assert ids == {"s", f"{ATLAS}/s"}


def test_workspaces_come_from_the_folders() -> None:
    found = {each.project: each for each in workspaces(HOME)}
    assert found[ATLAS].path == "/home/dev/atlas"
    assert not found[ATLAS].moved
    assert found["3a72cab8b2ed5690"].path == ""


def test_a_moved_workspace_is_said(tmp_path: Path) -> None:
    write(tmp_path, entry("h", None, kind="header", cwd="/somewhere/else"))
    (found,) = workspaces(tmp_path)
    assert found.moved


def test_links_are_not_followed(tmp_path: Path) -> None:
    path = write(tmp_path, entry("a", None))
    (path.parent / "l.jsonl").symlink_to(path)
    assert Ledgers(tmp_path).totals().sessions == 1


def test_a_hit_on_a_note_opens_the_note() -> None:
    past = Ledgers(HOME)
    key = past.resolve("memory/9e47ec659a17c656")
    session = past.session(key)
    assert session is not None
    assert (session.source, session.title) == ("notes", "decision deploy-rollbacks")
    assert [mark.id for mark in past.outline(key)] == [1]
    (shown,) = past.messages([1], key, 1_000)
    assert (shown.role, shown.notes) == ("memory", ("note",))
    assert shown.text.endswith("pauses ninety seconds before any rollback.")
    assert [each.session.id for each in past.family(key)] == [key]
    assert past.session("memory/ffff") is None
