"""A search over a home as the agent makes it: every ledger read anew, and the notes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from core.homes.vak.home import (
    PROFILE_NOTES,
    ledger_files,
    note_files,
    project_of,
)
from core.homes.vak.ledgers import MESSAGE, Entry, Line, lines, open_ledger, parse
from core.homes.vak.listing import LedgerFile
from core.homes.vak.notes.grammar import parse as parse_notes
from core.homes.vak.recall.documents import MEMORY, PROFILE, Document, said
from core.homes.vak.recall.ranking import DEFAULT, Recalled, rank
from core.homes.vak.recall.scoring import Asked, Scorer
from core.homes.vak.times import nanoseconds
from core.view import Disk, View, name

#: Lines of a ledger that are searched: the last ones that are not blank.
WINDOW = 4_000
EVERYWHERE = "*"


@dataclass(frozen=True, slots=True)
class Request:
    """What to recall. ``workspace`` is a path, a hash or ``*``; ``exclude`` a session's id."""

    query: str
    workspace: str = EVERYWHERE
    limit: int = DEFAULT
    exclude: str | None = None
    scorer: Scorer = Scorer.CLASSIC
    curated: bool = True

    @property
    def is_everywhere(self) -> bool:
        """Whether all workspaces are searched."""
        return self.workspace == EVERYWHERE


def scan(home: Path, request: Request, now: datetime) -> Recalled:
    """The answer, from every line of every ledger; ``now`` is UTC."""
    asked = Asked(request.query)
    if not asked.terms:
        return Recalled()
    return rank(
        documents(home, request),
        asked,
        limit=request.limit,
        now=nanoseconds(now),
        scorer=request.scorer,
    )


def documents(home: Path, request: Request) -> Iterator[Document]:
    """Everything that is searched."""
    for file in searched(home, request):
        yield from messages(file, everywhere=request.is_everywhere)
    if request.curated:
        yield from notes(home, request)


def searched(home: Path, request: Request) -> list[LedgerFile]:
    """The ledgers that are searched: each session once, without the one that asks."""
    project = None if request.is_everywhere else project_of(home, request.workspace)
    found: dict[tuple[str, str], LedgerFile] = {}
    for file in ledger_files(home, project):
        if file.session_id != request.exclude:
            found.setdefault((file.project, file.session_id), file)
    return list(found.values())


def messages(file: LedgerFile, *, everywhere: bool) -> Iterator[Document]:
    """The messages in the window of a ledger; none of one that cannot be read."""
    try:
        with open_ledger(file.path) as stream:
            window: deque[Line] = deque(lines(stream), WINDOW)
    except OSError:
        return
    for line in window:
        document = document_of(line, file, everywhere=everywhere)
        if document is not None:
            yield document


def document_of(line: Line, file: LedgerFile, *, everywhere: bool) -> Document | None:
    """The message a line holds, if it is one that is searched."""
    entry = parse(line)
    if not isinstance(entry, Entry) or entry.kind != MESSAGE:
        return None
    text = said(entry)
    if not text:
        return None
    project = file.project if everywhere else ""
    return Document(
        file.session_id, entry.id, entry.at, entry.role, text, project, entry.line.number
    )


def notes(home: Path, request: Request) -> Iterator[Document]:
    """The notes that are searched, of the profile always."""
    project = None if request.is_everywhere else project_of(home, request.workspace)
    view = View(Disk(home), recording=False)
    for file in note_files(home, project):
        data = view.read(file).data
        try:
            text = (data or b"").decode("utf-8")
        except UnicodeDecodeError:
            continue
        role = PROFILE if name(file) == PROFILE_NOTES else MEMORY
        for block in parse_notes(text):
            heading = block.heading
            if heading is None or not block.is_note:
                continue
            mark = f"{heading.kind} {heading.tag}" if heading.tag else heading.kind
            yield Document(f"{role}/{block.id}", "", heading.at, role, f"[{mark}] {block.body}")
