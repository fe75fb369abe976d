"""Hints that name plain commands, said with the keys that do the same here."""

from __future__ import annotations

import re

from console.actions import MODES

_JOURNAL = list(MODES).index("journal") + 1
_KEYS = (
    (re.compile(r"See `signoff journal`"), f"{_JOURNAL} shows the journal"),
    (re.compile(r"`signoff journal`"), f"the journal ({_JOURNAL})"),
    (re.compile(r"`signoff edit ID --[^`]*`"), "E"),
    (re.compile(r"`signoff edit ID`"), "e"),
    (re.compile(r"`signoff approve ID --as NAME`"), "P"),
)


def with_keys(words: str) -> str:
    """``words`` with keys in place of the commands that have one; others stay as they are."""
    for command, key in _KEYS:
        words = command.sub(key, words)
    return words
