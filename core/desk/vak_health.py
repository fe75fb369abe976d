"""What the doctor looks at in a vak home: settings, queue, notes, ledgers, locks."""

from __future__ import annotations

import os

from core.desk import notes, overview
from core.desk.check import Check
from core.desk.opening import Opened
from core.homes.vak.home import note_files, odd_layout
from core.homes.vak.notes.planning import lock_of
from core.homes.vak.settings import read_settings
from core.homes.vak.store import look
from core.homes.vak.waiting import is_note
from core.view import View


def checks(opened: Opened) -> list[Check]:
    """All of it; every ledger is read."""
    return [
        *_settings(opened),
        *_queue(opened),
        *_notes(opened),
        *_ledgers(opened),
        *_locks(opened),
    ]


def _settings(opened: Opened) -> list[Check]:
    said = ", ".join(
        f"{name} {'on' if on else 'off'}" for name, on in overview.settings(opened).items()
    )
    warned = [
        Check("settings", False, each) for each in read_settings(View(opened.source)).warnings
    ]
    odd = [Check("layout", False, each) for each in odd_layout(opened.found.home)]
    return [Check("settings", None, said), *warned, *odd]


def _queue(opened: Opened) -> list[Check]:
    queue = opened.queue()
    notes_waiting = sum(is_note(proposal) for proposal in queue.proposals)
    count = len(queue.proposals) - notes_waiting
    word = "skill is" if count == 1 else "skills are"
    beside = f"; notes of other agents that wait: {notes_waiting:,}" if notes_waiting else ""
    return [
        Check("queue", None, f"{count:,} {word} proposed{beside}"),
        *(Check("queue", False, reason) for reason in overview.trouble(queue)),
        *(Check("record", False, f"{item.file}: {item.reason}") for item in queue.unreadable),
    ]


def _notes(opened: Opened) -> list[Check]:
    found = notes.listing(opened)
    count = len(found.notes)
    return [
        Check("notes", True, f"{count:,} note{'' if count == 1 else 's'} can be read"),
        *(Check("notes", False, f"{path}: {reason}") for path, reason in found.unreadable),
        *(Check("notes", None, f"{path}: {words}") for path, words in found.remarks),
    ]


def _ledgers(opened: Opened) -> list[Check]:
    past = look(opened.found.home)
    summaries = [(file, past.reader.summary(file)) for file in past.files.values()]
    shut = [(file, found) for file, found in summaries if found.problem]
    damaged = [(file, found) for file, found in summaries if found.skipped]
    lines = sum(found.skipped for _, found in damaged)
    checks = [Check("ledgers", True, f"{len(summaries) - len(shut):,} can be read")]
    if damaged:
        said = f"{lines:,} lines in {len(damaged):,} of them are no entries; `read` shows them"
        checks.append(Check("ledgers", None, said))
    checks += [Check("ledger", False, f"{file.file}: {found.problem}") for file, found in shut]
    return checks


def _locks(opened: Opened) -> list[Check]:
    home = opened.found.home
    locks = {lock_of(file) for file in note_files(home)}
    held = sorted(lock for lock in locks if os.path.lexists(home / lock))
    if not held:
        return [Check("locks", True, "nobody holds one")]
    return [
        Check("locks", None, f"{lock} is there; `signoff clean` knows old ones") for lock in held
    ]
