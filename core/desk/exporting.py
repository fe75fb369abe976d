"""Exports of past conversations: into files outside every home, whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from core.atomic import whole
from core.conversations import Conversations, Session
from core.desk.opening import Opened
from core.desk.past import past
from core.desk.rows import Rows, stored_rows
from core.errors import NotFoundError
from core.recall.export import Document, ExportError, Format, file_name, part
from core.recall.export_html import page
from core.recall.export_jsonl import session_line
from core.recall.export_markdown import markdown
from core.recall.redact import Redactor

MANIFEST = "manifest.jsonl"
#: Forms that are entered in the manifest, as the agent does.
_ENTERED = (Format.MD, Format.QMD)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export and how.

    ``chain`` joins the parts that compaction made of a conversation, ``all_rows`` adds what the
    agent does not see any more, ``redact`` hides secrets, ``force`` replaces files of that name.
    """

    names: tuple[str, ...]
    format: Format = Format.JSONL
    redact: bool = False
    chain: bool = False
    all_rows: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True)
class Exported:
    """One session in a file. ``sha256`` is of the file; ``lineage`` are the parts in it.

    ``redacted`` counts the secrets hidden in the file, by kind; ``stored`` all messages of its
    parts, those that the agent does not see any more among them.
    """

    session_id: str
    path: Path
    format: Format
    messages: int
    sha256: str
    lineage: tuple[str, ...]
    redacted: dict[str, int] = field(default_factory=dict)
    stored: int = 0

    @property
    def partly(self) -> bool:
        """Whether messages were left out that the agent does not see any more."""
        return self.stored > self.messages

    @property
    def count(self) -> str:
        """``17 messages``, or ``17 of 24 messages`` where only what the agent sees went out."""
        if self.partly:
            return f"{self.messages:,} of {self.stored:,} messages"
        return f"{self.messages:,} message{'' if self.messages == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class _Planned:
    """A session to export: its newest part and the ids of all parts in it."""

    session: Session
    ids: tuple[str, ...]


def export(opened: Opened, wanted: Wanted, folder: Path) -> tuple[Exported, ...]:
    """Export sessions into ``folder``, which is made if it is missing; files get mode 0600.

    One file a session; HTML of several is one page. Everything is looked up and every name checked
    before the first file is written. Markdown is entered in the folder's ``manifest.jsonl``.

    Raises :class:`NotFoundError` for an unknown session, :class:`ExportError` when the folder lies
    in the home, a file is there already, or writing fails, :class:`UnreadableError`.
    """
    place = _outside(opened, folder)
    conversations = past(opened)
    planned = _plan(conversations, wanted)
    together = wanted.format is Format.HTML and len(planned) > 1
    groups = [planned] if together else [[each] for each in planned]
    targets = [place / _name(group, wanted) for group in groups]
    if len(set(targets)) < len(targets):
        raise ExportError("Two of these sessions would share a file", "Export them one by one")
    if not wanted.force:
        for target in targets:
            if os.path.lexists(target):
                raise _exists(target)
    manifest = place / MANIFEST
    if wanted.format in _ENTERED and os.path.lexists(manifest) and not _is_file(manifest):
        raise _shared(manifest)
    _check_own(opened, [*targets, *([manifest] if wanted.format in _ENTERED else [])])
    done: list[Exported] = []
    try:
        place.mkdir(parents=True, exist_ok=True)
        for group, target in zip(groups, targets, strict=True):
            done += _export(opened, conversations, group, wanted, target)
    except FileExistsError as problem:
        raise _exists(Path(problem.filename2 or problem.filename or place)) from problem
    except OSError as problem:
        said = (problem.strerror or str(problem)).lower()
        kept = f"{len(done)} of {len(planned)} are complete; " if done else ""
        raise ExportError(
            f"The export cannot be written to {place}: {said}",
            f"{kept}make room there, or name another folder with --out",
        ) from problem
    return tuple(done)


def export_lines(
    opened: Opened, wanted: Wanted, stream: BinaryIO, *, ascii_only: bool
) -> dict[str, int]:
    """Write sessions as JSON lines to ``stream``; the secrets hidden, counted by kind.

    Raises as :func:`export`, and the ``OSError`` of the stream.
    """
    redactor = Redactor() if wanted.redact else None
    for planned in _plan(past(opened), wanted):
        for piece in _lines(opened, planned, wanted, redactor, _Count(), ascii_only):
            stream.write(piece)
    return dict(redactor.counts) if redactor else {}


class _Count:
    """Messages written so far."""

    def __init__(self) -> None:
        self.messages = 0


def _plan(conversations: Conversations, wanted: Wanted) -> list[_Planned]:
    """The sessions named, each once."""
    planned: dict[tuple[str, ...], _Planned] = {}
    for name in wanted.names:
        session = _session(conversations, conversations.resolve(name))
        ids: tuple[str, ...] = (session.id,)
        if wanted.chain and len(session.chain) > 1:
            ids = session.chain
            session = _session(conversations, ids[-1])
        planned.setdefault(ids, _Planned(session, ids))
    return list(planned.values())


def _session(conversations: Conversations, session_id: str) -> Session:
    found = conversations.session(session_id)
    if found is None:
        raise NotFoundError(f"There is no session {session_id!r}", "See `signoff sessions`")
    return found


