"""The one-line summary hermes-agent 0.19.0 stores with a record, worked out from its payload."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DETAIL = 120
_DESCRIPTION = 140
_KILOBYTE = 1024
_DESCRIBED = re.compile(r"^description:\s*(.+)$", re.MULTILINE)


def summary_of(subsystem: str, payload: Mapping[str, object]) -> str:
    """The summary the agent would store for ``payload``, ``""`` where its rule is not known."""
    made = _memory(payload) if subsystem == "memory" else _skill(payload)
    return made.strip()


def _memory(payload: Mapping[str, object]) -> str:
    label = "user profile" if payload.get("target") == "user" else "memory"
    action = payload.get("action")
    content, old_text = payload.get("content"), payload.get("old_text")
    if action == "batch":
        operations = payload.get("operations")
        if not isinstance(operations, list):
            return ""
        lines = [_operation(each) for each in operations if isinstance(each, Mapping)]
        detail = "\n".join(lines)[:_DETAIL]
        return f"apply {len(operations)} op(s) to {label}: {detail}"
    if action == "add":
        return f"add to {label}: {str(content or '')[:_DETAIL]}"
    if action == "replace":
        detail = f"old: {old_text}\nnew: {content}"[:_DETAIL]
        return f"replace in {label}: {detail}"
    if action == "remove":
        return f"remove from {label}: {str(old_text or '')[:_DETAIL]}"
    return ""


def _operation(operation: Mapping[str, object]) -> str:
    action, content = operation.get("action", "?"), operation.get("content", "")
    old_text = operation.get("old_text", "")
    if action == "remove":
        return f"- remove: {old_text}"
    if action == "replace":
        return f"- replace: {old_text} -> {content}"
    return f"- {action}: {content}"


def _skill(payload: Mapping[str, object]) -> str:
    action, named = payload.get("action"), payload.get("name", "")
    content = payload.get("content")
    path = payload.get("file_path") or ""
    if action in ("create", "edit") and isinstance(content, str) and content:
        verb = "create" if action == "create" else "rewrite"
        found = _DESCRIBED.search(content)
        told = found[1].strip().strip("'\"")[:_DESCRIPTION] if found else ""
        length = len(content)
        size = f"{length} chars" if length < _KILOBYTE else f"{length // _KILOBYTE + 1} KB"
        return f"{verb} '{named}' — {told} ({size})" if told else f"{verb} '{named}' ({size})"
    if action == "patch":
        added, removed = (_lines(payload.get(key)) for key in ("new_string", "old_string"))
        return f"patch '{named}' {path or 'SKILL.md'} (+{added}/-{removed} lines)"
    if action == "write_file":
        return f"write {path} in '{named}'"
    if action == "remove_file":
        return f"remove {path} from '{named}'"
    return f"delete skill '{named}'" if action == "delete" else ""


def _lines(text: object) -> int:
    return text.count("\n") + 1 if isinstance(text, str) and text else 0
