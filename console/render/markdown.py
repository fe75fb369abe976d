"""A text in Markdown made readable: headings, lists, code and quotes, line by line.

Every line of the text stays one, wrapped: nothing is joined, left out or followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from textual.content import Content

from console.render import ink
from console.render.line import Line, wrapped

_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"(\s*)([-*+]|\d{1,3}[.)])\s+(.*)")
_QUOTE = re.compile(r"\s*>\s?(.*)")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
_FIELD = re.compile(r"([\w-]+):(?:\s+(.*))?")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*")


def markdown_lines(value: str, width: int) -> Iterator[Line]:
    """``value`` in ``width`` cells; a head between lines of ``---`` is shown field by field."""
    lines = value.split("\n")
    body = 0
    if lines and lines[0].strip() == "---":
        end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), None)
        if end is not None:
            for line in lines[1:end]:
                yield from _field(line, width)
            yield Line(Content.styled("─" * min(width, 24), ink.LABEL))
            body = end + 1
    fence = ""
    for line in lines[body:]:
        found = _FENCE.match(line)
        if found and not fence:
            fence = found[1]
            yield from _code(line.strip()[len(fence) :].strip() or "code", width, ink.LABEL)
        elif found and line.strip().startswith(fence) and line.strip().strip(fence[0]) == "":
            fence = ""
        elif fence:
            yield from _code(line, width)
        else:
            yield from _prose(line, width)


def raw_lines(value: str, width: int) -> Iterator[Line]:
    """``value`` as it stands, every line numbered."""
    lines = value.split("\n")
    digits = len(str(len(lines)))
    for number, line in enumerate(lines, 1):
        for place, piece in enumerate(wrapped(ink.line(line), width - digits - 2)):
            label = f"{number:>{digits}}  " if place == 0 else " " * (digits + 2)
            yield Line(Content.styled(label, ink.LABEL) + piece)


def _field(line: str, width: int) -> Iterator[Line]:
    found = _FIELD.fullmatch(line)
    if found is None:
        yield from _flow(ink.line(line), width)
        return
    said = Content.assemble(ink.line(found[1], ink.LABEL), "  ", ink.line(found[2] or ""))
    yield from _flow(said, width)


def _prose(line: str, width: int) -> Iterator[Line]:
    if heading := _HEADING.fullmatch(line):
        style = f"{ink.TITLE} {ink.ACCENT}" if len(heading[1]) < 3 else ink.TITLE
        yield from _flow(ink.line(heading[2], style), width)
    elif _RULE.fullmatch(line):
        yield Line(Content.styled("─" * min(width, 24), ink.LABEL))
    elif item := _ITEM.fullmatch(line):
        # An indentation can be as long as the text likes; what hangs from it needs room.
        indent = " " * min(len(item[1].expandtabs(4)), width // 3)
        sign = item[2] if item[2][0].isdigit() else "•"
        yield from _flow(_inline(item[3]), width, f"{indent}{sign} ")
    elif quote := _QUOTE.fullmatch(line):
        yield from _flow(_inline(quote[1]), width, "▌ ", "▌ ")
    else:
        yield from _flow(_inline(line), width)


def _code(line: str, width: int, style: str = ink.ACCENT) -> Iterator[Line]:
    for piece in wrapped(ink.line(line, style), width - 2):
        yield Line(Content.styled("│ ", ink.LABEL) + piece)


def _inline(value: str) -> Content:
    """A line with its code and strong words styled; the signs around them go."""
    shown = ink.line(value).plain
    parts: list[Content | str] = []
    at = 0
    for found in _INLINE.finditer(shown):
        parts.append(Content(shown[at : found.start()]))
        parts.append(
            Content.styled(found[1], ink.ACCENT)
            if found[1] is not None
            else Content.styled(found[2], ink.TITLE)
        )
        at = found.end()
    return Content.assemble(*parts, Content(shown[at:]))


def _flow(content: Content, width: int, first: str = "", rest: str | None = None) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width, first=first, rest=rest))
