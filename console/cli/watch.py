"""``watch``: the changes of a home, one JSON line each, for scripts and status bars."""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import click

from console.cli import paint, streams
from console.cli.session import Session, json_option, pass_session
from core.areas import Area
from core.desk.opening import Opened
from core.watch import Changed, Mode, Watcher

_MODES = {
    Mode.LIVE: "changes are reported again as they happen",
    Mode.POLLING: "changes are not reported here; looking every few seconds instead",
}


@click.command()
@json_option
@pass_session
def watch(session: Session, as_json: bool) -> None:
    """Print one JSON line for every change, until interrupted.

    Each line is an object with "at" and "areas", with --json and without.
    """
    opened = session.open()
    watcher = Watcher(opened.found.home, stop=threading.Event(), extra=_elsewhere(opened))
    said = Mode.LIVE
    with _interruptible():
        for change in watcher.changes():
            _print_line(session, change)
            if watcher.mode is not said:
                said = watcher.mode
                paint.remark(_MODES[said])


def _elsewhere(opened: Opened) -> list[tuple[Path, str]]:
    home, waiting = opened.found.home, opened.waiting_folder()
    outside = [(home / folder, "skills") for folder in opened.config().external_dirs]
    return [*outside, (Path(waiting), "pending")] if waiting else outside


def _print_line(session: Session, change: Changed) -> None:
    areas = [area.value for area in Area if area in change.areas]
    line = {"at": session.now().isoformat(), "areas": areas}
    with streams.printing():
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """End the block quietly at SIGINT or SIGTERM, or when the reader of the lines went away."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    except (KeyboardInterrupt, BrokenPipeError):
        # What a full or closed pipe still holds back must not keep the process from leaving.
        streams.let_go(sys.stdout)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
