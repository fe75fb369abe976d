"""The head of a SKILL.md as the agent's listings read it, and cheaply for thousands of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.homes.hermes.skills.rules import RefusedError, read_frontmatter
from core.homes.hermes.skills.tree import read_text
from core.view import View

#: Lines that YAML reads as the plain text they are: no reader is needed for a head of only such.
_PLAIN = re.compile(r"(?m)^([A-Za-z_][\w-]*): ([A-Za-z][\w ,.;/()+-]*)$")
_CLOSING = re.compile(r"\n---\s*\n")
#: Plain words that YAML 1.1 does not read as text.
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


@dataclass(frozen=True, slots=True)
class Head:
    """The fields of a head and the text of the file; ``problem`` says what YAML refuses in it.

    ``fields`` then hold what the agent's line reader makes of it.
    """

    text: str
    fields: Mapping[Any, Any] = field(default_factory=dict)
    problem: str = ""


def read_head(view: View, folder: str) -> Head:
    """The head of the skill in ``folder``; not recorded. Bytes that are no text are replaced."""
    text = read_text(view, folder).removeprefix("\ufeff")
    plain = _simple(text)
    if plain is not None:
        return Head(text, plain)
    try:
        return Head(text, read_frontmatter(text).fields)
    except RefusedError as problem:
        return Head(text, _line_by_line(text), problem.message.rstrip("."))


def line_at(text: str, offset: int) -> int:
    """The line of a text that ``offset`` stands in, from 1."""
    return text.count("\n", 0, offset) + 1


def words(value: object) -> tuple[str, ...]:
    """A field that may be a list or one text, as texts in lower case."""
    items = value if isinstance(value, list) else [value] if value else []
    return tuple(word for item in items if (word := str(item).lower().strip()))


def nested(fields: Mapping[Any, Any], *keys: str) -> Any:
    """The value below ``keys``, ``None`` where any of them is missing."""
    value: Any = fields
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _simple(text: str) -> dict[str, str] | None:
    closing = _CLOSING.search(text, 3) if text.startswith("---\n") else None
    if closing is None:
        return None
    lines = text[4 : closing.start() + 1].splitlines()
    found: dict[str, str] = {}
    for line in lines:
        match = _PLAIN.fullmatch(line)
        if match is None or match[2].lower().strip() in _WORDS or match[1].lower() in _WORDS:
            return None
        found[match[1]] = match[2].strip()
    return found


def _line_by_line(text: str) -> dict[str, str]:
    closing = _CLOSING.search(text, 3) if text.startswith("---") else None
    if closing is None:
        return {}
    found = {}
    for line in text[3 : closing.start()].strip().split("\n"):
        key, colon, value = line.partition(":")
        if colon:
            found[key.strip()] = value.strip()
    return found
