"""What a tool answers, as text any client can be sent: whole characters, bounded, plain JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Characters of one answer; past it the longest texts in it are cut, more and more.
LARGEST = 400_000
_CUTS = (40_000, 8_000, 2_000, 400)

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Answer:
    """Text for the caller. ``failed``: it is an error, one sentence; ``more`` follows it.

    ``record`` is the id of what waits now, for the log.
    """

    text: str
    failed: bool = False
    more: str = ""
    record: str | None = None


def of_json(value: Mapping[str, Any], *, record: str | None = None) -> Answer:
    """``value`` as JSON."""
    return Answer(written(value), record=record)


def refused(sentence: str, more: Mapping[str, Any] | None = None) -> Answer:
    """An error in one sentence, and what helps to mend it."""
    text = " ".join(sentence.split())
    return Answer(whole(text), failed=True, more=written(more) if more else "")


def written(value: Mapping[str, Any]) -> str:
    """``value`` as JSON of at most :data:`LARGEST` characters, as far as cutting texts helps."""
    text = json.dumps(plain(value), ensure_ascii=False)
    for cut in _CUTS:
        if len(text) <= LARGEST:
            break
        text = json.dumps(plain(value, cut), ensure_ascii=False)
    return text


def plain(value: Any, cut: int | None = None) -> Any:
    """``value`` without half characters and numbers JSON has not, texts past ``cut`` shortened."""
    if isinstance(value, str):
        text = whole(value)
        if cut is None or len(text) <= cut:
            return text
        return f"{text[:cut]}… ({len(text) - cut:,} more characters were left out)"
    if isinstance(value, Mapping):
        return {plain(str(key)): plain(each, cut) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, cut) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def whole(text: str) -> str:
    """``text`` with U+FFFD for every half character: no protocol carries one."""
    return _SURROGATE.sub("\ufffd", text)
