"""A message made ready to be laid out at any width: matched, and cut into blocks.

This is the part of reading that costs with the length of a text, so it runs in a thread. What comes
of it is made safe and laid out a block at a time: a text of many megabytes costs a key no more than
a short one.
"""

from __future__ import annotations

import json
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core import text
from core.conversations import Handoff, Message, ToolCall

#: Where the matches are in a text: (start, end) of each in code points, in order.
Find = Callable[[str], Sequence[tuple[int, int]]]
#: Called between steps, so that a thread lets others run.
Breathe = Callable[[], None]

#: Characters laid out at a time.
BLOCK = 2048
#: A text longer than this, in either, is folded to its head.
LONG_CHARS, LONG_LINES = 3_000, 40
HEAD_CHARS, HEAD_LINES = 1_500, 16
#: A tool's answer of one line up to this many characters needs no folding.
SHORT_OUTPUT = 72
#: Arguments longer than this are shown as they are stored.
PARSED = 100_000
_BRIEF, _VALUE, _PREVIEW = 600, 200, 600
#: Characters searched at a time, and how far two such parts overlap.
_SEARCHED, _OVERLAP = 200_000, 400
_FENCE = re.compile(r" {0,3}(```+|~~~+) *([\w+#.-]*)")
_HUNK = re.compile(r"^(?:@@ -\d+(?:,\d+)? \+\d+|diff --git )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of a text as it is stored, laid out as one; not safe to draw.

    ``spans`` are its matches; ``fence`` is the code fence it begins in, ``""`` for none; ``diff``
    says the whole text is one. ``title``, which is safe, names the call whose arguments begin here.
    """

    raw: str
    spans: tuple[tuple[int, int], ...] = ()
    fence: str = ""
    diff: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Drawable:
    """A block's safe ``text``, its matches, and the ``tokens`` that stand for what it hides."""

    text: str
    spans: tuple[tuple[int, int], ...]
    tokens: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call on one line, safe, and the matches in its arguments."""

    brief: str
    matches: int


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a fold hides. ``lines`` is 0 where not all of the text is loaded."""

    chars: int
    lines: int
    matches: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A message to lay out; ``message`` has no text and no calls any more.

    ``blocks`` are the text (the first ``texts`` of them), then the arguments of each call.
    ``hidden`` is what folding the text hides, ``None`` if nothing: then ``head`` is left of it, or
    one line with ``preview``. ``rest`` counts characters that were not loaded; ``cut_calls`` says
    that arguments were not loaded in full. ``loaded`` counts the characters held.
    """

    message: Message
    blocks: tuple[Block, ...]
    texts: int
    calls: tuple[Call, ...] = ()
    head: Block | None = None
    hidden: Hidden | None = None
    preview: str = ""
    rest: int = 0
    cut_calls: bool = False
    loaded: int = 0

    @property
    def folds(self) -> bool:
        """Whether opening it shows more."""
        return self.hidden is not None or bool(self.calls)

    @property
    def is_cut(self) -> bool:
        """Whether there is more of it than was loaded."""
        return self.rest > 0 or self.cut_calls


def prepare(
    message: Message,
    find: Find | None = None,
    breathe: Breathe = lambda: None,
    *,
    longest: int = sys.maxsize,
) -> Prepared:
    """Everything about ``message`` that does not depend on a width.

    ``longest`` is the number of characters at which its text and its arguments were cut.
    """
    raw = message.text
    spans = found(find, raw, breathe)
    # In what people and models say a difference stands in a fence.
    diff = message.role == "tool" and _HUNK.search(raw, 0, 20_000) is not None
    blocks = list(_blocks(raw, spans, breathe, diff=diff))
    texts = len(blocks)
    calls = []
    for call in message.tool_calls:
        name = text.one_line(call.name or "a tool", 80)
        shown = _arguments(call)
        inside = found(find, shown, breathe)
        calls.append(Call(text.one_line(f"{name}({_brief(call)})", _BRIEF), len(inside)))
        first, *more = _blocks(shown, inside, breathe)
        blocks += [replace(first, title=name), *more]
    end = _head_end(message)
    hidden = None if end is None else _hidden(message, end, spans)
    head = None
    if end:
        head = next(_blocks(raw[:end].rstrip("\n"), _until(spans, end), breathe, diff=diff))
    return Prepared(
        replace(message, text="", tool_calls=()),
        tuple(blocks),
        texts,
        tuple(calls),
        head,
        hidden,
        "" if end else text.one_line(_first_line(raw), _PREVIEW),
        max(0, message.size - len(raw)) if not message.whole else 0,
        any(len(call.arguments) >= longest for call in message.tool_calls),
        len(raw) + sum(len(call.arguments) for call in message.tool_calls),
    )


def found(find: Find | None, raw: str, breathe: Breathe = lambda: None) -> list[tuple[int, int]]:
    """The matches of a text of any length; a very long one is searched in parts that overlap."""
    if find is None or not raw:
        return []
    if len(raw) <= _SEARCHED:
        return sorted(find(raw))
    spans: set[tuple[int, int]] = set()
    start = 0
    while start < len(raw):
        end = _boundary(raw, start, start + _SEARCHED)
        stop = _boundary(raw, end, end + _OVERLAP) if end < len(raw) else end
        spans |= {(start + a, start + b) for a, b in find(raw[start:stop]) if start + a < end}
        breathe()
        start = end
    return sorted(spans)


def drawable(block: Block) -> Drawable:
    """A block made safe."""
    shown, spans = text.safe_spans(block.raw, block.spans, lines=True)
    if shown == block.raw:
        return Drawable(shown, spans, ())
    tokens, at = [], 0
    for piece in text.pieces(block.raw, lines=True):
        if piece.mark is not None:
            tokens.append((at, at + len(piece.shown)))
        at += len(piece.shown)
    return Drawable(shown, spans, tuple(tokens))


def fence_after(fence: str, line: str) -> str:
    """The code fence that is open after ``line``; ``fence`` is the one before it."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    if not fence:
        return mark[1] + mark[2]
    sign = fence[: len(fence) - len(fence.lstrip("`~"))]
    return "" if mark[1].startswith(sign) and line.strip() == mark[1] else fence


# -- folding ---------------------------------------------------------------------------------------


def _head_end(message: Message) -> int | None:
    """How much of the text stays when it is folded; ``None`` if it needs no folding."""
    raw = message.text
    if message.handoff is Handoff.OPAQUE:
        return 0 if raw else None
    if message.role == "tool":
        return 0 if "\n" in raw or len(raw) > SHORT_OUTPUT or not message.whole else None
    if len(raw) <= LONG_CHARS and message.whole and raw.count("\n", 0, LONG_CHARS) < LONG_LINES:
        return None
    end = -1
    for _ in range(HEAD_LINES):
        end = raw.find("\n", end + 1)
        if end < 0 or end > HEAD_CHARS:
            break
    return end if 0 < end <= HEAD_CHARS else _boundary(raw, 0, HEAD_CHARS)


def _hidden(message: Message, end: int, spans: Sequence[tuple[int, int]]) -> Hidden:
    raw = message.text
    size = max(message.size, len(raw))
    # The newline that ends the head, and the one that ends the text, begin no further line.
    ends = (raw[end : end + 1] == "\n" and end > 0) + (raw.endswith("\n") and len(raw) > end)
    lines = raw.count("\n", end) + 1 - ends
    return Hidden(
        size - end,
        lines if message.whole else 0,
        len(spans) - bisect_left(spans, (end, 0)),
    )


def _until(spans: Sequence[tuple[int, int]], end: int) -> Sequence[tuple[int, int]]:
    return spans[: bisect_left(spans, (end, 0))]


def _first_line(raw: str) -> str:
    for line in raw[:4_000].split("\n"):
        if line.strip():
            return line.strip()
    return ""


# -- blocks ----------------------------------------------------------------------------------------


def _blocks(
    raw: str, spans: Sequence[tuple[int, int]], breathe: Breathe, *, diff: bool = False
) -> Iterator[Block]:
    """The text in blocks, at least one."""
    at = place = 0
    fence = ""
    while True:
        end = _boundary(raw, at, at + BLOCK)
        piece = raw[at:end]
        while place < len(spans) and spans[place][1] <= at:
            place += 1
        inside = []
        for start, stop in spans[place:]:
            if start >= end:
                break
            inside.append((max(start, at) - at, min(stop, end) - at))
        # The end of the last line is no line of its own, and between two blocks it is the break.
        line = piece[:-1] if end < len(raw) and piece.endswith("\n") else piece
        yield Block(line, tuple((a, min(b, len(line))) for a, b in inside), fence, diff)
        if "```" in piece or "~~~" in piece:
            for line in piece.split("\n"):
                fence = fence_after(fence, line)
        breathe()
        if end >= len(raw):
            return
        at = end


def _boundary(raw: str, start: int, limit: int) -> int:
    """An end at most at ``limit`` that cuts no line in two, else no word, else as it comes."""
    if limit >= len(raw):
        return len(raw)
    low = start + (limit - start) // 2
    for sign in ("\n", " "):
        at = raw.rfind(sign, low, limit)
        if at >= 0:
            return at + 1
    return limit


# -- calls -----------------------------------------------------------------------------------------


def _parsed(call: ToolCall) -> dict[str, Any] | None:
    if len(call.arguments) > PARSED:
        return None
    try:
        value = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _brief(call: ToolCall) -> str:
    values = _parsed(call)
    if values is None:
        return call.arguments[:_BRIEF]
    shown = []
    for name, value in values.items():
        said = _written(value)
        said = f"{said[:_VALUE]}…" if len(said) > _VALUE else said
        shown.append(f"{name}={said}")
        if sum(map(len, shown)) > _BRIEF:
            break
    return ", ".join(shown)


def _arguments(call: ToolCall) -> str:
    """A line for each argument; the lines of a long one stand below its name, set in."""
    values = _parsed(call)
    if values is None:
        return call.arguments
    lines = []
    for name, value in values.items():
        if isinstance(value, str) and "\n" in value:
            lines += [f"{name}:", *(f"  {line}" for line in value.split("\n"))]
        else:
            lines.append(f"{name}: {value if isinstance(value, str) else _written(value)}")
    return "\n".join(lines)


def _written(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "…"
