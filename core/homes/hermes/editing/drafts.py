"""A draft: what a pending record would become, or why it would not. Every edit ends in one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.homes.hermes.editing.summaries import summary_of
from core.homes.hermes.pending import Proposal
from core.homes.hermes.record_text import rewrite
from core.model import Change, NodeKind, Outcome
from core.view import View, sha256

#: Operations before -> after the edit, by index, of those that still aim at the same entry.
Kept = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Draft:
    """A record rewritten. ``category`` is ``ok``, ``noop`` or ``invalid``; ``message`` says why.

    ``data`` holds the record's new bytes (only with ``ok``). ``kept`` names the operations whose
    pins stay good; a pin on ``unmade``, the text a dropped operation would have stored, does not.
    """

    category: str
    message: str
    data: bytes | None = None
    kept: Kept = field(default_factory=dict)
    unmade: str = ""


def invalid(message: str) -> Draft:
    """The draft of an edit that makes no sense for this record."""
    return Draft("invalid", message)


def drafted(proposal: Proposal, payload: Mapping[str, Any], message: str, kept: Kept) -> Draft:
    """``proposal`` with ``payload``; every other field of the record is kept as it stands.

    The envelope's ``action`` follows the payload's, its ``summary`` where it was the one the agent
    makes itself: a list must not quote a text that is no longer there.
    """
    if proposal.payload_problem:
        return invalid(f"The record cannot be edited: {proposal.payload_problem}.")
    before = proposal.payload
    if payload == before:
        return Draft("noop", "The text is the same; nothing was done.")
    raw = dict(proposal.raw)
    if "action" in raw and raw["action"] == before.get("action"):
        raw["action"] = payload.get("action", "")
    if raw.get("summary") and raw["summary"] == summary_of(proposal.subsystem, before):
        raw["summary"] = summary_of(proposal.subsystem, payload)
    data = rewrite(raw, payload, [key for key in before if key not in payload])
    return Draft("ok", message, data, kept)


def rewriting(view: View, proposal: Proposal, draft: Draft) -> Outcome:
    """The outcome whose one change is the record's file, its mode kept.

    ``gone`` or ``moved`` when the record is not the one that was read.
    """
    node = view.node(proposal.file)
    if node is None:
        return Outcome("gone", "The proposal is gone: it was decided elsewhere")
    if node.kind is not NodeKind.FILE or sha256(node.data) != proposal.sha256:
        return Outcome("moved", "The proposal was rewritten meanwhile; look at it")
    if draft.data is None:
        return Outcome(draft.category, draft.message)
    change = Change(proposal.file, node, replace(node, data=draft.data))
    return Outcome(draft.category, draft.message, (change,))
