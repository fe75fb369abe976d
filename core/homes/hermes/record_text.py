"""A pending record's JSON, read with every oddity kept and written back in the agent's shape."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

#: Levels of nesting past which a record is not read: the tools that walk it would run out of stack.
MAX_DEPTH = 200
#: Digits past which Python (3.11 on) turns no text into an integer; such numbers stay text.
MAX_DIGITS = 4000


class HugeNumber(str):
    """An integer too long to convert, as the digits in the file; written back as a number."""

    __slots__ = ()


class NotARecordError(ValueError):
    """The bytes are no JSON object; the message says in plain words what they are."""


def parse_record(data: bytes) -> dict[str, Any]:
    """The object in a record file. Raises :class:`NotARecordError`.

    A byte order mark is skipped (agents newer than 0.19.0 do), the last of two equal keys wins,
    ``NaN`` and lone surrogates are kept: Python's reader, which the agent uses, takes them.
    """
    if not data.strip():
        raise NotARecordError("empty")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotARecordError("not UTF-8 text") from None
    try:
        value = json.loads(text, parse_int=_integer)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise NotARecordError(f"not JSON: {problem.msg} ({where})") from None
    except RecursionError:
        raise NotARecordError("nested too deeply") from None
    if not isinstance(value, dict):
        raise NotARecordError(f"{_kind(value)}, not an object")
    if text.count("{") + text.count("[") > MAX_DEPTH and _deeper_than(value, MAX_DEPTH):
        raise NotARecordError("nested too deeply")
    return value


def rewrite(
    raw: Mapping[str, Any],
    payload_changes: Mapping[str, Any],
    drop: Collection[str] = (),
) -> bytes:
    """The record with some payload fields set and ``drop`` removed, as 0.19.0 writes it.

    Two spaces of indent, non-ASCII literal, no final newline; lone surrogates stay escaped. Every
    other field, known or not, is kept in its order.
    """
    payload = raw.get("payload")
    kept = payload if isinstance(payload, Mapping) else {}
    fields = {key: value for key, value in {**kept, **payload_changes}.items() if key not in drop}
    return _dump({**raw, "payload": fields})


def _dump(value: Mapping[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    if _holds_huge_number(value):
        prefix = "number "
        while prefix in text:
            prefix += "#"
        marks: dict[str, str] = {}
        text = json.dumps(_marked(value, prefix, marks), ensure_ascii=False, indent=2)
        for mark, digits in marks.items():
            text = text.replace(f'"{mark}"', digits)
    # Under UTF-8 only lone surrogates need the fallback, and its \ud83d is JSON's own escape.
    return text.encode("utf-8", "backslashreplace")


def _holds_huge_number(value: object) -> bool:
    return isinstance(value, HugeNumber) or any(map(_holds_huge_number, _inside(value)))


def _marked(value: object, prefix: str, marks: dict[str, str]) -> object:
    if isinstance(value, HugeNumber):
        mark = f"{prefix}{len(marks)}"
        marks[mark] = str(value)
        return mark
    if isinstance(value, dict):
        return {key: _marked(part, prefix, marks) for key, part in value.items()}
    if isinstance(value, list):
        return [_marked(part, prefix, marks) for part in value]
    return value


def _integer(digits: str) -> int | HugeNumber:
    return int(digits) if len(digits) <= MAX_DIGITS else HugeNumber(digits)


def _deeper_than(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [child for part in level for child in _inside(part)]
        if not level:
            return False
    return True


def _inside(value: object) -> Iterator[object]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, list):
        return "a list"
    return "text" if isinstance(value, str) and not isinstance(value, HugeNumber) else "a number"
