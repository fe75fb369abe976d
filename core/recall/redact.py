"""Secrets taken out of a text that is to leave the machine; each leaves a mark with its kind.

Everything :mod:`core.secrets_in_text` warns of is hidden, and more: here a word too many is hidden
rather than a key let through. What only talks of secrets, names a variable that holds one, or is
an address of a person stays. Marking twice changes nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from core.conversations import Message, Session, ToolCall
from core.recall.redact_forms import is_secret_value, kind_of_name, secrets

#: What stands where a secret was.
MARK = "[redacted: {kind}]"
#: Put for a value that is nested too deep to be looked through.
TOO_DEEP = MARK.format(kind="nested too deep to look through")
_JSON_START = re.compile(r"\s*[\[{]")


class Redactor:
    """Hides secrets and counts them by kind, over everything one export holds."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    @property
    def total(self) -> int:
        """How many secrets were hidden so far."""
        return self.counts.total()

    def text(self, text: str) -> str:
        """``text`` with a mark for every secret in it."""
        parts, end = [], 0
        for found in secrets(text):
            parts += [text[end : found.start], self._mark(found.kind)]
            end = found.end
        return "".join([*parts, text[end:]]) if parts else text

    def value(self, value: Any) -> Any:
        """What JSON can hold, with its texts redacted; keys say which values are secrets."""
        try:
            return self._value(value)
        except RecursionError:
            return self._marked_deep()

    def stored(self, text: str) -> str:
        """A text that may be JSON: looked through as such, and as it was if nothing is hidden."""
        if not _JSON_START.match(text):
            return self.text(text)
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text)
        before = self.total
        redacted = self.value(parsed)
        if self.total == before:
            return text
        try:
            return json.dumps(redacted, ensure_ascii=False)
        except RecursionError:
            return self._marked_deep()

    def message(self, message: Message) -> Message:
        """A message with its text and the arguments of its calls redacted."""
        calls = tuple(
            ToolCall(call.id, call.name, self.stored(call.arguments)) for call in message.tool_calls
        )
        return replace(message, text=self.stored(message.text), tool_calls=calls)

    def session(self, session: Session) -> Session:
        """A session as an export names it: title and folder redacted, no preview."""
        return replace(
            session,
            title=self.text(session.title),
            workspace=self.text(session.workspace),
            preview="",
        )

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.stored(value)
        if isinstance(value, list):
            return [self._value(each) for each in value]
        if isinstance(value, dict):
            return dict(self._items(value))
        return value

    def _items(self, value: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
        for key, each in value.items():
            kind = kind_of_name(key) if isinstance(key, str) and isinstance(each, str) else ""
            if kind and is_secret_value(kind, each):
                yield key, self._mark(kind)
            else:
                yield key, self._value(each)

    def _mark(self, kind: str) -> str:
        self.counts[kind] += 1
        return MARK.format(kind=kind)

    def _marked_deep(self) -> str:
        self.counts["nested too deep to look through"] += 1
        return TOO_DEEP
