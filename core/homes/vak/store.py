"""The past conversations of a vak home: one ledger is one session, workers lie under their parent.

A session's id is the stem of its file; where several files have the same, the later ones are
called by their workspace's folder as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from core.homes.vak import transcript
from core.homes.vak.home import LedgerFile, encrypted, ledger_files
from core.homes.vak.ledgers import Ledger
from core.homes.vak.summaries import Reader, Summary

#: Sources: a session of a person, one of a worker, one that needs a key.
SESSION, WORKER, ENCRYPTED = "vak", "worker", "encrypted"
NOT_READABLE = "encrypted ledger, not readable"
#: How a pasted link to a session begins: ``@session:profile/id``.
LINK = "@session:"
_NAMED = 3
_READER = Reader()


@dataclass(frozen=True)
class Past:
    """All ledgers of a home at one moment, by id; nothing of them is read until it is asked for."""

    files: Mapping[str, LedgerFile]
    sealed: Mapping[str, str]
    reader: Reader = _READER

    @cached_property
    def parents(self) -> dict[str, str]:
        """``id -> parent's id`` for workers whose parent is there."""
        found = {}
        for key, file in self.files.items():
            parent = self.reader.summary(file).parent_id
            if parent and parent != file.session_id:
                beside = f"{file.project}/{parent}"
                above = beside if beside in self.files else parent
                if above in self.files and above != key:
                    found[key] = above
        return found

    @cached_property
    def workspaces(self) -> dict[str, str]:
        """``project -> path`` as far as any of its ledgers says."""
        named = (
            (file.project, self.reader.summary(file).workspace) for file in self.files.values()
        )
        return {project: path for project, path in named if path}

    def root(self, key: str) -> str:
        """Where the family of a session begins."""
        seen = {key}
        while (above := self.parents.get(key)) and above not in seen:
            seen.add(above)
            key = above
        return key

    def sessions(self) -> Iterator[Session]:
        """Every session, workers and encrypted ones too."""
        for key in self.files:
            yield self.session(key)
        for key, project in self.sealed.items():
            yield Session(
                key,
                ENCRYPTED,
                NOT_READABLE,
                workspace=self.workspaces.get(project, project),
                root_id=key,
                chain=(key,),
                notes=(NOT_READABLE,),
            )

    def session(self, key: str) -> Session:
        """One ledger as a session."""
        file = self.files[key]
        found = self.reader.summary(file)
        parent = self.parents.get(key, "")
        return Session(
            key,
            WORKER if parent or found.parent_id else SESSION,
            started_at=found.started,
            last_active=found.active,
            messages=found.messages,
            tool_calls=found.tool_calls,
            model=found.model,
            workspace=found.workspace or self.workspaces.get(file.project, file.project),
            parent_id=parent or found.parent_id,
            root_id=self.root(key),
            relation=Relation.DELEGATE if parent else Relation.ROOT,
            chain=(key,),
            preview=found.preview,
            notes=tuple(_notes(found)),
        )


def look(home: Path) -> Past:
    """The ledgers of a home now."""
    files: dict[str, LedgerFile] = {}
    for file in ledger_files(home):
        names = [file.session_id, f"{file.project}/{file.session_id}", file.file]
        files[next(name for name in names if name not in files)] = file
    return Past(files, {name: project for project, name in encrypted(home) if name not in files})


class Ledgers:
    """:class:`core.conversations.Conversations` of one vak home; making it reads nothing."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def listing(self, wanted: Filters, limit: int) -> Listing:
        """At most ``limit`` sessions, newest activity first. Workers whose parent is there are
        counted as hidden, unless they are let in or their source is named."""
        shown: list[Session] = []
        by_source: Counter[str] = Counter()
        hidden = 0
        for session in look(self._home).sessions():
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
        sessions = tuple(shown[: max(0, limit)])
        return Listing(sessions, len(shown), dict(by_source.most_common()), hidden=hidden)

    def session(self, session_id: str) -> Session | None:
        """One session by its exact id."""
        past = look(self._home)
        if session_id in past.files:
            return past.session(session_id)
        return next((each for each in past.sessions() if each.id == session_id), None)

    def resolve(self, text: str) -> str:
        """The id that ``text`` names: exact, a unique beginning, or a pasted ``@session:…/id``.

        Raises :class:`NotFoundError` for none and for several.
        """
        past, named = look(self._home), text.strip()
        known = [*past.files, *past.sealed]
        if named.startswith(LINK):
            named = named.removeprefix(LINK).partition("/")[2] or named.removeprefix(LINK)
        if named in known:
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
        return transcript.outline(self._ledger(session_id))

    def messages(self, ids: Sequence[int], session_id: str, longest: int) -> tuple[Message, ...]:
        """These lines as messages, in order; texts are cut at ``longest`` characters."""
        return transcript.messages(self._ledger(session_id), frozenset(ids), session_id, longest)

    def family(self, session_id: str) -> tuple[Relative, ...]:
        """A session's root with all workers below it, depth first, the oldest first."""
        past = look(self._home)
        if session_id not in past.files:
            alone = self.session(session_id)
            return (Relative(alone, 0),) if alone else ()
        children: dict[str, list[str]] = {}
        for key, above in past.parents.items():
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
        past = look(self._home)
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

    def _ledger(self, session_id: str) -> Ledger:
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
