"""Starting the console from the command line: the first frame before anything heavy is read."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

from console import themes
from console.app import SignoffApp
from console.herald import Herald
from console.keycheck import check_keys

if TYPE_CHECKING:
    from console.cli.session import Session


#: Thresholds of the garbage collector. A full collection stops the keys too, for a quarter of a
#: second with 10,000 records; nearly all garbage is young, and that is still collected.
COLLECTING = (5_000, 10, 1_000)


def launch(session: Session, mode: str = "") -> int:
    """Run the console; the exit code. Raises what opening the home or the settings raises.

    ``mode`` is where it starts; by default where the person left it.
    """
    settings = session.settings()
    check_keys(settings.keys)
    state = session.state()
    _log_to(state)
    herald = Herald(title=settings.title, bell=settings.bell)
    app = SignoffApp(
        session.open, state=state, clock=session.now, keys=dict(settings.keys), herald=herald
    )
    if app.console.color_system == "standard" and not app.no_color:
        app.theme = themes.SIXTEEN.name
    if mode:
        app.ui = replace(app.ui, mode=mode)
    gc.set_threshold(*COLLECTING)
    try:
        app.run(mouse=session.mouse)
    finally:
        _write(herald.farewell())
    if app.no_home is not None:
        raise app.no_home
    return app.return_code or 0


def _write(said: str) -> None:
    """Write to the terminal where Textual does; one that was hung up hears nothing."""
    if said and sys.__stderr__ is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.__stderr__.write(said)
            sys.__stderr__.flush()


class _PrivateLog(logging.FileHandler):
    """A log that only its owner may read, also one that was made without that care."""

    def _open(self) -> TextIOWrapper:
        stream = super()._open()
        with contextlib.suppress(OSError):
            os.fchmod(stream.fileno(), 0o600)
        return stream


def _log_to(state: Path) -> None:
    """Errors go to ``signoff.log`` in signoff's own folder, if it can be written."""
    log = logging.getLogger("signoff")
    log.propagate = False
    # A log that cannot be written must not write over the screen instead.
    logging.raiseExceptions = False
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler: logging.Handler = _PrivateLog(state / "signoff.log", delay=True)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
