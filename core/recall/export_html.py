"""Conversations as one page: nothing from outside, no script, every text escaped."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence

from core.conversations import Message, Visibility
from core.recall.export import Document, iso, one_line, plain
from core.recall.export_markdown import calls_of, label_of, notes_of, rows_said

#: Characters of a tool's output that stand open; longer ones are opened on demand.
_OPEN = 2_000
_STYLE = """
:root { color-scheme: light dark; --line: #8884; --dim: #777; --user: #0969da; --tool: #8a6d00; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
nav { border: 1px solid var(--line); border-radius: 6px; padding: .5rem 1rem; }
nav ol { margin: .3rem 0; max-height: 20rem; overflow: auto; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
article { border-left: 3px solid var(--line); margin: 1rem 0; padding: 0 0 0 1rem; }
article.user { border-color: var(--user); }
article.tool { border-color: var(--tool); }
article.gone { opacity: .7; }
h3 { font-size: 1em; margin: 0 0 .3rem; }
h3 small, .note { color: var(--dim); font-weight: normal; }
pre { font: 13px/1.45 ui-monospace, monospace; }
pre, .text { margin: .3rem 0; overflow-wrap: anywhere; white-space: pre-wrap; }
summary { color: var(--dim); cursor: pointer; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(
    documents: Sequence[Document], at: float, final: Callable[[str], str] = str
) -> Iterator[bytes]:
    """One page with ``documents`` (at least one), piece by piece, several behind a list of them.

    ``final`` is what a redaction still does to each piece.
    """
    for piece in _pieces(documents, at):
        yield final(piece).encode()


def _pieces(documents: Sequence[Document], at: float) -> Iterator[str]:
    name = _title(documents[0]) if len(documents) == 1 else f"{len(documents)} conversations"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
    yield '<meta name="referrer" content="no-referrer">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield f"<title>{_line(name)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
    if len(documents) > 1:
        yield f"<h1>{_line(name)}</h1>\n<nav><ol>\n"
        for number, document in enumerate(documents):
            count = f"{document.count} messages"
            link = f'<a href="#s{number}" dir="auto">{_line(_title(document))}</a>'
            yield f"<li>{link} <small>{count}</small></li>\n"
        yield "</ol></nav>\n"
    for number, document in enumerate(documents):
        yield from _section(document, number)
    yield f'<footer class="note">Exported by signoff at {_line(iso(at))}</footer>\n'
    yield "</body>\n</html>\n"


def _section(document: Document, number: int) -> Iterator[str]:
    yield f'<section id="s{number}">\n<h1 dir="auto">{_line(_title(document))}</h1>\n<dl>\n'
    for name, value in _facts(document):
        yield f"<dt>{name}</dt><dd>{_line(value)}</dd>\n"
    yield "</dl>\n"
    if not document.count:
        yield '<p class="note">No messages in this session.</p>\n'
    for place, part in enumerate(document.parts):
        if len(document.parts) > 1:
            yield f"<h2>Compression segment: {_line(part.session_id)}</h2>\n"
        for message in part.messages():
            yield from _article(message, document.labelled, f"m{number}-{place}-{message.id}")
    yield "</section>\n"


def _facts(document: Document) -> Iterator[tuple[str, str]]:
    session = document.session
    known = (
        ("Session", session.id),
        ("Source", session.source),
        ("Model", session.model),
        ("Provider", document.provider),
        ("Folder", session.workspace),
        ("Started", iso(session.started_at)),
        ("Last active", iso(session.last_active)),
        ("Ended", iso(session.ended_at)),
        ("Messages", str(document.count)),
        ("Rows", rows_said(document)),
        ("Archived", "yes" if session.archived else ""),
    )
    yield from ((name, value) for name, value in known if value)


def _article(message: Message, labelled: bool, name: str) -> Iterator[str]:
    role = message.role if message.role in ("user", "assistant", "tool", "system") else "other"
    gone = "" if message.visibility is Visibility.LIVE else " gone"
    when = f" <small>{_line(iso(message.at))}</small>" if message.at is not None else ""
    yield f'<article class="{role}{gone}" id="{name}">\n<h3>{_line(label_of(message))}{when}</h3>\n'
    if notes := notes_of(message, labelled=labelled):
        yield f'<p class="note">{_line("; ".join(notes))}</p>\n'
    text = html.escape(plain(message.text))
    if message.role == "tool" and len(text) > _OPEN:
        yield f"<details><summary>{message.size:,} characters</summary>\n"
        # A browser drops a newline that comes first.
        yield f'<pre dir="auto">\n{text}</pre>\n</details>\n'
    elif message.role == "tool":
        yield f'<pre dir="auto">\n{text}</pre>\n'
    elif text:
        yield f'<div class="text" dir="auto">{text}</div>\n'
    if calls := calls_of(message):
        many = f"{len(message.tool_calls)} tool call{'s' if len(message.tool_calls) > 1 else ''}"
        yield f"<details><summary>{many}</summary>\n<pre>\n{html.escape(calls)}</pre>\n</details>\n"
    yield "</article>\n"


def _title(document: Document) -> str:
    return one_line(document.session.title) or one_line(document.session.id)


def _line(text: str) -> str:
    return html.escape(one_line(text))
