"""What the agent's own approval of a memory record would do to these bytes.

Rules 0.19 model hermes-agent 0.19.0 as executed (``tools/memory_tool.py``); rules newest model
later 2026 from its documents. Always a fresh evaluation: the agent hides the reasons of a row of
failures behind one generic answer, this never does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.homes.hermes.config import Config
from core.homes.hermes.memory.entries import (
    FOLDER,
    MemoryFile,
    UnreadableFile,
    decode,
    drift,
    lock_of,
    path_of,
    serialise,
    size,
)
from core.homes.hermes.memory.operations import (
    DESTRUCTIVE,
    WRITING,
    Op,
    RefusalError,
    Step,
    Walk,
    entry_claim,
    fields_of,
    invalid,
    operations_of,
    split,
    walk,
)
from core.homes.hermes.rules import Rules
from core.homes.hermes.scanners import memory as scanner
from core.model import Budget, Change, EntryChange, Node, NodeKind, Outcome
from core.view import View, name

STORES = ("memory", "user")
#: 0.19.0: a rewritten file always ends up private; newer agents keep the mode of an old file.
FILE_MODE = 0o600
FOLDER_MODE = 0o755


@dataclass(frozen=True, slots=True)
class Replay:
    """A replay with what a guard needs beside its outcome.

    ``steps`` are the operations that found their place, in order; ``after`` the entries the agent
    means to store (``None`` when nothing is written); ``file`` what was read, if it was readable.
    """

    outcome: Outcome
    store: str
    file: MemoryFile | None = None
    steps: tuple[Step, ...] = ()
    after: tuple[str, ...] | None = None


def replay(
    view: View,
    payload: Mapping[str, object],
    config: Config,
    rules: Rules,
    pins: Sequence[str | None] = (),
) -> Outcome:
    """What approving ``payload`` would do to the store it names.

    ``pins`` (entry texts by operation index, a single operation has index 0) stand in for missing
    ``matched_entry`` fields under the newest rules; 0.19 knows no pins. Only the target's file is
    read: an undecodable other store, on which 0.19.0 fails to start, does not count.
    """
    return run(view, payload, config, rules, pins).outcome


def run(
    view: View,
    payload: Mapping[str, object],
    config: Config,
    rules: Rules,
    pins: Sequence[str | None] = (),
) -> Replay:
    """:func:`replay` with its workings, for the guards."""
    store = store_of(payload)
    try:
        if rules is Rules.NEWEST:
            _check_store(payload, config)
    except RefusalError as problem:
        return Replay(Outcome(problem.category, problem.message), store)
    read = load(view, store, rules)
    locks = (lock_of(store),)
    if isinstance(read, UnreadableFile):
        message = f"{name(path_of(store))} cannot be read: {read.reason}."
        return Replay(Outcome("unreadable_target", message, locks=locks), store)
    before = size(read.unique)
    limit = limit_of(store, config)
    steps: tuple[Step, ...] = ()
    after: tuple[str, ...] | None = None
    budget = Budget(store, before, before, limit)
    try:
        done = _apply(store, read, payload, limit, rules, pins)
        steps, after = done.steps, done.entries
        budget = replace(budget, after=size(after))
        _check_size(payload, done, store, budget)
        outcome = _landed(view, store, read, done, payload, rules, budget)
    except RefusalError as problem:
        steps, after = steps or problem.steps, None
        outcome = Outcome(
            problem.category,
            problem.message,
            budget=budget,
            claims=problem.claims | _claims(store, steps),
            locks=locks,
        )
    return Replay(outcome, store, read, steps, after)


def store_of(payload: Mapping[str, object]) -> str:
    """``user`` or ``memory``: every word but ``user`` means MEMORY.md (0.19.0)."""
    return "user" if payload.get("target") == "user" else "memory"


def limit_of(store: str, config: Config) -> int:
    """The store's budget in code points."""
    return config.user_limit if store == "user" else config.memory_limit


def load(view: View, store: str, rules: Rules) -> MemoryFile | UnreadableFile:
    """The store's file, read through ``view`` and parsed once for all views of one snapshot."""
    path = path_of(store)
    reading = view.read(path)
    keep_bom = rules is Rules.V0_19
    return view.shared(
        f"memory-file\0{path}\0{keep_bom}", lambda _: decode(reading, keep_bom=keep_bom)
    )


def _check_store(payload: Mapping[str, object], config: Config) -> None:
    if payload.get("memory_provider_mode") == "authoritative":
        raise RefusalError(
            "target_disabled",
            "This record belongs to the external memory provider; "
            "the agent never applies it to MEMORY.md or USER.md.",
        )
    target = payload.get("target", "memory")
    if target not in STORES:
        raise RefusalError("invalid_target", "The target must be memory or user.")
    enabled = config.user_profile_enabled if target == "user" else config.memory_enabled
    if not enabled:
        key = "user_profile_enabled" if target == "user" else "memory_enabled"
        raise RefusalError("target_disabled", f"The store is turned off: memory.{key} is false.")


