"""A conversation as Markdown, in the form of hermes-agent 0.19.0's own export.

What the agent reads back (front matter, headings, the check of the text) is as it writes it. Text
that would break out of its message stands in a fence longer than any inside, and so does what
Quarto would run; output of tools always does. The agent's own export fences nothing.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from core.conversations import Message, Visibility
from core.recall.export import Document, Format, iso, one_line, plain

EXPORTER = "signoff export (md/qmd) v1"
_DIGEST = "- SHA256 of exported body: `{}`\n"
_RUNS = re.compile(r"`+|~+")
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*\Z)|~{3,})(.*)\Z")
#: Lines that would be read as a piece of the export, or hide what follows them in a browser.
_BREAKS_OUT = re.compile(
    r"^ {0,3}(?:#{1,2} (?:Messages|Tool calls|Export verification|Compression segment:)"
    r"|### .* — |- SHA256 of exported body:|<(?:[!?]|/?(?:script|pre|style|textarea)\b))",
    re.IGNORECASE | re.MULTILINE,
)
#: What Quarto would run, read in, or take for settings of its own when it renders the text.
_RUNS_IN_QUARTO = re.compile(r"`\{|^ {0,3}(?::::|---[ \t]*$)", re.MULTILINE)
#: Backticks from which on a fence is made of tildes, if that is shorter.
_LONG_FENCE = 80
_NOTHING_SEEN = "_No messages in this session._"


def markdown(
    document: Document, fmt: Format, at: float, final: Callable[[str], str] = str
) -> Iterator[bytes]:
    """The text of ``document``, piece by piece; ``at`` is the time of the export.

    ``final`` is what a redaction still does to each piece, before the digest is taken.
    Its last line holds the SHA-256 of all of it, with ``pending`` where the digest stands.
    """
    digest = hashlib.sha256()
    for piece in _pieces(document, fmt, at):
        if fmt is Format.QMD:
            # As Quarto has it written: a shortcode that is shown and not carried out.
            piece = piece.replace("{{<", "{{{<").replace(">}}", ">}}}")
        data = final(piece).encode()
        digest.update(data)
        yield data
    digest.update(_DIGEST.format("pending").encode())
    yield _DIGEST.format(digest.hexdigest()).encode()


def _pieces(document: Document, fmt: Format, at: float) -> Iterator[str]:
    session = document.session
    yield "---\n"
    for key, value in _front_matter(document, fmt, at):
        yield f"{key}: {_scalar(value)}\n"
    yield f"---\n\n# {one_line(session.title) or one_line(session.id)}\n\n"
    yield f"Session ID: {_code(session.id)}\n\n"
    if session.source:
        yield f"Source: {_code(session.source)}\n\n"
    if session.workspace:
        yield f"Working directory: {_code(session.workspace)}\n\n"
    if said := rows_said(document):
        yield f"Rows: {said}\n\n"
    yield "## Messages\n\n"
    if not document.count:
        yield f"{_NOTHING_SEEN}\n\n"
    for part in document.parts:
        if len(document.parts) > 1 and document.count:
            yield f"## Compression segment: {one_line(part.session_id)}\n\n"
        for message in part.messages():
            yield from _message(message, fmt, document.labelled)
    yield "## Export verification\n\n"
    yield f"- Session id: {_code(session.id)}\n"
    yield f"- Exported messages: `{document.count}`\n"
    yield f"- Source DB message count at export: `{document.source_count}`\n"
    yield f"- Exported at: `{iso(at)}`\n"


def rows_said(document: Document) -> str:
    """Which rows are in a document and which are not, in words; ``""`` when nothing is left out."""
    if document.labelled:
        return "all, those the agent does not see any more named so"
    counts = {
        visibility: sum(part.left_out.get(visibility, 0) for part in document.parts)
        for visibility in (Visibility.SUMMARISED, Visibility.UNDONE)
    }
    left = [f"{count} {visibility}" for visibility, count in counts.items() if count]
    return f"those the agent sees; left out: {', '.join(left)}" if left else ""


def notes_of(message: Message, *, labelled: bool) -> tuple[str, ...]:
    """What a reader should know of a message beside its text."""
    seen = (str(message.visibility),) if labelled else ()
    handoff = (str(message.handoff),) if message.handoff is not None else ()
    return (*seen, *handoff, *message.notes)


def calls_of(message: Message) -> str:
    """The tool calls of a message as JSON, in the agent's form; ``""`` for none."""
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call in message.tool_calls
    ]
    return plain(json.dumps(calls, ensure_ascii=False, indent=2)) if calls else ""


