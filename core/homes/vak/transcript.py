"""A ledger as the messages of a conversation: every line that is not blank is one, in file order.

What is no message is shown for what it is: the frozen contract, a compaction, a goal, a line that
cannot be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from core.conversations import Handoff, Mark, Message, ToolCall, Visibility
from core.homes.vak.ledgers import (
    ACTIVITY,
    COMPACTION,
    GOAL,
    HEADER,
    MESSAGE,
    TEXT,
    THINKING,
    TOOL_RESULT,
    TOOL_USE,
    Entry,
    Fields,
    Ledger,
    Skipped,
)
from core.homes.vak.times import seconds
from core.homes.vak.tree import visibilities

SYSTEM, TOOL, UNREADABLE = "system", "tool", "unreadable"


def outline(ledger: Ledger) -> tuple[Mark, ...]:
    """Every line as a mark, in the order of the file; its id is the line's number."""
    seen = visibilities(ledger)
    marks = [
        Mark(entry.line.number, role_of(entry), seconds(entry.at), seen[entry.line.number])
        for entry in ledger.entries
    ]
    marks += [Mark(each.line.number, UNREADABLE, None, Visibility.LIVE) for each in ledger.skipped]
    return tuple(sorted(marks, key=lambda mark: mark.id))


def messages(
    ledger: Ledger, wanted: frozenset[int], session_id: str, longest: int
) -> tuple[Message, ...]:
    """The lines numbered so as messages, in order; texts are cut at ``longest`` characters."""
    seen = visibilities(ledger)
    tools = {
        block["id"]: block["name"]
        for entry in ledger.entries
        for block in entry.blocks
        if block["type"] == TOOL_USE and isinstance(block.get("id"), str)
    }
    found = [
        _message(entry, seen[entry.line.number], tools, session_id, longest)
        for entry in ledger.entries
        if entry.line.number in wanted
    ]
    found += [
        _unreadable(each, session_id, longest)
        for each in ledger.skipped
        if each.line.number in wanted
    ]
    return tuple(sorted(found, key=lambda message: message.id))


def role_of(entry: Entry) -> str:
    """Whose line it is; tool results come in messages of the user and are the tool's."""
    if entry.kind != MESSAGE:
        return SYSTEM
    types = {block["type"] for block in entry.blocks}
    return TOOL if types == {TOOL_RESULT} else entry.role


def _message(
    entry: Entry, visibility: Visibility, tools: Mapping[str, str], session_id: str, longest: int
) -> Message:
    text = text_of(entry)
    results = [block for block in entry.blocks if block["type"] == TOOL_RESULT]
    answered = str(results[0].get("tool_use_id") or "") if results else ""
    calls = tuple(
        ToolCall(str(block.get("id") or ""), block["name"], _json(block.get("input"))[:longest])
        for block in entry.blocks
        if block["type"] == TOOL_USE
    )
    return Message(
        entry.line.number,
        session_id,
        role_of(entry),
        text[:longest],
        seconds(entry.at),
        len(text),
        len(text) <= longest,
        visibility,
        tool_name=tools.get(answered, ""),
        tool_call_id=answered,
        tool_calls=calls,
        handoff=Handoff.MODEL if entry.kind == COMPACTION else None,
        notes=tuple(_notes(entry, results)),
        entry_id=entry.id,
    )


def _unreadable(skipped: Skipped, session_id: str, longest: int) -> Message:
    text = skipped.line.data.decode("utf-8", "replace")
    return Message(
        skipped.line.number,
        session_id,
        UNREADABLE,
        text[:longest],
        None,
        len(text),
        len(text) <= longest,
        notes=(f"line {skipped.line.number}: {skipped.reason}",),
    )


def text_of(entry: Entry) -> str:
    """The text of a line as it is shown, and as people's search looks at it."""
    if entry.kind == MESSAGE:
        parts = [block["text"] for block in entry.blocks if block["type"] == TEXT]
        parts += [block["content"] for block in entry.blocks if block["type"] == TOOL_RESULT]
        return "\n".join(parts)
    if entry.kind == HEADER:
        return contract(entry.fields)
    if entry.kind == COMPACTION:
        return _word(entry.fields, "summary")
    if entry.kind == GOAL:
        criteria = entry.fields.get("criteria")
        listed = criteria if isinstance(criteria, list) else []
        lines = [_word(entry.fields, "objective"), *(f"- {each}" for each in listed)]
        return "\n".join(lines)
    if entry.kind == ACTIVITY:
        said = (_word(entry.fields, "label"), _word(entry.fields, "detail"))
        return "\n".join(filter(None, said))
    left = {"id", "parent_id", "ts", "kind"}
    return _json({key: value for key, value in entry.fields.items() if key not in left})


def contract(header: Fields) -> str:
    """The frozen contract of a session in words: who ran, what it might do, what it was told."""
    found = header.get("contract")
    frozen: Fields = found if isinstance(found, dict) else {}
    facts = {
        "workspace": _word(header, "cwd"),
        "parent session": _word(header, "parent_session_id"),
        "version": _word(frozen, "app_version"),
        "model": " / ".join(filter(None, (_word(frozen, "provider"), _word(frozen, "model")))),
        "permissions": _word(frozen, "permission_mode"),
    }
    for kind, names in _capabilities(frozen).items():
        facts[f"{kind}s"] = ", ".join(names)
    lines = [f"{name}: {value}" for name, value in facts.items() if value]
    prompt = _word(frozen, "system_prompt")
    return "\n".join([*lines, *(["", prompt] if prompt else [])])


def _capabilities(frozen: Fields) -> dict[str, list[str]]:
    """``kind -> names``; the first versions had a list of tools and one of skills."""
    named: dict[str, list[str]] = {}
    for key, kind in (("tools", "tool"), ("skills", "skill"), ("capabilities", "")):
        listed = frozen.get(key)
        for each in listed if isinstance(listed, list) else []:
            name = each.get("name") if isinstance(each, dict) else each
            which = kind or (_word(each, "kind") if isinstance(each, dict) else "") or "capability"
            if isinstance(name, str):
                named.setdefault(which, []).append(name)
    return named


def _notes(entry: Entry, results: list[Fields]) -> Iterator[str]:
    if entry.kind == HEADER:
        yield "frozen contract"
    elif entry.kind == COMPACTION:
        yield f"compaction of {entry.fields.get('tokens_before', 'unknown')} tokens"
    elif entry.kind == GOAL:
        status = entry.fields.get("status")
        yield f"goal, {status if isinstance(status, str) else _json(status)}"
    elif entry.kind != MESSAGE:
        yield entry.kind
    if entry.meta.get("control"):
        yield "written by the runtime"
    thought = sum(len(block["text"]) for block in entry.blocks if block["type"] == THINKING)
    if thought:
        yield f"thought, {thought:,} characters"
    if any(block["type"] == "image" for block in entry.blocks):
        yield "has an image"
    if results and role_of(entry) != TOOL:
        yield "with a tool's answer"
    if any(block.get("is_error") is True for block in results):
        yield "error"
    if entry.unknown_blocks:
        yield f"{entry.unknown_blocks} of its blocks are not known"


def _word(fields: Mapping[str, Any], key: str) -> str:
    found = fields.get(key)
    return found if isinstance(found, str) else ""


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
