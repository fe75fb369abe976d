"""Ways out that name plain commands, said with the keys that do the same here.

The core says what to do in the words of the command line. The console has a key for most of it;
what has none stays a command.
"""

from __future__ import annotations

import re

from console.actions import ACTIONS, MODES

_COMMAND = re.compile(r"`signoff ([^`]+)`")
#: Sentences that read better whole, before single commands are looked at.
_SENTENCES = (
    (re.compile(r"(rivals? waits?): `signoff (?:reject|pending)[^`]*`"), r"\1: {refuse_rivals}"),
    (re.compile(r"waits again: `signoff show[^`]*`"), "waits again in {review}"),
)
#: What a command line begins with, and the action or the mode that does it; the first that fits.
_WAYS = (
    (r"approve \S+ --as\b", "promote_as"),
    (r"approve\b", "approve"),
    (r"reject\b", "reject"),
    (r"show\b", "look"),
    (r"edit \S+ --[a-z]", "convert"),
    (r"edit\b", "edit"),
    (r"snooze\b", "snooze"),
    (r"undo\b", "undo"),
    (r"gate on\b", "gate"),
    (r"normalise\b", "normalise"),
    (r"rollback\b", "rollback"),
    (r"journal \S+ --seen", "put_away"),
    (r"journal\b", "journal"),
    (r"pending\b", "review"),
    (r"(?:memory|notes)\b", "memory"),
    (r"skills?\b", "skills"),
    (r"(?:sessions|search|read)\b", "sessions"),
    (r"knowledge(?: nodes\b|$)", "knowledge"),
)
_PLACES = tuple((re.compile(begins), name) for begins, name in _WAYS)
_IDS = {
    **{name: f"review.{name}" for name in ("approve", "reject", "convert", "edit", "snooze")},
    "look": "review.open",
    "promote_as": "review.promote_as",
    "refuse_rivals": "review.refuse_rivals",
    "undo": "app.undo",
    "gate": "app.gate",
    "normalise": "memory.normalise",
    "rollback": "skills.rollback",
    "put_away": "journal.put_away",
}


def _named() -> dict[str, str]:
    modes = {mode: f"{title} ({number})" for number, (mode, title) in enumerate(MODES.items(), 1)}
    actions = {action.id: f"{action.shown_key} ({action.label})" for action in ACTIONS}
    return modes | {name: actions[identity] for name, identity in _IDS.items()}


_NAMED = _named()


def with_keys(words: str) -> str:
    """``words`` with keys in place of the commands that have one; others stay as they are."""
    for sentence, said in _SENTENCES:
        words = sentence.sub(said.format_map(_NAMED), words)
    return _COMMAND.sub(_with_key, words)


def _with_key(found: re.Match[str]) -> str:
    name = next((name for begins, name in _PLACES if begins.match(found[1])), "")
    return _NAMED.get(name, found[0])
