"""The JSON of the contract, made from the desk's records. Stored text, never made safe here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core import diff
from core.clock import is_date
from core.desk import overview, review
from core.desk.check import Check
from core.desk.decisions import Acceptance, SeenBefore
from core.desk.elsewhere import Waiting
from core.desk.forecast import Forecast
from core.desk.memories import Compared, Copy, Store
from core.desk.opening import Opened
from core.desk.overview import Overview
from core.desk.review import Label, Shown
from core.desk.triage import Listing
from core.homes.base import Kind
from core.homes.hermes.config import Gate
from core.homes.hermes.origin import Provenance
from core.homes.hermes.pending import Proposal
from core.journal import Entry, State, Step
from core.model import Budget, Change, Finding, Move, Node, NodeKind, Receipt
from core.plan import Plan
from core.view import sha256

Json = dict[str, Any]


def home(opened: Opened) -> Json:
    """Which home answered, and the others if several were found."""
    found = opened.found
    said = {"home": str(found.home), "kind": str(found.kind), "profile": found.profile}
    return said | ({"others": others(opened)} if found.others else {})


def others(opened: Opened) -> list[Json]:
    """The homes that were found and not opened."""
    return [{"home": str(f.path), "kind": str(f.kind)} for f in opened.found.others]


def status(opened: Opened, seen: Overview) -> Json:
    """The answer of ``status``."""
    counts = {"memory": 0, "skills": 0}
    for proposal in seen.queue.proposals:
        counts[proposal.subsystem] += 1
    return {
        **home(opened),
        "agent_rules": opened.rules_word(),
        "pending": {**counts, "unreadable": len(seen.queue.unreadable)},
        "oldest_seconds": seen.oldest_seconds,
        "snoozed": seen.snoozed,
        "by_status": dict(seen.by_status),
        "gate": {name: gate(found) for name, found in seen.gates.items()},
        "others": others(opened),
        "trouble": list(seen.trouble),
        "settings": overview.settings(opened),
        "warnings": list(overview.warnings(opened)),
    }


def gate(found: Gate) -> Json:
    """One gate of ``status``."""
    return {"state": "on" if found.on else "off", "from": found.source, "reason": found.reason}


def pending(opened: Opened, listed: Listing) -> Json:
    """The answer of ``pending``."""
    named = review.names(listed.queue)
    rivals = review.rivals(listed.labels)
    said = {
        **home(opened),
        "proposals": [_row(label, named, rivals[label.proposal.file]) for label in listed.shown],
        "unreadable": [
            {"id": named[item.file], "file": item.file, "reason": item.reason}
            for item in listed.unreadable
        ],
        "snoozed": listed.asleep,
        "trouble": list(overview.trouble(listed.queue)),
    }
    if listed.groups is not None:
        said["groups"] = [
            {"key": key, "ids": [named[label.proposal.file] for label in found]}
            for key, found in listed.groups.items()
        ]
    return said


def _row(label: Label, named: Mapping[str, str], others: Sequence[Proposal]) -> Json:
    proposal = label.proposal
    return {
        "id": named[proposal.file],
        "file": proposal.file,
        "subsystem": proposal.subsystem,
        "action": proposal.action,
        "target": proposal.target,
        "summary": proposal.summary,
        "origin": proposal.origin,
        "created_at": proposal.created_at,
        "status": str(label.status),
        "category": label.category,
        "rivals": [named[other.file] for other in others],
        "refused_before": _seen_before(label.seen_before),
        "snoozed_until": label.snoozed_until and label.snoozed_until.isoformat(),
    }


def _seen_before(seen: SeenBefore | None) -> Json | None:
    return {"at": seen.at, "note": seen.note, "entry": seen.entry} if seen else None


def show(opened: Opened, shown: Shown) -> Json:
    """The answer of ``show``."""
    proposal, outcome = shown.proposal, shown.plan.outcome
    budget, match = outcome.budget, outcome.match
    return {
        **home(opened),
        "id": shown.name,
        "file": proposal.file,
        "subsystem": proposal.subsystem,
        "action": proposal.action,
        "target": proposal.target,
        "status": str(shown.status),
        "category": outcome.category,
        "message": outcome.message,
        "seal": shown.seal,
        "changes": [change(step) for step in shown.steps if not _is_folder(step)],
        "findings": [finding(found) for found in outcome.findings],
        "budget": budget and _budget(budget),
        "match": match
        and {"strategy": match.strategy, "spans": [list(span) for span in match.spans]},
        "refused_before": _seen_before(shown.seen_before),
        "source": _source(shown.origin),
        **_conflict(shown),
    }


def _conflict(shown: Shown) -> Json:
    """The difference to a skill of a vak home that is in the way."""
    outcome = shown.plan.outcome
    if outcome.category != "skill_exists" or not outcome.entries:
        return {}
    pair = outcome.entries[0]
    old, new = (None if text is None else text.encode() for text in (pair.before, pair.after))
    return {"conflict": diff.unified_bytes(old, new, f"skills/{shown.proposal.target}/SKILL.md")}


def _source(found: Provenance | None) -> Json | None:
    if found is None or found.session_id is None:
        return None
    return {"session_id": found.session_id, "message_id": str(found.message_id)}


def _budget(found: Budget) -> Json:
    return {
        "target": found.target,
        "before": found.before,
        "after": found.after,
        "limit": found.limit,
    }


def _is_folder(step: Step) -> bool:
    if isinstance(step.change, Move):
        return False
    node = step.change.after or step.change.before
    return node is not None and node.kind is NodeKind.DIR


def change(step: Step) -> Json:
    """One path of a plan."""
    found = step.change
    if isinstance(found, Move):
        return {
            "path": found.path,
            "kind": "move",
            "to": found.to,
            "before_sha256": None,
            "after_sha256": None,
            "after_mode": None,
            "diff": "",
        }
    kind = "create" if found.before is None else "delete" if found.after is None else "modify"
    return {
        "path": found.path,
        "kind": kind,
        "to": None,
        "before_sha256": _hash(found.before),
        "after_sha256": _hash(found.after),
        "after_mode": oct(found.after.mode) if found.after else None,
        "diff": _diff(found),
    }


def _diff(found: Change) -> str:
    before, after = (node.data if node else None for node in (found.before, found.after))
    return diff.unified_bytes(before, after, found.path)


def _hash(node: Node | None) -> str | None:
    return sha256(node.data) if node else None


def finding(found: Finding) -> Json:
    """One finding."""
    return {
        "code": found.code,
        "severity": str(found.severity),
        "message": found.message,
        "at": found.at,
        "spans": [list(span) for span in found.spans],
    }


def results(opened: Opened, receipts: Sequence[Receipt]) -> Json:
    """The answer of ``approve``, ``reject``, ``undo`` and ``gate``; ``bulk`` if it is a step."""
    bulks = (receipt.bulk for receipt in receipts if receipt.bulk is not None)
    return {
        **home(opened),
        "results": [result(receipt) | _installed(opened, receipt) for receipt in receipts],
        "bulk": next(bulks, None),
    }


def _installed(opened: Opened, receipt: Receipt) -> Json:
    """The skill that a promotion on a vak home installed; null where none was."""
    if opened.found.kind is not Kind.VAK:
        return {}
    skills = [path.split("/") for path in receipt.changed]
    names = [parts[1] for parts in skills if parts[0] == "skills" and parts[2:] == ["SKILL.md"]]
    return {"installed": names[0] if names and receipt.category == "ok" else None}


def result(receipt: Receipt) -> Json:
    """What became of one subject."""
    return {
        "id": receipt.subject,
        "ok": receipt.ok,
        "category": receipt.category,
        "message": receipt.message,
        "changed": list(receipt.changed),
        "entries": [{"before": e.before, "after": e.after} for e in receipt.entries],
        "journal": receipt.journal,
        "next": receipt.next,
        "findings": [finding(found) for found in receipt.findings],
    }


def forecast(opened: Opened, found: Forecast) -> Json:
    """The answer of ``approve --dry-run``."""
    rows, better = found.rows, found.better
    first = None if found.first_failure is None else rows[found.first_failure].receipt.subject
    said = {
        "rows": [
            {
                "id": row.receipt.subject,
                "category": row.receipt.category,
                "message": row.receipt.message,
                "budget": {target: curve.sizes[at + 1] for target, curve in found.curve.items()},
            }
            for at, row in enumerate(rows)
        ],
        "first_failure": first,
        "curve": {
            target: {"limit": curve.limit, "sizes": list(curve.sizes)}
            for target, curve in found.curve.items()
        },
        "better_order": better and better.order and list(better.order),
        "removal": better
        and (better.leave_out or better.remove or None)
        and {
            "leave_out": list(better.leave_out),
            "entries": [
                {"target": each.target, "index": each.index, "text": each.text}
                for each in better.remove
            ],
        },
        "looked": better
        and {"orders": better.orders, "all": better.complete, "lands": better.lands},
    }
    return {**results(opened, [row.receipt for row in rows]), "forecast": said}


def journal(opened: Opened, entries: Sequence[Entry]) -> Json:
    """The answer of ``journal``."""
    return {**home(opened), "entries": [entry(found) for found in entries]}


def entry(found: Entry) -> Json:
    """One line of the journal; with what it changed if its steps are there."""
    said = {
        "id": found.id,
        "at": found.at,
        "home": found.home,
        "profile": found.profile,
        "verb": found.verb,
        "subject": found.subject,
        "ok": found.ok,
        "state": str(found.state),
        **ending(found),
        "changed": list(found.changed),
        "note": found.note,
        "bulk": found.tags.bulk,
        "origin": found.tags.origin,
        "undoes": found.undoes,
        "undone_by": found.undone_by,
        "actor": dict(found.actor),
    }
    if found.steps:
        said["changes"] = [change(step) for step in found.steps if not _is_folder(step)]
    return said


def ending(found: Entry) -> Json:
    """What came of it; an open entry holds only what was meant to come."""
    if found.state is State.OPEN:
        return {"category": "torn", "message": "did not end; the next changing command settles it"}
    return {"category": found.category, "message": found.message}


def acceptance(opened: Opened, found: Mapping[str, Acceptance]) -> Json:
    """The answer of ``journal --stats``."""
    origins = {
        origin: {"approved": each.approved, "rejected": each.rejected, "rate": each.rate}
        for origin, each in found.items()
    }
    return {**home(opened), "origins": origins}


def profiles(opened: Opened, found: Sequence[Waiting]) -> Json:
    """The answer of ``status --all-profiles``."""
    return {
        **home(opened),
        "profiles": [
            {
                "profile": each.profile,
                "home": each.home,
                "waiting": each.waiting,
                "oldest_seconds": each.oldest_seconds,
                "trouble": list(each.trouble),
            }
            for each in found
        ],
    }


def planned(plan: Plan) -> Json:
    """What a plan says beside its result, and what it writes."""
    outcome = plan.outcome
    return {
        "findings": [finding(found) for found in outcome.findings],
        "budget": outcome.budget and _budget(outcome.budget),
        "changes": [
            change(step)
            for step in (Step(c) for c in plan.changes if isinstance(c, Change | Move))
            if not _is_folder(step)
        ],
    }


def memory(store: Store, copies: Sequence[Copy] = ()) -> Json:
    """The answer of ``memory`` for one store."""
    drift = store.drift
    return {
        "target": store.target,
        "path": store.path,
        "state": store.state,
        "reason": store.reason or None,
        "link": store.link,
        "drift": drift and {"kind": drift.kind, "line": drift.line, "message": drift.message},
        "used": store.used,
        "limit": store.limit,
        "tokens": store.tokens,
        "enabled": store.enabled,
        "backups": [_copy(copy) for copy in copies if copy.target == store.target],
        "entries": [
            {
                "index": entry.index,
                "text": entry.text,
                "size": entry.size,
                "findings": [finding(found) for found in entry.findings],
            }
            for entry in store.entries
        ],
    }


def compared(found: Compared) -> Json:
    """The answer of ``memory --compare``."""
    text = diff.unified_bytes(found.then, found.now, found.path)
    return {"target": found.copy.target, "path": found.path, **_copy(found.copy), "diff": text}


def _copy(found: Copy) -> Json:
    at = datetime.fromtimestamp(found.at, UTC).isoformat() if is_date(found.at) else None
    return {"file": found.file, "at": at, "size": found.size, "same": found.same}


def doctor(opened: Opened, checks: Sequence[Check]) -> Json:
    """The answer of ``doctor``."""
    return {
        **home(opened),
        "checks": [{"name": c.name, "ok": c.ok, "message": c.message} for c in checks],
    }
