"""The desk's records as what the review screen draws; imported after the first frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from console.ages import age
from console.keymap import keyed
from console.raws import raw_words
from console.render.preview import Preview
from console.render.queue import QueueItem
from console.render.raw import RawRecord
from console.screens.spotting import preview_spots
from core.desk.raw import Raw
from core.desk.review import Label, Shown, rival_counts
from core.homes.hermes.pending import Proposal, Queue, Unreadable
from core.model import Change, Move


def queue_items(
    queue: Queue, now: datetime, known: Mapping[str, QueueItem]
) -> dict[str, QueueItem]:
    """``key -> item``, the unreadable last.

    What is ``known`` of a row is kept: its status while its record stays the same, and its fate.
    """
    items = [_proposal(p, now, known.get(p.file)) for p in queue.proposals]
    items += [_unreadable(u, known.get(u.file)) for u in queue.unreadable]
    return {item.key: item for item in items}


def _proposal(proposal: Proposal, now: datetime, old: QueueItem | None) -> QueueItem:
    kept = old if old is not None and old.fate != "gone" else None
    same = kept is not None and kept.digest == proposal.sha256
    if kept is not None and not same:
        kept = replace(kept, status="", rivals=0)
    return QueueItem(
        key=proposal.file,
        token=f"{proposal.subsystem}/{proposal.id}",
        id=proposal.id,
        subsystem=proposal.subsystem,
        action=proposal.action,
        target=proposal.target,
        age=age(proposal.created_at, now),
        origin=proposal.origin,
        summary=proposal.summary,
        status=kept.status if kept else "",
        fate=kept.fate if kept else "",
        note=kept.note if kept else "",
        rivals=kept.rivals if kept else 0,
        digest=proposal.sha256,
    )


def _unreadable(item: Unreadable, old: QueueItem | None) -> QueueItem:
    kept = old if old is not None and old.fate != "gone" else None
    return QueueItem(
        key=item.file,
        token=f"{item.subsystem}/{item.id}",
        id=item.id,
        subsystem=item.subsystem,
        action="record",
        target=item.id,
        age="",
        origin=item.subsystem,
        summary=f"cannot be read: {item.reason}; {item.way_out}",
        status="unreadable",
        fate=kept.fate if kept else "",
        note=kept.note if kept else "",
        broken=item.reason,
        by_hand=item.by_hand,
    )


def merged(
    fresh: dict[str, QueueItem],
    current: Mapping[str, QueueItem],
    known: Mapping[str, QueueItem],
) -> dict[str, QueueItem]:
    """``fresh``, made of ``known`` while the rows became ``current``: those that left are marked.

    A row that is gone, or in work, stays below the row that stood above it.
    """
    left: dict[str, list[QueueItem]] = {}
    above = ""
    for key, item in current.items():
        new = fresh.get(key)
        if new is None:
            left.setdefault(above, []).append(item if item.is_settled else _gone(item))
            continue
        above = key
        if item is not known.get(key):
            fresh[key] = replace(new, status=item.status, fate=item.fate, note=item.note)
    if not left:
        return fresh
    items = left.pop("", [])
    for key, item in fresh.items():
        items += (item, *left.get(key, ()))
    return {item.key: item for item in items}


def _gone(item: QueueItem) -> QueueItem:
    return replace(item, fate="gone", note=keyed("decided elsewhere; {app.reload} clears it"))


def judged(labels: Sequence[Label], rows: Mapping[str, QueueItem]) -> list[QueueItem]:
    """The rows whose status is another than ``rows`` say."""
    found = ((rows.get(label.proposal.file), str(label.status)) for label in labels)
    return [replace(row, status=status) for row, status in found if row and row.status != status]


def counted(labels: Sequence[Label], rows: Mapping[str, QueueItem]) -> list[QueueItem]:
    """The rows that have another number of rivals than ``rows`` say."""
    found = ((rows.get(key), count) for key, count in rival_counts(labels).items())
    return [replace(row, rivals=count) for row, count in found if row and row.rivals != count]


def preview_of(shown: Shown, now: datetime) -> Preview:
    """What the preview shows of a plan."""
    proposal, outcome = shown.proposal, shown.plan.outcome
    changes: list[Change | Move] = []
    also: list[str] = []
    for step in shown.steps:
        change = step.change
        if isinstance(change, Change) and (step.edits or change.cache):
            also.append(change.path)
        elif change.path != shown.plan.record and not _is_folder(change):
            changes.append(change)
    remarks = (f"The agent's bookkeeping follows: {', '.join(also)}",) if also else ()
    origin = _ORIGINS.get(proposal.origin, proposal.origin or "origin unknown")
    when = age(proposal.created_at, now)
    proposed = () if outcome.changes else tuple(proposed_parts(proposal.payload))
    names = {field: name for field, name, _ in proposed}
    return Preview(
        id=proposal.id,
        subsystem=proposal.subsystem,
        action=proposal.action or "unknown",
        target=proposal.target,
        origin=_came_from(shown, f"{when} ago, {origin}" if when else origin),
        status=str(shown.status),
        message=outcome.message,
        findings=outcome.findings,
        budget=outcome.budget,
        strategy=outcome.match.strategy if outcome.match else None,
        entries=outcome.entries,
        changes=tuple(changes),
        also=remarks,
        proposed=tuple((name, value) for _, name, value in proposed),
        spots=preview_spots(outcome, proposal.payload, names),
    )


def raw_of(item: QueueItem, found: Raw) -> RawRecord:
    """What the preview shows of a record that is no proposal."""
    heading, rest = raw_words(found)
    said = "; ".join(dict.fromkeys(filter(None, (item.note, item.summary))))
    return RawRecord(item.key, said, heading, found.text, rest)


def _came_from(shown: Shown, origin: str) -> str:
    """``origin`` with the conversation it came from, or why there is none to show."""
    found = shown.origin
    if found is None or shown.proposal.origin == "background_review":
        return origin
    return f"{origin}{', ' if found.session_id else '; '}{found.words}"


def proposed_parts(payload: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
    """``(field, name, text)`` of everything a payload wants to find or to store."""
    operations = payload.get("operations")
    if isinstance(operations, list):
        for number, operation in enumerate(operations, 1):
            if isinstance(operation, Mapping):
                verb = operation.get("action")
                for field, name, value in proposed_parts(operation):
                    called = f"Operation {number} ({verb}): {name.lower()}"
                    yield f"operations.{number}.{field}", called, value
    for field, name in _TEXTS.items():
        stored = payload.get(field)
        if isinstance(stored, str) and stored:
            yield field, name, stored


def proposed_text(proposal: Proposal) -> str:
    """The text a proposal wants to store, as it stands in the record."""
    for field in ("content", "file_content", "new_string", "new_text"):
        value = proposal.payload.get(field)
        if isinstance(value, str) and value:
            return value
    return proposal.summary


def _is_folder(change: Change | Move) -> bool:
    if isinstance(change, Move):
        return False
    node = change.after or change.before
    return node is not None and node.kind == "dir"


_TEXTS = {
    "old_text": "It looks for",
    "old_string": "It looks for",
    "file_path": "In the file",
    "content": "It proposes",
    "new_text": "It proposes",
    "new_string": "It proposes",
    "file_content": "It proposes",
    "absorbed_into": "Absorbed into",
}
_ORIGINS = {
    "background_review": "from the background review, which leaves no conversation",
    "assistant_tool": "from a conversation",
    "foreground": "asked for directly",
}
