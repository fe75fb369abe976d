"""Pending records as the agent itself stages them, made from what a caller proposes.

Shapes of hermes-agent 0.19.0, executed (specs, hermes-approval-memory 2); under the newest rules
a destructive operation carries the entry it was written for (``matched_entry``). Who proposed a
record and why stands beside the agent's own fields, which leave it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.homes.hermes.config import Config
from core.homes.hermes.editing.summaries import summary_of
from core.homes.hermes.memory.entries import UnreadableFile, path_of
from core.homes.hermes.memory.operations import (
    DESTRUCTIVE,
    RefusalError,
    operations_of,
    walk,
)
from core.homes.hermes.memory.replay import load, store_of
from core.homes.hermes.record_text import rewrite
from core.homes.hermes.rules import Rules
from core.text import one_line
from core.view import View, name

#: What the agent calls a proposal made by a tool in a live turn.
ORIGIN = "assistant_tool"
#: The field of a record that says who proposed it.
STAGED_BY = "staged_by"

#: The fields of a skill's payload, in the agent's order; all but the last two only if given.
_SKILL = ("content", "category", "file_path", "file_content", "old_string", "new_string")
_WORDS = 120


@dataclass(frozen=True, slots=True)
class Caller:
    """Who proposes: the client and its version, the session, and why; ``""`` where not told.

    ``more`` are further words about the proposal (a kind, a tag).
    """

    client: str = ""
    version: str = ""
    session_id: str = ""
    reason: str = ""
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """The client and its version, safe to draw; ``""`` where it has no name."""
        return one_line(f"{self.client} {self.version}".strip(), 60)

    @property
    def words(self) -> str:
        """A line for people, safe to draw, without a full stop."""
        said = f"from {self.named or 'a client without a name'} over MCP"
        if self.session_id:
            said += f", session {one_line(self.session_id, 60)}"
        return f"{said}: {one_line(self.reason, _WORDS)}" if self.reason else said


@dataclass(frozen=True, slots=True)
class Prepared:
    """A record without id and time. ``pins``: the entry each operation would hit, by its index.

    Under 0.19 the record cannot hold them, so whoever writes it keeps them elsewhere.
    """

    subsystem: str
    payload: Mapping[str, object]
    summary: str
    pins: Mapping[int, str] = field(default_factory=dict)


def memory(view: View, call: Mapping[str, object], config: Config, rules: Rules) -> Prepared:
    """The record of a call of the memory tool: ``action``, ``target``, ``content``, ``old_text``,
    or ``target`` and ``operations``.

    Each entry a call aims at is sought now: one that is not found, or not the only one, raises
    :class:`RefusalError` (so do a store that is off, and one that cannot be read).
    """
    payload = _memory_payload(call)
    store = store_of(payload)
    if not (config.user_profile_enabled if store == "user" else config.memory_enabled):
        raise RefusalError("target_disabled", f"The home's config turns the {store} store off.")
    file = load(view, store, rules)
    if isinstance(file, UnreadableFile):
        said = f"{name(path_of(store))} cannot be read: {file.reason}."
        raise RefusalError("unreadable_target", said)
    steps = walk(store, file.unique, operations_of(payload, rules), rules).steps
    pins = {step.index: step.before for step in steps if step.before is not None}
    if rules is Rules.NEWEST:
        payload = _pinned(payload, pins)
    return Prepared("memory", payload, _memory_summary(payload), pins)


def skill(call: Mapping[str, object]) -> Prepared:
    """The record of a call of the skill tool: ``action``, ``name`` and what the action needs."""
    payload = {"action": call.get("action"), "name": call.get("name")}
    payload |= {key: call[key] for key in _SKILL if call.get(key) is not None}
    payload["replace_all"] = bool(call.get("replace_all"))
    if call.get("absorbed_into") is not None:
        payload["absorbed_into"] = call["absorbed_into"]
    return Prepared("skills", payload, summary_of("skills", payload))


def record(prepared: Prepared, token: str, at: float, caller: Caller) -> bytes:
    """The file of a record called ``token``, staged at ``at`` (seconds since 1970)."""
    raw = {
        "id": token,
        "subsystem": prepared.subsystem,
        "action": prepared.payload.get("action", ""),
        "summary": prepared.summary,
        "origin": ORIGIN,
        "created_at": at,
        "payload": prepared.payload,
        STAGED_BY: _said(caller),
    }
    return rewrite(raw, {})


def staged_by(raw: Mapping[str, object]) -> Caller | None:
    """Who proposed a record, if it was staged by :func:`record`; what is no text is left out."""
    found = raw.get(STAGED_BY)
    if not isinstance(found, Mapping):
        return None
    told = {
        str(key): value for key, value in found.items() if isinstance(value, str) and value.strip()
    }
    told.pop("via", None)
    client, version = told.pop("client", ""), told.pop("version", "")
    session_id, reason = told.pop("session_id", ""), told.pop("reason", "")
    return Caller(client, version, session_id, reason, told)


def _said(caller: Caller) -> dict[str, str]:
    told = {
        "via": "signoff mcp",
        "client": caller.client,
        "version": caller.version,
        "session_id": caller.session_id,
        "reason": caller.reason,
        **caller.more,
    }
    return {key: value for key, value in told.items() if value}


def _memory_payload(call: Mapping[str, object]) -> dict[str, object]:
    target = call.get("target") or "memory"
    operations = call.get("operations")
    if isinstance(operations, Sequence) and operations:
        return {
            "action": "batch",
            "target": target,
            "operations": [dict(each) for each in operations],
        }
    action = call.get("action")
    content, old_text = call.get("content"), call.get("old_text")
    if action == "patch":
        new = call.get("new_text")
        return {
            "action": action,
            "target": target,
            "old_text": old_text,
            "new_text": content if new is None else new,
            "content": None,
        }
    if action != "remove" and content is None:
        content = call.get("new_text")
    return {
        "action": action,
        "target": target,
        "content": None if action == "remove" else content,
        "old_text": None if action == "add" else old_text,
    }


def _pinned(payload: Mapping[str, object], pins: Mapping[int, str]) -> dict[str, object]:
    """``payload`` with the entry each destructive operation was written for."""
    operations = payload.get("operations")
    if not isinstance(operations, list):
        return {**payload, "matched_entry": pins[0]} if pins else dict(payload)
    held = [
        {**each, "matched_entry": pins[place]} if _aims(each, place, pins) else each
        for place, each in enumerate(operations)
    ]
    return {**payload, "operations": held}


def _aims(operation: Mapping[str, object], place: int, pins: Mapping[int, str]) -> bool:
    return place in pins and operation.get("action") in DESTRUCTIVE[Rules.NEWEST]


def _memory_summary(payload: Mapping[str, object]) -> str:
    if payload.get("action") != "patch":
        return summary_of("memory", payload)
    # A patch reads like a replace of the part it splices; 0.19 knows none, so nothing is copied.
    alike = {**payload, "action": "replace", "content": payload.get("new_text")}
    return summary_of("memory", alike).replace("replace in", "patch in", 1)
