"""The past conversations of a vak home: one ledger is one session, workers lie under their parent.

A session's id is the stem of its file; where several files have the same, the later ones are
called by their workspace's folder as well.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.conversations import (
    Filters,
    Listing,
    Mark,
    Message,
    Relation,
    Relative,
    Session,
    Totals,
)
from core.errors import NotFoundError, UnreadableError
from core.homes.vak import noted, transcript
from core.homes.vak.home import ledger_files, ledger_folders
from core.homes.vak.index.teaching import teach_all
from core.homes.vak.ledgers import Ledger
from core.homes.vak.listing import Folder, LedgerFile
from core.homes.vak.summaries import Reader, Summary, source_of

#: The source of a session that needs a key.
ENCRYPTED = "encrypted"
NOT_READABLE = "encrypted ledger, not readable"
#: How a pasted link to a session begins: ``@session:profile/id``.
LINK = "@session:"
_NAMED = 3
_READER = Reader()
#: Seconds that a look at all ledgers serves searches.
LATELY = 0.5
_GUARD = threading.Lock()
_LATELY: dict[Path, tuple[float, Past]] = {}
_LOOKED: dict[Path, tuple[list[Folder], Past]] = {}


@dataclass
class Past:
    """All ledgers of a home at one moment, by id; nothing of them is read until it is asked for.

    ``divided`` is what an index once made of it: its state, the ids it holds, and the others.
    """

    files: Mapping[str, LedgerFile]
    sealed: Mapping[str, str]
    reader: Reader = field(default_factory=lambda: _READER)
    divided: tuple[str, dict[int, str], list[str]] | None = None

    def parent(self, key: str) -> str:
        """The parent of a worker if it is there, ``""`` for none."""
        file = self.files[key]
        parent = self.reader.summary(file).parent_id
        if not parent or parent == file.session_id:
            return ""
        beside = f"{file.project}/{parent}"
        above = beside if beside in self.files else parent
        return above if above in self.files and above != key else ""

    def root(self, key: str) -> str:
        """Where the family of a session begins."""
        seen = {key}
        while (above := self.parent(key)) and above not in seen:
            seen.add(above)
            key = above
        return key

    def sessions(self) -> Iterator[Session]:
        """Every session without its preview, workers and encrypted ones too."""
        for key in self.files:
            yield self.session(key, preview=False)
        for key, project in self.sealed.items():
            yield Session(
                key,
                ENCRYPTED,
                NOT_READABLE,
                workspace=self._workspace(project),
                root_id=key,
                chain=(key,),
                notes=(NOT_READABLE,),
            )

    def _workspace(self, project: str) -> str:
        """What any ledger of a workspace calls it, else its hash."""
        files = (file for file in self.files.values() if file.project == project)
        named = (self.reader.summary(file).workspace for file in files)
        return next(filter(None, named), project)

    def session(self, key: str, *, preview: bool = True) -> Session:
        """One ledger as a session; a list reads no ``preview`` of what it does not show."""
        file = self.files[key]
        found = self.reader.summary(file)
        parent = self.parent(key)
        return Session(
            key,
            source_of(found),
            started_at=found.started,
            last_active=found.active,
            messages=found.messages,
            tool_calls=found.tool_calls,
            model=found.model,
            workspace=found.workspace or self._workspace(file.project),
            parent_id=parent or found.parent_id,
            root_id=self.root(key),
            relation=Relation.DELEGATE if parent else Relation.ROOT,
            chain=(key,),
            preview=self.reader.preview(file) if preview else "",
            notes=tuple(_notes(found)),
        )


def look(home: Path) -> Past:
    """The ledgers of a home now; the same object as before where nothing changed."""
    folders = ledger_folders(home)
    known = _LOOKED.get(home)
    if known is not None and known[0] == folders:
        return known[1]
    files: dict[str, LedgerFile] = {}
    sealed: dict[str, str] = {}
    for folder in folders:
        for file in folder.files:
            name = file.session_id
            if name in files:
                beside = f"{file.project}/{name}"
                name = beside if beside not in files else file.file
            files[name] = file
        sealed |= dict.fromkeys(folder.encrypted, folder.project)
    past = Past(files, {key: project for key, project in sealed.items() if key not in files})
    _LOOKED[home] = folders, past
    return past


def lately(home: Path) -> Past:
    """The ledgers of a home as they were at most :data:`LATELY` seconds ago: for searches while
    one types, which come faster than thousands of files can be looked at."""
    with _GUARD:
        known = _LATELY.get(home)
        if known is None or time.monotonic() - known[0] > LATELY:
            _LATELY[home] = known = time.monotonic(), look(home)
        return known[1]


class Ledgers:
    """:class:`core.conversations.Conversations` of one vak home; making it reads nothing.

    A note is found under the id that recall gives it, as a conversation of one message.
    ``index`` is the folder of its index, which saves reading every ledger for a list.
    """

    def __init__(self, home: Path, index: Path | None = None) -> None:
        self._home = home
        self._index = index

    def listing(self, wanted: Filters, limit: int) -> Listing:
        """At most ``limit`` sessions, newest activity first. Workers whose parent is there are
        counted as hidden, unless they are let in or their source is named."""
        shown: list[Session] = []
        by_source: Counter[str] = Counter()
        hidden = 0
        past = self._look()
        for session in past.sessions():
            if not _passes(session, wanted):
                continue
            nested = session.relation is Relation.DELEGATE
            if not nested or wanted.with_hidden or session.source in wanted.sources:
                by_source[session.source] += 1
            if wanted.sources and session.source not in wanted.sources:
                continue
            if nested and not wanted.with_hidden and not wanted.sources:
                hidden += 1
                continue
            shown.append(session)
        shown.sort(key=lambda session: (-(session.last_active or 0.0), session.id))
        sessions = tuple(
            past.session(each.id) if each.id in past.files else each
            for each in shown[: max(0, limit)]
        )
        return Listing(sessions, len(shown), dict(by_source.most_common()), hidden=hidden)

    def session(self, session_id: str) -> Session | None:
        """One session by its exact id."""
        past = self._look()
        if session_id in past.files:
            return past.session(session_id)
        if note := noted.find(self._home, session_id):
            return noted.session(note)
        return next((each for each in past.sessions() if each.id == session_id), None)

    def resolve(self, text: str) -> str:
        """The id that ``text`` names: exact, a unique beginning, or a pasted ``@session:…/id``.

        Raises :class:`NotFoundError` for none and for several.
        """
        past, named = look(self._home), text.strip()
        known = [*past.files, *past.sealed]
        if named.startswith(LINK):
            named = named.removeprefix(LINK).partition("/")[2] or named.removeprefix(LINK)
        if named in known or noted.find(self._home, named):
            return named
        found = [key for key in known if named and key.startswith(named)]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFoundError(f"There is no session {text!r}", "`signoff sessions` lists them")
        examples = ", ".join(found[:_NAMED])
        more = "" if len(found) <= _NAMED else " and more"
        raise NotFoundError(f"Several sessions begin with {named!r}", f"They are {examples}{more}")

    def outline(self, session_id: str) -> tuple[Mark, ...]:
        """Every line of the ledger that is not blank, in order; its id is the line's number."""
        if note := noted.find(self._home, session_id):
            return (noted.mark(note),)
        return transcript.outline(self.ledger(session_id))

    def messages(self, ids: Sequence[int], session_id: str, longest: int) -> tuple[Message, ...]:
        """These lines as messages, in order; texts are cut at ``longest`` characters."""
        if note := noted.find(self._home, session_id):
            return (noted.message(note, longest),) if noted.MESSAGE_ID in ids else ()
        return transcript.messages(self.ledger(session_id), frozenset(ids), session_id, longest)

    def family(self, session_id: str) -> tuple[Relative, ...]:
        """A session's root with all workers below it, depth first, the oldest first."""
        past = self._look()
        if session_id not in past.files:
            alone = self.session(session_id)
            return (Relative(alone, 0),) if alone else ()
        children: dict[str, list[str]] = {}
        for key in past.files:
            if above := past.parent(key):
                children.setdefault(above, []).append(key)
        members: list[Relative] = []
        waiting, seen = [(past.root(session_id), 0)], set[str]()
        while waiting:
            key, depth = waiting.pop()
            if key in seen:
                continue
            seen.add(key)
            members.append(Relative(past.session(key), depth))
            below = sorted(
                children.get(key, ()), key=lambda each: past.session(each).started_at or 0.0
            )
            waiting += [(each, depth + 1) for each in reversed(below)]
        return tuple(members)

    def totals(self) -> Totals:
        """Counts of all ledgers, encrypted ones among the sessions; the bytes of the readable."""
        past = self._look()
        sessions = list(past.sessions())
        return Totals(
            len(sessions),
            0,
            sum(each.messages for each in sessions),
            dict(Counter(each.source for each in sessions).most_common()),
            sum(file.size for file in past.files.values()),
        )

    def version(self) -> object:
        """Differs after any change of a ledger."""
        return tuple(file.identity for file in ledger_files(self._home))

    def _look(self) -> Past:
        past = look(self._home)
        if self._index is not None:
            teach_all(past.reader, self._index, past.files.values())
        return past

    def ledger(self, session_id: str) -> Ledger:
        """The whole ledger of a session. Raises :class:`NotFoundError`, :class:`UnreadableError`
        also for one that is encrypted."""
        past = look(self._home)
        if session_id in past.sealed:
            raise UnreadableError(
                f"{session_id} is an encrypted ledger", "Only the agent has the key to it"
            )
        if session_id not in past.files:
            raise NotFoundError(
                f"There is no session {session_id!r}", "`signoff sessions` lists them"
            )
        file = past.files[session_id]
        try:
            return past.reader.ledger(file)
        except OSError as problem:
            reason = (problem.strerror or str(problem)).lower()
            raise UnreadableError(
                f"{file.file} cannot be read: {reason}", "Give yourself the permission"
            ) from problem


def _notes(found: Summary) -> Iterator[str]:
    if found.problem:
        yield f"cannot be read: {found.problem}"
    if found.skipped:
        word = "line" if found.skipped == 1 else "lines"
        yield f"{found.skipped} {word} cannot be read"


def _passes(session: Session, wanted: Filters) -> bool:
    if wanted.session_id and session.id != wanted.session_id:
        return False
    active, started = session.last_active, session.started_at
    if wanted.after is not None and (active is None or active < wanted.after):
        return False
    if wanted.before is not None and (started is None or started >= wanted.before):
        return False
    if wanted.title and wanted.title.casefold() not in session.title.casefold():
        return False
    return wanted.workspace.casefold() in session.workspace.casefold()
