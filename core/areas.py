"""Which part of a home a path belongs to, and which folders hold anything that matters."""

from __future__ import annotations

import re
from enum import StrEnum

from core.view import name


class Area(StrEnum):
    """A part of a home that is looked at as one; the words of ``signoff watch``."""

    QUEUE = "queue"
    MEMORY = "memory"
    SKILLS = "skills"
    SESSIONS = "sessions"
    CURATOR = "curator"
    NOTES = "notes"
    KNOWLEDGE = "knowledge"


_PART = r"/(?!(?:venv|node_modules|site-packages|__pycache__)(?:/|$))[^/.][^/]*"
_CONFIG = frozenset({Area.QUEUE, Area.MEMORY, Area.SKILLS, Area.CURATOR})
_USAGE = frozenset({Area.SKILLS, Area.CURATOR})
#: What matters, by the path in the home: Hermes, then vak, then the note stores. ``usage.db`` of a
#: note store is left out: every recall writes it. So is ``state.db-shm``: every reader does.
_AREAS = (
    (r"config\.yaml", _CONFIG),
    (r"pending/(?:memory|skills)/[^/]+\.json", frozenset({Area.QUEUE})),
    (r"memories/(?:MEMORY|USER)\.md", frozenset({Area.MEMORY})),
    (r"skills/\.usage\.json", _USAGE),
    (
        r"skills/\.curator_(?:state|suppressed|ledger\.jsonl|backups/[^/]+)"
        r"|skills/\.archive/.+|cron/jobs\.json",
        frozenset({Area.CURATOR}),
    ),
    (
        rf"skills(?:{_PART})+|skills/\.bundled_manifest|skills/\.hub/lock\.json",
        frozenset({Area.SKILLS}),
    ),
    (r"state\.db(?:-wal)?|sessions/[^/]+/.+|deleted\.json", frozenset({Area.SESSIONS})),
    (r"memory/[^/]+/(?:MEMORY|USER)\.md", frozenset({Area.NOTES})),
    (r"skill-proposals/[^/]+/[^/]+\.md", frozenset({Area.QUEUE})),
    (r"(?:chroma|signoff)\.sqlite3(?:-wal)?", frozenset({Area.KNOWLEDGE})),
)
_AGENT = r"(?:agents/[^/]+/)?"
_KNOWN = re.compile(
    _AGENT + "(?:" + "|".join(f"(?P<r{n}>{rule})" for n, (rule, _) in enumerate(_AREAS)) + ")",
    re.DOTALL,
)
_ENTERED = re.compile(
    rf"agents(?:/[^/]+)?|{_AGENT}(?:pending(?:/(?:memory|skills))?|memories|cron"
    rf"|skills(?:{_PART}){{0,8}}|skills/\.hub|skills/\.curator_backups"
    r"|skills/\.archive(?:/[^/]+){0,2}"
    r"|sessions(?:/[^/]+){0,2}|memory(?:/[^/]+)?|skill-proposals(?:/[^/]+)?)",
    re.DOTALL,
)
#: Locks, half-written files of the agents (approval spec 4.8 item 6, vak spec 11) and of editors.
_PASSING = re.compile(
    r"\.mem_.*|\.usage_.*|.*\.(?:lock|tmp)|.*\.(?:tmp|bak)\..*"
    r"|.*~|\.#.*|#.*#|.*\.sw[opx]|4913|.*-(?:shm|journal)",
    re.DOTALL,
)
_NOTHING: frozenset[Area] = frozenset()


def areas_of(path: str) -> frozenset[Area]:
    """The areas a path of a home belongs to; none for locks, temporary files and the rest.

    In a pending folder every name that ends in ``.json`` counts, whatever it begins with, as in the
    queue. ``config.yaml`` holds gates, limits, external skill folders and curator thresholds.
    """
    found = _KNOWN.fullmatch(path)
    if found is None or found.lastgroup is None:
        return _NOTHING
    if not path.startswith("pending/") and _PASSING.fullmatch(name(path)):
        return _NOTHING
    return _AREAS[int(found.lastgroup[1:])][1]


def is_entered(path: str) -> bool:
    """Whether a folder of a home (not the home itself) may hold something that has an area."""
    return _ENTERED.fullmatch(path) is not None
