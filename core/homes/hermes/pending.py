"""The queue: what waits in ``pending/memory`` and ``pending/skills``, read without trusting it.

A record *is* its file name: the id inside the JSON is data (hermes-agent 0.19.0 joins it to a path
when it deletes, which we never do). Every entry of a pending folder whose name ends in exactly
``.json`` is a proposal or unreadable; nothing else is (contract, "Ids").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import NotFoundError, UsageError
from core.homes.hermes.record_text import NotARecordError, parse_record
from core.model import NodeKind
from core.view import Source, View, join, sha256

SUBSYSTEMS = ("memory", "skills")
SUFFIX = ".json"
#: Code points of a summary made from the payload, as the agent cuts its own.
SUMMARY_LENGTH = 120
#: Ids named when a beginning fits several.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Proposal:
    """One pending record. ``id`` is the file's stem, ``file`` its path in the home.

    ``raw`` is the whole object (for rewrites), ``payload`` its payload or ``{}``;
    ``payload_problem`` says why it is empty when the record holds something else there.
    ``action``, ``target``, ``summary`` and ``origin`` are text to show, whatever types stand in
    the file. ``created_at`` is finite seconds or ``None``. ``name_ok``: the id inside equals the
    file's, so the agent would delete this file after applying it. ``sha256`` and ``mode`` are
    those of the bytes read.
    """

    id: str
    file: str
    subsystem: str
    action: str
    target: str
    summary: str
    origin: str
    created_at: float | None
    payload: Mapping[str, Any]
    raw: Mapping[str, Any]
    sha256: str
    mode: int
    name_ok: bool
    payload_problem: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A pending entry that is no record. ``reason`` in plain words.

    ``by_hand``: what cannot be read whole could not be brought back by undo, nor could a folder
    with something in it, so no rejection removes it.
    """

    id: str
    file: str
    subsystem: str
    reason: str
    by_hand: bool = False

    @property
    def way_out(self) -> str:
        """What can be done about it, in a few words."""
        return f"remove {self.file} by hand" if self.by_hand else "it can only be refused"

    @property
    def hint(self) -> str:
        """The same for a person at a prompt."""
        if self.by_hand:
            return "Remove it by hand: it could not be brought back"
        return f"It can only be refused: `signoff reject {self.id}`"


