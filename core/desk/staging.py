"""What an agent proposes, put before the person: a pending record, and nothing else.

Nothing here can decide. The record is written whole under a name that was free, read back, and
only then said to wait; how it would land is worked out before, so that a proposal that can never
apply is refused while its author can still mend it.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from core import atomic, locks
from core.desk.opening import Opened
from core.desk.review import Label, label_one
from core.errors import SignoffError
from core.files import private_folder
from core.homes.hermes import staging
from core.homes.hermes.memory.operations import RefusalError
from core.homes.hermes.pending import Proposal, Queue, Unreadable
from core.homes.hermes.proposals import pin_key
from core.homes.hermes.staging import Caller, Prepared
from core.homes.hermes.status import Status
from core.model import Change, Node, NodeKind
from core.overlay import Overlay
from core.view import Snapshot, View, name, sha256

#: Records of one subsystem that may wait before nothing more is staged: a person reads them all.
MOST_WAITING = 500
_TRIES = 20
#: The lock of whoever stages, in signoff's own folder, and the seconds it is waited for.
_TURN, _PATIENCE = "staging.lock", 10.0

#: How a proposal may stand to be put before a person; a threat is for them to see.
_LANDING = frozenset({Status.READY, Status.ATTENTION, Status.OVER_BUDGET})
_SEEN = frozenset(
    {"threat_pattern", "threat_invisible_unicode", "security_scan_blocked", "external_drift"}
)


class StagingError(SignoffError):
    """Nothing could be put before the person; nothing was written that they would see."""

    title = "Not staged"
    code = "not_staged"


@dataclass(frozen=True, slots=True)
class Staged:
    """What became of a proposal.

    ``id`` names the record that waits, ``None`` if none does; ``already``: the same one waited
    before. ``status`` and ``category`` are how it would land now, ``message`` says so in words.
    ``entries`` are those of the store, told where a call did not find its own.
    """

    id: str | None
    category: str
    message: str
    subsystem: str
    status: str = ""
    already: bool = False
    summary: str = ""
    entries: tuple[str, ...] = ()


def stage_memory(opened: Opened, call: Mapping[str, object], caller: Caller) -> Staged:
    """Stage a call of the memory tool; see :func:`core.homes.hermes.staging.memory`.

    Raises :class:`StagingError`, and :class:`StateError` when the journal cannot hold a pin.
    """
    view, judging = View(Snapshot(opened.source)), opened.judging()
    config = judging.config(view)
    rules = judging.rules_of(view, config, None)
    try:
        prepared = staging.memory(view, call, config, rules)
    except RefusalError as problem:
        shown = entries_of(opened, call) if problem.category in _LOST else ()
        return Staged(None, problem.category, problem.message, "memory", entries=shown)
    return _stage(opened, prepared, caller)


def stage_skill(opened: Opened, call: Mapping[str, object], caller: Caller) -> Staged:
    """Stage a call of the skill tool. Raises as :func:`stage_memory`."""
    return _stage(opened, staging.skill(call), caller)


_LOST = frozenset({"no_match", "batch_no_match", "ambiguous", "batch_ambiguous", "empty"})


def entries_of(opened: Opened, call: Mapping[str, object]) -> tuple[str, ...]:
    """The entries of the store a call names."""
    from core.desk.memories import stores

    target = "user" if call.get("target") == "user" else "memory"
    return tuple(entry.text for store in stores(opened, target) for entry in store.entries)


@dataclass(frozen=True, slots=True)
class Slip:
    """What is to be put before a person: where, and its bytes under a name.

    ``folder`` holds what waits of its kind. ``same`` knows a proposal that says the same already.
    ``pins``: the entry each operation would hit.
    """

    subsystem: str
    folder: Path
    suffix: str
    new_id: Callable[[], str]
    data: Callable[[str], bytes]
    same: Callable[[Proposal], bool]
    summary: str = ""
    pins: Mapping[int, str] = field(default_factory=dict)


def put(opened: Opened, slip: Slip) -> Staged:
    """Put ``slip`` before the person unless it can never apply.

    Of two that propose the same at once, one is told that it waits already. Raises
    :class:`StagingError`, :class:`LockedError` while others stage without end, and
    :class:`StateError` when the journal cannot hold a pin.
    """
    with ExitStack() as held:
        try:
            private_folder(opened.state)
            held.enter_context(locks.hold([opened.state / _TURN], _PATIENCE))
        except OSError as problem:
            raise _unwritten(problem) from None
        return _put(opened, slip)


def _put(opened: Opened, slip: Slip) -> Staged:
    queue = opened.queue()
    _check(slip, queue)
    same = [p for p in queue.proposals if p.subsystem == slip.subsystem and slip.same(p)]
    if same:
        said = "The same proposal waits already; nothing new was staged."
        return Staged(same[0].id, "ok", said, slip.subsystem, already=True)
    taken = {entry.id for entry in _entries(queue)}
    for _ in range(_TRIES):
        token = slip.new_id()
        if token in taken:
            continue
        data = slip.data(token)
        file = opened.source.relative(str(slip.folder / f"{token}{slip.suffix}"))
        label = _foreseen(opened, slip, file, data)
        status, category = str(label.status), label.category
        if label.status not in _LANDING and category not in _SEEN:
            return Staged(None, category, label.message, slip.subsystem, status)
        if slip.pins:
            # Held to the entries it was written for before anyone can see it.
            key, home = pin_key(label.proposal), str(opened.found.home)
            opened.journal.pin(home, key, slip.pins, opened.clock())
        try:
            _write(slip.folder, f"{token}{slip.suffix}", data)
        except FileExistsError:
            continue
        _read_back(opened, file, token, data)
        said = label.message
        return Staged(token, category, said, slip.subsystem, status, summary=slip.summary)
    raise StagingError("No free name was found for the record", "Try again")


def new_id() -> str:
    """A record's name as the agent makes one: the first digits of a random UUID."""
    return uuid.uuid4().hex[:8]