def label_of(message: Message) -> str:
    """Whose message it is: ``User``, ``Assistant``, ``Tool — name``."""
    if message.role == "tool" and message.tool_name:
        return f"Tool — {one_line(message.tool_name)}"
    return one_line(message.role).capitalize() or "Message"


def _front_matter(document: Document, fmt: Format, at: float) -> Iterator[tuple[str, Any]]:
    session = document.session
    yield "session_id", session.id
    yield "title", session.title or None
    yield "source", session.source
    yield "created_at", iso(session.started_at)
    yield "updated_at", iso(session.last_active)
    yield "ended_at", iso(session.ended_at)
    yield "model", session.model or None
    yield "provider", document.provider or None
    yield "cwd", session.workspace or None
    yield "archived", session.archived
    yield "message_count", document.count
    yield "tool_call_count", session.tool_calls
    if len(document.parts) > 1:
        yield "lineage_session_ids", list(document.lineage)
    yield "format", str(fmt)
    yield "exported_at", iso(at)
    yield "exporter", EXPORTER


def _message(message: Message, fmt: Format, labelled: bool) -> Iterator[str]:
    heading = " — ".join(filter(None, (label_of(message), iso(message.at))))
    yield f"### {heading}\n\n"
    if notes := notes_of(message, labelled=labelled):
        yield f"_{'; '.join(map(one_line, notes))}_\n\n"
    text = plain(message.text)
    if text.strip():
        own = message.role != "tool" and _stays_inside(text, fmt)
        yield f"{text.rstrip()}\n\n" if own else f"{fenced(text)}\n\n"
    if calls := calls_of(message):
        yield f"## Tool calls\n\n{fenced(calls, 'json')}\n\n"


def fenced(text: str, info: str = "") -> str:
    """``text`` as one block of code: between fences longer than any run of theirs inside it."""
    longest = {"`": 0, "~": 0}
    for run in _RUNS.finditer(text):
        longest[run[0][0]] = max(longest[run[0][0]], len(run[0]))
    sign = "~" if longest["`"] > max(_LONG_FENCE, longest["~"]) else "`"
    fence = sign * max(3, longest[sign] + 1)
    return f"{fence}{info}\n{text.rstrip(chr(10))}\n{fence}"


def _stays_inside(text: str, fmt: Format) -> bool:
    """Whether what follows a text reads the same with it as without."""
    if _BREAKS_OUT.search(text) or (fmt is Format.QMD and _RUNS_IN_QUARTO.search(text)):
        return False
    if "```" not in text and "~~~" not in text:
        return True
    indent = fence = ""
    for found in filter(None, map(_FENCE.match, text.split("\n"))):
        if not fence:
            indent, fence = found[1], found[2]
        elif found[2][0] == fence[0] and not found[3].strip():
            if found[1] != indent:
                # In a list the one of them may belong to it and the other not.
                return False
            if len(found[2]) >= len(fence):
                fence = ""
    return not fence


def _code(text: str) -> str:
    """``text`` on one line as inline code."""
    line = one_line(text)
    longest = max((len(run[0]) for run in _RUNS.finditer(line) if run[0][0] == "`"), default=0)
    if not longest:
        return f"`{line}`"
    fence = "`" * (longest + 1)
    return f"{fence} {line} {fence}"


def _scalar(value: Any) -> str:
    """A value of the front matter, as JSON and so as YAML; what is not printed is escaped."""
    return "".join(
        each if each.isprintable() else _escaped(each)
        for each in json.dumps(value, ensure_ascii=False)
    )


def _escaped(character: str) -> str:
    code = ord(character)
    if unicodedata.category(character) == "Cs":
        return "\\uFFFD"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
