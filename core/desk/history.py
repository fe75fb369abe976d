"""The journal of a home: what was decided, and taking it back."""

from __future__ import annotations

from core.commit import commit
from core.desk.opening import Opened
from core.errors import NotFoundError
from core.journal import Entry, State
from core.model import Receipt
from core.undo import plan_undo
from core.view import View


def entries(opened: Opened, limit: int | None = None) -> tuple[Entry, ...]:
    """What was decided on this home, newest first."""
    return opened.journal.entries(str(opened.found.home), limit=limit)


def undo(opened: Opened, number: int | None = None, note: str = "") -> Receipt:
    """Take an entry back, by default the newest decision of this home that is not undone.

    Raises :class:`NotFoundError` when there is none, :class:`UsageError` for an entry that cannot
    be undone or belongs to another home.
    """
    done = opened.journal.entries(str(opened.found.home), states=(State.DONE,))
    if number is None:
        number = next((e.id for e in done if e.undone_by is None and e.undoes is None), None)
        if number is None:
            raise NotFoundError("There is nothing to undo", "See `signoff journal`")
    entry = opened.journal.entry(number)
    if entry.home != str(opened.found.home):
        raise NotFoundError(f"Entry {number} belongs to {entry.home}", "Name that home with --home")
    later = [e for e in done if e.id > entry.id and e.undone_by is None and e.id != entry.id]
    plan = plan_undo(View(opened.source), entry, later)
    return commit(plan, opened.ground(), opened.journal, now=opened.clock(), note=note)
