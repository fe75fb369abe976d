"""What a home of some kind has no notion of: said in one sentence by the commands for it."""

from __future__ import annotations

import click

from core.desk.kinds import OtherKindError
from core.homes.base import Kind

_NO_CURATOR = "vak has no curator: nothing ages its skills, and none is pinned or archived"
_NOTES = "vak keeps notes, each under a heading of its own"
#: ``command -> (what a vak home has not, what to do instead)``.
_NOT_IN_VAK = {
    **dict.fromkeys(
        ("skill", "skills", "pin", "unpin", "archive", "restore", "adopt"),
        (_NO_CURATOR, "What it proposes waits in `signoff pending`"),
    ),
    **dict.fromkeys(
        ("pause", "resume", "curate", "rollback"),
        (_NO_CURATOR, "`signoff clean` removes what its agent left over"),
    ),
    "gate": (
        "vak has no gates: notes are written at once, skills are never installed unasked",
        "`signoff status` says what its settings allow",
    ),
    "memory": (_NOTES, "`signoff notes` lists them"),
    "normalise": (_NOTES, "`signoff notes` lists them; no hand edit stands in their way"),
}
_ONLY_IN_VAK = dict.fromkeys(
    ("notes", "amend", "clean"),
    ("Only a vak home keeps notes", "`signoff memory` lists the entries of this one"),
)


def check(kind: Kind) -> None:
    """Raise :class:`OtherKindError` when the running command is not for such a home."""
    context = click.get_current_context(silent=True)
    table = _NOT_IN_VAK if kind is Kind.VAK else _ONLY_IN_VAK
    while context is not None:
        if said := table.get(context.info_name or ""):
            raise OtherKindError(*said)
        context = context.parent
