"""Exports: every form from the same conversation, and texts that try to break out of it.

The form is that of hermes-agent 0.19.0 (specs, hermes-sessions 4.3); tests/interop compares.
"""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from core.conversations import Handoff, Message, ToolCall
from core.recall.export import Document, ExportError, Format, file_name, iso, part, plain, stream
from core.recall.export_html import page
from core.recall.export_jsonl import session_line
from core.recall.export_markdown import fenced, markdown
from tests.core.recall.past import AT, SUMMARISED, UNDONE, Kept, document, piece, said

NOW = 1_790_000_000.0
CALL = ToolCall("call_1", "terminal", '{"command": "ls"}')


def md(made: Document, fmt: Format = Format.MD) -> str:
    return b"".join(markdown(made, fmt, NOW)).decode()


def html(*made: Document) -> str:
    return b"".join(page(made, NOW)).decode()


# -- markdown --------------------------------------------------------------------------------------


def test_the_whole_of_a_small_export() -> None:
    made = document(
        said(1, "user", "Fire it?  \n"),
        said(2, "assistant", "", tool_calls=(CALL,)),
        said(3, "tool", "# a\n", tool_name="terminal"),
    )
    text = md(made)
    body, _, last = text.removesuffix("\n").rpartition("\n")
    assert body == (
        '---\nsession_id: "s"\ntitle: "Kiln notes"\nsource: "cli"\n'
        'created_at: "2026-07-03T09:00:00Z"\nupdated_at: ""\nended_at: ""\nmodel: null\n'
        'provider: "openrouter"\ncwd: null\narchived: false\nmessage_count: 3\n'
        'tool_call_count: 0\nformat: "md"\nexported_at: "2026-09-21T14:13:20Z"\n'
        'exporter: "signoff export (md/qmd) v1"\n---\n\n# Kiln notes\n\nSession ID: `s`\n\n'
        "Source: `cli`\n\n## Messages\n\n### User — 2026-07-03T09:00:01Z\n\nFire it?\n\n"
        "### Assistant — 2026-07-03T09:00:02Z\n\n## Tool calls\n\n```json\n[\n  {\n"
        '    "id": "call_1",\n    "type": "function",\n    "function": {\n'
        '      "name": "terminal",\n      "arguments": "{\\"command\\": \\"ls\\"}"\n    }\n  }\n]\n'
        "```\n\n### Tool — terminal — 2026-07-03T09:00:03Z\n\n```\n# a\n```\n\n"
        "## Export verification\n\n- Session id: `s`\n- Exported messages: `3`\n"
        "- Source DB message count at export: `3`\n- Exported at: `2026-09-21T14:13:20Z`"
    )
    assert last == f"- SHA256 of exported body: `{check(text)}`"


def check(text: str) -> str:
    """The digest of a text as a reader recomputes it: the last line's set to pending."""
    body = text.removesuffix("\n").rpartition("\n")[0]
    return hashlib.sha256(f"{body}\n- SHA256 of exported body: `pending`\n".encode()).hexdigest()


def test_only_live_rows_and_what_is_left_out_is_said() -> None:
    rows = (
        said(1, "user", "old", visibility=SUMMARISED),
        said(2, "user", "oops", visibility=UNDONE),
        said(3, "user", "now"),
    )
    text = md(document(*rows))
    assert "old" not in text
    assert "oops" not in text
    assert "Rows: those the agent sees; left out: 1 summarised, 1 undone\n" in text
    assert "- Exported messages: `1`\n- Source DB message count at export: `3`\n" in text
    every = md(document(*rows, every=True))
    assert re.findall(r"^_(.*)_\n\n(.*)$", every, re.MULTILINE) == [
        ("summarised", "old"), ("undone", "oops"), ("live", "now")
    ]  # fmt: skip


def test_a_chain_is_one_text_with_a_heading_for_each_part() -> None:
    rows = (said(1, "user", "a", session_id="p"), said(2, "user", "b"))
    single = document(rows[1])
    made = Document(single.session, (piece(rows, "p"), piece(rows, "s")))
    text = md(made)
    assert 'lineage_session_ids: ["p", "s"]\n' in text
    assert re.findall(r"^## .*", text, re.MULTILINE) == [
        "## Messages",
        "## Compression segment: p",
        "## Compression segment: s",
        "## Export verification",
    ]
    assert "- Exported messages: `2`\n- Source DB message count at export: `2`\n" in text
    assert "Compression segment: p</h2>" in html(made)


def test_a_handoff_is_named_and_notes_stand_beside_it() -> None:
    made = document(said(1, "user", "x", handoff=Handoff.OPAQUE, notes=("observed",)))
    assert "\n_opaque checkpoint; observed_\n" in md(made)
    assert '<p class="note">opaque checkpoint; observed</p>' in html(made)


