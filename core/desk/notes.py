"""Notes of a vak home: listed, added, amended, forgotten; and what its agent left over.

Each change is a plan to look at, then carried out. vak writes notes at once, so this review comes
after the fact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.commit import commit
from core.desk.opening import Opened
from core.errors import NotFoundError, UsageError
from core.homes.vak import clean as cleaning
from core.homes.vak.clean import Leftovers
from core.homes.vak.fnv import workspace_hash
from core.homes.vak.home import (
    MEMORY,
    NOTES,
    PROFILE_FILE,
    PROFILE_NOTES,
    note_files,
    project_of,
    shut,
    workspace_path,
    workspaces,
)
from core.homes.vak.notes import planning
from core.homes.vak.notes.grammar import Block, hides_first, parse
from core.homes.vak.recall.search import EVERYWHERE
from core.homes.vak.times import seconds, written
from core.model import Finding, Outcome, Receipt
from core.plan import Plan, bind
from core.view import View, join, name, parent

WORKSPACE, PROFILE = "workspace", "profile"
KINDS = planning.KINDS
_TIERS = {"memory": WORKSPACE, "profile": PROFILE}
_SEE = "`signoff notes` lists them"
_HIDDEN = "a byte order mark stands before its first heading, so that note is none to the agent"
#: Times a note is added anew where others write to its file all the while.
_TRIES = 50
_NEXT = {
    "remember": "The agent finds it from its next search on.",
    "amend": "The agent finds it from its next search on.",
    "forget": "The agent does not find it any more.",
}


@dataclass(frozen=True, slots=True)
class Note:
    """One note. ``ts`` is RFC 3339 in UTC, ``at`` seconds since 1970; ``path`` its file.

    ``workspace`` is the workspace's path, or its hash where no ledger names it.
    """

    id: str
    ts: str
    at: float
    kind: str
    tag: str
    session_id: str
    text: str
    scope: str
    path: str
    workspace: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Notes in the order of their files; ``unreadable`` are files with the reason, ``remarks``
    what else is odd about files that can be read."""

    notes: tuple[Note, ...]
    unreadable: tuple[tuple[str, str], ...]
    remarks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Store:
    """A file of notes, which need not exist; ``workspace`` as in :class:`Note`."""

    path: str
    workspace: str


def stores(opened: Opened) -> tuple[Store, ...]:
    """Every file notes are in or could be added to: those of known workspaces, the profile's."""
    home = opened.found.home
    files = dict.fromkeys(note_files(home))
    files |= {join(MEMORY, each.project, NOTES): None for each in workspaces(home)}
    files |= {PROFILE_FILE: None}
    return tuple(Store(file, _workspace(opened, file)) for file in files)


def listing(opened: Opened, workspace: str = EVERYWHERE) -> Listing:
    """The notes of a workspace (a path, a hash) or of all, and those of the profile."""
    home = opened.found.home
    project = None if workspace == EVERYWHERE else project_of(home, workspace)
    view = View(opened.source)
    notes: list[Note] = []
    unreadable = shut(home, MEMORY)
    remarks: list[tuple[str, str]] = []
    for file in note_files(home, project):
        reading = view.read(file)
        try:
            text = (reading.data or b"").decode("utf-8")
        except UnicodeDecodeError:
            unreadable.append((file, "it is no UTF-8 text, so its notes are not known"))
            continue
        if reading.reason:
            unreadable.append((file, reading.reason))
        if hides_first(text):
            remarks.append((file, _HIDDEN))
        blocks = [block for block in parse(text) if block.is_note]
        named = _workspace(opened, file)
        notes += [
            _note(block, file, named, [other for other in blocks if other is not block])
            for block in blocks
        ]
    return Listing(tuple(notes), tuple(unreadable), tuple(remarks))


def add(
    opened: Opened,
    text: str,
    *,
    kind: str = "fact",
    tag: str = "",
    scope: str = WORKSPACE,
    workspace: str | None = None,
) -> Plan:
    """A new note. Raises :class:`UsageError` where it is not clear in which workspace."""
    file = PROFILE_FILE if scope == PROFILE else _file_of(opened, workspace)
    return add_to(opened, file, text, kind=kind, tag=tag)


def add_to(opened: Opened, file: str, text: str, *, kind: str = "fact", tag: str = "") -> Plan:
    """A new note in the very file that a listing showed."""
    now = opened.clock()
    return _plan(
        opened,
        "remember",
        name(file) if file == PROFILE_FILE else file,
        lambda view: planning.add(view, file, text, now=now, kind=kind, tag=tag),
    )


