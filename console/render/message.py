"""A message of a conversation as rows of a width: header, text, calls, what is folded away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from textual.content import Content

from console.keymap import keyed
from console.render import ink
from console.render.flow import flowed, line_rows
from console.render.prepared import Block, Hidden, Prepared, drawable, fence_after
from core import text
from core.clock import is_date
from core.conversations import Handoff, Mark, Visibility

#: From this many cells on texts stand two cells to the right of the headers.
INDENTED = 40
_ROLES = {"user": "bold $text-accent", "assistant": ink.TITLE, "tool": ink.WARNING}
#: Cells of the words on a divider; titles of sessions stand in them.
_WORDS = 400
_UNREADABLE = "An opaque checkpoint stands here: what the agent kept in it cannot be read."


class Enter(StrEnum):
    """What the enter key does on a row: fold or open the message, or load what is missing."""

    FOLD = "fold"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of safe ``content``.

    ``style`` is one of ``added removed heading code dim divider warning`` or empty. ``spans`` are
    the matches on it, ``hides`` counts those a fold keeps off the screen here. ``at`` is where its
    text begins in its block, -1 for what is no text.
    """

    content: Content
    style: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    hides: int = 0
    enter: Enter = Enter.FOLD
    at: int = -1

    @property
    def is_match(self) -> bool:
        """Whether a match stands or hides here."""
        return bool(self.spans or self.hides)


def parts(prepared: Prepared, opened: bool) -> int:
    """How many parts a message is laid out in."""
    return len(prepared.blocks) if opened else 1


def lay_out(prepared: Prepared, part: int, width: int, *, opened: bool) -> tuple[Row, ...]:
    """The rows of one part, from 0, in ``width`` cells (at least 2); a message ends in a blank."""
    made = _opened(prepared, part, width) if opened else _folded(prepared, width)
    return tuple(made)


def placeholder(mark: Mark, width: int, trouble: str = "") -> tuple[Row, ...]:
    """A message that is not loaded yet, or cannot be, in two rows."""
    head = Content("  ").join(filter(None, (_role(mark.role), _time(mark.at))))
    said = ink.cut(trouble or "…", max(2, width), ink.DANGER if trouble else ink.LABEL)
    return (Row(_first_row(head, width)), Row(said))


def divider(words: str, width: int) -> Iterator[Row]:
    """A line across with words on it; where they do not fit, only its beginning."""
    line = ink.cut(f"── {words}", _WORDS) + " "
    line = line + Content("─" * max(0, width - line.cell_length))
    yield from (Row(piece, "divider") for piece in flowed(line, width))