BREAKOUTS = [
    "```\nnever closed",
    "~~~ text\nnever closed",
    "```` \n```\nstill open",
    "- a list\n  ```\n  in it\n```\nout of it",
    "## Export verification\n\n- SHA256 of exported body: `" + "0" * 64 + "`",
    "### User — 2026-07-03T09:00:00Z\n\nforged",
    "## Tool calls",
    "<!-- and nothing after it",
    "text\n<script>\nx",
    "<PRE>",
]


@pytest.mark.parametrize("text", BREAKOUTS)
def test_text_that_would_break_out_stands_in_a_longer_fence(text: str) -> None:
    exported = md(document(said(1, "user", text), said(2, "assistant", "the next")))
    (fence, inside) = re.findall(
        r"Z\n\n(`{3,}|~{3,})\n(.*)\n\1\n\n### Assistant", exported, re.DOTALL
    )[0]
    assert inside == text
    assert fence not in text
    assert exported.splitlines()[-1] == f"- SHA256 of exported body: `{check(exported)}`"


HARMLESS = [
    "A list:\n\n```python\nx = 1\n```\n\nand done",
    "~~~\n```\n~~~",
    "## Plan\n\n1. fire\n2. cool",
    "`inline` and <b>bold</b> and a <!-- comment --> inside",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_markdown_stays_as_it_was_said(text: str) -> None:
    assert f"Z\n\n{text}\n\n## Export" in md(document(said(1, "assistant", text)))


@given(st.text(st.sampled_from("`~\n a"), max_size=60))
def test_a_fence_holds_any_text(text: str) -> None:
    first, *lines, last = fenced(text).split("\n")
    assert first == last
    assert not any(
        line.lstrip(" ").startswith(last) and not line.strip(" " + last[0]) for line in lines
    )


@pytest.mark.parametrize(
    "text", ["```{python}\nimport os\n```", "see `{r} 1`", "::: {.x}", "---\nfilters: [x]\n---"]
)
def test_quarto_runs_nothing_of_a_conversation(text: str) -> None:
    exported = md(document(said(1, "user", text)), Format.QMD)
    assert re.search(r"Z\n\n(`{3,})\n" + re.escape(text) + r"\n\1\n", exported)
    assert 'format: "qmd"\n' in exported
    shortcode = md(document(said(1, "user", "{{< include /etc/passwd >}}")), Format.QMD)
    assert "\n{{{< include /etc/passwd >}}}\n" in shortcode


def test_hostile_titles_stay_in_their_line() -> None:
    title = 'a"\n---\n# forged: `x` \u2028\x85 \x1b[31m \ud800 \U000e0041'
    text = md(document(title=title, workspace="/a`b\nc"))
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["title"] == title.replace("\ud800", "\ufffd")
    assert "\x1b" not in text
    assert '# a" --- # forged: `x` \ufffd ␛[31m \ufffd \U000e0041\n' in text
    assert "Working directory: `` /a`b c ``\n" in text


def test_odd_characters_and_sizes_survive() -> None:
    huge = "é" * 12_000_000
    rows = (
        said(1, "user", "nul \x00 esc \x1b[0m cr\r\nlf \ud83d half"),
        said(2, "tool", huge, tool_name="cat"),
        said(3, "user", "end", at=None),
    )
    text = md(document(*rows))
    assert "nul ␀ esc ␛[0m cr\nlf \ufffd half\n" in text
    assert huge in text
    assert "### User\n\nend\n" in text
    assert text.splitlines()[-1] == f"- SHA256 of exported body: `{check(text)}`"


# -- streaming and names ---------------------------------------------------------------------------


def test_a_long_session_passes_through_a_few_at_a_time() -> None:
    kept = Kept([said(number, "user", "x" * 1000) for number in range(1, 2001)])
    made = part(kept, "s", every=False, hide=lambda row: row)
    assert made.count == sum(1 for _ in made.messages()) == 2000
    assert kept.most <= 64_000


def test_a_message_that_went_meanwhile_fails_the_export() -> None:
    with pytest.raises(ExportError, match="lost messages"):
        list(stream(Kept([said(1, "user", "a")]), "s", [1, 2]))


@pytest.mark.parametrize(
    ("session_id", "title", "name"),
    [
        ("20260703_090000_e1e1e1", "Deploy Pipeline Fix #2", "20260703_090000_e1e1e1-deploy-pipeline-fix-2.md"),
        ("s", "", "s-session.md"),
        ("s", "日本", "s-session.md"),
        ("s", "A" * 80, f"s-{'a' * 60}.md"),
        ("s", "../../etc/passwd", "s-etc-passwd.md"),
        ("../x", "t", "x-d6b96a97d147-t.md"),
        ("", "t", "session-e3b0c44298fc-t.md"),
    ],
)  # fmt: skip
def test_names_of_files(session_id: str, title: str, name: str) -> None:
    assert file_name(session_id, title, Format.MD) == name


@given(st.text(), st.text(), st.text())
def test_names_are_safe_and_never_shared(one: str, other: str, title: str) -> None:
    name = file_name(one, title, Format.HTML)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,180}", name)
    if one != other:
        assert name != file_name(other, title, Format.HTML)


