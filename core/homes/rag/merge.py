"""Staged notes into wiki pages, as an outcome to look at (specs, memory-rag 10).

Live notes only, and nothing is deleted: a merged note is archived and says which page has it. A
model's rewrite of a page is proposed only if it passes :func:`objections`; else the notes are
appended under one heading, each once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.homes.rag import statuses
from core.homes.rag.nodes import Node, oldest_first
from core.homes.rag.statuses import Place
from core.model import AnyChange, Change, EntryChange, NodeKind, Outcome
from core.model import Node as FileNode
from core.view import View

HEADING = "## Consolidated learnings"
#: Length of a rewritten page, in per cent of the old one.
SHORTEST, LONGEST = 60, 160
#: Words of a note in a row that a rewritten page must have.
RUN = 8
_KIND = re.compile(r"([a-z0-9_-]+):")

#: A model's rewrite of a page with notes worked in, ``None`` where it gives none.
Rewrite = Callable[[str, Sequence[str]], "str | None"]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the merge. ``rewritten``: a model's text passed the gate; else ``why`` not."""

    path: str
    notes: tuple[Node, ...]
    rewritten: bool = False
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge to look at. ``manual``: notes that stay staged, with the reason."""

    outcome: Outcome
    folder: Path
    pages: tuple[Page, ...]
    manual: tuple[tuple[Node, str], ...]


def page_of(kind: str) -> str:
    """The page a note of this kind goes to, below the project's wiki; ``""`` for none."""
    found = _KIND.match(kind)
    return f"modules/{found[1]}.md" if found else ""


def wiki_folder(root: Path, project: str) -> Path | None:
    """The project's wiki: its name as typed below the root; ``None`` if that leads out of it."""
    parts = Path(project).parts
    if not project.strip() or Path(project).is_absolute() or ".." in parts or "\0" in project:
        return None
    return root / project


def plan_merge(
    view: View,
    place: Place,
    folder: Path,
    root: Path,
    staged: Iterable[Node],
    rewrite: Rewrite | None = None,
) -> Merge:
    """What merging ``staged`` into the pages of ``folder`` would do.

    ``root`` is the wiki root. Everything written is read through ``view``: pages and notes.
    """
    by_page: dict[str, list[Node]] = {}
    manual: list[tuple[Node, str]] = []
    for node in oldest_first(staged):
        target = page_of(node.text("kind"))
        if target:
            by_page.setdefault(target, []).append(node)
        else:
            manual.append(
                (node, f"kind {node.text('kind')!r} names no page; `rag:gotcha` would be of rag.md")
            )
    written: list[AnyChange] = []
    archived: list[AnyChange] = []
    entries: list[EntryChange] = []
    pages: list[Page] = []
    made: set[str] = set()
    for name, notes in sorted(by_page.items()):
        path = str(folder / name)
        before = view.current(path, follow=True)
        old, why = _old_text(before)
        if old is None:
            manual += [(node, f"{name} {why}") for node in notes]
            continue
        text, page = _merged(name, old if before else None, notes, rewrite)
        written += _folders(view, Path(path).parent, root, made)
        after = FileNode(NodeKind.FILE, text.encode(), before.mode if before else 0o644)
        written.append(Change(path, before, after))
        pages.append(page)
        for node in notes:
            outcome = statuses.archive(view, place, node.id, merged_into=name)
            archived += outcome.changes
            entries += outcome.entries
    changes = (*written, *archived)
    count = len(archived)
    if not changes:
        said = "There is nothing to merge" + (f"; {len(manual)} stay staged" if manual else "")
        return Merge(Outcome("noop", said), folder, (), tuple(manual))
    message = (
        f"{count} note{'' if count == 1 else 's'} merged into {len(pages)}"
        f" page{'' if len(pages) == 1 else 's'}"
    )
    return Merge(
        Outcome("ok", message, changes, entries=tuple(entries)),
        folder,
        tuple(pages),
        tuple(manual),
    )


def objections(old: str, new: str, notes: Sequence[str]) -> tuple[str, ...]:
    """Why a model's rewrite of a page is not proposed; nothing if it passes the gate."""
    found = []
    lines = set(_lines(new))
    lost = [line for line in _lines(old) if line.startswith("## ") and line not in lines]
    if lost:
        found.append(f"it loses the heading {lost[0]!r}")
    if not SHORTEST * len(old) <= 100 * len(new) <= LONGEST * len(old):
        found.append(f"its length is not {SHORTEST} to {LONGEST} % of the old page's")
    folded = f" {' '.join(new.lower().split())} "
    absent = sum(not _is_in(note, folded) for note in notes)
    if absent:
        found.append(f"{absent} of {len(notes)} notes are not in it with {RUN} words in a row")
    fences = _fences(new)
    if fences != _fences(old) or fences % 2:
        found.append("its code fences are not those of the old page")
    return tuple(found)


def appended(old: str | None, title: str, notes: Sequence[str]) -> str:
    """The page with the notes under the one heading, each once; made if it is absent."""
    if old is None:
        old = f"# {title}\n"
    ends = "\r\n" if "\r\n" in old else "\n"
    lines = old.replace("\r\n", "\n").rstrip("\n").split("\n")
    if HEADING not in lines:
        lines += ["", HEADING]
    start = lines.index(HEADING)
    end = next(
        (at for at in range(start + 1, len(lines)) if lines[at].startswith(("# ", "## "))),
        len(lines),
    )
    bullets = [f"- {' '.join(note.split())}" for note in notes]
    there = set(lines[start:end])
    new = [line for line in dict.fromkeys(bullets) if line not in there]
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    gap = [""] if new and end == start + 1 else []
    after = lines[end:]
    if after and after[0].strip() and new:
        after = ["", *after]
    return ends.join([*lines[:end], *gap, *new, *after]) + ends


def _merged(
    name: str, old: str | None, notes: Sequence[Node], rewrite: Rewrite | None
) -> tuple[str, Page]:
    texts = [node.document for node in notes]
    why: tuple[str, ...] = ()
    if old is not None and rewrite is not None:
        new = rewrite(old, texts)
        why = ("the model gave no text",) if new is None else objections(old, new, texts)
        if new is not None and not why:
            return new, Page(name, tuple(notes), rewritten=True)
    text = appended(old, Path(name).stem, texts)
    return text, Page(name, tuple(notes), why=why)


def _old_text(node: FileNode | None) -> tuple[str | None, str]:
    """The page's text (``""`` for none), or ``None`` and why it cannot be written."""
    if node is None:
        return "", ""
    if node.kind is not NodeKind.FILE:
        return None, "is no regular file"
    try:
        return node.data.decode(), ""
    except UnicodeDecodeError:
        return None, "is no UTF-8 text"


def _folders(view: View, folder: Path, root: Path, made: set[str]) -> list[AnyChange]:
    """The folders from the wiki root down that are not there yet."""
    missing: list[AnyChange] = []
    for each in (folder, *folder.parents):
        path = str(each)
        if view.kind(path) is not None or path in made:
            break
        missing.append(Change(path, None, FileNode(NodeKind.DIR, mode=0o755)))
        made.add(path)
        if each == root:
            break
    return missing[::-1]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]


def _is_in(note: str, folded: str) -> bool:
    """Whether a run of :data:`RUN` words of the note stands in the text; fewer never pass."""
    words = note.lower().split()
    return any(
        f" {' '.join(words[at : at + RUN])} " in folded for at in range(len(words) - RUN + 1)
    )


def _fences(text: str) -> int:
    return sum(line.lstrip().startswith("```") for line in _lines(text))
