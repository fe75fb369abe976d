"""Whether file events reach this process at all: tried on a folder of our own, never on the home.

watchfiles is loaded only when asked: no other part of the plain commands needs it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from pathlib import Path

#: Seconds after which an event that has not arrived counts as none.
PATIENCE = 2.0
#: Seconds between two tries to cause an event.
STEP = 0.05


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
        return _answer(_arrives(folder), os.stat(folder).st_dev == os.stat(home).st_dev)
    except (OSError, ImportError, RuntimeError) as problem:
        return None, f"not tried: watchfiles cannot start ({problem})"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _answer(arrived: bool, same_system: bool) -> tuple[bool | None, str]:
    if not arrived:
        return False, f"no event within {PATIENCE:.0f} seconds: changes are seen by polling only"
    if same_system:
        return True, "they arrive"
    return None, "they arrive beside the journal; the home lies on another file system"


def _arrives(folder: Path) -> bool:
    from watchfiles import watch

    done = threading.Event()
    writer = threading.Thread(target=_write, args=(folder, done), daemon=True)
    giving_up = threading.Timer(PATIENCE, done.set)
    giving_up.daemon = True
    try:
        writer.start()
        giving_up.start()
        changes = watch(
            folder, stop_event=done, debounce=50, step=10, rust_timeout=100, raise_interrupt=False
        )
        return any(changes)
    finally:
        done.set()
        giving_up.cancel()
        writer.join()


def _write(folder: Path, done: threading.Event) -> None:
    number = 0
    while not done.wait(STEP):
        number += 1
        with contextlib.suppress(OSError):
            (folder / str(number)).touch()
