"""The format of MEMORY.md and USER.md (specs/hermes-approval-memory.md section 4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.homes.hermes.memory.entries import (
    DELIMITER,
    MemoryFile,
    UnreadableFile,
    decode,
    drift,
    lock_of,
    parse,
    path_of,
    serialise,
    size,
)
from core.view import Reading

ORACLE = Path(__file__).parents[2] / "data" / "approval.json"
SNAPSHOTS: list[dict[str, Any]] = json.loads(ORACLE.read_text("utf-8"))["micro"]["snapshot_cases"]
#: Text made of what the format is about: marker lines, blanks, line ends, letters.
RAW = st.lists(st.sampled_from(["a", "b", "§", "\n", "\n§\n", " ", "\t", "\u00a0", "\ufeff"])).map(
    "".join
)
ENTRY = st.text(alphabet="ab §\n🌊é", min_size=1).map(str.strip)
CLEAN = ENTRY.filter(
    lambda text: text and DELIMITER not in text and not text.startswith("§") and text[-1] != "§"
)


def file_of(data: bytes, *, keep_bom: bool = False) -> MemoryFile:
    file = decode(Reading(data, 0o644), keep_bom=keep_bom)
    assert isinstance(file, MemoryFile)
    return file


def test_a_store_has_one_file_and_one_lock() -> None:
    assert path_of("memory") == "memories/MEMORY.md"
    assert path_of("user") == "memories/USER.md"
    assert lock_of("user") == "memories/USER.md.lock"
    assert path_of("Memory") == "memories/MEMORY.md", "spec 6 item 20: any other word"


@pytest.mark.parametrize("case", SNAPSHOTS, ids=lambda case: str(case["name"]))
def test_entries_and_size_as_the_agent_loads_them(case: dict[str, Any]) -> None:
    entries = parse(case["file_text"])
    assert list(entries) == case["live_entries"]
    assert f"{size(entries):,}/2,200 chars" in case["header"]


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("section § 4", ("section § 4",)),  # D17: a bare sign is text
        ("a\n § \nb", ("a\n § \nb",)),  # a marker line with spaces is text
        ("§\nalpha\n§\nbeta", ("§\nalpha", "beta")),  # no newline before the first
        ("a\n§\n§\nb", ("a", "§\nb")),  # the second marker belongs to what follows
        ("a\n§\n\n§\nb", ("a", "b")),
        ("  a  \n§\n\n", ("a",)),
        (" \n ", ()),
    ],
)
def test_only_the_exact_sequence_separates(text: str, entries: tuple[str, ...]) -> None:
    assert parse(text) == entries


def test_line_ends_are_read_as_lf_and_remembered() -> None:
    crlf = file_of(b"one\r\ntwo\r\n\xc2\xa7\r\nthree")
    assert crlf.entries == ("one\ntwo", "three")
    assert crlf.crlf
    mixed = file_of(b"one\r\ntwo\n\xc2\xa7\nthree\rfour")
    assert mixed.entries == ("one\ntwo", "three\nfour")
    assert mixed.line_ends == {"\r\n", "\n", "\r"}
    assert not mixed.crlf
    assert not file_of(b"one").crlf, "no line end says nothing"


def test_a_byte_order_mark_is_stripped_or_kept_as_the_rules_say() -> None:
    data = "\ufeffalpha\n§\nbeta".encode()
    assert file_of(data).entries == ("alpha", "beta")
    assert file_of(data).bom
    assert file_of(data, keep_bom=True).entries == ("\ufeffalpha", "beta")


def test_duplicates_are_kept_in_entries_and_gone_in_unique() -> None:
    file = file_of("a\n§\nb\n§\na".encode())
    assert file.entries == ("a", "b", "a")
    assert file.unique == ("a", "b")


def test_an_absent_file_is_an_empty_store() -> None:
    file = decode(Reading(None))
    assert isinstance(file, MemoryFile)
    assert (file.data, file.entries) == (None, ())


def test_undecodable_is_never_empty() -> None:
    """D15: one Latin-1 byte must not read as an empty memory."""
    file = decode(Reading(b"caf\xe9 au lait", 0o644))
    assert file == UnreadableFile("byte 3 (0xe9) is not UTF-8")
    assert decode(Reading(None, reason="permission denied")) == UnreadableFile("permission denied")


def test_size_counts_code_points_and_delimiters() -> None:
    assert size(("潮" * 50, "🌊" * 47)) == 100  # oracle limit-counts-code-points
    assert size(()) == 0


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("a\n\n§\nb", "blank_line", 2),  # D13: a blank line before the delimiter
        ("a\n§\n\nb", "blank_line", 3),
        ("a\n§\nb\n§\n \n c", "blank_line", 5),
        ("alpha \n§\nbeta", "spaces", 1),
        ("alpha\n§\n beta", "spaces", 3),
        ("a\n§\n\n§\nb", "empty_entry", 2),
        ("a\nb\n§\n", "empty_entry", 3),
        ("\n§\na", "empty_entry", 2),
        ("ok\n§\n" + "x" * 101, "oversize", 3),
        ("\n\n" + "x" * 101, "oversize", 3),
    ],
)
def test_drift_names_the_line(text: str, kind: str, line: int) -> None:
    """D14: say what exactly trips the agent's guard (spec 4.5)."""
    found = drift(text, 100)
    assert found is not None
    assert (found.kind, found.line) == (kind, line)
    assert f"line {line}" in found.message.lower()


def test_oversize_says_by_how_much() -> None:
    found = drift("x" * 1234, 1000)
    assert found is not None
    assert "1,234" in found.message
    assert "1,000" in found.message


@pytest.mark.parametrize("text", ["", " \n", "\na\n§\nb\n\n", "a\n§\na", "x" * 100, "§\na\n§\n§"])
def test_what_is_no_drift(text: str) -> None:
    assert drift(text, 100) is None


@given(RAW, st.integers(0, 6))
def test_drift_is_exactly_the_agents_condition(text: str, limit: int) -> None:
    """Spec 4.5: stripped text differs from the joined parsed entries, or one entry is too long."""
    entries = parse(text)
    differs = text.strip() != DELIMITER.join(entries) and bool(text.strip())
    too_long = any(len(entry) > limit for entry in entries)
    assert (drift(text, limit) is not None) == (differs or too_long)


@given(st.lists(CLEAN))
def test_entries_round_trip(entries: list[str]) -> None:
    assert list(parse(serialise(entries))) == entries
    assert size(entries) == len(serialise(entries))
    assert drift(serialise(entries), 10_000) is None
