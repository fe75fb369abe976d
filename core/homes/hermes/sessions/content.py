"""What a stored content says: plain text, an encoded structure, or a summary of what went before.

Rules of hermes-agent 0.19.0 (spec hermes-sessions 1.4): a structure is U+0000, ``json:`` and ASCII
JSON of a list of parts or of an object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from core.conversations import Handoff, ToolCall
from core.homes.hermes.sessions.opening import decoded, scrubbed

#: How an encoded structure begins, and what stands for one without any text.
ENCODED = b"\0json:"
NO_TEXT = "[multimodal content]"
#: How a row begins that holds a summary, or a kept message with one merged behind it.
SUMMARY = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
MERGED = "[PRIOR CONTEXT"
_DELIMITER = "[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]"
#: The agent's own summary, made when no model answered, names itself so; it has 8,000 characters.
_DETERMINISTIC = re.compile("deterministic fallback|without an LLM summary call")
#: Characters of a summary that are looked at to tell how it was written.
TELLING = 20_000
#: Characters of a preview at most, in which spaces and line ends run together.
PREVIEW = 160


def text_of(value: object) -> str:
    """The text of a stored content; ``""`` for none. Never raises, whatever the type."""
    return said(value)[0]


def said(value: object) -> tuple[str, tuple[str, ...]]:
    """The text of a stored content, and descriptions of the parts that are none."""
    if value is None:
        return "", ()
    raw = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
    if raw.startswith(ENCODED):
        try:
            held = json.loads(raw[len(ENCODED) :])
        except (ValueError, RecursionError):
            return decoded(raw), ()
        parts = held if isinstance(held, list) else [held]
        texts = [text for part in parts if (text := _part_text(part))]
        others = tuple(_described(part) for part in parts if not _part_text(part))
        return scrubbed(" ".join(texts)) or NO_TEXT, others
    return decoded(raw), ()


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        for name in ("text", "content"):
            if isinstance(part.get(name), str):
                return str(part[name])
    return ""


def _described(part: object) -> str:
    """A part without text in a few words: its kind, and how much of it there is."""
    if not isinstance(part, dict):
        return type(part).__name__
    kind = part.get("type")
    name = kind if isinstance(kind, str) and kind else "object"
    held = part.get(name)
    url = held.get("url") if isinstance(held, dict) else held
    if not isinstance(url, str):
        return scrubbed(name)
    if url.startswith("data:"):
        return f"{name}, {url[5:].split(',')[0].split(';')[0]}, {len(url):,} characters"
    return scrubbed(f"{name}, {url[:200]}")


def handoff(text: str, *, flagged: bool = False) -> Handoff | None:
    """How the summary in ``text`` was written; ``None`` where there is none.

    ``flagged``: the agent says it is one (``_compressed_summary``, newer than 0.19.0). One without
    a readable word is taken for a checkpoint that only its provider can read; no published agent
    was seen to store one, so that is a guess.
    """
    if not is_summary(text):
        if not flagged:
            return None
        return Handoff.MODEL if text.strip() and text != NO_TEXT else Handoff.OPAQUE
    return Handoff.DETERMINISTIC if _DETERMINISTIC.search(text, 0, TELLING) else Handoff.MODEL


def is_summary(text: str) -> bool:
    """Whether ``text`` is a summary, or a kept message with one merged behind it."""
    start = text.lstrip()
    if start.startswith(SUMMARY):
        return True
    return start.startswith(MERGED) or (
        _DELIMITER in text and text.split(_DELIMITER, 1)[1].lstrip().startswith(SUMMARY)
    )


def preview(text: str) -> str:
    """The beginning of ``text`` on one line."""
    return " ".join(text[: 4 * PREVIEW].split())[:PREVIEW]


def calls(value: object) -> tuple[ToolCall, ...]:
    """The calls of a stored ``tool_calls``; what is no call is left out, as bad JSON is."""
    if not isinstance(value, str | bytes):
        return ()
    try:
        held = json.loads(value)
    except (ValueError, RecursionError):
        return ()
    return tuple(_calls(held if isinstance(held, list) else [held]))


def written(value: object) -> str:
    """A stored ``tool_calls`` as a person reads it, a line each: ``name(argument: value, ...)``.

    Texts among the values stand as they were meant, without quotes and escapes. What holds no call
    that can be read stays as it is stored.
    """
    made = calls(value)
    if not made:
        return scrubbed(value) if isinstance(value, str) and value not in ("[]", "null") else ""
    return "\n".join(f"{call.name}({_arguments(call.arguments)})" for call in made)


def _arguments(stored: str) -> str:
    try:
        held = json.loads(stored)
    except (ValueError, RecursionError):
        return stored
    if not isinstance(held, dict):
        return stored
    parts = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in held.items()
    )
    return scrubbed(", ".join(parts))


def cut(made: tuple[ToolCall, ...], longest: int) -> tuple[ToolCall, ...]:
    """The calls with arguments of at most ``longest`` characters."""
    return tuple(ToolCall(call.id, call.name, call.arguments[:longest]) for call in made)


def _calls(held: list[Any]) -> Iterator[ToolCall]:
    for call in held:
        if not isinstance(call, dict):
            continue
        function = call.get("function")
        named = function if isinstance(function, dict) else call
        name, arguments = named.get("name"), named.get("arguments")
        if not isinstance(arguments, str):
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        if name or arguments:
            yield ToolCall(_word(call.get("id")), _word(name), scrubbed(arguments))


def _word(value: object) -> str:
    return scrubbed(value) if isinstance(value, str) else "" if value is None else str(value)
