"""A ledger: one JSON object a line, appended to, read line by line without trusting any of them.

What is no entry is kept as skipped, with the reason; everything else is read (vak spec 3, "Reading
rules"). The agent may be writing the last line while it is read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from core.homes.vak.times import parse_time
from core.homes.vak.whitespace import trim

SUFFIX = ".jsonl"
HEADER, MESSAGE, COMPACTION = "header", "message", "compaction"
RECEIPT, GOAL, ACTIVITY = "receipt", "goal", "activity"
KINDS = frozenset({HEADER, MESSAGE, COMPACTION, RECEIPT, GOAL, ACTIVITY})
ROLES = frozenset({"user", "assistant"})
TEXT, THINKING, TOOL_USE, TOOL_RESULT = "text", "thinking", "tool_use", "tool_result"

#: First bytes of white space beyond ASCII.
_WIDE = frozenset({0xC2, 0xE1, 0xE2, 0xE3})

Fields = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a ledger that is not blank.

    ``number`` counts all lines from 1; ``ordinal`` those that are not blank, from 0; ``offset`` is
    where it begins in the file. ``data`` is without its line end; ``whole`` says it has one.
    """

    number: int
    ordinal: int
    offset: int
    data: bytes
    whole: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``at`` is in nanoseconds since 1970, ``fields`` the whole object.

    ``parent`` is ``None`` for a root; ``chained`` says that the key is missing, so that it follows
    the entry before it. ``role`` and ``blocks`` are a message's; blocks of unknown types are left
    out of them and counted.
    """

    line: Line
    id: str
    parent: str | None
    chained: bool
    at: int
    kind: str
    fields: Fields
    role: str = ""
    blocks: tuple[Fields, ...] = ()
    unknown_blocks: int = 0

    @property
    def meta(self) -> Fields:
        """What the agent noted about a message; empty where it noted nothing."""
        found = self.fields.get("meta")
        return found if isinstance(found, dict) else {}

    @property
    def text(self) -> str:
        """What was said: the text blocks, one below the other."""
        return "\n".join(block["text"] for block in self.blocks if block["type"] == TEXT)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no entry, and why."""

    line: Line
    reason: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """All of a ledger, in the order of the file. ``lines`` counts those that are not blank."""

    entries: tuple[Entry, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    lines: int = 0
    header: Entry | None = None


def read_ledger(path: Path) -> Ledger:
    """Read a whole ledger. Raises ``OSError``."""
    with open_ledger(path) as stream:
        return from_lines(lines(stream))


def from_lines(found: Iterable[Line]) -> Ledger:
    """The ledger that these lines make."""
    entries: list[Entry] = []
    skipped: list[Skipped] = []
    for line in found:
        each = parse(line)
        if isinstance(each, Entry):
            entries.append(each)
        else:
            skipped.append(each)
    header = next((entry for entry in entries if entry.kind == HEADER), None)
    return Ledger(tuple(entries), tuple(skipped), len(entries) + len(skipped), header)


def open_ledger(path: Path) -> BinaryIO:
    """A ledger open for reading, for a ``with`` block. A link or a folder raises ``OSError``."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return open(os.open(path, flags), "rb")


def read_entry(path: Path, size: int, line: Line) -> Entry | None:
    """The entry of ``line``, of which the data is read anew: ``size`` bytes where it begins.

    ``None`` where no entry stands there any more.
    """
    try:
        with open_ledger(path) as stream:
            stream.seek(line.offset)
            data = stream.read(size)
    except OSError:
        return None
    found = parse(replace(line, data=data))
    return found if isinstance(found, Entry) else None


def lines(stream: Iterable[bytes]) -> Iterator[Line]:
    """The lines of a ledger that are not blank; only ``\\n`` ends one."""
    offset = ordinal = 0
    for number, raw in enumerate(stream, 1):
        whole = raw.endswith(b"\n")
        data = raw[:-1] if whole else raw
        data = data.removesuffix(b"\r") if whole else data
        if not _is_blank(data):
            yield Line(number, ordinal, offset, data, whole)
            ordinal += 1
        offset += len(raw)


def parse(line: Line) -> Entry | Skipped:
    """The entry a line holds, or why it holds none."""
    try:
        text = line.data.decode("utf-8")
    except UnicodeDecodeError:
        return Skipped(line, "it is no UTF-8")
    try:
        found = json.loads(text, parse_constant=_no_number)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return Skipped(line, "it holds half a character")
    except (ValueError, RecursionError):
        return Skipped(line, "it is no JSON" if line.whole else "it is cut off")
    if not isinstance(found, dict):
        return Skipped(line, "it is no JSON object")
    return _entry(line, found)


def _entry(line: Line, found: dict[str, Any]) -> Entry | Skipped:
    key, kind, parent = found.get("id"), found.get("kind"), found.get("parent_id")
    if not isinstance(key, str):
        return Skipped(line, "it has no id")
    stamp = found.get("ts")
    at = parse_time(stamp) if isinstance(stamp, str) else None
    if at is None:
        return Skipped(line, "it has no valid time")
    if not isinstance(kind, str) or kind not in KINDS:
        return Skipped(line, "it is of a kind that is not known")
    if parent is not None and not isinstance(parent, str):
        return Skipped(line, "its parent is no id")
    role, unknown = "", 0
    blocks: tuple[Fields, ...] = ()
    if kind == MESSAGE:
        message = _message(found)
        if isinstance(message, str):
            return Skipped(line, message)
        role, blocks, unknown = message
    chained = "parent_id" not in found
    return Entry(line, key, parent, chained, at, kind, found, role, blocks, unknown)


def _message(found: Fields) -> tuple[str, tuple[Fields, ...], int] | str:
    """Role, blocks and how many are of unknown types, or why it is no message."""
    message = found.get("message")
    if not isinstance(message, dict):
        return "it has no message"
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or role not in ROLES:
        return "its role is neither user nor assistant"
    if not isinstance(content, list):
        return "its content is no list"
    blocks, unknown = [], 0
    for block in content:
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            return "a block of it has no type"
        if not _is_known(block):
            unknown += 1
        elif (needed := _NEEDED.get(block["type"])) and not isinstance(block.get(needed), str):
            return f"a block of it has no {needed}"
        else:
            blocks.append(block)
    return role, tuple(blocks), unknown


_NEEDED = {TEXT: "text", THINKING: "text", TOOL_USE: "name", TOOL_RESULT: "content"}


def _is_known(block: Fields) -> bool:
    return block["type"] in _NEEDED or block["type"] == "image"


def _is_blank(data: bytes) -> bool:
    rest = data.strip()
    return not rest or (rest[0] in _WIDE and not trim(rest.decode("utf-8", "replace")))


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no JSON")