def amend(opened: Opened, note_id: str, text: str, workspace: str | None = None) -> Plan:
    """Another text for a note. Raises :class:`NotFoundError`, :class:`UsageError`."""
    return amend_in(opened, *find(opened, note_id, workspace), text)


def amend_in(opened: Opened, file: str, key: str, text: str) -> Plan:
    """Another text for the note ``key`` of the very file that a listing showed."""
    return _plan(opened, "amend", key, lambda view: planning.amend(view, file, key, text))


def forget(opened: Opened, note_id: str, workspace: str | None = None) -> Plan:
    """A note taken out. Raises :class:`NotFoundError`, :class:`UsageError`."""
    return forget_in(opened, *find(opened, note_id, workspace))


def forget_in(opened: Opened, file: str, key: str) -> Plan:
    """The note ``key`` taken out of the very file that a listing showed."""
    return _plan(opened, "forget", key, lambda view: planning.forget(view, file, key))


def find(opened: Opened, named: str, workspace: str | None = None) -> tuple[str, str]:
    """The file and id of the note that ``named`` names: an id or a unique beginning of one, with
    ``memory/`` or ``profile/`` before it if one likes.

    Raises :class:`NotFoundError`, and :class:`UsageError` for one that several are called.
    """
    head, slash, tail = named.partition("/")
    scope = _TIERS.get(head) if slash else None
    wanted = (tail if scope else named).strip().lower()
    notes = listing(opened, workspace or EVERYWHERE).notes
    found = [note for note in notes if scope in (None, note.scope) and note.id == wanted]
    if not found and wanted:
        found = [
            note for note in notes if scope in (None, note.scope) and note.id.startswith(wanted)
        ]
    places = dict.fromkeys((note.path, note.id) for note in found)
    if not places:
        raise NotFoundError(f"There is no note {named}", _SEE)
    if len(places) > 1:
        listed = ", ".join(f"{key} in {file}" for file, key in places)
        raise UsageError(f"{named} may be {listed}", "Name more of the id, or the --workspace")
    return next(iter(places))


def clean(opened: Opened) -> tuple[Leftovers, Plan]:
    """What the agent left over, and the plan that removes it."""
    view = View(opened.source)
    found, outcome = cleaning.plan(view, opened.clock())
    return found, bind(view, "clean", MEMORY, outcome)


def carry_out(
    opened: Opened, plan: Plan, note: str = "", *, again: Callable[[], Plan] | None = None
) -> Receipt:
    """Commit a plan of this module as it was shown, or nothing of it.

    ``again`` plans it anew, for a change that rests on nothing anybody was shown: a note that is
    added takes its place behind what others added meanwhile. Raises :class:`StateError` when the
    journal cannot be used.
    """
    for left in reversed(range(_TRIES)):
        outcome = plan.outcome
        if not outcome.lands or not plan.changes:
            return Receipt(plan.subject, outcome.lands, outcome.category, outcome.message)
        opened.check_state()
        receipt = commit(plan, opened.ground(), opened.journal, now=opened.clock(), note=note)
        if receipt.category != "moved" or again is None or not left:
            break
        plan = again()
    said = _NEXT.get(plan.verb, "") if receipt.ok else ""
    return replace(receipt, next=said, findings=outcome.findings)


def _plan(opened: Opened, verb: str, subject: str, work: Callable[[View], Outcome]) -> Plan:
    view = View(opened.source)
    return bind(view, verb, subject, work(view))


def _file_of(opened: Opened, workspace: str | None) -> str:
    home = opened.found.home
    if workspace == EVERYWHERE:
        raise UsageError("A note belongs to one workspace", "Name its path with --workspace")
    if workspace:
        return join(MEMORY, project_of(home, workspace), NOTES)
    known = {each.project for each in workspaces(home)}
    here = workspace_hash(opened.environ.get("PWD", ""))
    project = here if here in known else next(iter(known)) if len(known) == 1 else ""
    if not project:
        raise UsageError(
            "It is not clear which workspace is meant",
            "Name its path with --workspace, or say --scope profile",
        )
    return join(MEMORY, project, NOTES)


def _workspace(opened: Opened, file: str) -> str:
    if name(file) == PROFILE_NOTES:
        return ""
    project = name(parent(file))
    return workspace_path(opened.found.home, project) or project


def _note(block: Block, file: str, workspace: str, others: list[Block]) -> Note:
    heading = block.heading
    assert heading is not None
    return Note(
        block.id,
        written(heading.at),
        seconds(heading.at),
        heading.kind,
        heading.tag,
        heading.session_id,
        block.body,
        PROFILE if name(file) == PROFILE_NOTES else WORKSPACE,
        file,
        workspace,
        planning.about(block, others, file),
    )