def _stage(opened: Opened, prepared: Prepared, caller: Caller) -> Staged:
    at = opened.clock().timestamp()
    slip = Slip(
        prepared.subsystem,
        opened.found.home / "pending" / prepared.subsystem,
        ".json",
        lambda: new_id(),
        lambda token: staging.record(prepared, token, at, caller),
        lambda other: other.payload == prepared.payload,
        prepared.summary,
        prepared.pins,
    )
    return put(opened, slip)


def _foreseen(opened: Opened, slip: Slip, file: str, data: bytes) -> Label:
    """How the record would land if it were there."""
    overlay = Overlay(opened.source, [Change(file, None, Node(NodeKind.FILE, data, 0o600))])
    ids = frozenset({name(file).removesuffix(slip.suffix)})
    queue = opened.queue(source=overlay, ids=ids)
    found = [each for each in queue.proposals if each.file == file]
    if not found:
        raise StagingError("The proposal is no readable record", "Make it smaller or plainer")
    judging = opened.judging()
    held = {**judging.pins, pin_key(found[0]): dict(slip.pins)}
    return label_one(Snapshot(overlay), found[0], replace(judging, pins=held))


def _check(slip: Slip, queue: Queue) -> None:
    folder = slip.folder
    if Path(os.path.realpath(folder)) != folder:
        raise StagingError(f"{folder} is a link, and nothing is written through it", "Ask a person")
    if any(str(folder).endswith(broken) for broken, _ in queue.broken):
        raise StagingError(f"The queue {folder} cannot be read", "Ask a person to look at it")
    if sum(entry.subsystem == slip.subsystem for entry in _entries(queue)) >= MOST_WAITING:
        raise StagingError(
            f"{MOST_WAITING} proposals wait in {slip.subsystem}, and no more are taken",
            "A person has to look at them first",
        )


def _entries(queue: Queue) -> tuple[Proposal | Unreadable, ...]:
    return (*queue.proposals, *queue.unreadable)


def _write(folder: Path, file: str, data: bytes) -> None:
    """Raises ``FileExistsError`` when the name was taken meanwhile."""
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        for each in reversed(missing):
            each.mkdir(mode=0o700, exist_ok=True)
        os.scandir(folder).close()
    except OSError as problem:
        raise _unwritten(problem) from None
    try:
        with atomic.whole(folder / file, over=False) as stream:
            stream.write(data)
    except FileExistsError:
        raise
    except OSError as problem:
        raise _unwritten(problem) from None


def _unwritten(problem: OSError) -> StagingError:
    reason = os.strerror(problem.errno) if problem.errno else str(problem)
    return StagingError(f"The record could not be written ({reason})", "Nothing was staged")


def _read_back(opened: Opened, file: str, token: str, data: bytes) -> None:
    """Raise unless the record waits as it was written."""
    found = opened.queue(ids=frozenset({token})).proposals
    if not any(each.file == file and each.sha256 == sha256(data) for each in found):
        raise StagingError("The record is not there after it was written", "Propose it again")