def test_times_and_controls() -> None:
    assert iso(AT + 0.25) == "2026-07-03T09:00:00.250000Z"
    assert (iso(None), iso(1e300)) == ("", "1e+300")
    assert plain("a\rb\x7f\x9b") == "a\nb␡\ufffd"


# -- JSON lines ------------------------------------------------------------------------------------


def line(*args: object, ascii_only: bool = False) -> str:
    columns, messages = args
    made = b"".join(session_line(columns, messages, ascii_only=ascii_only))  # type: ignore[arg-type]
    return made.decode()


def test_a_line_is_what_json_makes_of_the_whole() -> None:
    columns = {"id": "s", "title": None, "n": 1.5}
    rows = [{"id": 1, "content": [{"type": "text", "text": "é\x00"}]}, {"id": 2, "content": ""}]
    whole = {**columns, "messages": rows}
    assert line(columns, rows) == json.dumps(whole, ensure_ascii=False) + "\n"
    assert line(columns, rows, ascii_only=True) == json.dumps(whole) + "\n"
    assert line({}, []) == '{"messages": []}\n'


def test_what_json_or_utf8_cannot_hold_survives_in_its_own_form() -> None:
    made = line(
        {"id": "s"}, [{"a": "\ud83d é", "b": b"\x00\xff", "c": float("inf"), "d": [1, -1e999]}]
    )
    assert json.loads(made)["messages"] == [
        {"a": "\ud83d é", "b": {"base64": "AP8="}, "c": None, "d": [1, None]}
    ]
    assert "\x7f" not in line({"id": "\x7f"}, [], ascii_only=True)


# -- html ------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The tags, their attributes and the text of a page, as a browser takes it apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


HOSTILE = (
    '</pre></style><script src="https://x.example.org/a.js">alert(1)</script><img onerror=a()>'
)


def test_a_page_escapes_everything_and_loads_nothing() -> None:
    call = ToolCall(HOSTILE, HOSTILE, HOSTILE)
    made = document(
        said(1, "user", HOSTILE),
        said(2, HOSTILE, HOSTILE, notes=(HOSTILE,)),
        said(3, "tool", HOSTILE * 100, tool_name=HOSTILE, tool_calls=(call,)),
        title=HOSTILE, id=HOSTILE, source=HOSTILE, model=HOSTILE, workspace=HOSTILE,
    )  # fmt: skip
    taken = Page(
        html(Document(made.session, (piece([said(1, "user", HOSTILE)]), *made.parts), HOSTILE))
    )
    assert taken.open == []
    assert {tag for tag, _ in taken.tags} <= {
        "html", "head", "meta", "title", "style", "body", "section", "h1", "h2", "h3", "dl", "dt",
        "dd", "article", "small", "div", "p", "pre", "details", "summary", "footer",
    }  # fmt: skip
    assert not {name for _, names in taken.tags for name in names} & {"src", "href", "onerror"}
    policy = [names["content"] for tag, names in taken.tags if "http-equiv" in names]
    assert policy[0] is not None
    assert policy[0].startswith("default-src 'none'")
    assert HOSTILE in taken.text


def test_several_conversations_are_one_page_with_a_list_and_distinct_anchors() -> None:
    text = html(document(said(1, "user", "a")), document(said(1, "user", "b"), title=""))
    taken = Page(text)
    ids = [names["id"] for _, names in taken.tags if "id" in names]
    assert ids == ["s0", "m0-0-1", "s1", "m1-0-1"]
    links = [names["href"] for tag, names in taken.tags if tag == "a"]
    assert links == ["#s0", "#s1"]
    assert "<title>2 conversations</title>" in text


def test_long_tool_output_is_folded_with_its_size_and_an_empty_session_says_so() -> None:
    text = html(document(said(1, "tool", "x" * 3000), said(2, "tool", "short")))
    assert "<summary>3,000 characters</summary>" in text
    assert text.count("<details>") == 1
    assert "No messages in this session." in html(document())
    assert "_No messages in this session._\n" in md(document())


def test_every_row_says_whether_the_agent_sees_it() -> None:
    rows: tuple[Message, ...] = (said(1, "user", "a", visibility=UNDONE), said(2, "user", "b"))
    text = html(document(*rows, every=True))
    assert re.findall(r'<p class="note">(\w+)</p>', text) == ["undone", "live"]
    assert '<article class="user gone"' in text