def _name(group: Sequence[_Planned], wanted: Wanted) -> str:
    session = group[0].session
    named = Redactor().session(session) if wanted.redact else session
    if len(group) == 1:
        return file_name(named.id, named.title, wanted.format)
    ids = "\n".join(each.session.id for each in group)
    digest = hashlib.sha256(ids.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return file_name(named.id, f"and {len(group) - 1} more {digest}", wanted.format)


def _export(
    opened: Opened,
    conversations: Conversations,
    group: Sequence[_Planned],
    wanted: Wanted,
    target: Path,
) -> list[Exported]:
    """One file, and its line in the manifest."""
    redactor = Redactor() if wanted.redact else None
    at = opened.clock().timestamp()
    count = _Count()
    final = redactor.final if redactor else str
    if wanted.format is Format.JSONL:
        pieces = _lines(opened, group[0], wanted, redactor, count, ascii_only=False)
        counts = None
    else:
        documents = [_document(opened, conversations, each, wanted, redactor) for each in group]
        counts = [document.count for document in documents]
        if wanted.format is Format.HTML:
            pieces = page(documents, at, final)
        else:
            pieces = markdown(documents[0], wanted.format, at, final)
    digest = hashlib.sha256()
    with whole(target, over=wanted.force) as stream:
        for piece in pieces:
            digest.update(piece)
            stream.write(piece)
    redacted = dict(redactor.counts) if redactor else {}
    with stored_rows(opened) as rows:
        stored = [
            sum(rows.stored(each) for each in planned.ids) if not wanted.all_rows else 0
            for planned in group
        ]
    done = [
        Exported(
            planned.session.id,
            target,
            wanted.format,
            counts[number] if counts else count.messages,
            digest.hexdigest(),
            planned.ids,
            redacted,
            stored[number],
        )
        for number, planned in enumerate(group)
    ]
    if wanted.format in _ENTERED:
        _enter(target.parent / MANIFEST, done[0], at, final)
    return done


def _document(
    opened: Opened,
    conversations: Conversations,
    planned: _Planned,
    wanted: Wanted,
    redactor: Redactor | None,
) -> Document:
    session = redactor.session(planned.session) if redactor else planned.session
    hidden = redactor.text if redactor else str
    parts = tuple(
        replace(
            part(
                conversations,
                each,
                every=wanted.all_rows,
                hide=redactor.message if redactor else lambda message: message,
            ),
            session_id=hidden(each),
        )
        for each in planned.ids
    )
    with stored_rows(opened) as rows:
        provider = hidden(rows.provider(planned.session.id))
    return Document(session, parts, provider, labelled=wanted.all_rows)


def _lines(
    opened: Opened,
    planned: _Planned,
    wanted: Wanted,
    redactor: Redactor | None,
    count: _Count,
    ascii_only: bool,
) -> Iterator[bytes]:
    with stored_rows(opened) as rows:
        for session_id in planned.ids:
            columns = rows.columns(session_id)
            if columns is None:
                raise NotFoundError(f"Session {session_id} went meanwhile", "Export the others")
            messages = _rows(rows, session_id, wanted, redactor, count)
            yield from session_line(
                _hidden(columns, redactor),
                messages,
                ascii_only=ascii_only,
                final=redactor.final if redactor else str,
            )


def _rows(
    rows: Rows, session_id: str, wanted: Wanted, redactor: Redactor | None, count: _Count
) -> Iterator[dict[str, Any]]:
    for row in rows.messages(session_id, every=wanted.all_rows):
        count.messages += 1
        yield _hidden(row, redactor)


def _hidden(row: dict[str, Any], redactor: Redactor | None) -> dict[str, Any]:
    if redactor is None:
        return row
    return {name: redactor.value(value) for name, value in row.items()}


def _outside(opened: Opened, folder: Path) -> Path:
    """The real path of ``folder``. Raises :class:`ExportError` if it lies in a home."""
    try:
        place = Path(os.path.realpath(folder))
    except ValueError:
        raise ExportError("That is no name of a folder", "Name one with --out DIR") from None
    for home in (opened.found.home, opened.found.root):
        if place.is_relative_to(os.path.realpath(home)):
            raise ExportError(
                f"{place} lies in the agent's home, and nothing is exported into a home",
                "Name a folder elsewhere with --out DIR",
            )
    return place


def _is_file(path: Path) -> bool:
    return stat.S_ISREG(os.lstat(path).st_mode)


def _check_own(opened: Opened, paths: Sequence[Path]) -> None:
    """Raise :class:`ExportError` where one of ``paths`` is a second name of another file."""
    there: dict[tuple[int, int], Path] = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, ValueError):
            found = os.lstat(path)
            if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
                raise _shared(path)
            there[found.st_dev, found.st_ino] = path
    if not there:
        return
    # A file mounted at a second place counts one name only.
    for folder, _, names in os.walk(opened.found.root):
        for name in names:
            with contextlib.suppress(OSError):
                found = os.lstat(os.path.join(folder, name))
                if shared := there.get((found.st_dev, found.st_ino)):
                    raise _shared(shared)


def _shared(path: Path) -> ExportError:
    return ExportError(f"{path} is no file of its own", "Name another folder with --out")


def _exists(target: Path) -> ExportError:
    return ExportError(
        f"{target} is there already", "Name another folder with --out, or replace it with --force"
    )


def _enter(manifest: Path, exported: Exported, at: float, final: Callable[[str], str]) -> None:
    """Add a file's line to the manifest of its folder, in one write.

    Raises ``OSError``, :class:`ExportError` if the manifest is a second name of another file.
    """
    entry = {
        "session_id": exported.session_id,
        "lineage_session_ids": list(exported.lineage),
        "path": str(exported.path),
        "format": str(exported.format),
        "message_count": exported.messages,
        "sha256": exported.sha256,
        "exported_at": at,
    }
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    handle = os.open(manifest, flags, 0o600)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise _shared(manifest)
        size = found.st_size
        torn = size and os.pread(handle, 1, size - 1) != b"\n"
        line = final(json.dumps(entry, sort_keys=True)) + "\n"
        os.write(handle, (("\n" if torn else "") + line).encode())
    finally:
        os.close(handle)
