"""Which sessions come from elsewhere than when the index took their messages in.

The agent gives a session another source when it is gone on with elsewhere (hermes-agent 0.19.0,
``record_gateway_session_peer``), and newer ones hide and show sessions. The index looks both up,
so it would lose what was said before.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Mapping
from pathlib import Path

from core.atomic import whole
from core.homes.hermes.sessions.opening import Database
from core.homes.hermes.sessions.values import chosen, flag, word

#: Seconds between two looks at all sessions.
PAUSE = 30.0
#: Before the source of a hidden session.
_HIDDEN = "hidden "
_looked: dict[Path, float] = {}


def is_time(path: Path) -> bool:
    """Whether this process has not looked for a while, or what it saw is not kept."""
    last = _looked.get(path)
    return last is None or time.monotonic() - last >= PAUSE or not path.exists()


def take(db: Database) -> dict[str, str]:
    """The origin of every session, by its id."""
    fields = chosen(("id", "source", "hidden"), db.columns("sessions"), "sessions")
    return {
        word(key): f"{_HIDDEN if flag(hidden) else ''}{word(source)}"
        for key, source, hidden in db.rows(f"SELECT {fields} FROM sessions")
    }


def moved(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The sessions that are elsewhere now."""
    return [key for key, origin in now.items() if before.get(key, origin) != origin]


def load(path: Path) -> dict[str, str]:
    """The origins kept in ``path``; none where they cannot be read."""
    try:
        kept = json.loads(path.read_bytes())
        return {str(key): str(value) for key, value in kept.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def save(path: Path, now: Mapping[str, str]) -> None:
    """Keep ``now``; a full disk only means that the next change is not noticed."""
    _looked[path] = time.monotonic()
    if load(path) != now:
        with contextlib.suppress(OSError), whole(path, over=True) as stream:
            stream.write(json.dumps(now).encode())


def forget(path: Path) -> None:
    """Keep nothing."""
    _looked.pop(path, None)
    path.unlink(missing_ok=True)
