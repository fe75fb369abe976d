"""Notes that wait for a person: vak writes notes at once, so those of other agents wait outside.

They lie in signoff's own folder, one record a note, shaped like those of a Hermes home. Approved,
a note is appended to the workspace's ``MEMORY.md`` (``USER.md`` for the profile) under the session
that proposed it (vak spec 7.3).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.clock import is_date
from core.homes.hermes.editing.drafts import Draft
from core.homes.hermes.editing.parts import Part
from core.homes.hermes.pending import Proposal, Unreadable
from core.homes.hermes.record_text import NotARecordError, parse_record, rewrite
from core.homes.hermes.staging import Prepared
from core.homes.vak.home import MEMORY, NOTES, PROFILE_FILE
from core.homes.vak.notes import planning
from core.model import NodeKind, Outcome
from core.text import one_line
from core.view import Source, View, join, name, sha256

SUBSYSTEM, REMEMBER = "memory", "remember"
WORKSPACE, PROFILE = "workspace", "profile"
NOTE = "note"
SUFFIX = ".json"
_FOLDER = "waiting"
_HASH = frozenset("0123456789abcdef")
_SUMMARY = 120


def root_of(state: Path, home: Path) -> Path:
    """The folder in signoff's own folder where the notes of a home wait; it need not be there."""
    named = sha256(os.fsencode(home))[:16]
    return Path(os.path.realpath(state)) / _FOLDER / named


def prepared(
    note: str, *, kind: str, tag: str, scope: str, project: str, session_id: str
) -> Prepared:
    """The record of a note; ``project`` is the hash of its workspace, ``""`` for the profile."""
    payload = {
        "action": REMEMBER,
        "target": "user" if scope == PROFILE else "memory",
        "scope": scope,
        "project": project,
        "kind": kind,
        "tag": tag,
        "session_id": session_id,
        "content": note,
    }
    return Prepared(SUBSYSTEM, payload, one_line(f"remember a {kind}: {note}", _SUMMARY))


def read(source: Source, root: str, ids: frozenset[str] | None) -> Iterator[Proposal | Unreadable]:
    """What waits in ``root``, in no order."""
    folder = join(root, SUBSYSTEM)
    try:
        names = source.names(folder)
    except (OSError, ValueError):
        return
    for each in names:
        stem = each.removesuffix(SUFFIX)
        if each.endswith(SUFFIX) and (ids is None or stem.startswith(tuple(ids))):
            entry = _read(source, join(folder, each), stem)
            if entry is not None:
                yield entry


def comes_back(source: Source, file: str, kind: NodeKind) -> bool:
    """Whether undo could bring back what stands there: a link, or a folder with nothing in it."""
    if kind is not NodeKind.DIR:
        return kind is NodeKind.LINK
    try:
        return not source.names(file)
    except (OSError, ValueError):
        return False


def is_note(proposal: Proposal) -> bool:
    """Whether a proposal of a vak home is a note, and no skill."""
    return proposal.subsystem == SUBSYSTEM


def plan(view: View, proposal: Proposal, now: datetime) -> Outcome:
    """What approving the note does; it is dated when it was proposed.

    Categories as :func:`core.homes.vak.notes.planning.add`, ``invalid_target``.
    """
    payload = proposal.payload
    file = _file(payload)
    if not file:
        return Outcome("invalid_target", "It names no workspace and is not for the profile.")
    at = proposal.created_at
    return planning.add(
        view,
        file,
        _text(payload, "content"),
        now=datetime.fromtimestamp(at, UTC) if is_date(at) else now,
        kind=_text(payload, "kind"),
        tag=_text(payload, "tag"),
        session_id=_text(payload, "session_id") or planning.BY_HAND,
    )


def parts(proposal: Proposal) -> tuple[Part, ...]:
    """What can be edited: the text of the note."""
    return (Part(NOTE, NOTE, _text(proposal.payload, "content"), multiline=True),)


def edited(proposal: Proposal, changes: Mapping[str, str]) -> Draft:
    """The record with another text."""
    unknown = [key for key in changes if key != NOTE]
    if unknown:
        return Draft("invalid", f"There is no part {unknown[0]}; it has {NOTE}.")
    before = _text(proposal.payload, "content")
    text = changes.get(NOTE, before)
    if text == before:
        return Draft("noop", "The text is the same; nothing was done.")
    return Draft("ok", "Edited: note.", rewrite(proposal.raw, {"content": text}))


def _file(payload: Mapping[str, Any]) -> str:
    if payload.get("scope") == PROFILE:
        return PROFILE_FILE
    project = _text(payload, "project")
    return join(MEMORY, project, NOTES) if len(project) == 16 and set(project) <= _HASH else ""


def _text(payload: Mapping[str, Any], key: str) -> str:
    value = payload.get(key)
    return value if isinstance(value, str) else ""


def _read(source: Source, file: str, stem: str) -> Proposal | Unreadable | None:
    try:
        node = source.node(file, data=True)
        if node is None:
            return None
        if node.kind is not NodeKind.FILE:
            by_hand = not comes_back(source, file, node.kind)
            return Unreadable(stem, file, SUBSYSTEM, "no file", by_hand)
        raw = parse_record(node.data)
    except NotARecordError as problem:
        return Unreadable(stem, file, SUBSYSTEM, str(problem))
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        return Unreadable(stem, file, SUBSYSTEM, reason.lower(), by_hand=True)
    # Loads pydantic, which no screen needs before its first frame.
    from core.homes.hermes.envelope import read_envelope

    envelope = read_envelope(raw)
    payload = envelope.payload
    return Proposal(
        id=stem,
        file=file,
        subsystem=SUBSYSTEM,
        action=_text(payload, "action") or REMEMBER,
        target=_text(payload, "target") or name(_file(payload)),
        summary=envelope.summary.strip() or one_line(_text(payload, "content"), _SUMMARY),
        origin=envelope.origin,
        created_at=envelope.created_at,
        payload=payload,
        raw=raw,
        sha256=sha256(node.data),
        mode=node.mode,
        name_ok=envelope.id == stem,
    )
