"""``journal`` and ``undo``: what was decided, and taking it back."""

from __future__ import annotations

import click
from rich.text import Text

from console.cli import paint, shapes
from console.cli.review import answer
from console.cli.session import (
    Session,
    json_option,
    note_option,
    pass_session,
    print_json,
    say_home,
)
from core.desk import history
from core.journal import Entry, State


@click.command()
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest N.")
@json_option
@pass_session
def journal(session: Session, limit: int | None, as_json: bool) -> None:
    """List what was decided on this home, newest first."""
    opened = session.read()
    entries = history.entries(opened, limit)
    if as_json:
        print_json(shapes.journal(opened, entries))
        return
    say_home(opened)
    if not entries:
        paint.tell("Nothing was decided here yet.")
        return
    heads = ("ENTRY", "WHEN", "WHAT", "RESULT", "MESSAGE")
    rows = [_cells(entry) for entry in entries]
    paint.say(paint.table(heads, rows, paint.room(), spare=("WHEN", "RESULT")))
    if any(entry.ok and entry.undone_by is None for entry in entries):
        paint.hint("Take one back", session.command("undo", "ENTRY"))


def _cells(entry: Entry) -> list[Text]:
    if entry.undone_by:
        fate = f"undone by {entry.undone_by}"
    else:
        fate = "done" if entry.state is State.DONE else f"! {entry.state}"
    said = f"{entry.note} ({entry.message})" if entry.note else entry.message
    return [
        Text(str(entry.id)),
        Text(entry.at[:16].replace("T", " ")),
        paint.clipped(f"{entry.verb} {entry.subject}", 28),
        Text(fate),
        paint.clipped(said, paint.SUMMARY),
    ]


@click.command()
@click.argument("entries", type=int, nargs=-1, metavar="[ENTRY]...")
@note_option
@json_option
@pass_session
def undo(session: Session, entries: tuple[int, ...], note: str, as_json: bool) -> None:
    """Take decisions back, by default the newest.

    ENTRY is a number of `signoff journal`; several are taken back together, the newest first.
    """
    opened = session.decide()
    answer(session, opened, history.undo_each(opened, entries, note), as_json, "taken back")
