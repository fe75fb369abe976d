"""Sessions as JSON lines: one object each, as the agent's own export writes them.

The object is written piece by piece, so that a session of any length passes through.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

#: Stands for a value that is nested too deep to be written.
TOO_DEEP = "[nested too deep to be written]"


def session_line(
    columns: Mapping[str, Any],
    messages: Iterable[Mapping[str, Any]],
    *,
    ascii_only: bool = False,
    final: Callable[[str], str] = str,
) -> Iterator[bytes]:
    """The line of one session: its columns, then ``messages``.

    Text JSON cannot hold in UTF-8 (half characters) is escaped; with ``ascii_only`` all but ASCII
    is. A BLOB becomes ``{"base64": ...}``, an infinite number ``null``. ``final`` is what a
    redaction still does to the text.
    """
    named = "".join(
        f"{_text(name, ascii_only)}: {_text(value, ascii_only)}, "
        for name, value in columns.items()
    )
    yield final(f'{{{named}"messages": [').encode()
    between = ""
    for message in messages:
        yield (between + final(_text(message, ascii_only))).encode()
        between = ", "
    yield b"]}\n"


def _text(value: Any, ascii_only: bool) -> str:
    text = _dumped(value, ascii_only)
    if not ascii_only:
        try:
            text.encode()
        except UnicodeEncodeError:
            return _dumped(value, True)
        return text
    return text.replace("\x7f", "\\u007f")


def _dumped(value: Any, ascii_only: bool) -> str:
    try:
        return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, default=_blob)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=ascii_only, default=_blob)
    except RecursionError:
        if isinstance(value, Mapping):
            parts = [
                f"{_dumped(k, ascii_only)}: {_dumped(v, ascii_only)}" for k, v in value.items()
            ]
            return f"{{{', '.join(parts)}}}"
        return json.dumps(TOO_DEEP)


def _blob(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"no JSON for {type(value).__name__}")


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list) else value