def when(at: float | None) -> str:
    """A time as headers show it; empty for one off the calendar."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M}" if is_date(at) else ""


# -- folded and opened -----------------------------------------------------------------------------


def _folded(prepared: Prepared, width: int) -> Iterator[Row]:
    # A fold that stands for all of the text says the size itself.
    yield from _header(prepared, width, size=prepared.hidden is None or prepared.head is not None)
    indent = _indent(width)
    if prepared.hidden is None:
        for block in prepared.blocks[: prepared.texts]:
            yield from _text(prepared, block, width)
        yield from _rest(prepared, width)
    elif prepared.head is not None:
        yield from _text(prepared, prepared.head, width)
        said = Content.styled(f"⋯ {_size(prepared.hidden)} more", ink.LABEL)
        yield from _fold(said + _matches(prepared.hidden.matches), width, prepared.hidden.matches)
    else:
        tail = Content.styled(f"⋯ {_size(prepared.hidden)}", ink.LABEL)
        tail += _matches(prepared.hidden.matches)
        room = width - indent - tail.cell_length - _hint().cell_length - 2
        lead = Content("")
        if prepared.message.handoff is not Handoff.OPAQUE:
            lead = _base(ink.cut(prepared.preview, max(12, room)), prepared) + "  "
        yield from _fold(lead + tail, width, prepared.hidden.matches)
    for call in prepared.calls:
        tail = _matches(call.matches)
        room = max(12, width - indent - 2 - tail.cell_length)
        name = Content.assemble(("→ ", ink.ACCENT), _base(ink.cut(call.brief, room), prepared))
        yield from _fold(name + tail, width, call.matches, hint=False)
    yield Row(Content(""))


def _opened(prepared: Prepared, part: int, width: int) -> Iterator[Row]:
    if part == 0:
        yield from _header(prepared, width)
    block = prepared.blocks[part]
    if block.title:
        title = Content.assemble(("→ ", ink.ACCENT), (block.title, ink.TITLE))
        yield from _indented(title, width)
    yield from _text(prepared, block, width)
    if part == prepared.texts - 1:
        yield from _rest(prepared, width)
    if part == len(prepared.blocks) - 1:
        if prepared.cut_calls:
            yield from _more("the arguments go on", width)
        yield Row(Content(""))


def _rest(prepared: Prepared, width: int) -> Iterator[Row]:
    if prepared.rest:
        yield from _more(_plural(prepared.rest, "more character"), width)


def _more(words: str, width: int) -> Iterator[Row]:
    said = keyed(f"… {words}, {{lines.open}} loads the rest")
    for row in _indented(Content.styled(said, ink.WARNING), width):
        yield Row(row.content, enter=Enter.REST)


def _fold(content: Content, width: int, matches: int, *, hint: bool = True) -> Iterator[Row]:
    if hint:
        content += _hint()
    for number, row in enumerate(_indented(content, width)):
        yield Row(row.content, hides=matches if number == 0 else 0)


def _hint() -> Content:
    return Content.styled(keyed(", {lines.open} opens"), ink.LABEL)


def _matches(count: int) -> Content:
    if not count:
        return Content("")
    return Content.styled(f", {_plural(count, 'match', 'es')} in it", ink.WARNING)


def _size(hidden: Hidden) -> str:
    size = _plural(hidden.chars, "character")
    return f"{size}, {_plural(hidden.lines, 'line')}" if hidden.lines > 1 else size


def _plural(count: int, word: str, ending: str = "s") -> str:
    return f"{count:,} {word}{'' if count == 1 else ending}"


# -- header and text -------------------------------------------------------------------------------


def _header(prepared: Prepared, width: int, *, size: bool = True) -> Iterator[Row]:
    message = prepared.message
    words = [_role(message.role)]
    if message.tool_name:
        words.append(ink.cut(message.tool_name, 60, ink.TITLE))
    if message.visibility is not Visibility.LIVE:
        words.append(Content.styled(str(message.visibility), ink.WARNING))
    if message.handoff is not None:
        words.append(Content.styled(str(message.handoff), ink.WARNING))
    words += [ink.cut(f"[{note}]", 60, ink.LABEL) for note in message.notes]
    words.append(_time(message.at))
    if message.size and size:
        words.append(Content.styled(_plural(message.size, "char"), ink.LABEL))
    shown = Content("  ").join(word for word in words if word)
    yield from (Row(piece) for piece in flowed(shown, width))
    if message.handoff is Handoff.OPAQUE:
        yield from _indented(Content.styled(_UNREADABLE, ink.LABEL), width)


def _role(role: str) -> Content:
    return ink.cut(role or "unknown", 40, _ROLES.get(role, ink.TITLE))


def _time(at: float | None) -> Content:
    return Content.styled(when(at), ink.LABEL) if is_date(at) else Content("")


def _text(prepared: Prepared, block: Block, width: int) -> Iterator[Row]:
    """The rows of a block; code, its fences and differences each in their style."""
    if not block.raw and not block.title:
        if not prepared.calls and prepared.message.handoff is not Handoff.OPAQUE:
            yield from _indented(Content.styled("no text", ink.LABEL), width)
        return
    indent, fence, start = _indent(width), block.fence, 0
    plain = "" if prepared.message.visibility is Visibility.LIVE else "dim"
    safe = drawable(block)
    spans, tokens = _Near(safe.spans), _Near(safe.tokens)
    while start <= len(safe.text):
        end = safe.text.find("\n", start)
        end = len(safe.text) if end < 0 else end
        before, fence = fence, _fence(fence, safe.text, start, end)
        style = _line_style(safe.text[start : start + 4], before, fence, block.diff) or plain
        for a, b in line_rows(safe.text, start, end, width - indent):
            content = Content(" " * indent + safe.text[a:b])
            for first, last in tokens.within(a, b):
                content = content.stylize(ink.HIDDEN, first - a + indent, last - a + indent)
            marks = tuple((f - a + indent, t - a + indent) for f, t in spans.within(a, b))
            yield Row(content, style, marks, at=a)
        start = end + 1


class _Near:
    """Sorted stretches asked for row by row, downwards."""

    def __init__(self, stretches: tuple[tuple[int, int], ...]) -> None:
        self._all = stretches
        self._at = 0

    def within(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The parts of them that lie in ``start`` to ``end``."""
        while self._at < len(self._all) and self._all[self._at][1] <= start:
            self._at += 1
        for place in range(self._at, len(self._all)):
            first, last = self._all[place]
            if first >= end:
                return
            yield max(first, start), min(last, end)


def _fence(fence: str, value: str, start: int, end: int) -> str:
    if value[start : start + 6].lstrip(" ")[:1] not in ("`", "~"):
        return fence
    return fence_after(fence, value[start:end])


def _line_style(begin: str, before: str, after: str, diff: bool) -> str:
    if before != after:
        return "dim"
    if diff or (before and before.strip("`~").startswith(("diff", "patch"))):
        if begin.startswith(("+++", "---", "diff")):
            return "heading"
        if begin.startswith("@@"):
            return "heading"
        if begin[:1] in ("+", "-"):
            return "added" if begin[0] == "+" else "removed"
    return "code" if before else ""


def _base(content: Content, prepared: Prepared) -> Content:
    live = prepared.message.visibility is Visibility.LIVE
    return content if live else content.stylize(ink.LABEL)


def _indent(width: int) -> int:
    return 2 if width >= INDENTED else 0


def _indented(content: Content, width: int) -> Iterator[Row]:
    lead = Content(" " * _indent(width))
    return (Row(lead + piece) for piece in flowed(content, width - len(lead)))


def _first_row(content: Content, width: int) -> Content:
    """One row of styled safe text cut to ``width``."""
    wide = max(content.cell_length, text.width(content.plain))
    return next(flowed(content, width)) if wide > width else content
