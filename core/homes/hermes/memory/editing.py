"""A person's own hand on a memory file: forget, edit, move, add, normalise. Pure planners.

Only what is asked for changes: other entries, line ends, byte order mark, mode and link stay as
they are. What the agent alone would refuse (a file with stray blank lines, a text its scanner does
not like) a person may do; the findings say what the agent makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core import text as hidden
from core.homes.hermes.config import Config
from core.homes.hermes.memory.advice import blocked, remains
from core.homes.hermes.memory.entries import (
    BOM,
    DELIMITER,
    MemoryFile,
    UnreadableFile,
    decode,
    drift,
    lock_of,
    normalise_line_ends,
    path_of,
    size,
)
from core.homes.hermes.memory.layout import Layout, cut
from core.homes.hermes.memory.operations import RefusalError, entry_claim, quoted
from core.homes.hermes.memory.replay import STORES, changes_for, limit_of
from core.homes.hermes.rules import Rules
from core.model import Budget, EntryChange, Finding, Outcome, Severity
from core.view import Reading, View, name

_SURROGATE = re.compile("[\ud800-\udfff]")
_EDGE_MARKER = re.compile(r"\A§(\n|\Z)|\n§\Z")
_CANDIDATES = 4


@dataclass(frozen=True, slots=True)
class _Store:
    """A readable store to work on."""

    view: View
    target: str
    path: str
    file: MemoryFile
    layout: Layout
    config: Config
    rules: Rules

    @property
    def file_name(self) -> str:
        return name(self.path)

    @property
    def limit(self) -> int:
        return limit_of(self.target, self.config)


@dataclass(frozen=True, slots=True)
class _Work:
    """What one change makes of a store. ``over``: the refusal of one that does not fit, if any."""

    layout: Layout
    entries: tuple[EntryChange, ...]
    message: str
    findings: tuple[Finding, ...] = ()
    over: str = ""


def forget(view: View, target: str, which: int | str, config: Config, rules: Rules) -> Outcome:
    """Take one entry out of a store, with every duplicate of it.

    ``which`` is the entry's number (from 1, as the agent loads them) or its text: the whole entry,
    else a part that only one entry has. Findings ``remains`` say where the text still is.
    Categories: ``ok``, ``no_match``, ``ambiguous``, ``empty``, ``unreadable_target``.
    """

    def work(store: _Store) -> _Work:
        number, entry = _find(store, which)
        return _Work(
            store.layout.without(store.layout.places(entry)),
            (EntryChange(entry, None),),
            f"Entry {number} of {store.file_name} is forgotten: {quoted(entry)}.",
            remains(view, target, entry, config),
        )

    return _plan(view, target, config, rules, work)


def edit(
    view: View, target: str, which: int | str, new_text: str, config: Config, rules: Rules
) -> Outcome:
    """Put ``new_text`` in place of one entry (``which`` as for :func:`forget`), duplicates gone.

    Refuses ``replace_over_budget`` when the store would be over its limit and no smaller than
    before, ``guard_unstorable`` for what is no single entry, ``empty``. A text that another entry
    has already only drops this one.
    """

    def work(store: _Store) -> _Work:
        number, entry = _find(store, which)
        new = _storable(new_text)
        if new == entry:
            return _Work(store.layout, (), f"Entry {number} of {store.file_name} says so already.")
        first, *again = store.layout.places(entry)
        left = remains(view, target, entry, config)
        if new in store.layout.entries:
            other = store.layout.unique.index(new) + 1
            return _Work(
                store.layout.without([first, *again]),
                (EntryChange(entry, None),),
                f"Entry {other} of {store.file_name} says so already, so entry {number} goes.",
                left,
            )
        return _Work(
            store.layout.with_entry(first, new).without(again),
            (EntryChange(entry, new),),
            f"Entry {number} of {store.file_name} is changed.",
            (*_about(new, f"{store.path}#{number}", store), *left),
            over="replace_over_budget",
        )

    return _plan(view, target, config, rules, work)


def move(
    view: View, target: str, which: int | str, to: int, config: Config, rules: Rules
) -> Outcome:
    """Make one entry (``which`` as for :func:`forget`) number ``to``, the others keep their order.

    ``no_match`` when there is no such place.
    """

    def work(store: _Store) -> _Work:
        number, entry = _find(store, which)
        count = len(store.layout.unique)
        if not 1 <= to <= count:
            raise _nothing(f"There is no place {to}: {_holds(store)}.")
        if number == to:
            return _Work(store.layout, (), f"Entry {number} of {store.file_name} is there already.")
        return _Work(
            store.layout.moved(entry, to - 1),
            (),
            f"Entry {number} of {store.file_name} becomes number {to}: {quoted(entry)}.",
        )

    return _plan(view, target, config, rules, work)


def add(view: View, target: str, text: str, config: Config, rules: Rules) -> Outcome:
    """Put ``text`` behind the last entry; the file is made if there is none.

    Refuses ``over_budget``, ``guard_unstorable``, ``empty``; ``noop`` for a text that is there.
    """

    def work(store: _Store) -> _Work:
        new = _storable(text)
        number = len(store.layout.unique) + 1
        if new in store.layout.entries:
            number = store.layout.unique.index(new) + 1
            return _Work(store.layout, (), f"Entry {number} of {store.file_name} says so already.")
        return _Work(
            store.layout.appended(new),
            (EntryChange(None, new),),
            f"{store.file_name} gets entry {number}.",
            _about(new, f"{store.path}#{number}", store),
            over="over_budget",
        )

    return _plan(view, target, config, rules, work)


def normalise(view: View, target: str, config: Config, rules: Rules) -> Outcome:
    """Take out what trips the agent's drift guard, and duplicates; no entry loses a character.

    Findings ``mended`` name each place with its line, ``entries_kept`` says that nothing is lost.
    An entry longer than the whole budget cannot be mended so: ``external_drift`` with its number,
    or a finding of that name when there is something else to mend.
    """

    def work(store: _Store) -> _Work:
        layout = store.layout.tidied()
        found = [
            Finding("mended", Severity.INFO, f"Line {each.line}: {each.message}.", store.path)
            for each in store.layout.strays()
        ]
        again = len(store.layout.bodies) - len(layout.bodies)
        if again:
            said = "entry that stands" if again == 1 else "entries that stand"
            message = f"{again} {said} there already, character for character."
            found.append(Finding("mended", Severity.INFO, message, store.path))
        if not found:
            if oversize := _oversize(store):
                raise RefusalError("external_drift", oversize)
            return _Work(store.layout, (), f"{store.file_name} has nothing to mend.")
        count = len(layout.bodies)
        kept = f"All {count} entries keep" if count != 1 else "The one entry keeps"
        found.append(Finding("entries_kept", Severity.INFO, f"{kept} every character.", store.path))
        places = f"{len(found) - 1} place{'s' if len(found) > 2 else ''}"
        return _Work(layout, (), f"{store.file_name} is mended in {places}.", tuple(found))

    return _plan(view, target, config, rules, work)


# -- the frame -------------------------------------------------------------------------------------


def _plan(
    view: View, target: str, config: Config, rules: Rules, work: Callable[[_Store], _Work]
) -> Outcome:
    if target not in STORES:
        return Outcome("invalid_target", "The target must be memory or user.")
    path, locks = path_of(target), (lock_of(target),)
    file = decode(view.read(path))
    if isinstance(file, UnreadableFile):
        message = f"{name(path)} cannot be read: {file.reason}."
        return Outcome("unreadable_target", message, locks=locks)
    raw = (file.data or b"").decode("utf-8").removeprefix(BOM)
    store = _Store(view, target, path, file, cut(raw), config, rules)
    before = _size(file.data, rules)
    budget = Budget(target, before, before, store.limit)
    try:
        done = work(store)
        return _landed(store, done, budget)
    except RefusalError as problem:
        return Outcome(
            problem.category, problem.message, budget=budget, claims=problem.claims, locks=locks
        )


def _landed(store: _Store, done: _Work, budget: Budget) -> Outcome:
    locks = (lock_of(store.target),)
    text = done.layout.text
    data = (BOM + text if store.file.bom and text else text).encode("utf-8")
    if data == (store.file.data or b""):
        return Outcome("noop", done.message, budget=budget, locks=locks)
    _check_reads_back(store, done, data)
    budget = Budget(budget.target, budget.before, _size(data, store.rules), budget.limit)
    if done.over and budget.after > max(budget.limit, budget.before):
        over = budget.after - budget.limit
        raise RefusalError(
            done.over,
            f"{store.file_name} would hold {budget.after:,} of {budget.limit:,} characters, "
            f"{over:,} over the limit; it holds {budget.before:,} now.",
        )
    touched = [pair.before if pair.before is not None else pair.after for pair in done.entries]
    return Outcome(
        "ok",
        f"{done.message} It then holds {budget.after:,} of {budget.limit:,} characters.",
        changes=changes_for(store.view, store.path, store.file, data, Rules.NEWEST),
        findings=(*done.findings, *_still_refused(store, done.layout, data)),
        budget=budget,
        entries=done.entries,
        claims=frozenset(entry_claim(store.target, each) for each in touched if each is not None),
        locks=locks,
    )


def _check_reads_back(store: _Store, done: _Work, data: bytes) -> None:
    """Refuse what a reader would cut differently: a § line at the edge of an entry."""
    again = decode(Reading(data))
    if isinstance(again, UnreadableFile) or again.entries != done.layout.entries:
        raise RefusalError(
            "guard_unstorable",
            "An entry that begins or ends with a § line, or with a byte order mark, would be read "
            "back differently; change that entry first.",
        )


def _still_refused(store: _Store, layout: Layout, data: bytes) -> tuple[Finding, ...]:
    after = decode(Reading(data), keep_bom=store.rules is Rules.V0_19)
    found = None if isinstance(after, UnreadableFile) else drift(after.text, store.limit)
    if found is None:
        return ()
    after_store = _Store(
        store.view, store.target, store.path, store.file, layout, store.config, store.rules
    )
    why = _oversize(after_store) if found.kind == "oversize" else found.message
    message = f"The agent still refuses to edit {store.file_name}. {why}"
    return (Finding("external_drift", Severity.WARNING, message, store.path),)


def _size(data: bytes | None, rules: Rules) -> int:
    file = decode(Reading(data), keep_bom=rules is Rules.V0_19)
    return 0 if isinstance(file, UnreadableFile) else size(file.unique)


# -- what is meant ---------------------------------------------------------------------------------


def _find(store: _Store, which: int | str) -> tuple[int, str]:
    """The number and text of the entry that is meant."""
    entries = store.layout.unique
    if isinstance(which, int):
        if not 1 <= which <= len(entries):
            raise _nothing(f"There is no entry {which}: {_holds(store)}.")
        return which, entries[which - 1]
    wanted = normalise_line_ends(which).strip()
    if not wanted:
        raise RefusalError("empty", "No text is given, so no entry is named.")
    if wanted in entries:
        return entries.index(wanted) + 1, wanted
    hits = {number: text for number, text in enumerate(entries, 1) if wanted in text}
    if not hits:
        raise _nothing(f"No entry of {store.file_name} holds {quoted(wanted)}.")
    if len(hits) > 1:
        raise RefusalError(
            "ambiguous",
            f"{quoted(wanted)} is in {len(hits)} entries of {store.file_name}: {candidates(hits)}.",
            claims=[entry_claim(store.target, text) for text in hits.values()],
        )
    ((number, text),) = hits.items()
    return number, text


def candidates(hits: Mapping[int, str]) -> str:
    """Entries by number, the first few with their text."""
    shown = [f"{number} {quoted(text, 40)}" for number, text in [*hits.items()][:_CANDIDATES]]
    more = len(hits) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _nothing(message: str) -> RefusalError:
    return RefusalError("no_match", message)


def _holds(store: _Store) -> str:
    count = len(store.layout.unique)
    return f"{store.file_name} holds {count} entr{'y' if count == 1 else 'ies'}"


def _storable(given: str) -> str:
    """``given`` as one entry: LF line ends, stripped."""
    text = normalise_line_ends(given).strip()
    reason = ""
    if not text:
        raise RefusalError("empty", "The text is empty.")
    if _SURROGATE.search(text):
        reason = "The text holds half a character (a surrogate), which no file can store."
    elif DELIMITER in text:
        reason = "The text holds a § line, which separates entries: it would become several."
    elif _EDGE_MARKER.search(text):
        reason = "The text begins or ends with a § line, which would swallow its neighbour."
    if reason:
        raise RefusalError("guard_unstorable", reason)
    return text


def _about(text: str, at: str, store: _Store) -> tuple[Finding, ...]:
    user = store.target == "user"
    enabled = store.config.user_profile_enabled if user else store.config.memory_enabled
    key = "user_profile_enabled" if user else "memory_enabled"
    message = f"The store is turned off (memory.{key} is false): the agent does not read it."
    off = () if enabled else (Finding("target_disabled", Severity.WARNING, message, store.path),)
    return (*off, *blocked(text, at), *hidden.findings(text, at))


def _oversize(store: _Store) -> str:
    """Which entries are longer than the whole budget, in words; ``""`` for none."""
    long = [
        f"entry {number} ({len(text):,} characters, {quoted(text, 30)})"
        for number, text in enumerate(store.layout.unique, 1)
        if len(text) > store.limit
    ]
    if not long:
        return ""
    return (
        f"Longer than the whole budget of {store.limit:,}: {', '.join(long)}; "
        "only a shorter text mends that."
    )
