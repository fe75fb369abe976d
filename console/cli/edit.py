"""``edit``: a proposal changed before it is decided, in an editor, from a file, or converted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click
from rich.text import Text

from console.cli import interrupt, paint, shapes
from console.cli.review import print_shown
from console.cli.session import (
    Session,
    json_option,
    note_option,
    pass_session,
    print_json,
    rules_option,
    say_home,
)
from console.editors import editor_command
from core.desk import editing
from core.desk.opening import Opened
from core.desk.review import Shown
from core.errors import NotFoundError, SignoffError, StateError, UnreadableError, UsageError
from core.files import private_folder
from core.homes.hermes.editing.parts import Part
from core.model import Receipt

#: Cells of a part's text in the list.
_TEXT = 60
_OPTIONS = {"existing": "as-existing", "splice": "splice", "clean": "clean", "move": "move"}
_OFFERED = {
    "existing": "Make it an edit of the skill that exists",
    "splice": "Change only the fragment it names",
    "clean": "Take out the invisible characters",
    "move": "Put its text under the right field",
}
_STDERR = 2
_NOTHING = "Nothing was changed"
_NO_EDITOR = "Set EDITOR, or give the text with --content-file"


class EditorError(SignoffError):
    """The editor did not end well, so nothing was done."""

    title = "The editor failed"
    code = "editor"


@click.command()
@click.argument("token", metavar="ID")
@click.option("--part", metavar="KEY", help="Which text; else the main one.")
@click.option("--content-file", metavar="FILE", help="Take the text from a file, - for stdin.")
@click.option("--list", "listing", is_flag=True, help="List the parts and change nothing.")
@click.option("--drop-op", type=int, metavar="N", help="Drop one operation of a batch.")
@click.option("--as-existing", is_flag=True, help="Turn a create into an edit of that skill.")
@click.option("--splice", is_flag=True, help="Change only the named fragment of an entry.")
@click.option("--clean", is_flag=True, help="Take out invisible characters the agent refuses.")
@click.option("--move", is_flag=True, help="Put a text under the field the agent reads.")
@click.option("--dry-run", is_flag=True, help="Show how it would land then; write nothing.")
@rules_option
@note_option
@json_option
@pass_session
def edit(
    session: Session,
    token: str,
    part: str | None,
    content_file: str | None,
    listing: bool,
    drop_op: int | None,
    as_existing: bool,
    splice: bool,
    clean: bool,
    move: bool,
    dry_run: bool,
    rules: str,
    note: str,
    as_json: bool,
) -> None:
    """Change a proposal before deciding it.

    Opens its text in $VISUAL or $EDITOR; text left as it is changes nothing. The original stays in
    the journal and undo brings it back. Then the proposal is judged anew and shown.
    """
    flags = {"existing": as_existing, "splice": splice, "clean": clean, "move": move}
    kinds = [kind for kind, given in flags.items() if given]
    kinds += [f"drop:{drop_op}"] if drop_op is not None else []
    texts = part is not None or content_file is not None
    if len(kinds) + listing + texts > 1:
        raise UsageError("One change at a time", "See `signoff edit --help`")
    if listing:
        _list(session, session.read(rules), token, as_json)
        return
    opened = session.read(rules) if dry_run else session.decide(rules)
    todo = _Edit(session, opened, token, note, dry_run, as_json)
    if kinds:
        ok = todo.finish(editing.try_convert(opened, token, kinds[0]))
    elif content_file is not None:
        sheet = editing.edit_parts(opened, token)
        chosen = _choose(session, sheet, part)
        ok = todo.finish(todo.tried(sheet, chosen, _file_text(content_file)))
    else:
        ok = _in_editor(todo, part)
    if not ok:
        sys.exit(1)


@dataclass(frozen=True, slots=True)
class _Edit:
    """One call of the command."""

    session: Session
    opened: Opened
    token: str
    note: str
    dry_run: bool
    as_json: bool

    def tried(self, sheet: editing.Sheet, part: Part, text: str) -> editing.Trial:
        """The edit of one part, on the very bytes ``sheet`` was made from."""
        seen = sheet.proposal.sha256
        return editing.try_edit(self.opened, self.token, {part.key: text}, seen)

    def finish(self, trial: editing.Trial) -> bool:
        """Write it, or only say what it would be, and show how the proposal stands then."""
        with interrupt.held() as stop:
            if self.dry_run:
                outcome = trial.plan.outcome
                changed = tuple(step.path for step in outcome.changes)
                receipt = Receipt(
                    trial.plan.subject, outcome.lands, outcome.category, outcome.message, changed
                )
            else:
                receipt = editing.write(self.opened, trial, self.note)
        self.answer(receipt, trial.shown if receipt.ok else None)
        if stop.asked:
            sys.exit(130)
        return receipt.ok

    def answer(self, receipt: Receipt, shown: Shown | None) -> None:
        """What was done, and the proposal as it would land now."""
        if self.as_json:
            found = shapes.results(self.opened, [receipt])
            print_json(found | {"proposal": shown and shapes.show(self.opened, shown)})
            return
        say_home(self.opened)
        sign, style, word = ("✓", "green", "not written: " if self.dry_run else "")
        if receipt.category == "noop":
            sign, style = "=", "dim"
        elif not receipt.ok:
            sign, style, word = "✗", "red", "not done: "
        said = f"{paint.word(receipt.subject)}  {word}{receipt.message}"
        paint.say(paint.hang(Text(f"{sign} ", style=style), paint.plain(said), paint.room()))
        if receipt.journal is not None:
            paint.hint("Take it back", self.session.command("undo", str(receipt.journal)))
        if shown is not None:
            paint.say([Text()])
            print_shown(self.session, shown)


def _list(session: Session, opened: Opened, token: str, as_json: bool) -> None:
    sheet = editing.edit_parts(opened, token)
    if as_json:
        parts = [
            {
                "key": part.key,
                "label": part.label,
                "text": part.text,
                "multiline": part.multiline,
                "found_under": part.found or None,
            }
            for part in sheet.parts
        ]
        found = shapes.results(opened, [])
        print_json(found | {"id": sheet.name, "parts": parts, "offers": list(sheet.offers)})
        return
    say_home(opened)
    if not sheet.parts:
        paint.tell("Nothing in it can be edited, it can only be refused.")
        return
    rows = [
        [
            Text(part.key),
            paint.clipped(part.label, 40),
            paint.clipped(f"(under {part.found}) {part.text}" if part.found else part.text, _TEXT),
        ]
        for part in sheet.parts
    ]
    paint.say(paint.table(("PART", "WHAT", "TEXT"), rows, paint.room(), spare=("WHAT",)))
    paint.hint("Edit one", f"{session.command('edit', sheet.name)} --part KEY")
    for kind in sheet.offers:
        paint.hint(_OFFERED[kind], f"{session.command('edit', sheet.name)} --{_OPTIONS[kind]}")


def _choose(session: Session, sheet: editing.Sheet, key: str | None) -> Part:
    """The part named, or the main one. Raises :class:`NotFoundError`, :class:`UsageError`."""
    line = f"`{session.command('edit', sheet.name)} --list` shows them"
    if not sheet.parts:
        raise NotFoundError(f"Nothing in {sheet.name} can be edited", "It can only be refused")
    if key is not None:
        found = next((part for part in sheet.parts if part.key == key), None)
        if found is None:
            raise NotFoundError(f"{sheet.name} has no part {key}", line)
        return found
    operations = {part.key.split(".")[1] for part in sheet.parts if "." in part.key}
    if len(operations) > 1:
        raise UsageError(f"{sheet.name} is a batch: say which text, with --part KEY", line)
    return sheet.parts[0]


def _file_text(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as problem:
        raise UsageError(f"{name} cannot be read: {problem.strerror}", _NOTHING) from problem
    return _decoded(data, name)


def _in_editor(todo: _Edit, key: str | None) -> bool:
    """Edit a text in the person's editor; what they typed is kept if it cannot be written."""
    sheet = editing.edit_parts(todo.opened, todo.token)
    part = _choose(todo.session, sheet, key)
    command = editor_command(todo.session.environ, _NO_EDITOR)
    folder = _workplace(todo.session)
    keep = False
    try:
        path = folder / "proposal.md"
        text = _typed(todo, command, path, part.text)
        if text == part.text:
            message = "The text is the same; nothing was done."
            todo.answer(Receipt(sheet.name, True, "noop", message), None)
            return True
        keep = True
        keep = not todo.finish(todo.tried(sheet, part, text))
        return not keep
    finally:
        if keep:
            paint.remark(f"Your text is kept in {path}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _workplace(session: Session) -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix="edit-", dir=private_folder(session.state())))
    except OSError as problem:
        raise StateError(
            f"signoff's own folder cannot be used: {problem.strerror}", _NOTHING
        ) from problem


def _typed(todo: _Edit, command: list[str], path: Path, text: str) -> str:
    """``text`` as the editor leaves it. Raises :class:`EditorError`, :class:`UnreadableError`."""
    # Editors end a file with a line end: one that was not there is put there, and taken away.
    added = "" if text.endswith("\n") else "\n"
    before = (text + added).encode("utf-8", "backslashreplace")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(before)
    try:
        # With --json nothing but the answer goes to stdout.
        done = subprocess.run(
            [*command, str(path)],
            env=dict(todo.session.environ),
            stdout=_STDERR if todo.as_json else None,
            check=False,
        )
    except (OSError, ValueError) as problem:
        raise EditorError(f"{command[0]} cannot be started ({problem})", _NOTHING) from problem
    if done.returncode != 0:
        raise EditorError(f"{command[0]} ended with {done.returncode}", _NOTHING)
    try:
        after = path.read_bytes()
    except OSError as problem:
        raise EditorError(f"The text cannot be read back: {problem.strerror}", _NOTHING) from None
    if after == before:
        return text
    typed = _decoded(after, "The edited text")
    return typed.removesuffix(added) if added else typed


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UnreadableError(
            f"{what} is not UTF-8 text (byte {problem.start})", _NOTHING
        ) from None
