"""The JSON of ``knowledge``: stored text, never made safe here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core import diff
from core.desk.knowledge import Answer, Shelf
from core.homes.rag.building import Ingested
from core.homes.rag.comparing import Compared, Stamped
from core.homes.rag.exporting import Exported
from core.homes.rag.learning import Learnt
from core.homes.rag.merge import Merge
from core.homes.rag.nodes import Node
from core.homes.rag.restoring import Restored
from core.homes.rag.settings import RagSettings
from core.homes.rag.stats import Stats
from core.model import Change, NodeKind, Receipt
from core.plan import Plan

Json = dict[str, Any]


def store(shelf: Shelf) -> Json:
    """Which store answered."""
    return {"store": str(shelf.store.folder), "kind": shelf.store.kind}


def recall(answer: Answer) -> Json:
    """``text`` is the answer in the stated shape."""
    found = answer.recalled
    return {
        "project": found.project,
        "query": found.query,
        "engine": str(answer.engine),
        "note": answer.note,
        "text": found.text,
        "hits": [
            {
                "layer": str(hit.layer),
                "global": hit.shared,
                "id": hit.node.id,
                "path": hit.node.text("path"),
                "status": hit.node.status,
                "text": hit.text,
            }
            for hit in found.hits
        ],
    }


def learnt(found: Learnt, secrets: Sequence[str]) -> Json:
    """The answer of ``learn``."""
    return {
        "ok": True,
        "id": found.id,
        "project": found.project,
        "was": found.was,
        "replaced": found.replaced or None,
        "unmatched": found.unmatched or None,
        "archived": list(found.archived),
        "staged": found.staged,
        "threshold": found.threshold,
        "consolidation_due": found.due,
        "text": found.text,
        "secrets": list(secrets),
    }


def decided(plan: Plan, receipt: Receipt) -> Json:
    """A change of one note's status."""
    return {
        "ok": receipt.ok,
        "id": plan.subject,
        "verb": plan.verb,
        "category": receipt.category,
        "message": receipt.message,
        "changed": list(receipt.changed),
        "journal": receipt.journal,
    }


def node(found: Node) -> Json:
    """One node, without what the libraries of a Chroma store keep for themselves."""
    return {
        "id": found.id,
        "collection": found.collection,
        "status": found.status,
        "live": found.live,
        "document": found.document,
        "metadata": dict(found.shown),
    }


def stats(found: Stats) -> Json:
    """The answer of ``stats``, with the original's names."""
    return {
        "project": found.project,
        "layers": found.layers,
        "staged_notes": found.staged,
        "global_memory_notes": found.global_notes,
        "distinct_active_days": found.active_days,
        "learnings_deposited": found.learnings,
        "architecture_phased_recalls": found.structure_questions,
        "wiki_suggestion": found.wiki_suggestion,
        "consolidation_due": found.due,
    }


def settings(found: RagSettings) -> list[Json]:
    """Each setting with its value and where that came from."""
    return [
        {"name": each.name, "value": each.value, "from": each.origin, "problem": each.problem}
        for each in found.told
    ]


def ingested(found: Ingested) -> Json:
    """The answer of both ingests."""
    return {
        "ok": True,
        "project": found.project,
        "collection": found.collection,
        "files": found.files,
        "pieces": found.pieces,
        "resumed_at": found.resumed_at,
    }


def merge(found: Merge, plan: Plan, token: str, receipt: Receipt | None) -> Json:
    """What a merge would do, and did if it was applied."""
    said = {
        "ok": plan.outcome.lands if receipt is None else receipt.ok,
        "applied": receipt is not None,
        "category": plan.outcome.category if receipt is None else receipt.category,
        "message": plan.outcome.message if receipt is None else receipt.message,
        "folder": str(found.folder),
        "token": token,
        "pages": [
            {
                "path": page.path,
                "notes": [each.id for each in page.notes],
                "rewritten": page.rewritten,
                "why_not": list(page.why),
            }
            for page in found.pages
        ],
        "manual": [{"id": each.id, "why": why} for each, why in found.manual],
        "changes": pages(plan),
    }
    return said | ({"journal": receipt.journal} if receipt else {})


def pages(plan: Plan) -> list[Json]:
    """The pages of a merge before and after."""
    return [
        {"path": change.path, "diff": page_diff(change)}
        for change in plan.changes
        if isinstance(change, Change) and is_page(change)
    ]


def is_page(change: Change) -> bool:
    """Whether a change of a merge writes a page; the others are folders and notes."""
    after = change.after
    return after is not None and after.kind is NodeKind.FILE and change.path.startswith("/")


def page_diff(change: Change) -> str:
    """A page's change as unified text."""
    before = change.before.data if change.before else None
    after = change.after.data if change.after else None
    return diff.unified_bytes(before, after, change.path.lstrip("/"))


def exported(found: Exported) -> Json:
    """The answer of ``export``."""
    return {
        "ok": True,
        "file": str(found.file),
        "numbers": str(found.numbers) if found.numbers else None,
        "collections": found.collections,
        "nodes": sum(found.collections.values()),
        "vectors": found.vectors,
    }


def restored(found: Restored) -> Json:
    """The answer of ``restore``."""
    return {
        "ok": True,
        "collections": dict(found.collections),
        "nodes": sum(found.collections.values()),
        "vectors": found.vectors,
        "warnings": list(found.warnings),
    }


def compared(found: Compared) -> Json:
    """The answer of ``compare``."""
    return {
        "ok": found.identical,
        "identical": found.identical,
        "collections": [
            {"collection": each.collection, "a": each.a, "b": each.b, "same": each.same}
            for each in found.pairs
        ],
        "top_a": list(found.top_a),
        "top_b": list(found.top_b),
    }


def stamped(found: Stamped) -> Json:
    """The answer of ``migrate-status``."""
    return {
        "ok": True,
        "applied": found.applied,
        "stamped": found.stamped,
        "nodes": found.total,
    }


def projects(found: Mapping[str, Mapping[str, int]]) -> list[Json]:
    """Every project of the store with its layers."""
    return [{"project": name, "layers": dict(layers)} for name, layers in found.items()]
