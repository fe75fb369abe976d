"""The tools on the knowledge store: notes an agent may keep by itself, and nothing of a home's.

A note is never deleted; withdrawing one is a line of the journal, and a person takes it back.
"""

from __future__ import annotations

import os
from pathlib import Path

from console.mcp.answers import Answer, of_json, refused, whole
from console.mcp.arguments import IngestCode, IngestWiki, Learn, Recall, Retire, Stats
from console.mcp.asking import Asker
from core.desk import knowledge as desk
from core.desk.knowledge import Shelf
from core.desk.opening import Opened
from core.errors import NotFoundError
from core.homes.rag import ingest
from core.homes.rag.projects import Entry, read_projects
from core.homes.rag.recall import Tops

_FIRST = "Call recall first and use the id it prints"


def recall(opened: Opened, call: Recall, by: Asker) -> Answer:
    """What the store has on a question, in the stated shape."""
    shelf = shelf_of(opened)
    tops = Tops(call.top_wiki, call.top_code, call.top_memory)
    project = _project(shelf, call.project)
    found = desk.recall(shelf, call.query, project, layer=call.layer, tops=tops)
    return Answer(whole(found.recalled.text))


def learn(opened: Opened, call: Learn, by: Asker) -> Answer:
    """Store a note: its id, and what else there is to know."""
    shelf = shelf_of(opened)
    project = _project(shelf, call.project)
    learnt, _ = desk.learn(
        shelf,
        call.text,
        project,
        kind=call.kind,
        supersedes=call.supersedes,
        client=by.caller.named,
    )
    told = whole(learnt.text)
    if kinds := desk.secrets(call.text):
        told += f" || it seems to hold a secret ({', '.join(kinds)}): retire it if it does"
    return Answer(told)


def retire(opened: Opened, call: Retire, by: Asker) -> Answer:
    """Withdraw a note; who did it stands in the journal."""
    shelf = shelf_of(opened)
    try:
        plan = desk.retire(shelf, _project(shelf, call.project), call.node_id, call.reason)
    except (NotFoundError, desk.AmbiguousError) as problem:
        more = f" {problem.hint}." if isinstance(problem, desk.AmbiguousError) else ""
        # An answer and no error, as the original has it.
        return Answer(whole(f"{problem.message}.{more} {_FIRST}."))
    receipt = desk.carry_out(shelf, plan, by.caller.words)
    return Answer(whole(receipt.message)) if receipt.ok else refused(receipt.message)


def stats(opened: Opened, call: Stats, by: Asker) -> Answer:
    """The counts of a project, under the original's names."""
    shelf = shelf_of(opened)
    found = desk.stats(shelf, _project(shelf, call.project))
    return of_json(
        {
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
    )


def ingest_code(opened: Opened, call: IngestCode, by: Asker) -> Answer:
    """Take the code below a folder in, if a person named it in the projects file."""
    shelf = shelf_of(opened)
    folder = _allowed(shelf, call.root)
    if folder is None:
        return _outside(shelf, call.root)
    name = _named(call.project, call.root, folder)
    done = ingest.ingest_code(
        shelf.own,
        folder,
        name,
        cap=shelf.rag.chunk_cap,
        skip_json=shelf.rag.skip_json,
        rebuild=call.rebuild,
        embed=desk.embed(shelf),
        tell=by.tell,
    )
    return Answer(whole(f"code layer [{name}]: {done.pieces} nodes from {done.files} files"))


def ingest_wiki(opened: Opened, call: IngestWiki, by: Asker) -> Answer:
    """Take the wiki pages below a folder in, if a person named it in the projects file."""
    shelf = shelf_of(opened)
    folder = _allowed(shelf, call.wiki_dir)
    if folder is None:
        return _outside(shelf, call.wiki_dir)
    name = _named(call.project, call.wiki_dir, folder)
    make = desk.embed(shelf)
    done = ingest.ingest_wiki(shelf.own, folder, name, embed=make, tell=by.tell)
    return Answer(whole(f"wiki layer [{name}]: {done.pieces} nodes"))


def shelf_of(opened: Opened) -> Shelf:
    """The store that goes with a home, or the one that is served alone."""
    if isinstance(opened, Shelf):
        return opened
    return desk.open_store(
        store=None,
        environ=opened.environ,
        user_home=Path(os.path.expanduser("~")),
        state=opened.state,
        settings=opened.settings,
        clock=opened.clock,
    )


def _project(shelf: Shelf, name: str) -> str:
    return desk.project_of_folder(shelf, name, Path.cwd())


def _allowed(shelf: Shelf, written: str) -> Path | None:
    """The folder meant, links resolved, if it lies below a path of the projects file."""
    try:
        path = Path.cwd() / os.path.expanduser(written)
        folder = Path(os.path.realpath(path))
    except (OSError, ValueError):
        return None
    inside = any(folder.is_relative_to(os.path.realpath(each.path)) for each in _entries(shelf))
    return folder if inside and folder.is_dir() else None


def _named(project: str, written: str, folder: Path) -> str:
    """The project meant; without one it is the folder's name, as it was written."""
    return project.strip() or os.path.basename(written.rstrip("/")) or folder.name


def _entries(shelf: Shelf) -> tuple[Entry, ...]:
    return read_projects(shelf.rag.projects_file, shelf.user_home)


def _outside(shelf: Shelf, written: str) -> Answer:
    return refused(
        f"{written} is no folder below a path of {shelf.rag.projects_file}; nothing was changed,"
        " a person has to name it there."
    )
