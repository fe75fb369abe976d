"""The queue: every entry is a proposal or unreadable, none can break the list or lead elsewhere."""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import NotFoundError, UsageError
from core.homes.hermes.pending import Proposal, Queue, Unreadable, find, ids_of, read_queue
from core.homes.hermes.record_text import HugeNumber, parse_record, rewrite
from core.model import Node, NodeKind
from core.view import Disk, Tree, View

DATA = Path(__file__).parents[2] / "data"


def _queue(files: dict[str, bytes | Node], subsystem: str | None = None) -> Queue:
    return read_queue(Tree({f"pending/{path}": data for path, data in files.items()}), subsystem)


def _one(data: bytes, path: str = "memory/0a0b0c0d.json") -> Proposal:
    (proposal,) = _queue({path: data}).proposals
    return proposal


def _record(payload: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps({"id": "0a0b0c0d", "payload": payload, **fields}).encode()


def test_a_record_as_the_agent_writes_it() -> None:
    """Spec 2.1 and 2.2, the first example."""
    data = (
        b'{"id":"4c1e90aa","subsystem":"memory","action":"add","summary":"add to memory: Kiln 2",'
        b'"origin":"assistant_tool","created_at":1790001234.5,"payload":{"action":"add",'
        b'"target":"user","content":"Kiln 2","old_text":null}}'
    )
    proposal = _one(data, "memory/4c1e90aa.json")
    assert proposal == Proposal(
        id="4c1e90aa",
        file="pending/memory/4c1e90aa.json",
        subsystem="memory",
        action="add",
        target="user",
        summary="add to memory: Kiln 2",
        origin="assistant_tool",
        created_at=1790001234.5,
        payload={"action": "add", "target": "user", "content": "Kiln 2", "old_text": None},
        raw=json.loads(data),
        sha256=hashlib.sha256(data).hexdigest(),
        mode=0o644,
        name_ok=True,
    )


def test_the_sample_home_lists_every_record_and_the_truncated_one() -> None:
    """specs: 23 memory and 28 skill records, one truncated, one leftover temp file."""
    queue = read_queue(View(Disk(DATA / "hermes-approval")))
    counts = [sum(p.subsystem == name for p in queue.proposals) for name in ("memory", "skills")]
    assert (counts, len(queue.unreadable), queue.broken) == ([23, 28], 1, ())
    assert "not JSON" in queue.unreadable[0].reason
    ages = [proposal.created_at for proposal in queue.proposals]
    assert ages == sorted(age for age in ages if age is not None)


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        (".d000001a.json", True),
        ("has space.json", True),
        ("\udcff.json", True),
        (".json", True),
        ("d000001b.json.tmp", False),
        ("d000001c.JSON", False),
        ("d000001cjson", False),
        ("json", False),
    ],
)
def test_an_entry_counts_by_its_exact_suffix(name: str, listed: bool) -> None:
    """Contract, "Ids"; D-26 of the hostile home."""
    queue = _queue({f"memory/{name}": b"{}"})
    assert [p.id for p in queue.proposals] == ([name.removesuffix(".json")] if listed else [])
    assert queue.unreadable == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b'{"id": "d0000010", "payl', "not JSON: Unterminated string"),
        (b"[1, 2]", "a list, not an object"),
        (b"null", "null, not an object"),
        (b"true", "true or false, not an object"),
        (b'"text"', "text, not an object"),
        (b"12", "a number, not an object"),
        (b"9" * 5000, "a number, not an object"),
        (b'{"a": 1} {"b": 2}', "not JSON: Extra data"),
        ('{"a": 1}'.encode("utf-16"), "not UTF-8 text"),
        (b'{"a": "\xff"}', "not UTF-8 text"),
        (b'{"a": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", "nested too deeply"),
        (b'{"a": ' + b"[" * 250 + b"]" * 250 + b"}", "nested too deeply"),
        (b'{"a": ' * 250 + b"1" + b"}" * 250, "nested too deeply"),
    ],
)
def test_what_is_no_object_is_unreadable(data: bytes, reason: str) -> None:
    """D-10, D-16, D-17, D-18 of the hostile home."""
    queue = _queue({"skills/x.json": data, "skills/y.json": b"{}"})
    (entry,) = queue.unreadable
    assert (entry.id, entry.file, entry.subsystem) == ("x", "pending/skills/x.json", "skills")
    assert entry.reason.startswith(reason)
    assert [p.id for p in queue.proposals] == ["y"]


