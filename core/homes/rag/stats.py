"""``stats``: what a store holds of a project, and how it was used (specs, memory-rag 8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from core.homes.rag.nodes import GLOBAL, Layer, collection_of, slug
from core.homes.rag.store import Store

#: Words of a question that ask how things are built.
_ABOUT_STRUCTURE = ("where ", "how does", "what handles")
#: What earns a wiki: days and notes, or questions about structure.
_DAYS, _NOTES, _QUESTIONS = 3, 5, 3


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one project. ``layers`` counts nodes of any status, ``staged`` live notes."""

    project: str
    layers: dict[str, int]
    staged: int
    global_notes: int
    active_days: int
    learnings: int
    structure_questions: int
    wiki_suggestion: str
    due: bool


def stats(store: Store, project: str, threshold: int) -> Stats:
    """The counts of ``project``. Raises :class:`UnreadableError`."""
    layers = {
        layer.value: store.count(collection_of(project, layer))
        for layer in (Layer.CODE, Layer.WIKI, Layer.MEMORY)
    }
    name = slug(project)
    events = store.events(name)
    used = [event for event in events if event.event in ("learn", "recall")]
    days = len({datetime.fromtimestamp(event.ts, UTC).date() for event in used})
    learnings = sum(event.event == "learn" for event in events)
    questions = sum(
        event.event == "recall" and any(part in event.detail.lower() for part in _ABOUT_STRUCTURE)
        for event in events
    )
    staged = store.staged(collection_of(project, Layer.MEMORY))
    return Stats(
        project=project,
        layers=layers,
        staged=staged,
        global_notes=store.count(collection_of(GLOBAL, Layer.MEMORY)),
        active_days=days,
        learnings=learnings,
        structure_questions=questions,
        wiki_suggestion=_suggestion(project, layers["wiki"], days, learnings, questions),
        due=staged >= threshold,
    )


def _suggestion(project: str, pages: int, days: int, learnings: int, questions: int) -> str:
    if pages:
        return "wiki present"
    if (days >= _DAYS and learnings >= _NOTES) or questions >= _QUESTIONS:
        return f"GENERATE a wiki for {project}: it is asked about often enough"
    return "not yet earned"
