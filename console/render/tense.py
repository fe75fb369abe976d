"""What a plan says it does, said of one that was carried out."""

from __future__ import annotations

import re

_PAST = {
    "Adds": "Added",
    "Archives": "Archived",
    "Changes": "Changed",
    "Creates": "Created",
    "Deletes": "Deleted",
    "Makes": "Made",
    "Overwrites": "Overwrote",
    "Puts": "Put",
    "Removes": "Removed",
    "Replaces": "Replaced",
    "Restores": "Restored",
    "Rewrites": "Rewrote",
}
_FIRST = re.compile(rf"({'|'.join(_PAST)})\b")


def in_past(message: str) -> str:
    """``message`` in the past tense: beside a question, the present tense reads like one."""
    found = _FIRST.match(message)
    return message if found is None else _PAST[found[1]] + message[found.end() :]