def test_brackets_in_text_are_no_nesting() -> None:
    assert _one(_record({"content": "[" * 5000})).payload_problem == ""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"created_at": 5}', 5.0),
        (b'{"created_at": -1.5}', -1.5),
        (b'{"created_at": 1e300}', 1e300),
        (b'{"created_at": "1790000000"}', None),
        (b'{"created_at": null}', None),
        (b'{"created_at": true}', None),
        (b'{"created_at": NaN}', None),
        (b'{"created_at": -Infinity}', None),
        (b'{"created_at": 1e999}', None),
        (b'{"created_at": 1' + b"0" * 400 + b"}", None),
        (b'{"created_at": 1' + b"0" * 5000 + b"}", None),
        (b'{"created_at": [1]}', None),
        (b"{}", None),
    ],
)
def test_created_at_is_a_finite_number_or_nothing(data: bytes, expected: float | None) -> None:
    """D-12, D-13; spec 6 item 3, where one such record breaks every list of the agent."""
    assert _one(data).created_at == expected


def test_oldest_first_then_file_name_and_undated_last() -> None:
    files: dict[str, bytes | Node] = {
        "memory/b.json": b'{"created_at": 2}',
        "memory/a.json": b'{"created_at": 3}',
        "skills/a.json": b'{"created_at": 2}',
        "skills/a-b.json": b'{"created_at": 2.0}',
        "memory/c.json": b"{}",
        "skills/0.json": b'{"created_at": "x"}',
        "memory/z.json": b'{"created_at": 0}',
    }
    order = ["z", "a-b", "a", "b", "a", "0", "c"]
    assert [proposal.id for proposal in _queue(files).proposals] == order
    assert [proposal.id for proposal in _queue(files, "skills").proposals] == ["a-b", "a", "0"]


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        ({}, "payload is missing"),
        ({"payload": None}, "payload is null"),
        ({"payload": [1]}, "payload is a list"),
        ({"payload": "x"}, "payload is text"),
        ({"payload": 1}, "payload is a number or a truth value"),
        ({"payload": {}}, ""),
    ],
)
def test_a_payload_that_is_no_object_is_named(record: dict[str, Any], problem: str) -> None:
    """D-11 of the hostile home: listed under its file name."""
    proposal = _one(json.dumps(record).encode())
    assert (proposal.payload_problem, dict(proposal.payload), proposal.raw) == (problem, {}, record)


@pytest.mark.parametrize(
    ("path", "record", "action", "target"),
    [
        ("memory", {"action": "add", "payload": {}}, "add", "memory"),
        ("memory", {"action": "add", "payload": {"action": "remove"}}, "remove", "memory"),
        ("memory", {"payload": {"action": 7, "target": None}}, "7", ""),
        ("memory", {"payload": {"action": True, "target": ["a"]}}, "true", "a list"),
        ("skills", {"payload": {"action": "patch", "name": "x", "target": "y"}}, "patch", "x"),
        ("skills", {"action": 5, "payload": {"name": {}}}, "", "an object"),
    ],
)
def test_action_and_target_are_text_whatever_their_type(
    path: str, record: dict[str, Any], action: str, target: str
) -> None:
    proposal = _one(json.dumps(record).encode(), f"{path}/x.json")
    assert (proposal.action, proposal.target) == (action, target)


