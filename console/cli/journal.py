"""``journal`` and ``undo``: what was decided, and taking it back."""

from __future__ import annotations

import sys

import click
from rich.text import Text

from console.cli import paint, shapes
from console.cli.review import print_receipts
from console.cli.session import (
    Session,
    interactive,
    json_option,
    note_option,
    pass_session,
    print_json,
)
from core.desk import decide, history
from core.journal import Entry


@click.command()
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest N.")
@json_option
@pass_session
def journal(session: Session, limit: int | None, as_json: bool) -> None:
    """List what was decided on this home, newest first."""
    opened = session.open()
    entries = history.entries(opened, limit)
    if as_json:
        print_json(shapes.journal(entries))
        return
    out = paint.stdout()
    if not entries:
        out.print("Nothing was decided here yet.")
        return
    heads = ("ENTRY", "WHEN", "WHAT", "STATE", "MESSAGE")
    out.print(paint.table(heads, [_cells(entry) for entry in entries], out.width))


def _cells(entry: Entry) -> list[Text]:
    fate = f"undone by {entry.undone_by}" if entry.undone_by else str(entry.state)
    return [
        Text(str(entry.id)),
        Text(entry.at[:16].replace("T", " ")),
        paint.clipped(f"{entry.verb} {entry.subject}", 28),
        Text(fate),
        paint.clipped(entry.note or entry.message, 160),
    ]


@click.command()
@click.argument("entry", type=int, required=False)
@note_option
@json_option
@pass_session
def undo(session: Session, entry: int | None, note: str, as_json: bool) -> None:
    """Take a decision back: by default the newest on this home."""
    opened = session.open()
    decide.check_terminal(opened, interactive())
    receipt = history.undo(opened, entry, note)
    if as_json:
        print_json(shapes.results([receipt]))
    else:
        print_receipts([receipt], "taken back")
    if not receipt.ok:
        sys.exit(1)
