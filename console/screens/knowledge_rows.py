"""What the knowledge mode lists, made from what the desk read: projects, notes, a filter."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from console.ages import age
from console.keymap import keyed
from console.places import short
from console.render.knowledge import STATUSES, KnowledgeItem, ProjectItem
from console.render.knowledge_pages import MergeItem, MergePage, ProjectPage
from core.model import Change

if TYPE_CHECKING:
    from core.desk.knowledge import Answer
    from core.desk.knowledge_board import Overview, Page, Project
    from core.homes.rag.merge import Merge
    from core.homes.rag.nodes import Node
    from core.plan import Plan

#: Layers in the order they are shown.
LAYERS = ("wiki", "code", "memory")
_KINDS = {"signoff": "signoff's own", "chroma": "a Chroma store"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which nodes are shown; ``text`` is looked for in all a node says, whatever its case."""

    statuses: frozenset[str] = frozenset()
    kinds: tuple[str, ...] = ()
    text: str = ""


EVERYTHING = Wanted()


def parse(line: str) -> Wanted:
    """``status:retired kind:gotcha words``; ``status:live`` is every one that counts."""
    statuses, kinds, words = set[str](), list[str](), []
    for word in line.lower().split():
        name, _, value = word.partition(":")
        if name == "status" and value:
            statuses.add(value)
        elif name == "kind" and value:
            kinds.append(value)
        else:
            words.append(word)
    return Wanted(frozenset(statuses), tuple(kinds), " ".join(words))


def meant(item: KnowledgeItem, wanted: Wanted) -> bool:
    """Whether a node is among the ``wanted``."""
    if wanted == EVERYTHING:
        return True
    named = {item.status.lower(), *(("live",) if item.live else ())}
    said = f"{item.kind} {item.path} {item.id} {item.reason} {item.text}".lower()
    return (
        (not wanted.statuses or bool(wanted.statuses & named))
        and all(kind in item.kind.lower() for kind in wanted.kinds)
        and wanted.text in " ".join(said.split())
    )


def project_item(project: Project) -> ProjectItem:
    """A row for a project."""
    counts = tuple((layer, project.layers[layer]) for layer in LAYERS if layer in project.layers)
    return ProjectItem(project.name, counts, project.staged, project.due, project.shared)


def node_items(nodes: Iterable[Node], now: datetime, *, named: bool = False) -> list[KnowledgeItem]:
    """A row for each node; ``named``: layers stand mixed, so each says which is its."""
    return [_item(node, now, named=named) for node in nodes]


def hit_items(
    answer: Answer, nodes: Sequence[Node], project: str, now: datetime
) -> list[KnowledgeItem]:
    """A row for each hit of an answer that is still there, in its order."""
    shared = {hit.node.id for hit in answer.recalled.hits if hit.shared}
    items = node_items(nodes, now, named=True)
    return [replace(item, shared=item.id in shared and item.project != project) for item in items]


def _item(node: Node, now: datetime, *, named: bool) -> KnowledgeItem:
    created, status = node.text("created"), node.status
    at = _moment(created)
    return KnowledgeItem(
        key=f"{node.collection}/{node.id}",
        id=node.id,
        project=node.collection.partition("_")[2].rpartition("__")[0],
        layer=node.collection.rpartition("__")[2],
        status=status,
        live=node.live,
        kind=node.text("kind"),
        path=node.text("path"),
        text=node.document,
        age=age(at, now),
        when=created.replace("T", " ").removesuffix("Z"),
        source=node.text("source"),
        successor=node.text("superseded_by") if status == "superseded" else "",
        reason=node.text("retired_reason") if status == "retired" else "",
        page=node.text("merged_into") if status == "archived" else "",
        named=named,
    )


def _moment(created: str) -> float | None:
    try:
        at = datetime.fromisoformat(created)
    except ValueError:
        return None
    return at.replace(tzinfo=at.tzinfo or UTC).timestamp()


def project_page(page: Page, seen: Overview) -> ProjectPage:
    """A project in full."""
    known = [(status, page.statuses.get(status, 0)) for status in STATUSES]
    odd = sorted((s, n) for s, n in page.statuses.items() if s not in STATUSES)
    limits = dict.fromkeys(filter(None, (seen.limits.deciding, seen.limits.learning)))
    return ProjectPage(
        statuses=(*known, *odd),
        said=tuple(_said(page)),
        store=f"{short(str(seen.folder))} ({_KINDS[seen.kind]})",
        how=seen.how,
        limits=tuple(limits),
        warnings=page.warnings,
    )


def _said(page: Page) -> Iterator[str]:
    stats = page.stats
    staged = "1 note is" if stats.staged == 1 else f"{stats.staged:,} notes are"
    if stats.due:
        yield keyed(f"{staged} staged: a merge into the wiki is due, {{knowledge.merge}} shows it.")
    elif stats.staged:
        yield f"{staged} staged for the wiki; a merge is due at {page.threshold:,}."
    else:
        yield "No note is staged for the wiki."
    yield f"Past {page.cap:,} live notes the oldest are archived."
    if not stats.layers["wiki"]:
        asked = "is asked about often enough to deserve one"
        earned = stats.wiki_suggestion.startswith("GENERATE")
        yield f"It has no wiki{f', and {asked}' if earned else ' yet'}."


def merge_item(found: Merge, plan: Plan) -> MergeItem:
    """A merge to look at; pages are named by their own paths."""
    changes = {each.path: each for each in plan.changes if isinstance(each, Change)}
    pages = []
    for page in found.pages:
        change = changes[str(found.folder / page.path)]
        named = replace(change, path=page.path)
        pages.append(MergePage(named, len(page.notes), page.rewritten, page.why))
    return MergeItem(
        message=plan.outcome.message,
        folder=short(os.fspath(found.folder)),
        pages=tuple(pages),
        manual=tuple((node.id, node.document, why) for node, why in found.manual),
    )
