"""The keys in force: those of the registry, or what a person chose instead.

A sentence names a key by the id of its action, as ``{app.undo} takes it back``: it is said with the
key that does it here. Only sentences of our own are read so, never text from outside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from console.actions import ACTIONS, MODES, shown_key

_NAMED = re.compile(r"\{([a-z]+\.[\w.-]+)\}")
#: By id, the usual keys: of all actions, and of a text those that sentences name.
USUAL = {action.id: action.keys for action in ACTIONS} | {
    "lines.down": "j",
    "lines.up": "k",
    "lines.open": "enter",
}
_chosen: dict[str, str] = {}


def choose(keys: Mapping[str, str]) -> None:
    """Take ``keys``, by ids, in place of those of the registry; the console does so at its start.

    Jobs in threads read them too, so they are the process's and not a screen's.
    """
    _chosen.clear()
    _chosen.update(keys)


def keys_of(identity: str, usual: str) -> str:
    """The keys of an id, separated by commas; ``usual`` where nobody chose any."""
    return _chosen.get(identity, usual)


def key_of(identity: str) -> str:
    """The first key of an id, as people write it."""
    return shown_key(keys_of(identity, USUAL[identity]).partition(",")[0])


def key_of_mode(mode: str) -> str:
    """The key that goes to a mode."""
    return key_of(f"app.mode.{mode}")


def place_of(mode: str) -> str:
    """A mode and its key: ``Review (1)``."""
    return f"{MODES[mode]} ({key_of_mode(mode)})"


def keyed(words: str) -> str:
    """``words`` with the keys in force in place of ids in braces; other braces stay."""
    return _NAMED.sub(lambda found: key_of(found[1]), words)


def back_again(what: str = "it") -> str:
    """How the newest decision is taken back, as the end of a sentence about it."""
    return keyed(f"{{app.undo}} takes {what} back, {{app.receipt}} says more")
