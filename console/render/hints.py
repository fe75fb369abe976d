"""Ways out that name plain commands, said with the keys that do the same here.

The core says what to do in the words of the command line. The console has a key for most of it;
what has none stays a command.
"""

from __future__ import annotations

import re

from console.actions import ACTIONS, MODES
from console.keymap import key_of, place_of

_COMMAND = re.compile(r"`signoff ([^`]+)`")
#: Sentences that read better whole, before single commands are looked at: how they begin, and what
#: they end in.
_SENTENCES = (
    (r"(rivals? waits?): `signoff (?:reject|pending)[^`]*`", ": ", "review.refuse_rivals"),
    (r"(waits again): `signoff show[^`]*`", " in ", "review"),
)
#: What a command line begins with, and the action or the mode that does it; the first that fits.
_WAYS = (
    (r"approve \S+ --as\b", "review.promote_as"),
    (r"approve\b", "review.approve"),
    (r"reject\b", "review.reject"),
    (r"show\b", "review.open"),
    (r"edit \S+ --[a-z]", "review.convert"),
    (r"edit\b", "review.edit"),
    (r"snooze\b", "review.snooze"),
    (r"undo\b", "app.undo"),
    (r"gate on\b", "app.gate"),
    (r"normalise\b", "memory.normalise"),
    (r"rollback\b", "skills.rollback"),
    (r"journal \S+ --seen", "journal.put_away"),
    (r"journal\b", "journal"),
    (r"pending\b", "review"),
    (r"(?:memory|notes)\b", "memory"),
    (r"skills?\b", "skills"),
    (r"(?:sessions|search|read)\b", "sessions"),
    (r"knowledge(?: nodes\b|$)", "knowledge"),
)
_PLACES = tuple((re.compile(begins), name) for begins, name in _WAYS)
_LABELS = {action.id: action.label for action in ACTIONS}


def with_keys(words: str) -> str:
    """``words`` with keys in place of the commands that have one; others stay as they are."""
    for sentence, link, name in _SENTENCES:
        if found := re.search(sentence, words):
            words = words.replace(found[0], found[1] + link + _named(name))
    return _COMMAND.sub(_with_key, words)


def _with_key(found: re.Match[str]) -> str:
    name = next((name for begins, name in _PLACES if begins.match(found[1])), "")
    return _named(name) if name else found[0]


def _named(name: str) -> str:
    """A mode or an action with its key."""
    if name in MODES:
        return place_of(name)
    return f"{key_of(name)} ({_LABELS[name]})"
