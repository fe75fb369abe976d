"""Where skills come from: the bundled manifest, the hub's lock file, the suppressed names.

hermes-agent 0.19.0, ``tools/skill_usage.py``. The agent takes a lock file or manifest that it
cannot read for an empty one, and then archives what belongs to others; here it is a ``problem``
that keeps every skill where it is.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass

from core.homes.hermes.skills.tree import SKILLS, has_skill_file, read_declared
from core.model import Change, Node, NodeKind
from core.view import View, join

MANIFEST = "skills/.bundled_manifest"
HUB = "skills/.hub/lock.json"
SUPPRESSED = "skills/.curator_suppressed"


@dataclass(frozen=True, slots=True)
class Origins:
    """Names the bundle seeded and names the hub installed; ``problem``: why they are not known."""

    bundled: frozenset[str] = frozenset()
    hub: frozenset[str] = frozenset()
    problem: str = ""


def read_origins(view: View) -> Origins:
    """Both lists; the two files are recorded as read."""
    bundled, unread = _bundled(view)
    hub, unlocked = _hub(view)
    return Origins(bundled, hub, unread or unlocked)


def suppressed(view: View) -> frozenset[str]:
    """Bundled names that an update must not seed again; comments and blank lines left out."""
    text = (view.read(SUPPRESSED).data or b"").decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines()]
    return frozenset(line for line in lines if line and not line.startswith("#"))


def suppress(view: View, added: Iterable[str] = (), lifted: Iterable[str] = ()) -> list[Change]:
    """The change that suppresses ``added`` and lifts ``lifted``, if there is any to make.

    The file is rewritten as the agent writes it: sorted, one name a line, its comments gone.
    """
    before = suppressed(view)
    after = (before | frozenset(added)) - frozenset(lifted)
    if after == before:
        return []
    reading = view.read(SUPPRESSED)
    old = None
    if reading.data is not None:
        old = Node(NodeKind.FILE, reading.data, reading.mode)
    text = "".join(f"{name}\n" for name in sorted(after))
    new = Node(NodeKind.FILE, text.encode("utf-8", "surrogateescape"), 0o600)
    return [Change(SUPPRESSED, old, new)]


def _bundled(view: View) -> tuple[frozenset[str], str]:
    reading = view.read(MANIFEST)
    if reading.reason:
        return frozenset(), f"{MANIFEST} cannot be read: {reading.reason}"
    try:
        text = (reading.data or b"").decode("utf-8")
    except UnicodeDecodeError:
        return frozenset(), f"{MANIFEST} is not UTF-8 text"
    names = (line.split(":", 1)[0].strip() for line in text.splitlines())
    return frozenset(name for name in names if name), ""


def _hub(view: View) -> tuple[frozenset[str], str]:
    reading = view.read(HUB)
    if reading.absent:
        return frozenset(), ""
    if reading.data is None:
        return frozenset(), f"{HUB} cannot be read: {reading.reason}"
    try:
        lock = json.loads(reading.data.decode("utf-8"))
    except (ValueError, RecursionError):
        return frozenset(), f"{HUB} is not JSON"
    installed = (lock.get("installed") or {}) if isinstance(lock, dict) else None
    if not isinstance(installed, dict):
        return frozenset(), f"{HUB} holds no list of installed skills"
    names = {str(key) for key in installed}
    quiet = view.quiet()
    for entry in installed.values():
        path = entry.get("install_path") if isinstance(entry, dict) else None
        folder = _inside(path) if isinstance(path, str) and path.strip() else None
        if folder and has_skill_file(quiet, folder):
            names.add(read_declared(quiet, folder))
    return frozenset(names), ""


def _inside(path: str) -> str | None:
    """The folder below ``skills/`` that an install path names, ``None`` if it leads out."""
    folder = posixpath.normpath(join(SKILLS, path))
    return folder if folder.startswith(SKILLS + "/") else None
