"""One field of a SKILL.md's head, read and set in place; every other byte stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from core.homes.hermes.skills.rules import RefusedError, read_frontmatter

BOM = "\ufeff"
_FENCE = "---"
_CLOSING = re.compile(r"\n---\s*\n")


class HeadError(ValueError):
    """The field cannot be set without touching the rest; the message says so in one sentence."""


def has_none(text: str) -> bool:
    """Whether ``text`` has no head at all: one can be put before it."""
    return not text.lstrip(BOM).startswith(_FENCE)


def head_field(text: str, field: str) -> str | None:
    """A field of the head as text, ``""`` if it is missing, ``None`` if the head is unreadable.

    A value that is no text is given as YAML read it and Python shows it.
    """
    if has_none(text):
        return ""
    value = _fields(text).get(field, "") if _readable(text) else None
    return value if value is None or isinstance(value, str) else str(value)


def with_field(text: str, field: str, value: str, name: str) -> str:
    """``text`` with ``field`` of its head set to ``value``; a missing head is made.

    ``name`` is the skill's, for a head that is made. Raises :class:`HeadError` when the head cannot
    be read, or when setting the field would change what else it says.
    """
    if has_none(text):
        fields = {"name": name, field: value}
        lines = "".join(f"{key}: {_scalar(each)}\n" for key, each in fields.items())
        made = f"{_FENCE}\n{lines}{_FENCE}\n\n{text.lstrip(BOM)}"
        return _checked(made, fields)
    if not _readable(text):
        raise HeadError("The frontmatter cannot be read; edit the whole text.")
    wanted = {**_fields(text), field: value}
    start = len(text) - len(text.lstrip(BOM))
    closing = _CLOSING.search(text, start + len(_FENCE))
    assert closing is not None
    head = text[start : closing.start() + 1]
    end = "\r\n" if "\r\n" in head else "\n"
    line = f"{field}: {_scalar(value)}{end}"
    # The field's own line, and those below it that are indented or blank.
    place = re.compile(rf"^{re.escape(field)}\s*:.*\n(?:[ \t].*\n|[ \t]*\n)*", re.MULTILINE)
    if found := place.search(head):
        head = head[: found.start()] + line + head[found.end() :]
    elif field == "name":
        first = head.index("\n") + 1
        head = head[:first] + line + head[first:]
    else:
        head += line
    return _checked(text[:start] + head + text[closing.start() + 1 :], wanted)


def _checked(text: str, wanted: Mapping[Any, Any]) -> str:
    if not _readable(text) or _fields(text) != wanted:
        raise HeadError("The frontmatter cannot be changed in place; edit the whole text.")
    return text


def _readable(text: str) -> bool:
    try:
        read_frontmatter(text)
    except RefusedError:
        return False
    return True


def _fields(text: str) -> dict[Any, Any]:
    return dict(read_frontmatter(text).fields)


def _scalar(value: str) -> str:
    """``value`` as YAML writes it on one line: bare where that reads back, else in quotes."""
    try:
        bare = yaml.safe_load(f"key: {value}\n") == {"key": value}
    except yaml.YAMLError:
        bare = False
    return value if bare and "\n" not in value else json.dumps(value, ensure_ascii=False)
