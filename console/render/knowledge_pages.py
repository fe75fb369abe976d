"""The note store in full: a project, a note with its past and future, a merge before it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.content import Content

from console.keymap import keyed
from console.render import ink
from console.render.knowledge import KnowledgeItem, ProjectItem, sign_of
from console.render.line import Line, anchored, wrapped
from console.render.preview import file_lines
from core.model import Change

#: What a person can do to a note, by its status.
_KEYS = {
    True: "{knowledge.retire} retires it, {knowledge.supersede} names the note that takes its"
    " place.",
    False: "{knowledge.reactivate} makes it active again.",
}


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """A project in full. ``statuses`` counts its notes; ``said`` are sentences on what is due.

    ``store`` is where and of which kind, ``how`` by what questions are answered, ``limits`` what
    cannot be done here, ``warnings`` what is wrong with the place.
    """

    statuses: tuple[tuple[str, int], ...]
    said: tuple[str, ...]
    store: str
    how: str
    limits: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergePage:
    """One page of a merge. ``change`` is named by the page's own path; ``why`` not rewritten."""

    change: Change
    notes: int
    rewritten: bool
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MergeItem:
    """A merge to look at. ``manual`` are notes that stay staged: id, text and reason."""

    message: str
    folder: str
    pages: tuple[MergePage, ...]
    manual: tuple[tuple[str, str, str], ...]


def project_lines(item: ProjectItem, page: ProjectPage | None, width: int) -> tuple[Line, ...]:
    """A project in ``width`` cells; without ``page`` what its row knows."""
    return anchored(_project(item, page, width))


def node_lines(
    item: KnowledgeItem, chain: Sequence[KnowledgeItem], width: int, *, why_not: str = ""
) -> tuple[Line, ...]:
    """A node whole, and the notes before and after it; ``why_not``: nothing can be decided."""
    return anchored(_node(item, chain, width, why_not))


def merge_lines(merge: MergeItem, width: int) -> tuple[Line, ...]:
    """A merge: what goes where, each page before and after, and what stays staged."""
    return anchored(_merge(merge, width))


def _project(item: ProjectItem, page: ProjectPage | None, width: int) -> Iterator[Line]:
    yield from _flow(ink.line(item.name, ink.TITLE), width)
    if item.shared:
        yield from _flow(ink.line("Notes that every project gets.", ink.LABEL), width)
    yield Line(Content(""))
    for layer, count in item.layers:
        yield Line(Content.assemble(f"{count:>8,}  ", ink.line(layer)))
    if page is None:
        return
    notes = [(status, count) for status, count in page.statuses if count]
    if notes:
        yield Line(Content(""))
        yield Line(Content.styled("Notes", ink.TITLE), anchor="notes")
    for status, count in notes:
        sign, style = sign_of(status)
        words = f"{count:>8,}  ", (f"{sign} ", style), ink.line(status)
        yield from _flow(Content.assemble(*words), width)
    yield Line(Content(""))
    for sentence in page.said:
        yield from _flow(ink.line(sentence), width)
    yield Line(Content(""))
    yield Line(Content.styled("Store", ink.TITLE), anchor="store")
    yield from _flow(ink.line(page.store), width)
    yield from _flow(ink.line(f"Searched by {page.how}.", ink.LABEL), width)
    for sentence in page.limits:
        yield from _flow(ink.line(f"{sentence}.", ink.WARNING), width)
    for sentence in page.warnings:
        yield from _flow(ink.line(f"! {sentence}.", ink.WARNING), width)


def _node(
    item: KnowledgeItem, chain: Sequence[KnowledgeItem], width: int, why_not: str
) -> Iterator[Line]:
    if item.is_note:
        sign, style = sign_of(item.status)
        head = Content.assemble(
            (f"{sign} ", style), ink.line(item.status, style), ink.line(f"  {item.kind}", ink.TITLE)
        )
    else:
        head = ink.line(item.path, ink.TITLE)
    yield from _flow(head, width)
    source = "" if item.source in ("", "learn") else f"from {item.source}"
    facts = (item.id, item.when[:16], source)
    yield from _flow(ink.line("  ".join(filter(None, facts)), ink.LABEL), width)
    if item.reason:
        yield from _flow(ink.line(f"Why: {item.reason}"), width)
    if item.page:
        yield from _flow(ink.line(f"Merged into {item.page}"), width)
    yield Line(Content(""))
    for piece in wrapped(ink.block(item.text), width):
        yield Line(piece)
    yield Line(Content(""))
    if len(chain) > 1:
        yield Line(Content.styled("Timeline", ink.TITLE), anchor="timeline")
        for place, each in enumerate(chain):
            yield from _step(each, each.id == item.id, place == len(chain) - 1, width)
        yield Line(Content(""))
    if item.is_note:
        yield from _flow(ink.line(why_not or keyed(_KEYS[item.live]), ink.LABEL), width)


def _step(item: KnowledgeItem, here: bool, last: bool, width: int) -> Iterator[Line]:
    """One note of a chain, and the line to the one that took its place."""
    sign, style = sign_of(item.status)
    day = item.when[:10] or "no date"
    head = Content.assemble(
        (f"{sign} ", style),
        ink.line(f"{day}  "),
        ink.line(item.short, ink.ACCENT),
        ink.line(f"  {item.status}", style),
        ("  this note" if here else "", ink.TITLE),
    )
    for number, piece in enumerate(wrapped(head, width)):
        yield Line(piece, anchor=f"note {item.id}" if number == 0 else None)
    stem = "  " if last else "│ "
    if here:
        # Its text stands above already.
        yield from () if last else [Line(Content(stem))]
        return
    for piece in wrapped(ink.block(item.text, ink.LABEL), width, first=stem, rest=stem):
        yield Line(piece)


def _merge(merge: MergeItem, width: int) -> Iterator[Line]:
    yield from _flow(ink.line(_sum(merge), ink.TITLE), width)
    yield from _flow(ink.line(f"Pages in {merge.folder}", ink.LABEL), width)
    for page in merge.pages:
        yield from file_lines([page.change], width, split=False, folded=True)
        how = "the model rewrote the page" if page.rewritten else "appended"
        why = f"; no rewrite: {', '.join(page.why)}" if page.why else ""
        count = "1 note" if page.notes == 1 else f"{page.notes:,} notes"
        yield from _flow(ink.line(f"{count}: {how}{why}", ink.LABEL), width)
    if merge.manual:
        yield Line(Content(""))
        yield Line(Content.styled("These stay staged", ink.TITLE), anchor="manual")
    for name, text, why in merge.manual:
        words = (
            ink.line(f"#{name[:8]}  ", ink.ACCENT),
            ink.line(text),
            ink.line(f"  {why}", ink.LABEL),
        )
        yield from _flow(Content.assemble(*words), width)
    if merge.pages:
        yield Line(Content(""))
        said = "Merged notes are archived, never deleted. Undo takes all of it back."
        yield from _flow(ink.line(said, ink.LABEL), width)


def _sum(merge: MergeItem) -> str:
    notes, pages = sum(page.notes for page in merge.pages), len(merge.pages)
    if not pages:
        return merge.message
    counted = "1 note goes" if notes == 1 else f"{notes:,} notes go"
    return f"{counted} into {'1 page' if pages == 1 else f'{pages:,} pages'}"


def _flow(content: Content, width: int) -> Iterator[Line]:
    return (Line(piece) for piece in wrapped(content, width))