@pytest.mark.parametrize(
    ("path", "payload", "summary"),
    [
        ("memory", {"action": "add", "content": " First\nsecond"}, "add in memory: First"),
        (
            "memory",
            {"action": "replace", "target": "user", "old_text": "a", "content": "b"},
            "replace in user: a -> b",
        ),
        ("memory", {"action": "remove"}, "remove in memory"),
        ("memory", {"content": "x" * 500}, "no action in memory: " + "x" * 120),
        ("memory", {"action": "batch", "operations": [1, 2]}, "batch of 2 operations on memory"),
        ("skills", {"action": "patch", "name": "n", "file_path": "a.md"}, "patch n a.md"),
        ("skills", {}, "no summary and no payload"),
    ],
)
def test_a_missing_summary_is_made_from_the_payload(
    path: str, payload: dict[str, Any], summary: str
) -> None:
    assert _one(_record(payload, summary=" "), f"{path}/x.json").summary == summary
    assert _one(_record(payload, summary=5), f"{path}/x.json").summary == summary


def test_the_file_name_is_the_id_whatever_the_record_says() -> None:
    """D-14 of the hostile home; spec 6 items 4 and 5."""
    proposal = _one(b'{"id": "../../memories/USER"}', "memory/d000000e.json")
    assert (proposal.id, proposal.name_ok) == ("d000000e", False)


def test_a_byte_order_mark_hides_nothing() -> None:
    """Spec 0: newer agents skip it, 0.19.0 lost the record."""
    assert _one(b'\xef\xbb\xbf{"origin": "foreground"}').origin == "foreground"


def test_the_last_of_two_equal_keys_wins() -> None:
    assert _one(b'{"origin": "a", "origin": "b"}').origin == "b"


def test_things_that_are_no_files_are_rows_and_stay_closed(tmp_path: Path) -> None:
    """D-25, D-27, D-28 of the hostile home."""
    folder = tmp_path / "pending" / "memory"
    folder.mkdir(parents=True)
    (tmp_path / "target.json").write_text("{}")
    (folder / "dir.json").mkdir()
    (folder / "link.json").symlink_to(tmp_path / "target.json")
    (folder / "lost.json").symlink_to("/nowhere")
    os.mkfifo(folder / "pipe.json")
    (folder / "fine.json").write_text("{}")
    queue = read_queue(Disk(tmp_path))
    assert [proposal.id for proposal in queue.proposals] == ["fine"]
    assert [(entry.id, entry.reason) for entry in queue.unreadable] == [
        ("dir", "a folder"),
        ("link", "a link, which is not followed"),
        ("lost", "a link, which is not followed"),
        ("pipe", "a pipe, socket or device"),
    ]


def test_a_file_past_the_limit_is_unreadable_without_being_read(tmp_path: Path) -> None:
    folder = tmp_path / "pending" / "skills"
    folder.mkdir(parents=True)
    with (folder / "big.json").open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)
    (entry,) = read_queue(Disk(tmp_path)).unreadable
    assert entry.reason == "larger than 64 MiB"


def test_a_file_that_vanishes_meanwhile_is_left_out() -> None:
    class Fading(Tree):
        def node(self, path: str, *, data: bool) -> Node | None:
            if data and path.endswith("gone.json"):
                raise FileNotFoundError(path)
            if data and path.endswith("locked.json"):
                raise PermissionError(13, "Permission denied", path)
            return super().node(path, data=data)

    names = ("gone", "locked", "here")
    queue = read_queue(Fading({f"pending/memory/{name}.json": b"{}" for name in names}))
    assert [proposal.id for proposal in queue.proposals] == ["here"]
    assert [(entry.id, entry.reason) for entry in queue.unreadable] == [
        ("locked", "permission denied")
    ]


def test_a_folder_that_cannot_be_listed_is_not_an_empty_one(tmp_path: Path) -> None:
    """Contract, ``status --check`` 2: a queue cannot be read."""
    (tmp_path / "pending").mkdir()
    (tmp_path / "pending" / "memory").write_text("")
    assert read_queue(Disk(tmp_path)).broken == (("pending/memory", "not a directory"),)
    assert read_queue(Disk(tmp_path), "skills") == Queue()


