"""A text in the person's own editor, the console out of its way meanwhile."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.app import App, SuspendNotSupported

from console.editors import editor_command
from console.render import ink
from core.errors import SignoffError, StateError, UnreadableError

if TYPE_CHECKING:
    from console.screens.host import Host
    from console.screens.room import Room

_NOTHING = "Nothing was changed"
_NO_EDITOR = "Set EDITOR before starting signoff"
#: Editors to be found where a person named none: the one that says its keys first.
_INSTEAD = ("nano", "vi")


class EditorError(SignoffError):
    """The editor did not end well, so nothing was done."""

    title = "The editor failed"
    code = "editor"


def editor() -> list[str]:
    """The command a text is opened with. Raises :class:`UsageError` if there is none."""
    return editor_command(os.environ, _NO_EDITOR, _INSTEAD)


def edit_text(app: App[Any], text: str, suffix: str = ".md") -> str | None:
    """``text`` as the person leaves it in their editor; ``None`` when it is the same.

    The console waits for the editor. The file lies in signoff's own folder, for this user only, and
    is gone afterwards. A screen says the problem and keeps what it had: raises :class:`UsageError`
    (there is no editor), :class:`EditorError`, :class:`UnreadableError` (what came back is no
    UTF-8) and :class:`StateError`.
    """
    from core.files import private_folder

    command = editor()
    opened = cast("Host", app).opened
    if opened is None:
        raise StateError("The home is not open yet", _NOTHING)
    try:
        folder = Path(tempfile.mkdtemp(prefix="edit-", dir=private_folder(opened.state)))
    except OSError as problem:
        raise StateError(
            f"signoff's own folder cannot be used: {problem.strerror}", _NOTHING
        ) from problem
    try:
        return _typed(app, command, folder / f"text{suffix}", text)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def suspended(app: App[Any]) -> AbstractContextManager[None]:
    """The terminal given back for as long as the context lasts. Tests have no terminal to give."""
    return app.suspend()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """A ctrl+c is the editor's while it runs; a handler, unlike SIG_IGN, is not inherited by it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _typed(app: App[Any], command: list[str], path: Path, text: str) -> str | None:
    # Editors end a file with a line end: one that was not there is put there, and taken away.
    added = "" if text.endswith("\n") else "\n"
    before = (text + added).encode("utf-8", "backslashreplace")
    path.touch(mode=0o600)
    path.write_bytes(before)
    try:
        with suspended(app), _uninterrupted():
            done = subprocess.run([*command, str(path)], check=False)
    except SuspendNotSupported:
        raise EditorError("This terminal cannot be lent to an editor", _NOTHING) from None
    except (OSError, ValueError) as problem:
        raise EditorError(f"{command[0]} cannot be started ({problem})", _NOTHING) from problem
    if done.returncode != 0:
        raise EditorError(f"{command[0]} ended with {done.returncode}", _NOTHING)
    try:
        after = path.read_bytes()
        if after == before:
            return None
        return after.decode("utf-8").removesuffix(added)
    except UnicodeDecodeError as problem:
        raise UnreadableError(
            f"The edited text is not UTF-8 (byte {problem.start})", _NOTHING
        ) from None
    except OSError as problem:
        raise EditorError(f"The text cannot be read back: {problem.strerror}", _NOTHING) from None


def type_again(room: Room, drafts: Mapping[str, str], key: str, text: str) -> str | None:
    """What the person typed; what could not be written last time stands there already.

    ``None`` when nothing is to be done, which ``room`` has said by then.
    """
    draft = drafts.get(key)
    try:
        typed = edit_text(room.app, text if draft is None else draft)
    except SignoffError as problem:
        room.flash(f"{problem.message}. {problem.hint}", ink.DANGER)
        return None
    typed = draft if typed is None else typed
    if typed is None:
        room.flash("The text is the same; nothing was done", ink.LABEL)
    return typed
