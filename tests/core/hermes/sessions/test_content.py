"""What a stored content says: spec hermes-sessions 1.4, 7.12."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.conversations import Handoff, ToolCall
from core.homes.hermes.sessions import content

PREFIX = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted."


def encoded(held: object) -> str:
    return "\0json:" + json.dumps(held)


@pytest.mark.parametrize(
    ("stored", "text", "others"),
    [
        (None, "", ()),
        ("", "", ()),
        ("plain \x1b[31mred", "plain \x1b[31mred", ()),
        ("a\0b", "a\0b", ()),
        (7, "7", ()),
        (b"caf\xe9 \xed\xa0\x80", "caf\ufffd \ufffd\ufffd\ufffd", ()),
        (encoded([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]), "one two", ()),
        (encoded({"text": "alone"}), "alone", ()),
        (encoded("word"), "word", ()),
        (encoded([]), "[multimodal content]", ()),
        (encoded(5), "[multimodal content]", ("int",)),
        (
            encoded([{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]),
            "[multimodal content]",
            ("image_url, image/png, 26 characters",),
        ),
        (
            encoded([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "https://x/y.png"}}]),
            "see",
            ("image_url, https://x/y.png",),
        ),
        (encoded([{"type": "input_audio", "input_audio": {"data": "QUJD"}}]), "[multimodal content]", ("input_audio",)),
        (encoded([{"type": 5}, None]), "[multimodal content]", ("object", "NoneType")),
        ("\0json:[{", "\0json:[{", ()),
        ("\0json:" + "[" * 100_000, "\0json:" + "[" * 100_000, ()),
        (encoded([{"type": "text", "text": "é世\ud800"}]), "é世\ufffd", ()),
    ],
)  # fmt: skip
def test_contents(stored: object, text: str, others: tuple[str, ...]) -> None:
    assert content.said(stored) == (text, others)
    as_blob = stored.encode() if isinstance(stored, str) else stored
    assert content.text_of(as_blob) == text


@given(st.one_of(st.none(), st.text(), st.binary(), st.integers(), st.floats()))
def test_any_value_has_a_text(stored: object) -> None:
    assert isinstance(content.text_of(stored), str)


@given(st.recursive(st.none() | st.text() | st.integers(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)))  # fmt: skip
def test_any_structure_has_a_text(held: object) -> None:
    assert content.text_of(encoded(held))


@pytest.mark.parametrize(
    ("text", "flagged", "expected"),
    [
        ("hello", False, None),
        (f"{PREFIX}\n## Goal\nShip it", False, Handoff.MODEL),
        ("[CONTEXT SUMMARY]: we shipped", False, Handoff.MODEL),
        (f"  {PREFIX}", False, Handoff.MODEL),
        (f"{PREFIX}\n## Goal\nRecovered from a deterministic fallback because", False, Handoff.DETERMINISTIC),
        (f"{PREFIX}\n- This fallback was generated locally without an LLM summary call.", False, Handoff.DETERMINISTIC),
        (f"[PRIOR CONTEXT — for reference only; not a new message]\nhi\n\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n{PREFIX}", False, Handoff.MODEL),
        (f"hi\n[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n{PREFIX}", False, Handoff.MODEL),
        ("it said [CONTEXT COMPACTION", False, None),
        ("[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW] quoted", False, None),
        ("other words", True, Handoff.MODEL),
        ("", True, Handoff.OPAQUE),
        ("[multimodal content]", True, Handoff.OPAQUE),
        ("", False, None),
    ],
)  # fmt: skip
def test_handoffs(text: str, flagged: bool, expected: Handoff | None) -> None:
    # Prefixes as hermes-agent 0.19.0 writes them (spec 1.7); the flag is 0.21's.
    assert content.handoff(text, flagged=flagged) is expected


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (None, ()),
        ("", ()),
        ("[{", ()),
        (5, ()),
        ("[]", ()),
        ('["x", null, {}]', ()),
        (
            '[{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{\\"a\\": 1}"}}]',
            (ToolCall("c1", "terminal", '{"a": 1}'),),
        ),
        (b'[{"id": 7, "function": {"name": "x", "arguments": {"\xc3\xa9": 1}}}]', (ToolCall("7", "x", '{"é": 1}'),)),
        ('{"name": "flat", "arguments": null}', (ToolCall("", "flat", ""),)),
        ("[" * 100_000, ()),
    ],
)  # fmt: skip
def test_calls(stored: object, expected: tuple[ToolCall, ...]) -> None:
    assert content.calls(stored) == expected


def test_previews() -> None:
    assert content.preview("  two\n\nlines\tand more ") == "two lines and more"
    assert content.preview("x" * 500) == "x" * 160
