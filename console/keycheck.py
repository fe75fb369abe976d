"""Whether the keys that a person chose can be pressed and mean one thing each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping

from textual.keys import KEY_NAME_REPLACEMENTS, Keys

from console.actions import ACTIONS, Action
from core.errors import UsageError

#: Ids of keys that belong to a list or a text start so.
WIDGETS = ("rows.", "lines.")
_MODIFIERS = frozenset({"ctrl", "alt", "shift", "super", "hyper", "meta"})
_NAMES = frozenset(key.value for key in Keys) | frozenset(KEY_NAME_REPLACEMENTS.values())


def check_keys(chosen: Mapping[str, str]) -> None:
    """Look at ``[keys]`` of the settings: ids of actions, each with keys separated by commas.

    Raises :class:`UsageError` for an id that names no action, a key that no terminal sends, and a
    key that would do two things in one place.
    """
    known = {action.id: action for action in ACTIONS}
    for name, keys in chosen.items():
        if name not in known and not name.startswith(WIDGETS):
            hint = "The README lists every action beside its key"
            raise UsageError(f"[keys] of the settings names an unknown action {name!r}", hint)
        for key in _split(keys):
            if not _is_key(key):
                hint = "Write it as a, A, ctrl+a, f2, space, slash or question_mark"
                raise UsageError(f"[keys] of the settings: {key!r} ({name}) is no key", hint)
    for name in chosen.keys() & known.keys():
        for key in _split(chosen[name]):
            for other in _beside(known[name]):
                if key in _split(chosen.get(other.id, other.keys)):
                    hint = f"Give one of them another key; {other.id} is by default {other.keys}"
                    said = f"{key} would be both {name} and {other.id}"
                    raise UsageError(f"[keys] of the settings: {said}", hint)


def _beside(action: Action) -> Iterator[Action]:
    """The other actions that can be called where this one can."""
    for other in ACTIONS:
        together = other.where == action.where or "app" in (other.where, action.where)
        if together and other is not action:
            yield other


def _split(keys: str) -> list[str]:
    return [key.strip() for key in keys.split(",")]


def _is_key(key: str) -> bool:
    *modifiers, base = key.split("+") if len(key) > 1 else [key]
    return _MODIFIERS.issuperset(modifiers) and (_is_printable(base) or base in _NAMES)


def _is_printable(base: str) -> bool:
    """Whether it is a character, or the name of one of ASCII."""
    if len(base) == 1:
        return base.isprintable()
    try:
        return unicodedata.lookup(base.replace("_", " ")).isascii()
    except KeyError:
        return False
