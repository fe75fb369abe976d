"""What a message of an answer shows, and the view around a hit: its window and its bookends.

Source: hermes-agent 0.19.0, executed; caps, escapes and summaries of the newer agent as described
(specs, hermes-sessions 2 and 2.1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.homes.hermes.recall.store import Store
from core.homes.hermes.rules import Rules

#: Messages on either side of a hit, and at either end of its session.
WINDOW, BOOKEND = 5, 3
#: Characters of a message in the newer agent: in a bookend, a window and a whole session.
BOOKEND_CAP, WINDOW_CAP, READ_CAP = 1_200, 4_000, 2_000

Json = dict[str, Any]
Message = Mapping[str, Any]

_SUMMARIES = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
_PROSE = frozenset({"user", "assistant"})
#: Escape sequences of ECMA-48, seven and eight bit, and the other C1 controls.
_ESCAPES = re.compile(
    r"(?s)\x1b(?:"
    r"\[[0-?]*[ -/]*[@-~]"
    r"|\].*?(?:\x07|\x1b\\)"
    r"|[PX^_].*?\x1b\\"
    r"|[ -/]+[0-~]"
    r"|[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x9d.*?(?:\x07|\x9c)"
    r"|[\x80-\x9f]"
)


@dataclass(frozen=True, slots=True)
class View:
    """The messages around a hit, the first and the last ones of its session, and how many
    messages of any role lie beside it."""

    start: tuple[Message, ...] = ()
    messages: tuple[Message, ...] = ()
    end: tuple[Message, ...] = ()
    before: int = 0
    after: int = 0


def view(store: Store, session_id: str, message_id: int) -> View:
    """The view around a message. Tool rows are left out of the window, the hit itself never;
    bookends lie outside it and have text."""
    window = store.around(session_id, message_id, WINDOW)
    if not window.messages:
        return View()
    first, last = window.messages[0]["id"], window.messages[-1]["id"]
    return View(
        tuple(store.prose(session_id, BOOKEND, below=first)),
        tuple(m for m in window.messages if m["id"] == message_id or m["role"] in _PROSE),
        tuple(store.prose(session_id, BOOKEND, above=last)),
        window.before,
        window.after,
    )


def shape(
    messages: Iterable[Message], rules: Rules, *, anchor: Any = None, cap: int = 0
) -> list[Json]:
    """Messages as an answer carries them: ``content`` always, the rest where there is any.

    The newer agent takes escape sequences out and cuts content at ``cap`` characters.
    """
    newest = rules is Rules.NEWEST
    return [_shape(each, anchor, cap if newest else 0, clean=newest) for each in messages]


def without_summaries(messages: Iterable[Message]) -> list[Message]:
    """Messages that are not what a compaction wrote."""
    return [each for each in messages if not is_summary(each["content"])]


def is_summary(content: Any) -> bool:
    """Whether a compaction wrote it, as far as its first words tell."""
    return isinstance(content, str) and content.lstrip().startswith(_SUMMARIES)


def _shape(message: Message, anchor: Any, cap: int, *, clean: bool) -> Json:
    content = message["content"]
    if clean and isinstance(content, str) and "\x1b" in content:
        content = _ESCAPES.sub("", content)
    said: Json = {"id": message["id"], "role": message["role"], "content": content}
    said["timestamp"] = message["timestamp"]
    for name in ("tool_name", "tool_calls", "tool_call_id"):
        if message[name]:
            said[name] = message[name]
    if anchor is not None and message["id"] == anchor:
        said["anchor"] = True
    if cap and isinstance(content, str) and len(content) > cap:
        said["content"] = content[:cap] + "…"
        said["content_truncated"] = True
        said["original_content_chars"] = len(content)
    return {key: value for key, value in said.items() if value is not None or key == "content"}