@dataclass(frozen=True, slots=True)
class Queue:
    """Proposals oldest first, unreadable entries by file, and folders that could not be listed.

    ``broken`` holds ``(folder, reason)``: what lies in such a folder is unknown, not "nothing".
    """

    proposals: tuple[Proposal, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()


def read_queue(
    reads: View | Source,
    subsystem: str | None = None,
    *,
    ids: frozenset[str] | None = None,
    known: Mapping[str, Proposal] | None = None,
) -> Queue:
    """Everything that waits, of one subsystem or both; with ``ids`` only what is called so, or
    begins so.

    ``known`` (``file -> proposal``) saves the parsing of records whose bytes are still the same.
    Nothing is recorded: a queue is a listing, and what a plan is based on is read again by its
    planner. Links are not followed, pipes and devices never opened, files past the reading limit
    (``core.disk.MAX_BYTES``) are unreadable; a file that vanishes meanwhile is left out.
    """
    source = reads.source if isinstance(reads, View) else reads
    entries: list[Proposal | Unreadable] = []
    broken: list[tuple[str, str]] = []
    for folder_of in SUBSYSTEMS if subsystem is None else (subsystem,):
        folder = f"pending/{folder_of}"
        try:
            names = source.names(folder)
        except FileNotFoundError:
            if _dangles(source, "pending") or _dangles(source, folder):
                broken.append((folder, "a link to nothing"))
            continue
        except (OSError, ValueError) as problem:
            broken.append((folder, _reason(problem)))
            continue
        for name in names:
            stem = name.removesuffix(SUFFIX)
            if stem != name and (ids is None or stem.startswith(tuple(ids))):
                file = join(folder, name)
                entry = _read(source, folder_of, file, known.get(file) if known else None)
                if entry is not None:
                    entries.append(entry)
    proposals = [entry for entry in entries if isinstance(entry, Proposal)]
    unreadable = [entry for entry in entries if isinstance(entry, Unreadable)]
    proposals.sort(key=_age)
    unreadable.sort(key=lambda entry: (entry.id, entry.subsystem))
    return Queue(tuple(proposals), tuple(unreadable), tuple(broken))


def _dangles(source: Source, path: str) -> bool:
    """Whether a link stands at ``path`` that leads nowhere: what it should lead to is unknown."""
    try:
        node = source.node(path, data=False)
        if node is not None and node.kind is NodeKind.LINK:
            source.names(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def find(queue: Queue, token: str) -> Proposal | Unreadable:
    """The entry a person named: ``ID``, ``memory/ID`` or ``skills/ID``, or how only one begins.

    The token is compared with what was listed and never becomes a path. A whole id beats the
    beginning of another. Raises :class:`NotFoundError` for an unknown id, :class:`UsageError` for
    one both subsystems have and for a beginning that several share.
    """
    head, wanted = _split(token)
    entries: tuple[Proposal | Unreadable, ...] = (*queue.proposals, *queue.unreadable)
    meant = [
        entry
        for entry in entries
        if wanted and entry.id.startswith(wanted) and head in ("", entry.subsystem)
    ]
    found = [entry for entry in meant if entry.id == wanted]
    if not found and len(meant) == 1:
        return meant[0]
    if not found and meant:
        raise UsageError(f"Several ids begin with {token}", f"Say one of {_listed(meant)}")
    if not found:
        raise NotFoundError(f"Nothing pending is called {token}", "`signoff pending` lists the ids")
    if len(found) > 1:
        raise UsageError(
            f"{token} waits in memory and in skills", f"Say memory/{token} or skills/{token}"
        )
    return found[0]


def _listed(entries: Sequence[Proposal | Unreadable]) -> str:
    """The ids of ``entries`` as one may say them; more than a few are only counted."""
    ids = Counter(entry.id for entry in entries)
    names = sorted(
        f"{entry.subsystem}/{entry.id}" if ids[entry.id] > 1 else entry.id for entry in entries
    )
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def ids_of(tokens: Iterable[str]) -> frozenset[str]:
    """How the ids begin that ``tokens`` may name: what :func:`find` needs of a queue."""
    return frozenset(_split(token)[1] for token in tokens)


def _split(token: str) -> tuple[str, str]:
    """The subsystem a token names, ``""`` for none, and the id."""
    head, slash, tail = token.partition("/")
    return (head, tail) if slash and head in SUBSYSTEMS else ("", token)


def _read(
    source: Source, subsystem: str, file: str, known: Proposal | None
) -> Proposal | Unreadable | None:
    stem = file.rpartition("/")[2].removesuffix(SUFFIX)
    try:
        node = source.node(file, data=True)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as problem:
        return Unreadable(stem, file, subsystem, _reason(problem), by_hand=True)
    if node is None:
        return None
    if node.kind is not NodeKind.FILE:
        by_hand = not _is_removable(source, file, node.kind)
        return Unreadable(stem, file, subsystem, _NOT_A_FILE[node.kind], by_hand)
    digest = sha256(node.data)
    if known is not None and (known.sha256, known.mode) == (digest, node.mode):
        return known
    try:
        raw = parse_record(node.data)
    except NotARecordError as problem:
        return Unreadable(stem, file, subsystem, str(problem))
    return _proposal(raw, stem, file, subsystem, digest, node.mode)


def _is_removable(source: Source, path: str, kind: NodeKind) -> bool:
    """Whether undo could bring back what stands there: a link, or a folder with nothing in it."""
    if kind is not NodeKind.DIR:
        return kind is NodeKind.LINK
    try:
        return not source.names(path)
    except (OSError, ValueError):
        return False


_NOT_A_FILE = {
    NodeKind.DIR: "a folder",
    NodeKind.LINK: "a link, which is not followed",
    NodeKind.OTHER: "a pipe, socket or device",
}


def _proposal(
    raw: dict[str, Any], stem: str, file: str, subsystem: str, digest: str, mode: int
) -> Proposal:
    # Loads pydantic, which no screen needs before its first frame.
    from core.homes.hermes.envelope import read_envelope

    envelope = read_envelope(raw)
    payload = envelope.payload
    action = text_of(payload["action"]) if "action" in payload else envelope.action
    target = _target(subsystem, payload)
    inside = raw.get("payload")
    problem = "" if isinstance(inside, dict) else f"payload is {_name_of(inside, 'payload' in raw)}"
    return Proposal(
        id=stem,
        file=file,
        subsystem=subsystem,
        action=action,
        target=target,
        summary=envelope.summary.strip() or _summary(subsystem, action, target, payload),
        origin=envelope.origin,
        created_at=envelope.created_at,
        payload=payload,
        raw=raw,
        sha256=digest,
        mode=mode,
        name_ok=envelope.id == stem,
        payload_problem=problem,
    )


def text_of(value: object) -> str:
    """A value as text to show, whatever its type: text as it is, nothing for ``null``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return "" if value is None else _name_of(value, present=True)


def _target(subsystem: str, payload: Mapping[str, Any]) -> str:
    if subsystem == "skills":
        return text_of(payload.get("name"))
    return text_of(payload["target"]) if "target" in payload else "memory"


def _summary(subsystem: str, action: str, target: str, payload: Mapping[str, Any]) -> str:
    if not payload:
        return "no summary and no payload"
    operations = payload.get("operations")
    if isinstance(operations, list):
        return f"{action or 'batch'} of {len(operations)} operations on {target or 'skills'}"
    if subsystem == "skills":
        file = _first_line(payload.get("file_path"))
        return f"{action or 'no action'} {target} {file}".strip()
    detail = _first_line(payload.get("content")) or _first_line(payload.get("new_text"))
    old = _first_line(payload.get("old_text"))
    both = " -> ".join(part for part in (old, detail) if part)
    return f"{action or 'no action'} in {target}: {both}" if both else f"{action} in {target}"


def _first_line(value: object) -> str:
    lines = text_of(value).strip().splitlines()
    return lines[0][:SUMMARY_LENGTH] if lines else ""


def _name_of(value: object, present: bool) -> str:
    if not present:
        return "missing"
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "text" if isinstance(value, str) else "a number or a truth value"


def _age(entry: Proposal) -> tuple[bool, float, str, str]:
    name = entry.id + SUFFIX
    return entry.created_at is None, entry.created_at or 0.0, name, entry.subsystem


def _reason(problem: OSError | ValueError) -> str:
    if isinstance(problem, ValueError):
        return "a name the system does not allow"
    return problem.strerror.lower() if problem.strerror else str(problem)
