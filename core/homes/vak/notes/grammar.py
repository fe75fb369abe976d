"""A note file as the blocks it is made of; put together again it is the same text (vak spec 7.1).

A heading opens a note; everything up to the next one belongs to it, malformed headings too. Lines
before the first heading are in no note and are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.homes.vak.fnv import fnv1a
from core.homes.vak.times import parse_time
from core.homes.vak.whitespace import WHITE, tokens, trim

DEFAULT_KIND = "note"
BOM = "\ufeff"
_FIRST = re.compile(f"[^{WHITE}]+")


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading says; ``at`` in nanoseconds since 1970 (UTC)."""

    at: int
    kind: str
    tag: str
    session_id: str


@dataclass(frozen=True, slots=True)
class Block:
    """A heading with its lines, or the lines before the first one (``heading`` is ``None``).

    ``line`` is the heading's with its line end, ``rest`` all that follows up to the next heading.
    """

    heading: Heading | None
    line: str
    rest: str

    @property
    def id(self) -> str:
        """The note's id: a hash of the heading as it is written. Equal headings share one."""
        return fnv1a(_stripped(self.line).encode("utf-8", "surrogateescape"))

    @property
    def body(self) -> str:
        """The note's text; blank for a block that is no note."""
        return trim("\n".join(part.removesuffix("\r") for part in self.rest.split("\n")))

    @property
    def is_note(self) -> bool:
        """Whether it is a note: under a heading, and not blank."""
        return self.heading is not None and bool(self.body)

    @property
    def span(self) -> int:
        """How many characters from the heading through the line end of the last line that says
        something; what follows are separators."""
        end, place = len(self.line), len(self.line)
        for part in _lines(self.rest):
            place += len(part)
            if trim(part):
                end = place
        return end


def parse(text: str) -> tuple[Block, ...]:
    """The blocks of a file; :func:`compose` gives the text back."""
    blocks: list[Block] = []
    heading: Heading | None = None
    line, rest = "", []
    for each in _lines(text):
        found = heading_of(_stripped(each))
        if found is None:
            rest.append(each)
            continue
        if heading is not None or rest:
            blocks.append(Block(heading, line, "".join(rest)))
        heading, line, rest = found, each, []
    if heading is not None or rest:
        blocks.append(Block(heading, line, "".join(rest)))
    return tuple(blocks)


def compose(blocks: tuple[Block, ...]) -> str:
    """The text of a file."""
    return "".join(block.line + block.rest for block in blocks)


def heading_of(line: str) -> Heading | None:
    """What a line without its line end says as a heading, ``None`` if it is none."""
    if not line.startswith("## "):
        return None
    first = _FIRST.match(line, 3)
    at = parse_time(first[0]) if first else None
    if first is None or at is None:
        return None
    rest, kind = trim(line[first.end() :]), DEFAULT_KIND
    if rest.startswith("["):
        inside, closed, after = rest[1:].partition("]")
        if closed:
            kind, rest = trim(inside), after
    tag = session = ""
    others = []
    for token in tokens(rest):
        if token.startswith("tag="):
            tag = token.removeprefix("tag=")
        elif token.startswith("session="):
            session = token.removeprefix("session=")
        else:
            others.append(token)
    return Heading(at, kind, tag or " ".join(others), session)


def hides_first(text: str) -> bool:
    """Whether a byte order mark, as some editors leave, makes the first heading none."""
    return text.startswith(BOM) and heading_of(_stripped(_lines(text)[0])[1:]) is not None


def forges(text: str) -> bool:
    """Whether a line of ``text`` would be a heading of its own in a file."""
    return any(heading_of(_stripped(line)) for line in _lines(text))


def defused(text: str) -> str:
    """``text`` with a blank before every line that would be a heading: people read it the same."""
    return "".join(f" {line}" if heading_of(_stripped(line)) else line for line in _lines(text))


def _lines(text: str) -> list[str]:
    """The lines of ``text`` with their ends; only ``\\n`` ends one."""
    parts = text.split("\n")
    found = [f"{part}\n" for part in parts[:-1]]
    return [*found, parts[-1]] if parts[-1] else found


def _stripped(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")
