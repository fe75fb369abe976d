"""Whether file events reach this process: tried on a folder of our own, never on the home."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from core.watch import events_arrive

#: Seconds after which an event that has not arrived counts as none.
PATIENCE = 2.0


def live_events(state: Path, home: Path) -> tuple[bool | None, str]:
    """Whether a change beside ``state`` is reported within two seconds, and in words.

    ``None`` when it could not be tried, or when the home lies on another file system, for which
    this says nothing.
    """
    beside = state
    while not beside.is_dir():
        beside = beside.parent
    try:
        folder = Path(tempfile.mkdtemp(prefix=".signoff-probe-", dir=beside))
    except OSError as problem:
        return None, f"not tried: {beside} cannot be written ({problem.strerror})"
    try:
        return _answer(
            events_arrive(folder, PATIENCE), os.stat(folder).st_dev == os.stat(home).st_dev
        )
    except OSError as problem:
        return None, f"not tried: {problem.strerror}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(arrived: bool, same_system: bool) -> tuple[bool | None, str]:
    if not arrived:
        return False, f"no event within {PATIENCE:.0f} seconds: changes are seen by polling only"
    if same_system:
        return True, "they arrive"
    return None, "they arrive beside the journal; the home lies on another file system"
