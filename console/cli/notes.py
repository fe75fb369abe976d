"""``notes``, ``amend``, ``clean`` and ``promote``: what only a vak home has."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy

import click
from rich.text import Text

from console.cli import paint, shapes
from console.cli.preview import entry_change, file_change
from console.cli.review import approve
from console.cli.session import (
    Session,
    json_option,
    note_option,
    pass_session,
    print_json,
    say_home,
)
from core.desk import notes as desk
from core.desk.opening import Opened
from core.desk.overview import settings, switched_off
from core.desk.recalling import EVERYWHERE
from core.model import Change, Receipt
from core.plan import Plan

#: Cells of a note's heading words in a list.
_WORDS = 40
workspace_option = click.option(
    "--workspace", metavar="PATH", help="Only this workspace: its path, or its hash."
)
dry_option = click.option("--dry-run", is_flag=True, help="Show what would change; change nothing.")

#: Another name for ``approve``: what vak calls it.
promote = copy(approve)
promote.name = "promote"
promote.short_help = "Install proposed skills; the same as approve."


@click.command()
@click.option(
    "--workspace",
    metavar="PATH",
    default=EVERYWHERE,
    help="Only this one: its path or hash; * is all.",
)
@json_option
@pass_session
def notes(session: Session, workspace: str, as_json: bool) -> None:
    """List the notes of a vak home.

    Those of every workspace and those of the profile, with what stands out about them.
    `remember`, `amend` and `forget` change them.
    """
    opened = session.read()
    found = desk.listing(opened, workspace)
    if as_json:
        print_json(
            shapes.home(opened)
            | {
                "notes": [_shape(note) for note in found.notes],
                "unreadable": [{"path": p, "reason": why} for p, why in found.unreadable],
            }
        )
    else:
        say_home(opened)
        for sentence in switched_off(settings(opened), "write_enabled"):
            paint.tell(f"{sentence}.", "yellow")
        _print_notes(session, found)
    for path, reason in (*found.unreadable, *found.remarks):
        paint.remark(f"{path}: {reason}")
    if found.unreadable:
        sys.exit(1)


@click.command()
@click.argument("which", metavar="ID")
@click.argument("text", metavar="TEXT")
@workspace_option
@dry_option
@note_option
@json_option
@pass_session
def amend(
    session: Session,
    which: str,
    text: str,
    workspace: str | None,
    dry_run: bool,
    note: str,
    as_json: bool,
) -> None:
    """Give a note of a vak home another text.

    Its heading stays byte for byte. ID is what `signoff notes` shows, or a unique beginning of it.
    """
    opened = session.read() if dry_run else session.decide()
    plan = desk.amend(opened, which, text, workspace)
    answer(session, opened, plan, dry_run, note, as_json)


@click.command()
@click.option("--apply", "apply_", is_flag=True, help="Remove them; without it only list them.")
@note_option
@json_option
@pass_session
def clean(session: Session, apply_: bool, note: str, as_json: bool) -> None:
    """Remove what a vak agent left over.

    Locks and half-written files of the notes older than a day, and folders without anything in
    them. No note is ever removed by age.
    """
    opened = session.decide() if apply_ else session.read()
    found, plan = desk.clean(opened)
    receipt = desk.carry_out(opened, plan, note) if apply_ else _foreseen(plan)
    if as_json:
        said = {
            "removed_locks": list(found.locks),
            "removed_temps": list(found.temporary),
            "removed_empty_dirs": list(found.folders),
        }
        results = {"applied": apply_ and receipt.ok, **shapes.result(receipt)}
        print_json(shapes.home(opened) | said | results)
    else:
        say_home(opened)
        for path in (*found.locks, *found.temporary, *found.folders):
            paint.say(paint.hang(Text("  "), paint.plain(path), paint.room()))
        lead = "" if apply_ or not plan.changes else "Would be done. "
        paint.tell(lead + receipt.message, "" if receipt.ok else "red")
        if plan.changes and not apply_:
            paint.hint("Do it", f"{session.command('clean')} --apply")
        elif receipt.journal is not None and receipt.ok:
            paint.hint("Take it back", session.command("undo", str(receipt.journal)))
    if not receipt.ok:
        sys.exit(1)


def answer(
    session: Session,
    opened: Opened,
    plan: Plan,
    dry_run: bool,
    note: str,
    as_json: bool,
    again: Callable[[], Plan] | None = None,
) -> None:
    """Carry a plan of a note out (or only show it) and say what became of it; ``again`` as for
    :func:`core.desk.notes.carry_out`."""
    receipt = _foreseen(plan) if dry_run else desk.carry_out(opened, plan, note, again=again)
    if as_json:
        said = shapes.result(receipt) | shapes.planned(plan) | {"dry_run": dry_run}
        print_json(shapes.home(opened) | {"results": [said]})
    else:
        say_home(opened)
        _print_done(session, plan, receipt, dry_run)
    if not receipt.ok:
        sys.exit(1)


def _foreseen(plan: Plan) -> Receipt:
    outcome = plan.outcome
    changed = tuple(change.path for change in plan.changes)
    return Receipt(
        plan.subject, outcome.lands, outcome.category, outcome.message, changed, outcome.entries
    )


def _print_done(session: Session, plan: Plan, receipt: Receipt, dry_run: bool) -> None:
    room = paint.room()
    sign, style = ("✓ ", "green") if receipt.ok else ("✗ ", "red")
    word = "Not done: " if not receipt.ok else "Would land: " if dry_run else ""
    message = paint.plain(word + receipt.message, "" if receipt.ok else "red")
    paint.say(paint.hang(Text(sign, style=style), message, room))
    if receipt.ok and dry_run:
        for pair in plan.outcome.entries:
            paint.say(entry_change(pair, room))
        for change in plan.changes:
            if isinstance(change, Change):
                paint.say(file_change(change, room))
    if receipt.ok:
        for found in plan.outcome.findings:
            paint.say(paint.finding(found, room, indent=2))
    if receipt.journal is not None and receipt.ok:
        paint.tell(receipt.next, "dim")
        paint.hint("Take it back", session.command("undo", str(receipt.journal)))


def _print_notes(session: Session, found: desk.Listing) -> None:
    room, now = paint.room(), session.now()
    file = ""
    for note in found.notes:
        if note.path != file:
            file = note.path
            paint.say([Text()])
            where = f"{note.path}  {note.workspace}" if note.workspace else note.path
            paint.tell(where, "bold")
        facts = [note.id, note.kind, note.tag, f"{paint.age(note.at, now)} ago", note.session_id]
        lead = " · ".join(paint.plain(each).plain[:_WORDS] for each in facts if each)
        paint.say(paint.hang(Text(), Text(lead, style="dim"), room))
        paint.say(paint.hang(Text("  "), paint.block(note.text), room))
        for each in note.findings:
            paint.say(paint.finding(each, room, indent=2))
    if not found.notes:
        paint.tell("No note is kept here.")
        return
    paint.tell(f"{paint.count(len(found.notes), 'note')}.", "dim")
    paint.hint("Change one", f"{session.command('amend')} ID TEXT")
    paint.hint("Take one out", f"{session.command('forget')} ID")


def _shape(note: desk.Note) -> shapes.Json:
    return {
        "id": note.id,
        "ts": note.ts,
        "kind": note.kind,
        "tag": note.tag,
        "session_id": note.session_id,
        "text": note.text,
        "scope": note.scope,
        "path": note.path,
        "workspace": note.workspace or None,
        "findings": [shapes.finding(found) for found in note.findings],
    }