def _apply(
    store: str,
    file: MemoryFile,
    payload: Mapping[str, object],
    limit: int,
    rules: Rules,
    pins: Sequence[str | None],
) -> Walk:
    batch = payload.get("action") == "batch"
    ops: list[Op] = []
    for op in operations_of(payload, rules, pins):
        ops.append(op)
        if batch:
            _scan_raw(op, rules)
        else:
            _scan(op, fields_of(op, rules)[0])
    unpinned = [op for op in ops if op.action in DESTRUCTIVE[rules] and not op.pin]
    if rules is Rules.NEWEST and unpinned:
        raise RefusalError(
            "unpinned_record",
            f"{unpinned[0].label}the record does not say which entry it was written for, "
            "so newer agents never apply it.",
            claims=_claims(store, _reachable(store, file, ops, rules)),
        )
    found = drift(file.text, limit)
    if found and payload.get("action") != "add":
        raise RefusalError(
            "external_drift",
            f"The agent refuses to rewrite {name(path_of(store))}. {found.message}",
            claims=_claims(store, _reachable(store, file, ops, rules)),
        )
    done = walk(store, file.unique, ops, rules)
    for step in done.steps:
        if step.action == "patch" and step.after:
            _scan(ops[step.index], step.after)
    if batch and rules is Rules.NEWEST and file.unique and not done.entries:
        raise RefusalError(
            "would_empty_store",
            f"The batch would leave {name(path_of(store))} empty.",
            steps=done.steps,
        )
    return done


def _reachable(store: str, file: MemoryFile, ops: Sequence[Op], rules: Rules) -> tuple[Step, ...]:
    try:
        return walk(store, file.unique, ops, rules).steps
    except RefusalError as problem:
        return problem.steps


def _scan_raw(op: Op, rules: Rules) -> None:
    # In a batch the agent scans the text before it strips it, and before it looks at the rest.
    if isinstance(op.action, list | dict):
        raise invalid(f"operation {op.index + 1}: action", op.action)
    if op.action in WRITING[rules] and op.content:
        if not isinstance(op.content, str):
            raise invalid(op.label + "content", op.content)
        _scan(op, op.content)


def _scan(op: Op, text: str) -> None:
    refusal = scanner.refusal(text) if text else None
    if refusal:
        raise RefusalError(refusal.category, op.label + refusal.message)


def _check_size(payload: Mapping[str, object], done: Walk, store: str, budget: Budget) -> None:
    action = payload.get("action")
    # No check for a removal or an add that is there already: both work on an over-full store.
    if action == "remove" or (action == "add" and not done.changes):
        return
    if budget.after <= budget.limit:
        return
    category = {"add": "over_budget", "batch": "batch_over_budget"}.get(
        str(action), "replace_over_budget"
    )
    over = budget.after - budget.limit
    raise RefusalError(
        category,
        f"{name(path_of(store))} would hold {budget.after:,} of {budget.limit:,} characters, "
        f"{over:,} over the limit.",
    )


def _landed(
    view: View,
    store: str,
    file: MemoryFile,
    done: Walk,
    payload: Mapping[str, object],
    rules: Rules,
    budget: Budget,
) -> Outcome:
    path = path_of(store)
    claims = _claims(store, done.steps)
    data = encode(serialise(done.entries))
    skipped = payload.get("action") == "add" and not done.changes
    if skipped or data == file.data:
        message = (
            f"{name(path)} already holds this text."
            if skipped
            else f"{name(path)} would stay as it is, byte for byte."
        )
        return Outcome("noop", message, budget=budget, claims=claims, locks=(lock_of(store),))
    entries = split(done.changes)
    return Outcome(
        "ok",
        _told(name(path), entries, budget),
        changes=changes_for(view, path, file, data, rules),
        budget=budget,
        entries=entries,
        claims=claims,
        locks=(lock_of(store),),
    )


def changes_for(
    view: View, path: str, file: MemoryFile, data: bytes, rules: Rules
) -> tuple[Change, ...]:
    """The rewrite of a memory file, with its folder if that is missing.

    A linked file keeps its own name here: the writer follows the link, as the agent does.
    """
    if file.data is None:
        made = Change(path, None, Node(NodeKind.FILE, data, FILE_MODE))
        if view.kind(FOLDER) is None:
            return (Change(FOLDER, None, Node(NodeKind.DIR, mode=FOLDER_MODE)), made)
        return (made,)
    mode = file.mode if rules is Rules.NEWEST else FILE_MODE
    before = Node(NodeKind.FILE, file.data, file.mode)
    return (Change(path, before, Node(NodeKind.FILE, data, mode)),)


def encode(text: str) -> bytes:
    """UTF-8 bytes; half a surrogate pair cannot be stored (the agent's write raises)."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as problem:
        half = ord(problem.object[problem.start])
        raise RefusalError(
            "invalid", f"The content holds U+{half:04X}, half a character, which no file can store."
        ) from problem


def _told(file: str, changes: tuple[EntryChange, ...], budget: Budget) -> str:
    added = sum(change.before is None for change in changes)
    removed = sum(change.after is None for change in changes)
    counts = {"adds": added, "removes": removed, "replaces": len(changes) - added - removed}
    parts = [
        f"{verb} {count} {'entry' if count == 1 else 'entries'}"
        for verb, count in counts.items()
        if count
    ]
    done = ", ".join(parts) if parts else "changes no entry, only how the file is written"
    return (
        f"{done[0].upper()}{done[1:]} in {file}; "
        f"it then holds {budget.after:,} of {budget.limit:,} characters."
    )


def _claims(store: str, steps: Sequence[Step]) -> frozenset[str]:
    touched = [step.before if step.before is not None else step.after for step in steps]
    return frozenset(entry_claim(store, text) for text in touched if text is not None)
