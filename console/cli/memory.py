"""``memory``: the entries the agent carries into every prompt."""

from __future__ import annotations

import click
from rich.text import Text

from console.cli import paint, shapes
from console.cli.session import Session, json_option, pass_session, print_json, say_home
from core.desk import memories


@click.command()
@click.option("--target", type=click.Choice(["memory", "user"]), help="Only this file.")
@json_option
@pass_session
def memory(session: Session, target: str | None, as_json: bool) -> None:
    """List the memory entries and what stands out about them."""
    opened = session.read()
    stores = memories.stores(opened, target)
    if as_json:
        extra = {} if target else {"stores": [shapes.memory(store) for store in stores]}
        print_json(shapes.home(opened) | shapes.memory(stores[0]) | extra)
        return
    say_home(opened)
    for store in stores:
        paint.say([Text()])
        _print_store(store, paint.room())


def _print_store(store: memories.Store, room: int) -> None:
    where = f"{store.path} → {store.link}" if store.link else store.path
    paint.tell(where, "bold")
    if store.state == "unreadable":
        paint.tell(f"! cannot be read: {store.reason}", "red")
        return
    if store.state == "absent":
        paint.tell("not there yet", "dim")
        return
    share = f"{store.used:,} of {store.limit:,} characters"
    paint.tell(f"{paint.count(len(store.entries), 'entry', 'entries')}, {share}", "dim")
    if store.drift:
        paint.tell(f"! The agent refuses to edit it: {store.drift.message}", "yellow")
    for entry in store.entries:
        lead = Text(f"{entry.index:>3}. ", style="dim")
        paint.say(paint.hang(lead, paint.block(entry.text), room))
        for found in entry.findings:
            paint.say(paint.finding(found, room, indent=5))
