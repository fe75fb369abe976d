"""The messages of a client, one a line, before anything believes them.

A line that is too long, nested too deeply or holds half a character would be lost inside the SDK,
and the client would wait for ever; here it becomes a message that gets an answer.
"""

from __future__ import annotations

import json
import re
from typing import Any, BinaryIO

#: Bytes of one message, and levels of nesting.
LARGEST, DEEPEST = 8 * 1024 * 1024, 64
#: Methods that no server has: the answer names them, and so says what was wrong.
TOO_LONG, TOO_DEEP = "message-too-long", "message-nested-too-deeply"

_ID = rb'"id"\s*:\s*(\d{1,15}|"[^"\\]{1,64}")'
# The id of the outermost object: before anything nested, or right before its end.
_FIRST = re.compile(rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*' + _ID)
_LAST = re.compile(_ID + rb"\s*\}\s*\Z")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(rb"\\u[dD][89abAB]")


class Lines:
    """A text stream of which only ``readline`` is asked."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> str:
        """The next message, ``""`` at the end."""
        data = self._stream.readline(LARGEST + 1)
        return self._too_long(data) if len(data) > LARGEST else fitted(data)

    def _too_long(self, first: bytes) -> str:
        last = first
        while not last.endswith(b"\n"):
            part = self._stream.readline(LARGEST)
            if not part:
                break
            last = last[-200:] + part
        found = _FIRST.match(first[:4096]) or _LAST.search(last[-200:])
        return _refused(json.loads(found[1]), TOO_LONG) if found else "\n"


def fitted(data: bytes) -> str:
    """A message as the SDK can read it: half characters replaced, too deep ones refused."""
    text = data.decode("utf-8", "replace")
    deep = data.count(b"{") + data.count(b"[") > DEEPEST
    if not deep and not _ESCAPED.search(data):
        return text
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return text if not deep else _refusal_of(data)
    if deep and _deeper(message):
        return _refused(message.get("id"), TOO_DEEP) if isinstance(message, dict) else "\n"
    return json.dumps(_whole(message), ensure_ascii=False) + "\n"


def _refusal_of(data: bytes) -> str:
    found = _FIRST.match(data[:4096]) or _LAST.search(data[-200:])
    return _refused(json.loads(found[1]), TOO_DEEP) if found else "\n"


def _refused(token: Any, method: str) -> str:
    if isinstance(token, bool) or not isinstance(token, int | str):
        return "\n"
    return json.dumps({"jsonrpc": "2.0", "id": token, "method": f"signoff/{method}"}) + "\n"


def _deeper(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return False
    return True


def _whole(value: Any) -> Any:
    """``value`` with U+FFFD for every half character."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_whole(key): _whole(each) for key, each in value.items()}
    return [_whole(each) for each in value] if isinstance(value, list) else value
