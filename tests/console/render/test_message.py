"""A message as rows: what each says, and that no text whatever breaks out of them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from console.render.flow import rows
from console.render.message import Enter, Row, divider, lay_out, parts, placeholder, when
from console.render.prepared import BLOCK, Find, fence_after, found, prepare
from core import text
from core.conversations import Handoff, Mark, Message, ToolCall, Visibility

NOON = 1795953600.0


def said(value: str, role: str = "user", **more: object) -> Message:
    message = Message(7, "s", role, value, NOON, len(value))
    return replace(message, **more)  # type: ignore[arg-type]


def laid(
    message: Message, width: int = 60, *, opened: bool = False, find: Find | None = None
) -> list[Row]:
    """Every row of a message."""
    prepared = prepare(message, find)
    return [
        row
        for part in range(parts(prepared, opened))
        for row in lay_out(prepared, part, width, opened=opened)
    ]


def plain(message: Message, width: int = 60, *, opened: bool = False) -> list[str]:
    return [row.content.plain for row in laid(message, width, opened=opened)]


def words(query: str) -> Find:
    return lambda value: [match.span() for match in re.finditer(re.escape(query), value)]


# -- the header ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "head"),
    [
        (said("hello"), "user  2026-11-29 12:00  5 chars"),
        (said("x", at=None), "user  1 char"),
        (said("x", at=1e12), "user  1 char"),
        (said("x", visibility=Visibility.SUMMARISED), "user  summarised  2026-11-29 12:00  1 char"),
        (said("x", visibility=Visibility.UNDONE), "user  undone  2026-11-29 12:00  1 char"),
        (
            said("x", notes=("observed", "has image_url")),
            "user  [observed]  [has image_url]  2026-11-29 12:00  1 char",
        ),
        (
            said("x", handoff=Handoff.MODEL),
            "user  model-written summary  2026-11-29 12:00  1 char",
        ),
        (said("ok", "tool", tool_name="terminal"), "tool  terminal  2026-11-29 12:00  2 chars"),
        (said("", "session_meta"), "session_meta  2026-11-29 12:00"),
    ],
)
def test_the_header_says_it_in_words(message: Message, head: str) -> None:
    assert plain(message, 80)[0] == head


def test_an_opaque_checkpoint_is_never_shown_as_a_summary() -> None:
    message = said("gAAAAABsecret", "assistant", handoff=Handoff.OPAQUE)
    shown = plain(message, 100)
    assert shown[0] == "assistant  opaque checkpoint  2026-11-29 12:00"
    assert shown[1].strip() == (
        "An opaque checkpoint stands here: what the agent kept in it cannot be read."
    )
    assert shown[2].strip() == "⋯ 13 characters, enter opens"
    assert "summary" not in "".join(shown)
    assert "gAAAAA" not in "".join(shown)
    assert "gAAAAA" in "".join(plain(message, 100, opened=True))


# -- text ------------------------------------------------------------------------------------------


def test_code_and_differences_are_told_apart_by_style_and_keep_their_signs() -> None:
    message = said(
        "see\n```diff\n@@ -1 +1 @@\n-old\n+new\n same\n```\n+ no diff here\n~~~py\nx\n~~~"
    )
    shown = [(row.content.plain.strip(), row.style) for row in laid(message) if row.at >= 0]
    assert shown == [
        ("see", ""),
        ("```diff", "dim"),
        ("@@ -1 +1 @@", "heading"),
        ("-old", "removed"),
        ("+new", "added"),
        ("same", "code"),
        ("```", "dim"),
        ("+ no diff here", ""),
        ("~~~py", "dim"),
        ("x", "code"),
        ("~~~", "dim"),
    ]


def test_a_difference_without_a_fence_is_one() -> None:
    output = said("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", "tool")
    styles = [row.style for row in laid(output, opened=True) if row.at >= 0]
    assert styles == ["heading", "heading", "heading", "heading", "removed", "added"]


@pytest.mark.parametrize(
    ("fence", "line", "after"),
    [
        ("", "```py", "```py"),
        ("", "  ~~~", "~~~"),
        ("```py", "```", ""),
        ("```py", "~~~", "```py"),
        ("````", "```", "````"),
        ("```", "````", ""),
        ("```", "```py", "```"),
        ("", "text ```", ""),
    ],
)
def test_fences_open_and_close(fence: str, line: str, after: str) -> None:
    assert fence_after(fence, line) == after


def test_a_fence_goes_on_in_the_next_block() -> None:
    message = said("```\n" + "code line\n" * BLOCK + "```\nafter")
    styles = [row.style for row in laid(message, opened=True) if row.at >= 0]
    assert styles[0] == styles[-2] == "dim"
    assert styles[-1] == ""
    assert set(styles[1:-2]) == {"code"}
    assert len(styles) == BLOCK + 3


def test_summarised_and_undone_texts_are_dim() -> None:
    for visibility in (Visibility.SUMMARISED, Visibility.UNDONE):
        assert laid(said("x", visibility=visibility))[1].style == "dim"
    assert laid(said("x"))[1].style == ""


def test_hidden_characters_are_marked_where_they_stand() -> None:
    row = laid(said("a\u202eb"))[1]
    assert row.content.plain == "  a⟨U+202E⟩b"
    assert [(span.start, span.end, str(span.style)) for span in row.content.spans] == [
        (3, 11, "reverse")
    ]


# -- folds -----------------------------------------------------------------------------------------


def test_tool_output_is_folded_to_one_row_unless_it_is_one() -> None:
    assert plain(said("done", "tool"))[1:] == ["  done", ""]
    shown = plain(said("\n first \nx\ny", "tool"))
    assert shown == ["tool  2026-11-29 12:00", "  first  ⋯ 12 characters, 4 lines, enter opens", ""]
    part = said("abc", "tool", size=12_000_000, whole=False)
    assert plain(part)[1] == "  abc  ⋯ 12,000,000 characters, enter opens"


def test_the_newline_at_the_end_begins_no_line() -> None:
    assert plain(said("a\nb\n", "tool"))[1] == "  a  ⋯ 4 characters, 2 lines, enter opens"
    assert plain(said("a\n", "tool"))[1] == "  a  ⋯ 2 characters, enter opens"


def test_a_text_that_goes_on_says_how_much() -> None:
    part = said("abc", "tool", size=12_000_000, whole=False)
    shown = laid(part, opened=True)
    assert shown[2].content.plain == "  … 11,999,997 more characters, enter loads the rest"
    assert shown[2].enter is Enter.REST
    assert [row.enter for row in shown if row is not shown[2]] == [Enter.FOLD] * 3


CALL = ToolCall("1", "terminal", json.dumps({"command": "ls\npwd", "timeout": 5, "deep": {"a": 1}}))


def test_a_call_is_one_row_until_it_is_opened() -> None:
    message = said("I look.", "assistant", tool_calls=(CALL, replace(CALL, name="", arguments="[")))
    assert plain(message)[1:] == [
        "  I look.",
        '  → terminal(command="ls\\npwd", timeout=5, deep={"a": 1})',
        "  → a tool([)",
        "",
    ]
    assert plain(message, opened=True)[1:] == [
        "  I look.",
        "  → terminal",
        "  command:",
        "    ls",
        "    pwd",
        "  timeout: 5",
        '  deep: {"a": 1}',
        "  → a tool",
        "  [",
        "",
    ]
    assert plain(replace(message, text=""))[1].startswith("  → terminal")


def test_arguments_that_were_cut_can_be_loaded() -> None:
    message = said("", "assistant", tool_calls=(replace(CALL, arguments="x" * 50),))
    prepared = prepare(message, longest=50)
    assert prepared.is_cut
    last = lay_out(prepared, parts(prepared, True) - 1, 60, opened=True)[-2]
    assert last.content.plain.strip() == "… the arguments go on, enter loads the rest"
    assert last.enter is Enter.REST
    assert not prepare(message).is_cut


def test_arguments_too_deep_or_too_long_to_read_are_shown_as_they_are() -> None:
    deep = "[" * 50_000
    shown = plain(said("", "assistant", tool_calls=(replace(CALL, arguments=deep),)))
    assert shown[1].startswith("  → terminal([[[[")
    long = json.dumps({"a": "b" * 200_000})
    shown = plain(said("", "assistant", tool_calls=(replace(CALL, arguments=long),)), opened=True)
    assert [row.strip() for row in shown[2:4]] == ['{"a":', '"' + "b" * 57]


# -- matches ---------------------------------------------------------------------------------------


def test_matches_are_placed_on_their_rows() -> None:
    message = said("a needle in\nthe hay, a nee\u200bdle, needle")
    assert [
        row.content.plain[start:end]
        for row in laid(message, 17, find=words("needle"))
        for start, end in row.spans
    ] == ["needle", "needle"]
    torn = laid(said("xxneedle" * 4), 5, find=words("needle"))
    assert "".join(r.content.plain[a:b] for r in torn for a, b in r.spans) == "needle" * 4


@given(
    st.lists(
        st.sampled_from(["needle", "x", "\n", " ", "中", "\u202e", "```\n", "word " * 30]),
        max_size=400,
    ),
    st.sampled_from(["user", "tool", "assistant"]),
    st.integers(2, 90),
)
def test_no_match_is_lost_in_a_fold(pieces: list[str], role: str, width: int) -> None:
    """Shown and hidden matches make up all of them, folded or not."""
    value = "".join(pieces)
    expected = value.count("needle")
    arguments = json.dumps({"query": "a needle"})
    message = said(value, role, tool_calls=(replace(CALL, arguments=arguments),))
    folded = laid(message, width, find=words("needle"))
    shown = [row.content.plain[a:b] for row in folded for a, b in row.spans]
    assert "".join(shown).count("needle") + sum(row.hides for row in folded) == expected + 1
    opened = laid(message, width, opened=True, find=words("needle"))
    assert "".join(r.content.plain[a:b] for r in opened for a, b in r.spans).count("needle") == (
        expected + 1
    )


def test_a_very_long_text_is_searched_in_parts_that_overlap() -> None:
    value = ("x" * 99 + " ") * 1_999 + "x" * 90 + "  needle needle" + "y" * 300_000 + "needle"
    whole = words("needle")(value)
    assert found(words("needle"), value) == whole
    assert found(None, value) == []
    sizes: list[int] = []

    def watched(part: str) -> list[tuple[int, int]]:
        sizes.append(len(part))
        return []

    found(watched, value)
    assert max(sizes) < 210_000


# -- whatever the text -----------------------------------------------------------------------------

SAMPLES = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            [
                "\x1b[31m", "\x1b]52;c;ZQ==\x07", "\x9b", "\u202e", "\u200b", "[/foo]", "[@click=app.quit]",
                "中文", "e\u0301" * 3, "👩‍👩‍👧", "🇩🇪", "🇩", "a" * 90, " " * 50, "\t", "\r\n", "\n", "```", "word ",
                "\u1100\u1161", "\ud800", "\ufe0f", "\U000e0041",
            ]
        ),
        max_size=40,
    ).map("".join),
)  # fmt: skip


@given(SAMPLES, SAMPLES, st.integers(2, 100), st.booleans(), st.sampled_from(list(Visibility)))
def test_rows_fit_their_width_and_hold_no_control_character(
    value: str, name: str, width: int, opened: bool, visibility: Visibility
) -> None:
    message = said(
        value,
        "tool" if len(value) % 2 else "user",
        visibility=visibility,
        tool_name=name,
        notes=(name,),
        tool_calls=(ToolCall("1", name, json.dumps({name: value})), ToolCall("2", value, value)),
    )
    shown = laid(message, width, opened=opened)
    shown += placeholder(Mark(1, name, NOON, visibility), width, value)
    shown += divider(value, width)
    for row in shown:
        line = row.content.plain
        assert max(text.width(line), cell_len(line)) <= width
        assert text.safe(line) == line
        assert row.spans == ()


@given(SAMPLES, st.integers(2, 60))
def test_wrapping_loses_nothing_but_the_blank_at_a_break(value: str, width: int) -> None:
    shown = text.safe(value, lines=True)
    last = 0
    for start, end in rows(shown, width):
        assert last <= start <= end
        assert shown[last:start] in ("", " ", "\n"), (shown, last, start)
        last = end
    assert last == len(shown)


def test_words_stay_whole_where_they_fit() -> None:
    value = "one two three  four\n    indented text"
    assert [value[a:b] for a, b in rows(value, 9)] == [
        "one two",
        "three ",
        "four",
        "    inden",
        "ted text",
    ]
    cjk = "修改 youer服务端 ok"
    assert [cjk[a:b] for a, b in rows(cjk, 8)] == ["修改", "youer服", "务端 ok"]


def test_times_off_the_calendar_are_no_times() -> None:
    assert when(NOON) == "2026-11-29 12:00"
    assert when(None) == when(-5.0) == when(1e15) == ""
