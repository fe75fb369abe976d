"""The memory files of a Hermes home: ``memories/MEMORY.md`` and ``memories/USER.md``.

UTF-8 text, entries joined by :data:`DELIMITER`, nothing else: no header, no last newline, no
escaping. Everything here was measured on hermes-agent 0.19.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.view import Reading

#: Only this exact sequence separates entries; a bare section sign is ordinary text.
DELIMITER = "\n§\n"
FOLDER = "memories"
BOM = "\ufeff"

_LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class MemoryFile:
    """A memory file as the agent understands it.

    ``data`` is ``None`` when the file is absent. ``text`` has LF line ends only. ``line_ends`` are
    the kinds found on disk. ``entries`` is the list before duplicates go, ``unique`` after: the
    agent works on the latter and drops the duplicates from disk with its next rewrite.
    """

    data: bytes | None
    mode: int
    text: str
    bom: bool
    line_ends: frozenset[str]
    entries: tuple[str, ...]
    unique: tuple[str, ...]

    @property
    def crlf(self) -> bool:
        """Whether every line end in the file is CR LF."""
        return self.line_ends == {"\r\n"}


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A memory file that is there but cannot be read or decoded: never an empty one."""

    reason: str


@dataclass(frozen=True, slots=True)
class Drift:
    """Why the agent refuses to rewrite a file: the first thing its parser would not give back.

    ``kind`` is ``blank_line``, ``spaces``, ``empty_entry`` or ``oversize``; ``line`` counts from 1.
    """

    kind: str
    line: int
    message: str


def path_of(target: str) -> str:
    """The file of a store: ``user`` is USER.md, every other word is MEMORY.md (0.19.0)."""
    return f"{FOLDER}/USER.md" if target == "user" else f"{FOLDER}/MEMORY.md"


def lock_of(target: str) -> str:
    """The sidecar the agent takes an exclusive ``flock`` on while it reads and rewrites a store."""
    return path_of(target) + ".lock"


def decode(reading: Reading, *, keep_bom: bool = False) -> MemoryFile | UnreadableFile:
    """What a reading of a memory file holds.

    ``keep_bom`` leaves a byte order mark in the text, as part of the first entry: so 0.19.0 reads
    it; newer agents strip it.
    """
    if reading.reason:
        return UnreadableFile(reading.reason)
    try:
        raw = (reading.data or b"").decode("utf-8")
    except UnicodeDecodeError as problem:
        byte = problem.object[problem.start]
        return UnreadableFile(f"byte {problem.start} (0x{byte:02x}) is not UTF-8")
    bom = raw.startswith(BOM)
    if bom and not keep_bom:
        raw = raw[1:]
    text = normalise_line_ends(raw)
    entries = parse(text)
    return MemoryFile(
        data=reading.data,
        mode=reading.mode,
        text=text,
        bom=bom,
        line_ends=frozenset(_LINE_END.findall(raw)),
        entries=entries,
        unique=tuple(dict.fromkeys(entries)),
    )


def normalise_line_ends(text: str) -> str:
    """``text`` as universal newlines read it: CR LF and a lone CR become LF."""
    return _LINE_END.sub("\n", text)


def parse(text: str) -> tuple[str, ...]:
    """Split LF text into entries: stripped at both ends, empty ones dropped, duplicates kept."""
    pieces = (piece.strip() for piece in text.split(DELIMITER))
    return tuple(piece for piece in pieces if piece)


def serialise(entries: Iterable[str]) -> str:
    """The text the agent writes for these entries."""
    return DELIMITER.join(entries)


def size(entries: Sequence[str]) -> int:
    """What counts against the budget: code points of the joined text, delimiters included."""
    return sum(map(len, entries)) + len(DELIMITER) * max(0, len(entries) - 1)


def drift(text: str, limit: int) -> Drift | None:
    """What in LF ``text`` makes the agent refuse replace, remove and batch; ``None`` if nothing.

    0.19.0 refuses when the stripped text differs from its own parsed and joined entries, or when
    one entry alone is longer than the whole budget. White space at either end of the file, CRLF
    and duplicates are fine.
    """
    if not text.strip():
        return None
    pieces = text.split(DELIMITER)
    start = 0
    for index, piece in enumerate(pieces):
        found = _stray_space(text, piece, start, first=index == 0, last=index == len(pieces) - 1)
        if found:
            return found
        start += len(piece) + len(DELIMITER)
    start = 0
    for piece in pieces:
        length = len(piece.strip())
        if length > limit:
            line = _line(text, start + len(piece) - len(piece.lstrip()))
            return Drift(
                "oversize",
                line,
                f"The entry that starts on line {line} has {length:,} characters, "
                f"more than the whole budget of {limit:,}.",
            )
        start += len(piece) + len(DELIMITER)
    return None


def _stray_space(text: str, piece: str, start: int, *, first: bool, last: bool) -> Drift | None:
    if not piece.strip():
        line = _line(text, start + len(piece) + 1 if first else start - 2)
        return Drift("empty_entry", line, f"The § on line {line} has an empty entry beside it.")
    before = piece[: len(piece) - len(piece.lstrip())]
    if before and not first:
        line = _line(text, start)
        if "\n" in before:
            return Drift("blank_line", line, f"Line {line} is blank, right after a § line.")
        return Drift("spaces", line, f"Line {line} starts with spaces, right after a § line.")
    after = piece[len(piece.rstrip()) :]
    if after and not last:
        end = start + len(piece)
        line = _line(text, end)
        if "\n" in after:
            return Drift("blank_line", line, f"Line {line} is blank, right before a § line.")
        return Drift("spaces", line, f"Line {line} ends with spaces, right before a § line.")
    return None


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
