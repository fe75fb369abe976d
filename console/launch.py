"""Starting the console from the command line: the first frame before anything heavy is read."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from console.app import SignoffApp

if TYPE_CHECKING:
    from console.cli.session import Session


def launch(session: Session, *, mouse: bool = True) -> int:
    """Run the console; the exit code. A home that cannot be opened is raised."""
    settings = session.settings()
    state = session.state()
    _log_to(state)
    app = SignoffApp(session.open, state=state, clock=session.now, keys=dict(settings.keys))
    app.run(mouse=mouse)
    if app.no_home is not None:
        raise app.no_home
    return app.return_code or 0


def _log_to(state: Path) -> None:
    """Errors go to ``signoff.log`` in signoff's own folder, if it can be written."""
    log = logging.getLogger("signoff")
    log.propagate = False
    try:
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        handler: logging.Handler = logging.FileHandler(state / "signoff.log", delay=True)
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