def test_nothing_is_recorded() -> None:
    view = View(Tree({"pending/memory/a.json": b"{}"}))
    assert len(read_queue(view).proposals) == 1
    assert view.facts == ()


def test_finding_by_id() -> None:
    queue = _queue(
        {
            "memory/a.json": b"{}",
            "skills/a.json": b"{}",
            "skills/b.json": b"[]",
            "skills/all.json": b"{}",
            "skills/-x.json": b"{}",
        }
    )
    assert find(queue, "memory/a").file == "pending/memory/a.json"
    assert find(queue, "skills/a").file == "pending/skills/a.json"
    assert find(queue, "-x").file == "pending/skills/-x.json"
    assert find(queue, "all").file == "pending/skills/all.json"
    assert isinstance(find(queue, "b"), Unreadable)
    with pytest.raises(UsageError, match="memory and in skills"):
        find(queue, "a")
    for token in ("", "gone", "memory/b", "../skills/b", "skills/../skills/b", "b.json", "B"):
        with pytest.raises(NotFoundError):
            find(queue, token)


def test_how_only_one_id_begins_is_enough() -> None:
    """A convenience over the contract, where the id is the name: exact beats it."""
    queue = _queue(
        {
            "memory/c0ffee11.json": b"{}",
            "memory/c0ffee22.json": b"[]",
            "memory/abc.json": b"{}",
            "memory/abcd.json": b"{}",
            "skills/abce.json": b"{}",
            "skills/dddd.json": b"{}",
        }
    )
    assert find(queue, "c0ffee1").id == "c0ffee11"
    assert find(queue, "c0ffee2").id == "c0ffee22"
    assert find(queue, "abc").id == "abc"
    assert find(queue, "skills/a").id == "abce"
    assert find(queue, "d").id == "dddd"
    with pytest.raises(UsageError) as caught:
        find(queue, "c0f")
    assert caught.value.message == "Several ids begin with c0f"
    assert caught.value.hint == "Say one of c0ffee11, c0ffee22"
    with pytest.raises(UsageError):
        find(queue, "ab")
    for token in ("", "memory/", "memory/d", "offee11", "c0ffee111", "C0FFEE1"):
        with pytest.raises(NotFoundError):
            find(queue, token)


def test_ids_that_both_subsystems_have_are_told_apart_among_the_candidates() -> None:
    files = {f"memory/a{number}.json": b"{}" for number in range(6)}
    queue = _queue({**files, "skills/a0.json": b"{}"})
    with pytest.raises(UsageError) as caught:
        find(queue, "a")
    assert caught.value.hint == "Say one of a1, a2, a3, a4, a5 and 2 more"


def test_a_rewrite_is_the_agents_shape_and_keeps_the_unknown() -> None:
    """Spec 2.1: two spaces, non-ASCII literal, no final newline; spec 0: unknown fields survive."""
    raw = {"id": "x", "later": [1, {"é": None}], "payload": {"action": "add", "wrong": 1}, "z": 0}
    data = rewrite(raw, {"content": "naïve"}, drop=("wrong",))
    assert data.decode() == (
        '{\n  "id": "x",\n  "later": [\n    1,\n    {\n      "é": null\n    }\n  ],\n'
        '  "payload": {\n    "action": "add",\n    "content": "naïve"\n  },\n  "z": 0\n}'
    )


