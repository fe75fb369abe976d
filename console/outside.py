"""What others changed in the home while the console is open: written down in the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.desk.opening import Opened
    from core.model import Receipt

#: The key of such a look among the writes; areas whose change makes one worth while.
OUTSIDE = "outside"
AREAS = frozenset({"memory", "notes", "skills"})


def look_outside(opened: Opened) -> Receipt:
    """Look once; ``changed`` names what someone else wrote.

    A decision that did not end is left to the next decision: a look must not settle it, that
    could write into the home. Raises :class:`StateError`.
    """
    from core.desk.history import unsettled
    from core.desk.outside import note_outside
    from core.model import Receipt

    if any(entry.state == "open" for entry in unsettled(opened)):
        return Receipt(OUTSIDE, True, "noop", "A decision did not end")
    subjects = tuple(edit.subject for edit in note_outside(opened))
    return Receipt(OUTSIDE, True, "ok" if subjects else "noop", "", subjects)
