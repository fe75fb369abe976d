"""``journal`` and ``undo``: what was decided, and taking it back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from core.desk import decisions, history
from core.desk.opening import Opened
from core.desk.outside import note_again
from core.errors import UsageError
from core.homes.base import Kind
from core.journal import Entry, State
from core.model import Receipt
from core.sightings import OUTSIDE

_NOTHING = "Nothing was decided here yet."


@click.command()
@click.argument("number", type=int, required=False, metavar="[ENTRY]")
@click.option("--limit", type=click.IntRange(min=1), help="Only the newest N.")
@click.option("--search", "text", default="", metavar="TEXT", help="Only what holds this text.")
@click.option("--seen", is_flag=True, help="Put the torn ENTRY away: it was looked at.")
@click.option("--stats", is_flag=True, help="How often each origin's proposals are approved.")
@json_option
@pass_session
def journal(
    session: Session,
    number: int | None,
    limit: int | None,
    text: str,
    seen: bool,
    stats: bool,
    as_json: bool,
) -> None:
    """List what was decided on this home, newest first.

    With ENTRY: that one, and what it changed. Changes that someone else made to memory files
    and skills stand in it as `outside`.
    """
    if seen and number is None:
        raise UsageError("--seen goes with an ENTRY", "Name the torn entry")
    opened = session.decide(stores=True) if seen else session.read(stores=True)
    note_again(opened)
    if seen and number is not None:
        history.put_away(opened, number)
    if stats:
        _tell_stats(opened, as_json)
        return
    if number is None:
        entries = history.entries(opened, None if text else limit)
        entries = decisions.search(entries, text)[:limit] if text else entries
    else:
        entries = (history.entry(opened, number),)
    if as_json:
        print_json(shapes.journal(opened, entries))
        return
    say_home(opened)
    if not entries:
        paint.tell("Nothing like that was decided here." if text else _NOTHING)
        return
    heads = ("ENTRY", "WHEN", "WHAT", "RESULT", "MESSAGE")
    rows = [_cells(entry) for entry in entries]
    paint.say(paint.table(heads, rows, paint.room(), spare=("WHEN", "RESULT")))
    if number is not None:
        _print_changes(entries[0])
    if any(_is_undoable(entry) for entry in entries):
        paint.hint("Take one back", session.command("undo", "ENTRY"))


def _print_changes(entry: Entry) -> None:
    for path in entry.changed:
        paint.tell(path, "bold")
        for step in entry.steps:
            if step.change.path == path:
                paint.say([paint.block(str(shapes.change(step)["diff"]).rstrip("\n"))])


def _is_undoable(entry: Entry) -> bool:
    return entry.ok and entry.undone_by is None and entry.verb != OUTSIDE


def _tell_stats(opened: Opened, as_json: bool) -> None:
    found = decisions.acceptance(opened)
    if as_json:
        print_json(shapes.acceptance(opened, found))
        return
    say_home(opened)
    if not found:
        paint.tell(_NOTHING)
        return
    heads = ("ORIGIN", "APPROVED", "REFUSED", "RATE")
    rows = [
        [
            paint.clipped(origin, 40),
            Text(str(each.approved)),
            Text(str(each.rejected)),
            Text(f"{each.rate:.0%}"),
        ]
        for origin, each in found.items()
    ]
    paint.say(paint.table(heads, rows, paint.room()))


def _cells(entry: Entry) -> list[Text]:
    if entry.undone_by:
        fate = f"undone by {entry.undone_by}"
    else:
        fate = "done" if entry.state is State.DONE else f"! {entry.state}"
        fate = "seen" if entry.verb == OUTSIDE else fate
    if entry.tags.bulk is not None:
        fate += f", bulk {entry.tags.bulk}"
    message = str(shapes.ending(entry)["message"])
    said = f"{entry.note} ({message})" if entry.note else message
    return [
        Text(str(entry.id)),
        Text(entry.at[:16].replace("T", " ")),
        paint.clipped(f"{entry.verb} {entry.subject}", 28),
        Text(fate),
        paint.clipped(said, paint.SUMMARY),
    ]


@click.command()
@click.argument("entries", type=int, nargs=-1, metavar="[ENTRY]...")
@click.option("--bulk", type=int, metavar="N", help="All that stands of one bulk step.")
@note_option
@json_option
@pass_session
def undo(
    session: Session, entries: tuple[int, ...], bulk: int | None, note: str, as_json: bool
) -> None:
    """Take decisions back, by default the newest.

    Several that were decided at once go back as one. ENTRY is a number of `signoff journal`;
    several are taken back together, the newest first.
    """
    if bulk is not None and entries:
        raise UsageError("--bulk stands alone", "Leave out the entries")
    opened = session.decide(stores=True)
    if opened.found.kind is Kind.RAG:
        receipts = _undo_notes(opened, entries, note, bulk)
    elif bulk is None:
        receipts = history.undo_each(opened, entries, note)
    else:
        receipts = history.undo_bulk(opened, bulk, note)
    answer(session, opened, receipts, as_json, "taken back")


def _undo_notes(
    opened: Opened, entries: Sequence[int], note: str, bulk: int | None
) -> Iterator[Receipt]:
    """The same on a note store, whose merged pages are found no more afterwards."""
    from core.desk import knowledge, knowledge_work

    assert isinstance(opened, knowledge.Shelf)
    return knowledge_work.undo(opened, entries, note, bulk=bulk)