def test_a_rewrite_keeps_lone_surrogates_escaped_and_huge_numbers_whole() -> None:
    """D-23 of the hostile home."""
    digits = "-" + "7" * 5000
    text = '{"a": "\\ud83d", "\\udc00": %s, "b": "number 0", "payload": {"n": [%s]}}'
    raw = parse_record((text % (digits, digits)).encode())
    assert isinstance(raw["\udc00"], HugeNumber)
    data = rewrite(raw, {"content": "\ud83d"})
    assert b'"\\ud83d"' in data
    assert data.count(digits.encode()) == 2
    assert parse_record(data) == {**raw, "payload": {"n": [digits], "content": "\ud83d"}}


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
_names = st.sampled_from(["id", "action", "summary", "origin", "created_at", "payload", "extra"])


@given(st.dictionaries(_names, _json), st.sampled_from(["memory", "skills"]))
def test_any_object_is_a_proposal(raw: dict[str, Any], subsystem: str) -> None:
    """Contract, "Ids": its envelope fields are optional and of any type."""
    proposal = _one(json.dumps(raw).encode(), f"{subsystem}/x.json")
    assert proposal.raw == raw
    assert proposal.created_at is None or math.isfinite(proposal.created_at)
    assert proposal.summary
    assert parse_record(rewrite(raw, {})) == {**raw, "payload": dict(proposal.payload)}


@given(
    st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))
)
def test_any_bytes_are_one_row(data: bytes) -> None:
    queue = _queue({"memory/x.json": data})
    assert len(queue.proposals) + len(queue.unreadable) == 1


@pytest.mark.timeout(60)
def test_a_huge_record_is_read_in_bounded_time() -> None:
    """D-29 and D-30 of the hostile home, a hundred times over."""
    data = _record({"content": "x" * 30_000_000})
    assert len(_one(data).payload["content"]) == 30_000_000


@pytest.mark.timeout(60)
def test_many_records_are_read_in_bounded_time(tmp_path: Path) -> None:
    folder = tmp_path / "pending" / "memory"
    folder.mkdir(parents=True)
    data = _record({"action": "add", "target": "memory", "content": "x" * 200}, created_at=5)
    for number in range(5000):
        (folder / f"{number:08x}.json").write_bytes(data)
    queue = read_queue(Disk(tmp_path))
    assert len(queue.proposals) == 5000


def test_only_what_is_named_is_read_and_found_the_same() -> None:
    files: dict[str, bytes] = {
        "memory/a.json": _record({"action": "add"}),
        "skills/a.json": _record({"action": "patch"}),
        "memory/b.json": b"no record",
        "memory/c.json": _record({"action": "add"}),
    }
    files["memory/bcd.json"] = _record({"action": "add"})
    tree = Tree({f"pending/{path}": data for path, data in files.items()})
    whole = read_queue(tree)
    tokens = ("a", "memory/a", "skills/a", "b", "memory/b", "c", "skills/c", "x", "c.json", "bc")
    for token in tokens:
        part = read_queue(tree, ids=ids_of([token]))
        read = {p.id for p in part.proposals} | {p.id for p in part.unreadable}
        assert all(name.startswith(token.rpartition("/")[2]) for name in read)
        answers = []
        for queue in (whole, part):
            try:
                answers.append(repr(find(queue, token)))
            except (NotFoundError, UsageError) as problem:
                answers.append(repr(problem))
        assert answers[0] == answers[1], token
    assert len(read_queue(tree, ids=ids_of(["a", "skills/c", "b"])).proposals) == 4


def test_known_records_are_taken_only_while_their_bytes_and_mode_stay() -> None:
    data = _record({"action": "add"})
    first = _one(data)
    known = {first.file: first}
    for node, same in (
        (Node(NodeKind.FILE, data, 0o644), True),
        (Node(NodeKind.FILE, data, 0o600), False),
        (Node(NodeKind.FILE, data + b" ", 0o644), False),
    ):
        (again,) = read_queue(Tree({first.file: node}), known=known).proposals
        assert (again is first) == same


def test_kinds_without_bytes() -> None:
    entries = {f"memory/{kind}.json": Node(kind) for kind in NodeKind if kind is not NodeKind.FILE}
    assert len(_queue(dict(entries)).unreadable) == len(NodeKind) - 1
