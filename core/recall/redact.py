"""Secrets taken out of a text that is to leave the machine; each leaves a mark with its kind.

Everything :mod:`core.secrets_in_text` warns of is hidden, and more: here a word too many is hidden
rather than a key let through. What only talks of secrets, names a variable that holds one, or is
an address of a person stays. Marking twice changes nothing.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from core.conversations import Message, Session, ToolCall
from core.recall.redact_forms import (
    PASSWORD,
    SECRET,
    is_odd_secret,
    is_secret_value,
    keys,
    kind_of_name,
    secrets,
)
from core.secrets_in_text import Secret

#: What stands where a secret was.
MARK = "[redacted: {kind}]"
#: Put for a value that is nested too deep to be looked through.
TOO_DEEP = MARK.format(kind="nested too deep to look through")
_JSON_START = re.compile(r"\s*[\[{]")
#: What hermes-agent 0.19.0 puts before content that is no plain text.
_STRUCTURED = "\x00json:"
#: Fields that name what their neighbour holds, and fields that hold it.
_NAMING = ("name", "key", "field", "variable", "var", "env", "header", "label", "id", "k")
_HOLDING = frozenset(("value", "val", "v", "plain", "current", "default", "secret"))
_PERHAPS_HOLDING = frozenset(("text", "data", "raw", "content"))
_OPTION = re.compile(r"--?(?!no-)[A-Za-z][\w-]*\Z")
_JOINING = re.compile(r"[\s\"'`]")
#: Items of the longest list that is read as a command line.
_LONGEST_COMMAND = 1_000


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
        return self._replaced(text, secrets(text))

    def value(self, value: Any) -> Any:
        """What JSON can hold, with its texts redacted; keys say which values are secrets."""
        try:
            return self._value(value)
        except RecursionError:
            return self._marked_deep()

    def final(self, text: str) -> str:
        """What is about to be written, in whatever form: no key that shows as one is left in it."""
        return self._replaced(text, keys(text))

    def stored(self, text: str) -> str:
        """A text that may be JSON: looked through as such, and as it was if nothing is hidden."""
        if text.startswith(_STRUCTURED):
            return _STRUCTURED + self.stored(text[len(_STRUCTURED) :])
        if not _JSON_START.match(text):
            return self.text(text)
        repeated: list[Any] = []

        def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for key, each in pairs:
                if key in found:
                    repeated.append({key: found[key]})
                found[key] = each
            return found

        try:
            parsed = json.loads(text, object_pairs_hook=unique)
        except (ValueError, RecursionError):
            return self.text(text)
        before = self.total
        redacted = self.value(parsed)
        # A value that a later one of the same name hides from readers is left out with its secret.
        self.value(repeated)
        if self.total == before:
            return text
        try:
            return json.dumps(redacted, ensure_ascii=False)
        except RecursionError:
            return self._marked_deep()

    def message(self, message: Message) -> Message:
        """A message with every text redacted: names and ids too, which a tool may choose."""
        calls = tuple(
            ToolCall(self.text(call.id), self.text(call.name), self.stored(call.arguments))
            for call in message.tool_calls
        )
        return replace(
            message,
            role=self.text(message.role),
            text=self.stored(message.text),
            tool_name=self.text(message.tool_name),
            tool_call_id=self.text(message.tool_call_id),
            tool_calls=calls,
            notes=tuple(map(self.text, message.notes)),
            entry_id=self.text(message.entry_id),
        )

    def session(self, session: Session) -> Session:
        """A session as an export names it: every text redacted, no preview."""
        return replace(
            session,
            id=self.text(session.id),
            source=self.text(session.source),
            title=self.text(session.title),
            model=self.text(session.model),
            end_reason=self.text(session.end_reason),
            workspace=self.text(session.workspace),
            git_branch=self.text(session.git_branch),
            notes=tuple(map(self.text, session.notes)),
            preview="",
        )

    def _replaced(self, text: str, found: Iterable[Secret]) -> str:
        parts, end = [], 0
        for each in found:
            parts += [text[end : each.start], self._mark(each.kind)]
            end = each.end
        return "".join([*parts, text[end:]]) if parts else text

    def _value(self, value: Any, kind: str = "") -> Any:
        """``kind`` is what a name above this value says it is."""
        if isinstance(value, str):
            return self._mark(kind) if kind and is_odd_secret(kind, value) else self.stored(value)
        if isinstance(value, bytes):
            return self.text(value.decode("latin-1")).encode("latin-1")
        if isinstance(value, list):
            return self._list(value, kind)
        if isinstance(value, dict):
            return dict(self._items(value, kind))
        return self._mark(kind) if kind and _is_secret_number(kind, value) else value

    def _list(self, values: list[Any], kind: str) -> list[Any]:
        if 2 <= len(values) <= _LONGEST_COMMAND and all(isinstance(each, str) for each in values):
            return [
                self._mark(named) if named else self._value(each, kind)
                for each, named in zip(values, _kinds_in_command(values), strict=True)
            ]
        return [self._value(each, kind) for each in values]

    def _items(self, value: dict[Any, Any], above: str) -> Iterator[tuple[Any, Any]]:
        beside = next((each for name in _NAMING if (each := _kind(value.get(name)))), "")
        for key, each in value.items():
            own = _kind(key)
            lower = key.lower() if isinstance(key, str) else ""
            whole = own or ((beside or above) if lower in _HOLDING else "")
            near = beside if lower in _PERHAPS_HOLDING else ""
            name = self.text(key) if isinstance(key, str) else key
            if whole and isinstance(each, str) and is_secret_value(whole, each):
                yield name, self._mark(whole)
            else:
                yield name, self._value(each, whole or near or above)

    def _mark(self, kind: str) -> str:
        self.counts[kind] += 1
        return MARK.format(kind=kind)

    def _marked_deep(self) -> str:
        self.counts["nested too deep to look through"] += 1
        return TOO_DEEP


def _kind(name: Any) -> str:
    return kind_of_name(name) if isinstance(name, str) and len(name) <= 100 else ""


def _is_secret_number(kind: str, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) >= (1_000 if kind in (PASSWORD, SECRET) else 1e11)


def _kinds_in_command(words: list[str]) -> list[str]:
    """For each word of a command line or a pair: what it is by the words before it, or ``""``."""
    kinds = [""] * len(words)
    for place, (before, word) in enumerate(pairwise(words), 1):
        kind = _kind(before)
        if not kind or word.startswith("-"):
            continue
        option = _OPTION.match(before) and is_secret_value(kind, word)
        if option or (len(words) == 2 and is_odd_secret(kind, word)):
            kinds[place] = kind
    joined = " ".join(_JOINING.sub("_", word) for word in words)
    found = list(secrets(joined))
    start = 0
    for place, word in enumerate(words):
        end = start + len(word)
        while found and found[0].end <= start:
            found.pop(0)
        if found and found[0].start < end and not any(True for _ in secrets(word)):
            kinds[place] = kinds[place] or found[0].kind
        start = end + 1
    return kinds
