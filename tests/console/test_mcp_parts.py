"""The small parts under ``signoff mcp``: lines that come in, answers that go out, the log."""

from __future__ import annotations

import io
import json
import math
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.mcp import answers, calls, lines
from console.mcp.calls import Calls
from console.mcp.lines import Lines
from core.errors import StateError

CALL = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "x"}}


def one(data: bytes) -> Any:
    return json.loads(Lines(io.BytesIO(data)).readline())


# -- lines -----------------------------------------------------------------------------------------


def test_a_plain_message_is_left_as_it_is() -> None:
    text = json.dumps(CALL | {"params": {"note": "潮位 😀"}}, ensure_ascii=False) + "\n"
    assert Lines(io.BytesIO(text.encode())).readline() == text


def test_a_pair_of_halves_is_a_character_and_a_half_is_none() -> None:
    data = rb'{"id": 7, "params": {"a": "\ud83d\ude00", "b": "\ud83d", "\ude00": 1}}' + b"\n"
    assert one(data) == {"id": 7, "params": {"a": "😀", "b": "\ufffd", "\ufffd": 1}}


@pytest.mark.parametrize("depth", [lines.DEEPEST + 1, 900, 100_000])
@pytest.mark.parametrize("first", [True, False])
def test_too_deep_a_message_is_one_that_gets_an_answer(depth: int, first: bool) -> None:
    """Also where Python's reader gives up: the id stands first or last, as clients write it."""
    nest = "[" * depth + "]" * depth
    head, tail = ('"id": 7, ', "") if first else ("", ', "id": 7')
    data = f'{{"jsonrpc": "2.0", {head}"method": "tools/call", "params": {nest}{tail}}}\n'
    assert one(data.encode()) == {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "signoff/message-nested-too-deeply",
    }


@pytest.mark.parametrize("token", [7, "abc"])
@pytest.mark.parametrize("first", [True, False])
def test_too_long_a_message_is_one_that_gets_an_answer(
    monkeypatch: pytest.MonkeyPatch, token: object, first: bool
) -> None:
    monkeypatch.setattr(lines, "LARGEST", 1000)
    head = {"jsonrpc": "2.0", "id": token} if first else {"method": "tools/call"}
    tail = {"method": "tools/call"} if first else {"jsonrpc": "2.0", "id": token}
    # The id inside of the arguments is the caller's text, not the message's.
    body = head | {"params": {"id": 99, "note": "x" * 5_000 + '"id": 99}'}} | tail
    stream = Lines(io.BytesIO(json.dumps(body).encode() + b"\n" + json.dumps(CALL).encode()))
    answered = {"jsonrpc": "2.0", "id": token, "method": "signoff/message-too-long"}
    assert json.loads(stream.readline()) == answered
    assert json.loads(stream.readline()) == CALL
    assert stream.readline() == ""


def test_a_long_message_without_an_id_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LARGEST", 1000)
    stream = Lines(io.BytesIO(b"x" * 5_000 + b"\n" + json.dumps(CALL).encode()))
    assert stream.readline() == "\n"
    assert json.loads(stream.readline()) == CALL


@given(st.binary(max_size=200))
def test_no_bytes_stop_the_reader(data: bytes) -> None:
    stream = Lines(io.BytesIO(data))
    while line := stream.readline():
        line.encode("utf-8")


# -- answers ---------------------------------------------------------------------------------------


def test_an_answer_is_plain_json() -> None:
    value = {"a": "half \ud800", "b": [math.nan, math.inf, 1.5], "\udfff": {"c": None}}
    assert json.loads(answers.of_json(value).text) == {
        "a": "half \ufffd",
        "b": [None, None, 1.5],
        "\ufffd": {"c": None},
    }


def test_a_huge_answer_is_cut_where_it_is_longest() -> None:
    value = {"short": "kept whole", "long": ["x" * 3_000_000, "y" * 10]}
    text = answers.of_json(value).text
    assert len(text) <= answers.LARGEST
    found = json.loads(text)
    assert found["short"] == "kept whole"
    assert found["long"][0].endswith("(2,960,000 more characters were left out)")
    assert found["long"][1] == "y" * 10


def test_a_refusal_is_one_line() -> None:
    answer = answers.refused("First.\nThen \ud800.", {"entries": ["a"]})
    assert (answer.text, answer.failed) == ("First. Then \ufffd.", True)
    assert json.loads(answer.more) == {"entries": ["a"]}


# -- the log ---------------------------------------------------------------------------------------


def test_a_log_past_its_size_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LARGEST", 100)
    log = Calls(tmp_path / "state")
    for number in range(5):
        log.write({"number": number, "text": "x" * 120})
    kept = [json.loads(line)["number"] for line in log.path.read_text().splitlines()]
    older = (tmp_path / "state" / calls.OLDER).read_text().splitlines()
    assert (kept, [json.loads(line)["number"] for line in older]) == ([4], [3])
    assert sorted(os.listdir(tmp_path / "state")) == ["mcp.1.jsonl", "mcp.jsonl", "mcp.lock"]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "state").iterdir()} == {0o600}


def test_lines_of_many_never_mix(tmp_path: Path) -> None:
    log = Calls(tmp_path / "state")

    def write(who: int) -> None:
        for number in range(20):
            log.write({"who": who, "number": number, "text": "\ud800" * 200})

    threads = [threading.Thread(target=write, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert len({(line["who"], line["number"]) for line in found}) == 80


def test_the_log_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / calls.FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="cannot be written"):
        Calls(tmp_path / "state").check()
    assert not (tmp_path / "elsewhere").exists()


def test_long_and_deep_arguments_are_shortened() -> None:
    deep: Any = "end"
    for _ in range(10):
        deep = {"in": deep}
    said = calls.shortened({"deep": deep, "list": list(range(50)), "text": "x" * 1_000})
    assert isinstance(said, dict)
    assert json.dumps(said["deep"]).count("in") == calls._DEEPEST - 1
    assert len(said["list"]) == calls.MOST
    assert said["text"] == "x" * 300 + "… (1000 characters)"
