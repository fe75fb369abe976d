"""The journal of a home: what was decided, and taking it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.commit import commit
from core.desk.opening import Opened
from core.desk.outside import note_outside
from core.desk.receipts import after_undo
from core.errors import NotFoundError, UsageError
from core.journal import NO_TAGS, Entry, State, Tags
from core.model import Receipt
from core.recover import open_entries
from core.sightings import OUTSIDE
from core.undo import in_the_way, plan_undo
from core.view import View


def entries(opened: Opened, limit: int | None = None) -> tuple[Entry, ...]:
    """What was decided on this home, newest first."""
    return opened.journal.entries(str(opened.found.home), limit=limit)


def entry(opened: Opened, number: int) -> Entry:
    """One entry of this home with its steps. Raises :class:`NotFoundError`."""
    return _own(opened, number)


def unsettled(opened: Opened) -> tuple[Entry, ...]:
    """Decisions on this home that did not end, newest first; the next changing command settles
    the open ones, torn ones need a person."""
    return open_entries(opened.ground(), opened.journal)


def undo(opened: Opened, number: int | None = None, note: str = "") -> Receipt:
    """Take one entry back, by default the newest decision of this home that is not undone.

    A bulk step has several: see :func:`undo_each`. Raises as that one.
    """
    return next(undo_each(opened, () if number is None else (number,), note))


def undo_each(opened: Opened, numbers: Sequence[int] = (), note: str = "") -> Iterator[Receipt]:
    """Take entries back, the newest first; by default the newest that is not undone.

    A bulk step counts as one: with no numbers, all of it that stands. Taking several back is a
    bulk step itself. The first that fails ends it, and says what is left. Raises
    :class:`NotFoundError` when there is nothing to undo or an entry belongs elsewhere,
    :class:`UsageError` for one that cannot be undone, :class:`StateError` when the journal cannot
    be used.
    """
    opened.check_state()
    note_outside(opened)
    chosen = sorted(set(numbers), reverse=True) or [entry.id for entry in newest(opened)]
    for number in chosen:
        _own(opened, number)
    return _undo_each(opened, chosen, note)


def newest(opened: Opened) -> tuple[Entry, ...]:
    """What taking back the newest would take back, the newest first: a bulk step is one.

    An undo is none of them. Raises :class:`NotFoundError` when nothing stands.
    """
    standing = _standing(opened)
    undoes = {entry.id: entry.undoes for entry in opened.journal.entries(str(opened.found.home))}
    for entry in standing:
        if entry.profile == opened.found.profile and not _takes_back(entry.id, undoes):
            bulk = entry.tags.bulk
            if bulk is None:
                return (entry,)
            return tuple(part for part in standing if part.tags.bulk == bulk)
    raise NotFoundError("There is nothing to undo", "See `signoff journal`")


def undo_bulk(opened: Opened, bulk: int, note: str = "") -> Iterator[Receipt]:
    """Take a bulk step back as one: what stands of it, newest first, each part checked.

    The first part that fails ends it, and says what is left. Raises as :func:`undo_each`.
    """
    parts = [entry.id for entry in _standing(opened) if entry.tags.bulk == bulk]
    if not parts:
        raise NotFoundError(
            f"Nothing of bulk step {bulk} is left to undo here", "See `signoff journal`"
        )
    return undo_each(opened, parts, note)


def together(opened: Opened, numbers: Sequence[int]) -> tuple[int, ...]:
    """``numbers`` and every later decision that must be taken back before them, newest first.

    What another writer changed since is in nobody's way here: taking it all back is refused for
    that. Raises :class:`NotFoundError`.
    """
    view, standing = View(opened.source), _standing(opened)
    found, waiting = set(numbers), list(numbers)
    while waiting:
        number = waiting.pop()
        later = [line for line in standing if line.id > number and line.id not in found]
        before = in_the_way(view, _own(opened, number), later)
        found.update(before)
        waiting += before
    return tuple(sorted(found, reverse=True))


def put_away(opened: Opened, number: int) -> Entry:
    """Take a torn entry off the list of what did not end: a person has looked at it.

    Raises :class:`NotFoundError`, :class:`UsageError` for an entry that is not torn, and
    :class:`StateError`.
    """
    opened.check_state()
    entry = _own(opened, number)
    if entry.state is not State.TORN:
        raise UsageError(f"Entry {number} is not torn", "There is nothing to put away")
    message = f"put away by a person; {entry.message}"
    opened.journal.close(number, State.DROPPED, "torn", message)
    return opened.journal.entry(number)


def _undo_each(opened: Opened, numbers: Sequence[int], note: str) -> Iterator[Receipt]:
    journal, tags = opened.journal, NO_TAGS
    if len(numbers) > 1:
        tags = Tags(journal.new_bulk(str(opened.found.home), opened.clock()))
    for place, number in enumerate(numbers):
        entry = _own(opened, number)
        later = [line for line in _standing(opened) if line.id > number]
        plan = plan_undo(View(opened.source), entry, later)
        now = opened.clock()
        receipt = commit(plan, opened.ground(), journal, now=now, note=note, tags=tags)
        left = numbers[place:]
        whole = together(opened, left) if receipt.category == "moved_on" else ()
        yield after_undo(receipt, entry, left, whole)
        if not receipt.ok:
            return


def _takes_back(number: int, undoes: Mapping[int, int | None]) -> bool:
    """Whether an entry takes a decision back; an undo that was undone puts it in force again."""
    back = False
    while (before := undoes.get(number)) is not None:
        back, number = not back, before
    return back


def _standing(opened: Opened) -> list[Entry]:
    done = opened.journal.entries(str(opened.found.home), states=(State.DONE,))
    return [entry for entry in done if entry.undone_by is None and entry.verb != OUTSIDE]


def _own(opened: Opened, number: int) -> Entry:
    entry = opened.journal.entry(number)
    if entry.home != str(opened.found.home):
        raise NotFoundError(f"Entry {number} belongs to {entry.home}", "Name that home with --home")
    return entry
